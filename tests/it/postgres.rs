//! The service on PostgreSQL instead of SQLite. Skipped, with a printed note, when `QUARRY_TEST_POSTGRES` is not set.

use std::env;
use std::io::Write;

use e2e::TestApp;
use serde_json::json;

use crate::ARTICLE;

#[expect(clippy::disallowed_methods, reason = "the test runner names its database in the environment")]
pub(crate) fn database() -> Option<String> {
    let url = env::var("QUARRY_TEST_POSTGRES").ok();
    if url.is_none() {
        let _ = writeln!(std::io::stderr(), "left out: QUARRY_TEST_POSTGRES is not set; cargo xtask test sets it");
    }
    url
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_share_one_postgresql() {
    let Some(url) = database() else { return };
    let start = || {
        TestApp::with(|config| {
            config.store.url = base::Secret::new(&url);
            config.auth.mode = boot::config::AuthMode::Keys;
        })
    };
    let (one, two) = tokio::join!(start(), start());
    one.site.html("/stone", ARTICLE);
    two.site.html("/stone", ARTICLE);
    let team = one.team(Some(10), json!({})).await;
    let key = team.token().unwrap();
    let body = |app: &TestApp| json!({"url": app.page("/stone"), "maxAge": 0});
    let calls: Vec<_> = (0..32)
        .map(|n| if n % 2 == 0 { &one } else { &two })
        .map(|app| (app.bearer(key), body(app)))
        .map(|(caller, body)| tokio::spawn(async move { caller.scrape(&body).await.status }))
        .collect();
    let mut statuses = Vec::new();
    for call in calls {
        statuses.push(call.await.unwrap());
    }
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 10, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 402).count(), 22, "{statuses:?}");
    let usage = two.bearer(key).get("/v2/team/credit-usage").await.body;
    assert_eq!(usage["data"]["remainingCredits"], 0);
}
