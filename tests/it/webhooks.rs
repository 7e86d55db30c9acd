//! Webhook deliveries of a job, and their records.

use std::time::Duration;

use e2e::{Client, TestApp};
use serde_json::{Value, json};
use testkit::Seen;

use crate::crawl::{linked_site, page};

/// Creates a team that may use zero data retention, and returns its id and a client with its key.
async fn team(app: &TestApp) -> (String, Client) {
    let body = json!({"name": "a team", "credits": 100_000, "rateLimit": 0, "flags": {"zeroDataRetention": true}});
    let made = app.operator().post("/admin/teams", &body).await.body;
    (made["teamId"].as_str().unwrap().to_owned(), app.bearer(made["apiKey"].as_str().unwrap()))
}

/// Waits for this number of requests to the receiver, and returns them.
pub(crate) async fn received(app: &TestApp, count: usize) -> Vec<Seen> {
    for _ in 0..200 {
        let mut seen = app.site.requests();
        seen.retain(|seen| seen.method == "POST");
        if seen.len() >= count {
            return seen;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("fewer than {count} events after 10 s");
}

/// Returns the log of the team's deliveries, once none of them is in progress.
async fn log(app: &TestApp, team: &str) -> Vec<Value> {
    for _ in 0..200 {
        let log = app.operator().get(&format!("/admin/teams/{team}/webhooks/deliveries")).await.body;
        let entries = log["data"].as_array().unwrap().clone();
        if entries.iter().all(|entry| entry["state"] != "pending") {
            return entries;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("deliveries are still under way after 10 s");
}

fn bodies(seen: &[Seen]) -> Vec<Value> {
    seen.iter().map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_tells_what_happens_in_order_and_signed() {
    let app = TestApp::with_keys().await;
    linked_site(&app, 5);
    app.site.html("/hook", "thanks");
    let (id, caller) = team(&app).await;
    let hook = json!({"url": app.page("/hook"), "headers": {"X-Mine": "yes"}, "metadata": {"run": 7}});
    let job = caller.start("/v2/crawl", &json!({"url": app.page("/"), "webhook": hook})).await;
    let documents = caller.ended(&job).await.body["completed"].as_u64().unwrap();
    assert_eq!(documents, 5);
    let seen = received(&app, 7).await;
    let bodies = bodies(&seen);
    let types: Vec<&str> = bodies.iter().map(|body| body["type"].as_str().unwrap()).collect();
    assert_eq!((types[0], types[6]), ("crawl.started", "crawl.completed"));
    assert!(types[1..6].iter().all(|name| *name == "crawl.page"), "{types:?}");
    let shown = app.operator().get(&format!("/admin/teams/{id}/webhook-secret")).await.body;
    let secret = shown["data"]["secret"].as_str().unwrap();
    for (seen, body) in seen.iter().zip(&bodies) {
        assert!(::webhooks::verify(secret, &seen.body, seen.header("x-service-signature")));
        assert_eq!((seen.header("x-mine"), &body["metadata"]), ("yes", &json!({"run": 7})));
        assert!(job.ends_with(body["id"].as_str().unwrap()));
    }
    assert!(bodies[1]["data"][0]["markdown"].as_str().unwrap().contains("Words of page"));
    let log = log(&app, &id).await;
    assert!(log.len() == 7 && log.iter().all(|entry| entry["state"] == "delivered"), "{log:?}");

    let first = &log[0];
    let path = format!("/admin/webhooks/deliveries/{}/redeliver", first["id"].as_str().unwrap());
    let again = app.operator().post(&path, &json!({})).await;
    assert_eq!((again.status, again.code()), (409, "DELIVERY_GONE"), "what was delivered is not kept: {}", again.body);
    let sent = seen.iter().find(|seen| seen.header("webhook-id") == first["id"]).unwrap();
    assert_eq!((&first["bodyBytes"], &first["status"]), (&json!(sent.body.len()), &json!(200)));
    assert_eq!(first["bodyDigest"].as_str().map(str::len), Some(64));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_private_job_no_delivery_is_kept() {
    let app = TestApp::with_keys().await;
    app.site.others(|_| Some(page("<p>a page of a private job")));
    let (id, caller) = team(&app).await;
    let hook = json!({"url": app.page("/hook"), "events": ["page"]});
    for (path, mut request) in
        [("/v2/batch/scrape", json!({"urls": [app.page("/a")]})), ("/v2/crawl", json!({"url": app.page("/b")}))]
    {
        request["webhook"] = hook.clone();
        request["zeroDataRetention"] = json!(true);
        let job = caller.start(path, &request).await;
        assert_eq!(caller.ended(&job).await.body["status"], "completed");
    }
    received(&app, 2).await;
    assert_eq!(log(&app, &id).await, Vec::<Value>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_fails_is_asked_again_later_and_holds_up_nothing() {
    let app = TestApp::with_keys().await;
    // Its next attempt is due later.
    app.leaves_jobs();
    linked_site(&app, 3);
    let (id, caller) = team(&app).await;
    let hook = json!({"url": app.page("/nobody"), "events": ["completed"]});
    let job = caller.start("/v2/crawl", &json!({"url": app.page("/"), "webhook": hook})).await;
    assert_eq!(caller.ended(&job).await.body["status"], "completed");
    received(&app, 1).await;
    for _ in 0..200 {
        let log = app.operator().get(&format!("/admin/teams/{id}/webhooks/deliveries")).await.body;
        if log["data"][0]["attempts"] == 1 {
            assert_eq!((&log["data"][0]["state"], &log["data"][0]["status"]), (&json!("pending"), &json!(404)));
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the attempt is not in the log");
}
