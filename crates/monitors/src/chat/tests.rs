//! Chat messages in parts: texts of strangers, links, lengths, and objects for programs.

use serde_json::json;
use wire::{ChatKind, CheckSummary};

use super::message::{MAX_TEXT, body, text};
use super::plain::{link, plain};
use crate::fixture::check;
use crate::told::Told;

fn page(url: &str, title: &str) -> Told {
    Told {
        url: url.to_owned(),
        title: Some(title.to_owned()),
        status: "changed".to_owned(),
        is_meaningful: None,
        note: None,
        diff: None,
    }
}

fn counts(changed: i64) -> CheckSummary {
    CheckSummary { total_pages: changed, changed, ..CheckSummary::default() }
}

#[test]
fn texts_of_strangers_are_plain() {
    let check = |text: &str, want: &str| assert_eq!(plain(text, 100).replace('\u{200b}', "·"), want, "{text}");
    check("Tea & <b>biscuits</b>", "Tea &amp; &lt;b&gt;biscuits&lt;/b&gt;");
    check(
        "<!channel> <@U1> <https://evil.test|here>",
        "&lt;!channel&gt; &lt;@·U1&gt; &lt;https:·//evil.·test｜here&gt;",
    );
    check("@everyone @here @channel #general :tada:", "@·everyone @·here @·channel #·general :·tada:·");
    check("*bold* _it_ ~no~ `code` ||hidden||", "＊bold＊ ＿it＿ ～no～ ｀code｀ ｜｜hidden｜｜");
    check("[here](https://evil.test) \\[x]", "［here］(https:·//evil.·test) ＼［x］");
    check("www.evil.test me@evil.test", "www.·evil.·test me@·evil.·test");
    check(" a\r\n\t\u{2028}> b\u{202e}c\u{200b}\0 ", "a &gt; bc");
    check("", "");
    assert_eq!(plain("abcdef", 3), "abc…");
    assert_eq!(plain("&&&&", 12), "&amp;&amp;…", "no escape is cut in two");
    assert_eq!(plain(&" ".repeat(1000), 3), "");
}

#[test]
fn urls_of_pages_are_links_and_nothing_else() {
    let check = |url: &str, want: &str| assert_eq!(link(url, 100).replace('\u{200b}', "·"), want, "{url}");
    check("https://a.test/x?a=1&b=2#c", "https://a.test/x?a=1&amp;b=2#c");
    check("https://a.test/@everyone/*x*/(y)", "https://a.test/%40everyone/%2Ax%2A/%28y%29");
    check("https://a.test/?q=<!channel>|x`y`~z~", "https://a.test/?q=%3C!channel%3E%7Cx%60y%60%7Ez%7E");
    check("https://me:hush@a.test/", "https://a.test/");
    check("http://[::1]:80/[x]", "http://[::1]/%5Bx%5D");
    check("javascript:alert(1)", "javascript:·alert(1)");
    let long = link(&format!("https://a.test/{}", "x".repeat(200)), 100);
    assert!(long.starts_with("https:\u{200b}//a.\u{200b}test/xxx") && long.ends_with("x…"), "{long}");
}

#[test]
fn a_text_says_what_has_changed_and_where() {
    let counts = CheckSummary { total_pages: 9, same: 4, changed: 2, new: 1, removed: 1, error: 1 };
    let failed = Told {
        status: "error".to_owned(),
        title: None,
        note: Some("timeout".to_owned()),
        ..page("https://a.test/b", "")
    };
    let text = text("Prices *now*", counts, &[page("https://a.test/a", "Tea"), failed]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "*Prices ＊now＊*: 2 changed, 1 new, 1 removed, 1 could not be read",
            "• changed: Tea https://a.test/a",
            "• error: https://a.test/b – timeout",
            "… and 3 more pages",
        ]
    );
}

#[test]
fn a_text_is_as_long_as_every_program_reads() {
    let wide = |number: usize| {
        let title = "<&>@😀".repeat(40);
        Told { note: Some("<&>".repeat(200)), ..page(&format!("https://a.test/{number}/{}", "x".repeat(250)), &title) }
    };
    let pages: Vec<Told> = (0..20).map(wide).collect();
    let text = text(&"&".repeat(256), counts(5000), &pages);
    let units = text.encode_utf16().count();
    assert!(units <= MAX_TEXT && units > 1000, "{units}");
    let listed = text.matches("\n• ").count();
    assert!(listed > 0 && text.ends_with(&format!("… and {} more pages", 5000 - listed)), "{text}");
    let short: Vec<Told> = (0..20).map(|number| page(&format!("https://a.test/{number}"), "A")).collect();
    let all = super::message::text("m", counts(20), &short);
    assert!(all.matches("\n• ").count() == 20 && !all.contains("more"), "{all}");
    let one_more = super::message::text("m", counts(21), &short);
    assert!(one_more.ends_with("… and 1 more page"), "{one_more}");
}

#[test]
fn programs_read_an_object() {
    let mut check = check();
    (check.changed_pages, check.error_pages) = (1, 1);
    check.status = "partial".to_owned();
    check.error = Some("1 page could not be read".to_owned());
    let judged =
        Told { is_meaningful: Some(true), note: Some("a price fell".to_owned()), ..page("https://a.test/*", "T<e>a") };
    let long = page("https://a.test/b", &"x".repeat(5000));
    let body = body(ChatKind::Json, "Prices <now> @here", &check, &[judged, long]);
    assert_eq!(body["pages"][1]["title"].as_str().unwrap().len(), 1000);
    assert_eq!(body["pages"][1].get("isMeaningful"), None);
    let page = json!({ "url": "https://a.test/*", "title": "T<e>a", "status": "changed", "note": "a price fell", "isMeaningful": true });
    assert_eq!(body["pages"][0], page);
    assert_eq!((&body["type"], &body["monitorName"]), (&json!("monitor.check"), &json!("Prices <now> @here")));
    assert_eq!((&body["monitorId"], &body["checkId"]), (&json!("monitor"), &json!("check")));
    assert_eq!((&body["status"], &body["error"]), (&json!("partial"), &json!("1 page could not be read")));
    assert_eq!(
        body["summary"],
        json!({ "totalPages": 2, "same": 0, "changed": 1, "new": 0, "removed": 0, "error": 1 })
    );
}
