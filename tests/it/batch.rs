//! Tests of `/v2/batch/scrape`.

use std::collections::BTreeSet;

use e2e::TestApp;
use http::Method;
use serde_json::{Value, json};

use crate::crawl::linked_site;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_of_the_list_is_scraped() {
    let app = TestApp::with_keys().await;
    linked_site(&app, 30);
    let team = app.team(Some(100), json!({})).await;
    let urls: Vec<String> = (1..=20).map(|n| app.page(&format!("/p/{n}"))).collect();
    let answer = team.post("/v2/batch/scrape", &json!({"urls": urls, "formats": ["markdown", "links"]})).await;
    assert_eq!((answer.status, &answer.body["success"]), (200, &json!(true)), "{}", answer.body);
    assert_eq!(answer.body["invalidURLs"], json!([]));
    let id = answer.body["id"].as_str().unwrap();
    assert!(answer.body["url"].as_str().unwrap().ends_with(&format!("/v2/batch/scrape/{id}")), "{}", answer.body);
    let job = format!("/v2/batch/scrape/{id}");
    let ended = team.ended(&job).await.body;
    assert_eq!((&ended["status"], &ended["total"], &ended["completed"]), (&json!("completed"), &json!(20), &json!(20)));
    assert_eq!(ended["creditsUsed"], 20);
    let documents = team.documents(&job).await;
    let found: BTreeSet<&str> = documents.iter().map(|d| d["metadata"]["sourceURL"].as_str().unwrap()).collect();
    assert_eq!(found, urls.iter().map(String::as_str).collect());
    assert!(documents.iter().all(|document| document["links"].is_array()));
    assert_eq!(team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"], 80);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_url_is_told_or_refused() {
    let app = TestApp::start().await;
    linked_site(&app, 3);
    let urls = json!([app.page("/p/1"), "not a url", "mailto:a@b.test"]);
    let started = app.anonymous().post("/v2/batch/scrape", &json!({"urls": urls})).await;
    assert_eq!(started.body["invalidURLs"], json!(["not a url", "mailto:a@b.test"]), "{}", started.body);
    let job = format!("/v2/batch/scrape/{}", started.body["id"].as_str().unwrap());
    assert_eq!(app.anonymous().ended(&job).await.body["completed"], 1);
    let refused = app.anonymous().post("/v2/batch/scrape", &json!({"urls": urls, "ignoreInvalidURLs": false})).await;
    assert_eq!((refused.status, refused.code()), (400, "BAD_REQUEST"));
    assert!(refused.body["error"].as_str().unwrap().contains("urls[1]"), "{}", refused.body);
    for body in [json!({}), json!({"urls": []}), json!({"urls": ["x"]}), json!({"urls": "https://a.test/"})] {
        let refused = app.anonymous().post("/v2/batch/scrape", &body).await;
        assert_eq!(refused.status, 400, "{body}: {}", refused.body);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_fails_is_an_error_of_the_batch() {
    let app = TestApp::with_keys().await;
    linked_site(&app, 3);
    let team = app.team(Some(10), json!({})).await;
    let urls = [app.page("/p/1"), "http://nowhere.test/x".to_owned(), "http://127.0.0.1:1/".to_owned()];
    let job = team.start("/v2/batch/scrape", &json!({"urls": urls})).await;
    let ended = team.ended(&job).await.body;
    assert_eq!(
        (&ended["status"], &ended["completed"], &ended["creditsUsed"]),
        (&json!("completed"), &json!(1), &json!(1))
    );
    let errors = team.get(&format!("{job}/errors")).await.body;
    let codes: BTreeSet<&str> =
        errors["errors"].as_array().unwrap().iter().map(|error| error["code"].as_str().unwrap()).collect();
    assert_eq!(codes, BTreeSet::from(["SCRAPE_DNS_RESOLUTION_ERROR", "SCRAPE_TARGET_BLOCKED"]), "{errors}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_added_while_it_runs() {
    let app = TestApp::with_keys().await;
    linked_site(&app, 30);
    // The batch stays open until this is dropped.
    let held = app.site.hold("/slow", crate::crawl::page("<p>slow"));
    let team = app.team(Some(100), json!({})).await;
    let job = team.start("/v2/batch/scrape", &json!({"urls": [app.page("/slow")]})).await;
    let id = job.rsplit('/').next().unwrap().to_owned();
    let more = json!({"urls": [app.page("/p/1"), app.page("/p/2")], "appendToId": id});
    let added = team.post("/v2/batch/scrape", &more).await;
    assert_eq!((added.status, added.body["id"].as_str()), (200, Some(id.as_str())), "{}", added.body);
    drop(held);
    let ended = team.ended(&job).await.body;
    assert_eq!((&ended["total"], &ended["completed"], &ended["creditsUsed"]), (&json!(3), &json!(3), &json!(3)));
    assert_eq!(team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"], 97);
    let late = team.post("/v2/batch/scrape", &more).await;
    assert_eq!((late.status, late.code()), (409, "JOB_FINISHED"), "{}", late.body);
    let unknown = json!({"urls": [app.page("/p/1")], "appendToId": "01890000-0000-7000-8000-00000000beef"});
    assert_eq!(team.post("/v2/batch/scrape", &unknown).await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_can_be_stopped_and_is_its_teams_own() {
    let app = TestApp::with_keys().await;
    let slow = testkit::Reply { delay: std::time::Duration::from_secs(20), ..crate::crawl::page("<p>slow") };
    app.site.respond("/slow", slow);
    let (ours, theirs) = (app.team(Some(100), json!({})).await, app.team(Some(100), json!({})).await);
    let urls: Vec<String> = (0..10).map(|n| app.page(&format!("/slow?n={n}"))).collect();
    let job = ours.start("/v2/batch/scrape", &json!({"urls": urls, "maxConcurrency": 1})).await;
    assert_eq!((theirs.get(&job).await.status, theirs.delete(&job).await.status), (404, 404));
    assert_eq!(ours.delete(&job).await.body, json!({"success": true, "status": "cancelled"}));
    assert_eq!(ours.delete(&job).await.status, 409);
    let ended = ours.get(&job).await.body;
    assert_eq!((&ended["status"], &ended["creditsUsed"]), (&json!("cancelled"), &json!(0)));
    assert_eq!(ours.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"], 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_key_starts_one_batch() {
    let app = TestApp::with_keys().await;
    linked_site(&app, 5);
    let team = app.team(Some(100), json!({})).await;
    let start = async |urls: Value| {
        let request = team.request(Method::POST, "/v2/batch/scrape").header("x-idempotency-key", "once");
        let request = request.header("content-type", "application/json");
        team.send(request, json!({"urls": urls}).to_string().into()).await
    };
    let first = start(json!([app.page("/p/1")])).await;
    let again = start(json!([app.page("/p/1")])).await;
    assert_eq!((first.status, &first.body["id"]), (200, &again.body["id"]), "{}", again.body);
    assert_eq!(start(json!([app.page("/p/2")])).await.code(), "duplicate_request");
}
