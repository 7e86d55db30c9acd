//! A test site with scripted answers, and the text that a visitor reads of a page.

use std::time::Duration;

use browser::{BrowserError, Visit, Visited};
use serde_json::{Value, json};
use testkit::{Reply, Seen};
use tokio::time::Instant;

use crate::world::{World, dom, plain};

/// Answers requests below `/api/` by their query: `t` is the text, `d` the delay in milliseconds, `s` the status.
pub(crate) fn answer_questions(world: &World) {
    for site in [&world.site, &world.other] {
        site.others(answer);
    }
}

fn answer(seen: &Seen) -> Option<Reply> {
    let (path, query) = seen.path.split_once('?').unwrap_or((&seen.path, ""));
    if !path.starts_with("/api/") {
        return None;
    }
    let of = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name));
    let number = |name: &str| of(name).and_then(|text| text.parse::<u16>().ok());
    Some(Reply {
        status: number("s=").unwrap_or(200),
        delay: Duration::from_millis(number("d=").unwrap_or(250).into()),
        body: of("t=").unwrap_or("nothing").replace('+', " ").into_bytes().into(),
        ..Reply::default()
    })
}

/// Expected result of a page.
pub(crate) struct Expect {
    pub(crate) seen: &'static [&'static str],
    pub(crate) unseen: &'static [&'static str],
    /// Time limit of the visit on a quiet machine, without the start of the browser.
    pub(crate) within: Duration,
}

pub(crate) fn expect(seen: &'static [&'static str], unseen: &'static [&'static str], milliseconds: u64) -> Expect {
    Expect { seen, unseen, within: Duration::from_millis(milliseconds) }
}

/// Number of tries for a visit that was too slow or missed the tested situation because the machine was busy.
pub(crate) const TRIES: usize = 5;

/// Visits a page of `html` and looks at what came, every time; one visit must be as fast as expected.
pub(crate) async fn check(world: &World, html: &str, expect: Expect) -> Visited {
    world.site.html("/page", html);
    let url = world.url("/page");
    let mut took = Vec::new();
    for _ in 0..TRIES {
        let began = Instant::now();
        let visited = world.visit(&plain(&url)).await.unwrap();
        took.push(began.elapsed());
        compare(&visited, &expect, html);
        if took.last() <= Some(&expect.within) {
            return visited;
        }
    }
    panic!("took {took:?} instead of {:?}: {html}", expect.within);
}

pub(crate) fn compare(visited: &Visited, expect: &Expect, html: &str) {
    let text = text(dom(visited));
    for part in expect.seen {
        assert!(text.contains(part), "{part:?} is not in {text:?} of {html}");
    }
    for part in expect.unseen {
        assert!(!text.contains(part), "{part:?} is in {text:?} of {html}");
    }
}

/// Visits a page with actions.
pub(crate) async fn act(world: &World, html: &str, actions: &[wire::Action]) -> Result<Visited, BrowserError> {
    world.site.html("/page", html);
    let url = world.url("/page");
    world.visit(&Visit { actions, ..plain(&url) }).await
}

/// Parses actions as a caller writes them.
pub(crate) fn actions(list: impl Into<Value>) -> Vec<wire::Action> {
    let list: Value = list.into();
    wire::decode_options(json!({ "actions": list })).unwrap().actions
}

/// Returns the text of a captured page without hidden parts, with white space collapsed.
pub(crate) fn text(html: &str) -> String {
    const VOID: &[&str] = &[
        "br", "img", "input", "hr", "meta", "link", "source", "area", "base", "col", "embed", "frame", "param",
        "track", "wbr", "!DOCTYPE",
    ];
    let (mut text, mut rest) = (String::new(), html);
    let (mut hidden, mut raw): (usize, Option<&str>) = (0, None);
    while let Some(at) = rest.find('<') {
        if hidden == 0 && raw.is_none() {
            text.push_str(&rest[..at]);
            text.push(' ');
        }
        let end = rest[at..].find('>').map_or(rest.len(), |end| at + end + 1);
        let tag = &rest[at + 1..end - 1];
        let name = tag.trim_start_matches('/').split(char::is_whitespace).next().unwrap();
        match raw {
            Some(open) if tag.starts_with('/') && name == open => raw = None,
            Some(_) => {}
            None if matches!(name, "script" | "style") => raw = Some(name),
            None if VOID.contains(&name) => {}
            None if tag.starts_with('/') => hidden = hidden.saturating_sub(1),
            None if hidden > 0 || tag.contains("hidden=\"unseen\"") => hidden += 1,
            None => {}
        }
        rest = &rest[end..];
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
