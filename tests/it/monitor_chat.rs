//! Chat channels of a team: told when a check has changes, not when they are noise, and seen by its operator alone.

use boot::config::AuthMode;
use e2e::{Client, TestApp};
use serde_json::{Value, json};
use testkit::{Asked, ModelServer, Seen};

use crate::webhooks::received;

/// Says that a change matters if its diff has a new price.
fn judge(asked: &Asked) -> String {
    let is_meaningful = asked.user.lines().any(|line| line.trim_start().starts_with('+') && line.contains("EUR"));
    json!({
        "meaningful": is_meaningful, "confidence": "high", "reason": "about a <!channel> price",
        "meaningfulChanges": [],
    })
    .to_string()
}

fn page(app: &TestApp, text: &str) {
    app.site.html("/a", format!("<title>Tea &amp; @everyone *now*</title><p>{text}</p>"));
}

/// Runs a check, and returns it when it is over.
async fn run(client: &Client, monitor: &Value) -> Value {
    let path = format!("/v2/monitor/{}", monitor["id"].as_str().unwrap());
    let begun = client.post(&format!("{path}/run"), &json!({})).await;
    assert_eq!(begun.status, 200, "{}", begun.body);
    client.checked(&format!("{path}/checks/{}", begun.body["data"]["id"].as_str().unwrap())).await
}

