//! The command `quarry-server lists`, and a server that uses the downloaded lists.

use std::fs;
use std::path::Path;

use e2e::TestApp;
use serde_json::json;
use testkit::{Body, Reply, Site};

use crate::browser::{asked, reply};
use crate::process::run;

const LIST: &str = "[Adblock Plus 2.0]\n! Title: Mine\n||promo.test^\n##.my-banner\n";

/// Downloads lists of a site, and returns whether all succeeded and the output.
fn update(data: &Path, site: &Site, paths: &[&str], allow: &str) -> (bool, String) {
    let urls: Vec<String> = paths.iter().map(|path| site.url(path).to_string()).collect();
    let urls = urls.join(",");
    let environment = [("QUARRY__BROWSER__LIST_URLS", urls.as_str()), ("QUARRY__EGRESS__ALLOW", allow)];
    let ended = run(data, &["lists", "update"], &environment);
    let text = [ended.stdout, ended.stderr].concat();
    (ended.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// Returns the names of all files in the folder of lists.
fn names(data: &Path) -> Vec<String> {
    let entries = fs::read_dir(data.join("lists")).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_are_fetched_into_the_data_folder_and_renewed() {
    let (site, data) = (Site::start().await, tempfile::tempdir().unwrap());
    let allow = site.addr().to_string();
    site.respond("/a/mine.txt", reply("text/plain", LIST));
    site.respond("/privacy", reply("text/plain", "! Title: Other\n||tracker.test^\n"));
    let (fine, said) = update(data.path(), &site, &["/a/mine.txt", "/privacy"], &allow);
    assert!(fine && said.contains(&format!("mine.txt: 2 rules, {} bytes\n", LIST.len())), "{said}");
    assert!(said.contains("privacy.txt: 1 rules, ") && said.contains("restart a running server"), "{said}");
    assert_eq!(names(data.path()), ["mine.txt", "privacy.txt"]);
    let newer = format!("{LIST}||more.test^\n");
    site.respond("/a/mine.txt", reply("text/plain", &newer));
    let (fine, said) = update(data.path(), &site, &["/a/mine.txt"], &allow);
    assert!(fine, "{said}");
    assert_eq!(fs::read_to_string(data.path().join("lists/mine.txt")).unwrap(), newer);
    assert_eq!(names(data.path()), ["mine.txt", "privacy.txt"]);
    let (fine, said) = update(data.path(), &site, &["/a/mine.txt", "/b/mine.txt"], &allow);
    assert!(!fine && said.contains("another list has the same file name"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_list_never_replaces_one() {
    let (site, data) = (Site::start().await, tempfile::tempdir().unwrap());
    let allow = site.addr().to_string();
    site.respond("/good.txt", reply("text/plain", LIST));
    site.respond("/mine.txt", reply("text/plain", LIST));
    let (fine, said) = update(data.path(), &site, &["/mine.txt"], &allow);
    assert!(fine, "{said}");
    let large =
        Body::Repeat { prefix: LIST.into(), unit: "||ad.test^\n".into(), bytes: Some(33 << 20), suffix: "".into() };
    for (bad, why) in [
        (reply("text/html", "<!doctype html><title>Moved</title>"), "the response is a web page"),
        (reply("text/plain", "come back later"), "the response is not a filter list"),
        (reply("text/plain", "[Adblock Plus 2.0]\n! Title: Mine\n"), "the list has no rules"),
        (Reply { status: 404, ..reply("text/plain", LIST) }, "the server answered 404"),
        (Reply { body: large, ..Reply::default() }, "the list is larger than 32 MiB"),
        (reply("text/plain", LIST).header("Content-Length", "100000"), "invalid response from 127.0.0.1"),
    ] {
        site.respond("/mine.txt", bad);
        let (fine, said) = update(data.path(), &site, &["/mine.txt", "/good.txt"], &allow);
        assert!(!fine && said.contains(&format!("quarry-server: mine.txt: {why}")), "{why}: {said}");
        // The other list is updated nevertheless.
        assert!(said.contains("good.txt: 2 rules"), "{why}: {said}");
        assert_eq!(fs::read_to_string(data.path().join("lists/mine.txt")).unwrap(), LIST, "{why}");
        assert_eq!(names(data.path()), ["good.txt", "mine.txt"], "{why}");
    }
    let before = site.connections();
    let (fine, said) = update(data.path(), &site, &["/good.txt"], "");
    assert!(!fine && said.contains("is refused") && site.connections() == before, "{said}");
}

#[tokio::test]
async fn a_server_goes_by_the_lists_of_its_data_folder() {
    let app = TestApp::with(|config| {
        config.browser.enabled = true;
        let lists = config.data.dir.join("lists");
        fs::create_dir_all(&lists).unwrap();
        fs::write(lists.join("mine.txt"), LIST).unwrap();
    })
    .await;
    app.dns.set("promo.test", app.site.addr().ip().into());
    let ad = format!("http://promo.test:{}/ad.js", app.site.addr().port());
    app.site.respond("/ad.js", reply("text/javascript", "document.body.append('ADVERTISEMENT')"));
    let own = "document.body.append('SCRIPTED')";
    app.site.html("/", format!("<h1>Granite</h1><p>A hard stone.</p><script>{own}</script><script src={ad}></script>"));
    for (block, shown) in [(true, false), (false, true)] {
        let body = json!({
            "url": app.page("/"), "waitFor": 1, "maxAge": 0, "onlyMainContent": false, "blockAds": block
        });
        let answer = app.anonymous().scrape(&body).await;
        assert!(answer.status == 200 && answer.markdown().contains("SCRIPTED"), "{}", answer.body);
        assert_eq!(answer.markdown().contains("ADVERTISEMENT"), shown, "{}", answer.body);
        assert_eq!(asked(&app, "/ad.js"), usize::from(shown));
    }
}
