//! The operator API.

use e2e::TestApp;
use serde_json::json;

#[tokio::test]
async fn a_team_is_made_read_and_changed() {
    let app = TestApp::with_keys().await;
    let operator = app.operator();
    let body = json!({"name": "research", "credits": 50, "concurrency": 3, "flags": {"zeroDataRetention": true}});
    let made = operator.post("/admin/teams", &body).await;
    assert_eq!((made.status, &made.body["success"]), (200, &json!(true)), "{}", made.body);
    let id = made.body["teamId"].as_str().unwrap();
    let key = made.body["apiKey"].as_str().unwrap();
    assert!(key.starts_with("fc-") && key.len() > 40, "{key}");

    let read = operator.get(&format!("/admin/teams/{id}")).await;
    assert_eq!(read.status, 200, "{}", read.body);
    assert!(read.body.to_string().contains("research"), "{}", read.body);
    assert!(!read.body.to_string().contains(key), "the key is shown once");

    let changed = operator.patch(&format!("/admin/teams/{id}"), &json!({"addCredits": 25})).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    let usage = app.bearer(key).get("/v2/team/credit-usage").await.body;
    assert_eq!(usage["data"]["remainingCredits"], 75);
}

#[tokio::test]
async fn nobody_else_gets_in() {
    let app = TestApp::start().await;
    for client in [app.anonymous(), app.bearer("wrong")] {
        assert_eq!(client.post("/admin/teams", &json!({"name": "x"})).await.status, 401);
    }
    let without = TestApp::with(|config| config.admin.token = base::Secret::default()).await;
    assert_eq!(without.operator().post("/admin/teams", &json!({"name": "x"})).await.status, 404);
}

#[tokio::test]
async fn bad_teams_are_refused_by_field() {
    let app = TestApp::start().await;
    for (body, field) in [
        (json!({}), "name"),
        (json!({"name": "x", "credits": -1}), "credits"),
        (json!({"name": "x", "colour": 1}), "colour"),
    ] {
        let answer = app.operator().post("/admin/teams", &body).await;
        assert_eq!(answer.status, 400, "{}", answer.body);
        assert!(answer.body.to_string().contains(field), "{}", answer.body);
    }
    assert_eq!(app.operator().get("/admin/teams/00000000-0000-0000-0000-000000000000").await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_operator_sees_when_tasks_have_run_and_what_they_did() {
    let app = TestApp::start().await;
    for _ in 0..500 {
        let answer = app.operator().get("/admin/tasks").await;
        assert_eq!((answer.status, &answer.body["success"]), (200, &json!(true)), "{}", answer.body);
        let tasks = answer.body["data"].as_array().unwrap();
        assert!(tasks.iter().any(|task| task["name"] == "reservations"), "{}", answer.body);
        if tasks.iter().all(|task| task["lastRun"]["status"] == "done") {
            assert!(tasks.iter().all(|task| task["lastRun"]["details"]["removed"].is_u64()), "{}", answer.body);
            assert!(tasks.iter().all(|task| task["lastRun"]["nextAt"].is_string() && task["everyMs"].is_u64()));
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("some task has not run");
}