/// Returns the bodies of the messages to a channel.
fn to(seen: &[Seen], path: &str) -> Vec<Value> {
    let to = seen.iter().filter(|seen| seen.path == path);
    to.map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn channels_are_told_of_what_matters() {
    let model = ModelServer::start(judge).await;
    let app = TestApp::with_model(&model, |config| config.auth.mode = AuthMode::Keys).await;
    let channels = json!([
        { "kind": "slack", "url": app.page("/hush/slack?token=hush") },
        { "kind": "json", "url": app.page("/hush/json") },
    ]);
    let made = app.operator().post("/admin/teams", &json!({ "name": "a team", "chatChannels": channels })).await;
    assert_eq!(made.status, 200, "{}", made.body);
    let client = app.bearer(made.body["apiKey"].as_str().unwrap());
    ["/hush/slack?token=hush", "/hush/json"].iter().for_each(|path| app.site.html(path, "ok"));
    page(&app, "The price is 10 EUR.");
    let body = json!({
        "name": "Prices <https://evil.test|here>", "goal": "new prices", "schedule": { "cron": "0 9 * * 1" },
        "targets": [{ "type": "scrape", "urls": [app.page("/a")] }],
    });
    let monitor = client.post("/v2/monitor", &body).await.body["data"].clone();

    // New pages tell, noise and pages that are the same do not, and what matters does. The monitor wants no mails.
    let new = run(&client, &monitor).await;
    received(&app, 2).await;
    app.site.html("/a", "<title>Tea</title><p>The weather is fine.</p>");
    let noise = run(&client, &monitor).await;
    assert_eq!(noise["pages"][0]["judgment"]["meaningful"], false, "{noise}");
    run(&client, &monitor).await;
    page(&app, "The price is 12 EUR.");
    let matters = run(&client, &monitor).await;
    let seen = received(&app, 4).await;
    assert_eq!(seen.len(), 4);
    let objects = to(&seen, "/hush/json");
    let checks: Vec<&Value> = objects.iter().map(|object| &object["checkId"]).collect();
    assert_eq!(checks, [&new["id"], &matters["id"]]);
    assert_eq!((&objects[1]["monitorId"], &objects[1]["type"]), (&monitor["id"], &json!("monitor.check")));
    assert_eq!((&objects[1]["summary"]["changed"], &objects[1]["status"]), (&json!(1), &json!("completed")));
    assert_eq!(
        objects[1]["pages"],
        json!([{
            "url": app.page("/a"), "title": "Tea & @everyone *now*", "status": "changed", "isMeaningful": true,
            "note": "about a <!channel> price",
        }])
    );
    let texts = to(&seen, "/hush/slack?token=hush");
    let text = texts[1]["text"].as_str().unwrap().replace('\u{200b}', "");
    let want = format!(
        "*Prices &lt;https://evil.test｜here&gt;*: 1 changed\n\
         • changed: Tea &amp; @everyone ＊now＊ {} – about a &lt;!channel&gt; price",
        app.page("/a")
    );
    assert_eq!(text, want);
    assert!(!texts[1]["text"].as_str().unwrap().contains("@everyone"), "the mention is broken");
    assert_eq!(seen[0].header("content-type"), "application/json");

    // The operator sees the host, the team nothing.
    let path = format!("/admin/teams/{}", made.body["teamId"].as_str().unwrap());
    let shown = app.operator().get(&path).await.body["data"]["chatChannels"].clone();
    let host = app.page("/***");
    for (index, kind) in ["slack", "json"].into_iter().enumerate() {
        assert_eq!(shown[index]["kind"], kind);
        assert!(shown[index]["url"].as_str().unwrap().starts_with(&host), "{shown}");
    }
    let own = format!("/v2/monitor/{}", monitor["id"].as_str().unwrap());
    let check = format!("{own}/checks/{}", matters["id"].as_str().unwrap());
    for path in ["/v2/monitor", &own, &check, "/v2/team/activity", "/v2/team/credit-usage"] {
        let answer = client.get(path).await;
        let text = answer.body.to_string();
        assert!(answer.status == 200 && !text.contains("hush") && !text.contains("chatChannels"), "{path}: {text}");
    }
    for body in [json!({ "chatChannels": [] }), json!({ "notification": { "chat": {} } })] {
        assert_eq!(client.patch(&own, &body).await.status, 400);
    }

    // Without channels nothing is told.
    let kept = app.operator().patch(&path, &json!({ "chatChannels": [shown[1]] })).await;
    assert_eq!(kept.body["data"]["chatChannels"], json!([shown[1]]));
    let fault = app.operator().patch(&path, &json!({ "chatChannels": [shown[0]] })).await;
    assert_eq!((fault.status, &fault.body["details"][0]["path"]), (400, &json!("chatChannels[0].url")));
    let none = app.operator().patch(&path, &json!({ "chatChannels": null })).await;
    assert_eq!(none.body["data"]["chatChannels"], json!([]));
    page(&app, "The price is 13 EUR.");
    run(&client, &monitor).await;
    let again = json!({ "chatChannels": [{ "kind": "json", "url": app.page("/hush/json") }] });
    assert_eq!(app.operator().patch(&path, &again).await.status, 200);
    page(&app, "The price is 14 EUR.");
    let last = run(&client, &monitor).await;
    let seen = received(&app, 5).await;
    assert_eq!((seen.len(), &to(&seen[4..], "/hush/json")[0]["checkId"]), (5, &last["id"]));
    app.leaves_jobs();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn internal_addresses_are_not_told() {
    let app = TestApp::with_keys().await;
    // The service may reach its site by name, and no address of its own.
    let inside = format!("http://{}/hush", app.address());
    let made = json!({ "name": "a team", "chatChannels": [{ "kind": "slack", "url": inside }] });
    let made = app.operator().post("/admin/teams", &made).await;
    let client = app.bearer(made.body["apiKey"].as_str().unwrap());
    page(&app, "A page.");
    let body = json!({
        "name": "m", "schedule": { "cron": "0 9 * * 1" }, "targets": [{ "type": "scrape", "urls": [app.page("/a")] }],
    });
    let monitor = client.post("/v2/monitor", &body).await.body["data"].clone();
    run(&client, &monitor).await;
    for _ in 0..200 {
        let metrics = app.operator().get("/metrics").await.body.as_str().unwrap_or_default().to_owned();
        if metrics.contains("quarry_chat_messages_total{kind=\"slack\",result=\"retried\"} 1") {
            app.leaves_jobs();
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the refusal is not counted");
}
