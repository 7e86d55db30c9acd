//! Monitors over HTTP: from creation through checks, pages, credits and events to removal.

use e2e::{Client, TestApp};
use serde_json::{Value, json};
use testkit::Reply;

use crate::crawl::page;
use crate::webhooks::received;

/// Returns a body that creates a monitor of these paths.
fn body(app: &TestApp, paths: &[&str]) -> Value {
    let urls: Vec<String> = paths.iter().map(|path| app.page(path)).collect();
    json!({
        "name": "granite", "schedule": { "cron": "0 9 * * 1", "timezone": "Europe/Berlin" },
        "targets": [{ "type": "scrape", "urls": urls }],
    })
}

async fn create(client: &Client, body: &Value) -> Value {
    let made = client.post("/v2/monitor", body).await;
    assert_eq!(made.status, 200, "{}", made.body);
    made.body["data"].clone()
}

/// Runs a check of a monitor, and returns it with its pages when it is over.
async fn run(client: &Client, monitor: &Value) -> Value {
    let path = format!("/v2/monitor/{}", monitor["id"].as_str().unwrap());
    let begun = client.post(&format!("{path}/run"), &json!({ "origin": "test" })).await;
    assert_eq!(begun.status, 200, "{}", begun.body);
    let check = format!("{path}/checks/{}", begun.body["data"]["id"].as_str().unwrap());
    client.checked(&check).await
}

