//! Whole answers of the API, compared with `answers/<name>.json`. `UPDATE=1 cargo xtask test answers` rewrites the files.
//!
//! Other tests read single members; these notice every member that appears, disappears or changes.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use e2e::{Answer, Client, TestApp};
use regex::{Captures, Regex};
use serde_json::{Value, json};

use crate::ARTICLE;

/// Members that differ between two runs.
const VARYING: [&str; 2] = ["duration", "hint"];

/// A caller whose answers are compared with the files.
struct Snapshots {
    caller: Client,
    steady: Steady,
    differ: Vec<String>,
}

impl Snapshots {
    fn of(caller: Client) -> Self {
        Self { caller, steady: Steady::default(), differ: Vec::new() }
    }

    async fn get(&mut self, name: &str, path: &str) -> Answer {
        let answer = self.caller.get(path).await;
        self.compare(name, &json!({ "request": format!("GET {path}") }), &answer);
        answer
    }

    async fn delete(&mut self, name: &str, path: &str) {
        let answer = self.caller.delete(path).await;
        self.compare(name, &json!({ "request": format!("DELETE {path}") }), &answer);
    }

    async fn post(&mut self, name: &str, path: &str, body: Value) -> Answer {
        let answer = self.caller.post(path, &body).await;
        self.compare(name, &json!({ "request": format!("POST {path}"), "body": body }), &answer);
        answer
    }

    /// Starts a run and returns the path to read it at.
    async fn start(&mut self, name: &str, path: &str, body: Value) -> String {
        let answer = self.post(name, path, body).await;
        format!("{path}/{}", answer.body["id"].as_str().unwrap_or_default())
    }

    #[expect(clippy::disallowed_methods, reason = "UPDATE=1 is how a person accepts new answers")]
    fn compare(&mut self, name: &str, asked: &Value, answer: &Answer) {
        let mut found = json!({ "asked": asked, "status": answer.status, "answer": answer.body });
        self.steady.value(&mut found);
        let found = serde_json::to_string_pretty(&found).unwrap() + "\n";
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("answers").join(format!("{name}.json"));
        if std::env::var_os("UPDATE").is_some() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &found).unwrap();
        } else if fs::read_to_string(&file).unwrap_or_default() != found {
            self.differ.push(format!("{name} is now\n{found}"));
        }
    }
}

impl Drop for Snapshots {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.differ.is_empty(), "{} answers differ: {}", self.differ.len(), self.differ.join("\n"));
        }
    }
}

