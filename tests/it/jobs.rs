//! The command `quarry-server jobs`.

use std::time::Duration;

use e2e::TestApp;
use serde_json::json;

use crate::crawl::page;
use crate::process::run;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_operator_sees_and_stops_what_runs() {
    let app = TestApp::start().await;
    app.site.others(|_| Some(testkit::Reply { delay: Duration::from_secs(20), ..page("<p>slow") }));
    let urls: Vec<String> = (0..5).map(|n| app.page(&format!("/{n}"))).collect();
    let client = app.anonymous();
    let job = client.start("/v2/batch/scrape", &json!({"urls": urls, "maxConcurrency": 1})).await;
    let id = job.rsplit('/').next().unwrap();
    let jobs = |arguments: &[&str]| {
        let ended = run(app.data(), &[&["jobs"], arguments].concat(), &[]);
        let text = [ended.stdout, ended.stderr].concat();
        (ended.status.success(), String::from_utf8_lossy(&text).into_owned())
    };
    let (fine, listed) = jobs(&["list"]);
    assert!(fine && listed.starts_with("pages: ") && listed.contains("hooks: 0 running"), "{listed}");
    assert_eq!(listed.matches(id).count(), 5, "{listed}");
    let (fine, said) = jobs(&["cancel", id]);
    assert!(fine, "{said}");
    assert_eq!(client.get(&job).await.body["status"], "cancelled");
    let (fine, said) = jobs(&["cancel", id]);
    assert!(!fine && said.contains("already ended"), "{said}");
    let (_, listed) = jobs(&["list"]);
    assert!(!listed.contains(id), "{listed}");
    let (fine, said) = jobs(&["cancel", "01890000-0000-7000-8000-00000000beef"]);
    assert!(!fine && said.contains("no crawl or batch"), "{said}");
}

#[test]
fn nothing_was_given_up_yet() {
    let data = tempfile::tempdir().unwrap();
    assert!(run(data.path(), &["migrate"], &[]).status.success());
    let listed = run(data.path(), &["jobs", "list", "--dead"], &[]);
    assert!(listed.status.success() && listed.stdout.is_empty());
    let redriven = run(data.path(), &["jobs", "redrive"], &[]);
    assert_eq!(String::from_utf8_lossy(&redriven.stdout), "0 redriven, 0 left\n");
    assert!(!run(data.path(), &["jobs", "redrive", "nothing"], &[]).status.success());
}