fn statuses(check: &Value) -> Vec<&str> {
    check["pages"].as_array().unwrap().iter().map(|page| page["status"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_followed_from_check_to_check() {
    let app = TestApp::with_keys().await;
    let client = app.team(Some(100), json!({})).await;
    app.site.html("/a", "<title>A</title><p>The price is 10 EUR.</p>");
    app.site.html("/b", "<p>The second page.</p>");
    app.site.html("/hook", "thanks");
    let mut body = body(&app, &["/a", "/b"]);
    body["webhook"] = json!({ "url": app.page("/hook"), "headers": { "X-Key": "hush" }, "metadata": { "who": "me" } });
    let monitor = create(&client, &body).await;
    assert_eq!(monitor["webhook"]["headers"]["X-Key"], "***");
    assert_eq!(monitor["schedule"], json!({ "cron": "0 9 * * 1", "timezone": "Europe/Berlin" }));
    assert_eq!((&monitor["judgeEnabled"], &monitor["retentionDays"]), (&json!(false), &json!(30)));
    assert!(app.site.requests().is_empty(), "nothing runs at creation");

    let first = run(&client, &monitor).await;
    assert_eq!((&first["status"], &first["trigger"]), (&json!("completed"), &json!("manual")));
    assert_eq!(statuses(&first), ["new", "new"]);
    assert_eq!((&first["actualCredits"], &first["billingStatus"]), (&json!(2), &json!("confirmed")));
    assert_eq!(first["pages"][0]["metadata"]["title"], "A");
    app.site.html("/a", "<title>A</title><p>The price is 12 EUR.</p>");
    app.site.respond("/b", Reply { status: 404, ..page("<p>Gone") });
    let second = run(&client, &monitor).await;
    assert_eq!(statuses(&second), ["changed", "removed"]);
    let changed = &second["pages"][0];
    assert!(changed["diff"]["text"].as_str().unwrap().contains("+The price is 12 EUR."), "{changed}");
    assert!(changed["diff"]["json"]["files"].is_array(), "{changed}");
    assert_eq!(changed["previousScrapeId"], first["pages"][0]["currentScrapeId"]);
    let third = run(&client, &monitor).await;
    assert_eq!(statuses(&third), ["same", "same"]);
    assert_eq!(client.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"], 94);

    let seen = received(&app, 9).await;
    let bodies: Vec<Value> = seen.iter().map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect();
    let of = |check: &Value| bodies.iter().filter(|body| body["id"] == check["id"]).collect::<Vec<_>>();
    let events = of(&second);
    assert_eq!(events.len(), 3);
    let end = events.last().unwrap();
    assert_eq!((&end["type"], &end["success"]), (&json!("monitor.check.completed"), &json!(true)));
    assert_eq!(end["data"][0]["summary"]["changed"], 1);
    assert_eq!(end["metadata"], json!({ "who": "me" }));
    let told = events.iter().find(|body| body["data"][0]["status"] == "changed").unwrap();
    assert_eq!(told["type"], "monitor.page");
    assert!(told["data"][0]["diff"]["text"].as_str().unwrap().contains("12 EUR"), "{told}");
    assert!(seen.iter().all(|seen| seen.headers.iter().any(|(name, value)| name == "x-key" && value == "hush")));

    let path = format!("/v2/monitor/{}", monitor["id"].as_str().unwrap());
    let shown = client.get(&path).await.body["data"].clone();
    assert_eq!(shown["lastCheckSummary"]["totalPages"], 2);
    assert!(shown["currentCheckId"].is_null() && shown["lastRunAt"].is_string(), "{shown}");
    let listed = client.get(&format!("{path}/checks?limit=2")).await.body["data"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!(listed[0]["id"], third["id"]);
    assert_eq!(client.delete(&path).await.body, json!({ "success": true }));
    assert_eq!(client.get(&path).await.status, 404);
    app.leaves_jobs();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fields_are_compared_by_value() {
    let price = |asked: &testkit::Asked| {
        let word = asked.user.split("price is ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap_or("0");
        json!({ "price": word.parse::<i64>().unwrap_or(0) }).to_string()
    };
    let model = testkit::ModelServer::start(price).await;
    let app = TestApp::with_model(&model, |_| {}).await;
    let client = app.anonymous();
    app.site.html("/a", "<p>The price is 10 EUR. One visitor.</p>");
    let mut body = body(&app, &["/a"]);
    let schema = json!({ "type": "object", "properties": { "price": { "type": "integer" } }, "required": ["price"] });
    body["targets"][0]["scrapeOptions"] =
        json!({ "formats": ["markdown", { "type": "changeTracking", "modes": ["json"], "schema": schema }] });
    let monitor = create(&client, &body).await;
    assert_eq!(statuses(&run(&client, &monitor).await), ["new"]);
    app.site.html("/a", "<p>The price is 10 EUR. Two visitors.</p>");
    let same = run(&client, &monitor).await;
    assert_eq!(statuses(&same), ["same"]);
    assert_eq!(same["pages"][0]["snapshot"]["json"], json!({ "price": 10 }));
    app.site.html("/a", "<p>The price is 12 EUR. Two visitors.</p>");
    let changed = run(&client, &monitor).await;
    assert_eq!(statuses(&changed), ["changed"]);
    assert_eq!(changed["pages"][0]["diff"]["json"], json!({ "price": { "previous": 10, "current": 12 } }));
    // An extraction that is lost is an error, and the next check compares with the values before it.
    model.fail_by(|_| testkit::ModelFault::Status(400));
    app.site.html("/a", "<p>The price is 12 EUR. Three visitors.</p>");
    let lost = run(&client, &monitor).await;
    assert_eq!((statuses(&lost), &lost["status"]), (vec!["error"], &json!("failed")));
    model.fail_by(|_| testkit::ModelFault::None);
    app.site.html("/a", "<p>The price is 13 EUR. Four visitors.</p>");
    let after = run(&client, &monitor).await;
    assert_eq!(after["pages"][0]["diff"]["json"], json!({ "price": { "previous": 12, "current": 13 } }));
    app.leaves_jobs();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_monitor_may_not_be_is_refused() {
    let app = TestApp::with(|config| {
        config.auth.mode = boot::config::AuthMode::Keys;
        config.monitors.max_per_team = 2;
    })
    .await;
    let (client, other) = (app.team(None, json!({})).await, app.team(None, json!({})).await);
    let good = body(&app, &["/a"]);
    let refused = async |change: fn(&mut Value), path: &str| {
        let mut body = good.clone();
        change(&mut body);
        let answer = client.post("/v2/monitor", &body).await;
        assert_eq!((answer.status, answer.body["details"][0]["path"].as_str()), (400, Some(path)), "{}", answer.body);
    };
    refused(|body| body["schedule"] = json!({ "cron": "* * * * *" }), "schedule.cron").await;
    refused(|body| body["schedule"] = json!({ "text": "now and then" }), "schedule.text").await;
    refused(|body| body["schedule"]["timezone"] = json!("Mars/Olympus"), "schedule.timezone").await;
    refused(|body| body["targets"][0]["urls"] = json!(["ftp://a.test/"]), "targets[0].urls[0]").await;
    refused(
        |body| body["targets"][0]["scrapeOptions"] = json!({ "headers": { "Cookie": "***" } }),
        "targets[0].scrapeOptions.headers.Cookie",
    )
    .await;
    refused(|body| body["targets"][0]["ignore"] = json!({ "selectors": 5 }), "targets[0].ignore.selectors").await;
    let broken = |body: &mut Value| body["targets"][0]["ignore"] = json!({ "patterns": ["\\d+", "(open"] });
    refused(broken, "targets[0].ignore.patterns[1]").await;
    refused(|body| body["targets"][0]["ignoreVolatile"] = json!(1), "targets[0].ignoreVolatile").await;
    refused(|body| body["webhook"] = json!({ "url": "https://hook.test/", "events": ["page.x"] }), "webhook.events[0]")
        .await;
    let private = app.team(None, json!({ "zeroDataRetention": true })).await;
    assert_eq!(private.post("/v2/monitor", &good).await.status, 403);

    let monitor = create(&client, &good).await;
    let path = format!("/v2/monitor/{}", monitor["id"].as_str().unwrap());
    assert_eq!(other.get(&path).await.status, 404);
    assert_eq!(other.patch(&path, &json!({ "name": "mine" })).await.status, 404);
    assert_eq!(other.post(&format!("{path}/run"), &json!({})).await.status, 404);
    assert_eq!(other.delete(&path).await.status, 404);
    assert_eq!(other.get("/v2/monitor").await.body["data"], json!([]));
    create(&client, &good).await;
    assert_eq!(client.post("/v2/monitor", &good).await.status, 403, "two are allowed");
    // A change that is refused changes nothing.
    let change = json!({ "name": "new", "schedule": { "cron": "1 1 1 1" } });
    assert_eq!(client.patch(&path, &change).await.status, 400);
    assert_eq!(client.get(&path).await.body["data"]["name"], "granite");
    app.leaves_jobs();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_sent_and_never_shown() {
    let app = TestApp::with_keys().await;
    let client = app.team(None, json!({})).await;
    app.site.html("/a", "<p>A page for those who are known.</p>");
    let mut body = body(&app, &["/a"]);
    body["targets"][0]["scrapeOptions"] = json!({ "headers": { "X-Token": "hush-hush" } });
    let monitor = create(&client, &body).await;
    assert_eq!(monitor["targets"][0]["scrapeOptions"]["headers"]["X-Token"], "***");
    let path = format!("/v2/monitor/{}", monitor["id"].as_str().unwrap());
    // What was shown is sent back with another name.
    let change = json!({ "name": "renamed", "targets": monitor["targets"] });
    let changed = client.patch(&path, &change).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    assert_eq!(changed.body["data"]["targets"], monitor["targets"], "the target keeps its id");
    assert_eq!(statuses(&run(&client, &monitor).await), ["new"]);
    let seen = app.site.requests();
    let page = seen.iter().find(|seen| seen.path == "/a").unwrap();
    assert!(page.headers.iter().any(|(name, value)| name == "x-token" && value == "hush-hush"));
    assert!(!client.get("/v2/monitor").await.body.to_string().contains("hush-hush"));
    app.leaves_jobs();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_that_are_ignored_are_no_change() {
    let app = TestApp::with_keys().await;
    let client = app.team(None, json!({})).await;
    let shown = |visitors: u32, price: u32| {
        format!("<main><p>The price is {price} EUR.</p><p class=count>{visitors} visitors</p></main>")
    };
    app.site.html("/a", shown(1, 10));
    let mut body = body(&app, &["/a"]);
    body["targets"][0]["ignore"] = json!({ "selectors": [".count"] });
    let monitor = create(&client, &body).await;
    assert_eq!(statuses(&run(&client, &monitor).await), ["new"]);
    app.site.html("/a", shown(2, 10));
    assert_eq!(statuses(&run(&client, &monitor).await), ["same"]);
    app.site.html("/a", shown(3, 11));
    assert_eq!(statuses(&run(&client, &monitor).await), ["changed"]);
    app.leaves_jobs();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_that_are_ignored_are_no_change_and_in_no_diff() {
    let app = TestApp::with_keys().await;
    let client = app.team(None, json!({})).await;
    let shown = |time: &str, price: u32| {
        format!(
            "<main><p>The price is {price} EUR, as of {time}.</p><p>Sponsored: {time}</p><p>Delivery is free.</p></main>"
        )
    };
    app.site.html("/a", shown("12:30", 10));
    let mut body = body(&app, &["/a"]);
    body["targets"][0]["scrapeOptions"] = json!({ "onlyMainContent": false });
    body["targets"][0]["ignore"] = json!({ "patterns": [", as of \\d+:\\d+", "^Sponsored: .*$"] });
    let monitor = create(&client, &body).await;
    assert_eq!(statuses(&run(&client, &monitor).await), ["new"]);
    app.site.html("/a", shown("12:31", 10));
    let same = run(&client, &monitor).await;
    assert_eq!(statuses(&same), ["same"]);
    assert!(same["pages"][0].get("diff").is_none(), "{same}");
    app.site.html("/a", shown("12:32", 11));
    let changed = run(&client, &monitor).await;
    let diff = changed["pages"][0]["diff"]["text"].as_str().unwrap();
    assert!(diff.contains("+The price is 11 EUR.") && !diff.contains("12:3"), "{diff}");
    // What was stored is whole: without the patterns it is compared as it was.
    let path = format!("/v2/monitor/{}", monitor["id"].as_str().unwrap());
    let mut target = monitor["targets"][0].clone();
    target.as_object_mut().unwrap().remove("ignore");
    assert_eq!(client.patch(&path, &json!({ "targets": [target] })).await.status, 200);
    app.site.html("/a", shown("12:33", 11));
    let changed = run(&client, &monitor).await;
    assert!(changed["pages"][0]["diff"]["text"].as_str().unwrap().contains("-Sponsored: 12:32"), "{changed}");
    app.leaves_jobs();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocks_that_change_each_time_are_told_twice_and_others_always() {
    let app = TestApp::with_keys().await;
    let client = app.team(None, json!({})).await;
    let shown = |visitors: u32, price: u32| {
        format!(
            "<main><h1>Tea</h1><p>The price is {price} EUR.</p><p>Visitor number {visitors} of this shop</p><p>Delivery is free.</p></main>"
        )
    };
    app.site.html("/a", shown(0, 10));
    let mut body = body(&app, &["/a"]);
    body["targets"][0]["scrapeOptions"] = json!({ "onlyMainContent": false });
    body["targets"][0]["ignoreVolatile"] = json!(true);
    let monitor = create(&client, &body).await;
    assert_eq!(statuses(&run(&client, &monitor).await), ["new"]);
    let mut told = Vec::new();
    let mut last = Value::Null;
    for visitors in 1..6 {
        app.site.html("/a", shown(visitors, 10));
        last = run(&client, &monitor).await;
        told.push(last["pages"][0]["status"].as_str().unwrap().to_owned());
    }
    assert_eq!(told, ["changed", "changed", "same", "same", "same"]);
    assert_eq!(last["pages"][0]["metadata"]["volatileBlocks"], json!(["Visitor number 5 of this shop"]));
    // Nothing has changed at all: it is still known.
    let still = run(&client, &monitor).await;
    assert_eq!(still["pages"][0]["metadata"]["volatileBlocks"], json!(["Visitor number 5 of this shop"]));
    app.site.html("/a", shown(6, 11));
    let changed = run(&client, &monitor).await;
    let diff = changed["pages"][0]["diff"]["text"].as_str().unwrap();
    assert!(diff.contains("+The price is 11 EUR.") && !diff.contains("Visitor"), "{diff}");
    // Six checks have changed it.
    for _ in 0..12 {
        assert_eq!(statuses(&run(&client, &monitor).await), ["same"]);
    }
    app.site.html("/a", shown(7, 11));
    assert_eq!(statuses(&run(&client, &monitor).await), ["changed"], "it was quiet for twelve checks");
    app.leaves_jobs();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_without_content_and_a_selector_without_elements_are_warnings() {
    let app = TestApp::with_keys().await;
    let client = app.team(None, json!({})).await;
    app.site.html("/a", "<main><p class=price>10 EUR</p><p class=ad>Figs</p></main>");
    let mut body = body(&app, &["/a"]);
    body["targets"][0]["scrapeOptions"] = json!({ "includeTags": [".price", ".ad"] });
    body["targets"][0]["ignore"] = json!({ "selectors": [".ad"] });
    let monitor = create(&client, &body).await;
    let warning = |check: &Value| check["pages"][0]["metadata"].get("warning").cloned().unwrap_or_default();
    assert_eq!(warning(&run(&client, &monitor).await), Value::Null);
    app.site.html("/a", "<main><p class=price>10 EUR</p><p>Figs</p></main>");
    let without = run(&client, &monitor).await;
    assert_eq!(statuses(&without), ["same"]);
    assert!(warning(&without).as_str().unwrap().contains("the selector `.ad` meets nothing any more"), "{without}");
    app.site.html("/a", "<main><p class=cost>10 EUR</p></main>");
    let empty = run(&client, &monitor).await;
    assert_eq!(statuses(&empty), ["changed"]);
    let warning = warning(&empty).as_str().unwrap().to_owned();
    assert!(
        warning.contains("`.price` meets nothing") && warning.contains("the content of the page is empty"),
        "{warning}"
    );
    app.leaves_jobs();
}