/// Replaces what differs between two runs: ports, ids, times and secrets.
struct Steady {
    patterns: Vec<(Regex, &'static str)>,
    id: Regex,
    ids: HashMap<String, usize>,
}

impl Default for Steady {
    fn default() -> Self {
        let patterns = [
            (r"site\.test:\d+", "site.test"),
            (r"127\.0\.0\.1:\d+", "quarry.test"),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)", "<time>"),
            (r"(fc|qy|whsec)[-_][0-9A-Za-z_-]{16,}", "<secret>"),
            (r"until=\d+", "until=<time>"),
            (r"signature=[0-9A-Za-z_%-]+", "signature=<signature>"),
            (r"\d{4}-\d\d-\d\d\b", "<date>"),
        ];
        let patterns = patterns.map(|(pattern, put)| (Regex::new(pattern).unwrap(), put)).into();
        let id = Regex::new(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap();
        Self { patterns, id, ids: HashMap::new() }
    }
}

impl Steady {
    fn value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => {
                for (name, member) in members {
                    if VARYING.contains(&name.as_str()) {
                        *member = json!("<varies>");
                    }
                    self.value(member);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, text: &str) -> String {
        let ids = &mut self.ids;
        let numbered = self.id.replace_all(text, |found: &Captures<'_>| {
            let next = ids.len() + 1;
            format!("<id {}>", ids.entry(found[0].to_owned()).or_insert(next))
        });
        let mut text = numbered.into_owned();
        for (pattern, put) in &self.patterns {
            text = pattern.replace_all(&text, *put).into_owned();
        }
        text
    }
}

#[tokio::test]
async fn of_scrapes_and_maps() {
    let app = TestApp::with_keys().await;
    app.site.html("/stone", ARTICLE);
    let mut team = Snapshots::of(app.team(Some(100), json!({})).await);
    let page = app.page("/stone");
    let formats = json!(["markdown", "html", "rawHtml", "links", "images"]);
    let scraped = team.post("scrape", "/v2/scrape", json!({ "url": page, "formats": formats })).await;
    let path = format!("/v2/scrape/{}", scraped.body["data"]["metadata"]["scrapeId"].as_str().unwrap());
    team.get("scrape.kept", &path).await;
    let attributes = json!([{ "type": "attributes", "selectors": [{ "selector": "a", "attribute": "href" }] }]);
    team.post("scrape.attributes", "/v2/scrape", json!({ "url": page, "formats": attributes })).await;
    team.post("scrape.not_found", "/v2/scrape", json!({ "url": app.page("/absent") })).await;
    team.post("map", "/v2/map", json!({ "url": page })).await;
    team.get("parse.formats", "/v2/parse/formats").await;
}

#[tokio::test]
async fn of_runs() {
    let app = TestApp::with_keys().await;
    app.site.html("/stone", ARTICLE);
    app.site.html("/stone/granite", "<title>Granite</title><p>A hard stone.");
    let mut team = Snapshots::of(app.team(Some(100), json!({})).await);
    let page = app.page("/stone");
    let crawl = team.start("crawl.start", "/v2/crawl", json!({ "url": page, "limit": 1, "sitemap": "skip" })).await;
    team.caller.ended(&crawl).await;
    team.get("crawl.status", &crawl).await;
    team.get("crawl.errors", &format!("{crawl}/errors")).await;
    team.delete("crawl.finished", &crawl).await;
    team.get("crawl.active", "/v2/crawl/active").await;
    let urls = json!([app.page("/stone/granite"), "http://absent.test/"]);
    let batch = team.start("batch.start", "/v2/batch/scrape", json!({ "urls": urls, "maxConcurrency": 1 })).await;
    team.caller.ended(&batch).await;
    team.get("batch.status", &batch).await;
    team.get("batch.errors", &format!("{batch}/errors")).await;
    let listed = json!({ "urls": [page, "not a URL"], "ignoreInvalidURLs": true });
    let partly = team.start("batch.invalid_urls", "/v2/batch/scrape", listed).await;
    team.caller.ended(&partly).await;
    team.get("team.activity", "/v2/team/activity").await;
    team.get("team.credit_usage", "/v2/team/credit-usage").await;
    team.get("team.queue_status", "/v2/team/queue-status").await;
}

#[tokio::test]
async fn of_monitors() {
    let app = TestApp::with_keys().await;
    app.site.html("/stone", ARTICLE);
    app.site.html("/hook", "thanks");
    let mut team = Snapshots::of(app.team(Some(100), json!({})).await);
    let body = json!({
        "name": "granite",
        "schedule": { "cron": "0 * * * *", "timezone": "Europe/Berlin" },
        "targets": [{
            "type": "scrape", "urls": [app.page("/stone")], "scrapeOptions": { "headers": { "Cookie": "a=b" } }, "label": "x",
        }],
        "webhook": { "url": app.page("/hook"), "headers": { "Authorization": "secret" }, "events": ["monitor.page"] },
    });
    let made = team.post("monitor.create", "/v2/monitor", body).await;
    let monitor = format!("/v2/monitor/{}", made.body["data"]["id"].as_str().unwrap_or_default());
    let check = team.caller.post(&format!("{monitor}/run"), &json!({})).await;
    let check = format!("{monitor}/checks/{}", check.body["data"]["id"].as_str().unwrap_or_default());
    team.caller.checked(&check).await;
    team.get("monitor.check", &check).await;
    team.get("monitor.checks", &format!("{monitor}/checks")).await;
    team.get("monitor.read", &monitor).await;
    let faults = json!({ "name": "", "schedule": {}, "targets": [{ "type": "scrape", "urls": ["nope"] }] });
    team.post("monitor.faults", "/v2/monitor", faults).await;
    team.delete("monitor.remove", &monitor).await;
    team.get("monitor.removed", &monitor).await;
}

#[tokio::test]
async fn of_refusals() {
    let app = TestApp::with_keys().await;
    app.site.html("/stone", ARTICLE);
    let page = app.page("/stone");
    let mut team = Snapshots::of(app.team(Some(1), json!({})).await);
    team.post("refused.unknown_member", "/v2/scrape", json!({ "url": page, "onlyMain": true })).await;
    let faults = json!({ "url": "ftp://site.test/", "waitFor": -1, "formats": ["markup"] });
    team.post("refused.faults", "/v2/scrape", faults).await;
    team.post("refused.address", "/v2/scrape", json!({ "url": "http://10.0.0.1/" })).await;
    team.post("refused.unsupported", "/v2/scrape", json!({ "url": page, "formats": ["screenshot"] })).await;
    team.post("refused.credits", "/v2/crawl", json!({ "url": page, "limit": 10 })).await;
    team.get("refused.unknown_run", "/v2/crawl/018f0000-0000-7000-8000-000000000000").await;
    team.get("refused.unknown_path", "/v2/absent").await;
    let mut stranger = Snapshots::of(app.anonymous());
    stranger.post("refused.no_key", "/v2/scrape", json!({ "url": page })).await;
}

#[tokio::test]
async fn of_the_operator() {
    let app = TestApp::with_keys().await;
    let mut operator = Snapshots::of(app.operator());
    let body = json!({ "name": "Masons", "credits": 10, "concurrency": 4, "rateLimit": 60 });
    let made = operator.post("admin.create_team", "/admin/teams", body).await;
    let team = format!("/admin/teams/{}", made.body["teamId"].as_str().unwrap());
    operator.get("admin.team", &team).await;
    operator.post("admin.create_key", &format!("{team}/keys"), json!({ "name": "second" })).await;
    operator.get("admin.keys", &format!("{team}/keys")).await;
    operator.get("admin.deliveries", &format!("{team}/webhooks/deliveries")).await;
    operator.get("health", "/health").await;
    operator.get("root", "/").await;
}
