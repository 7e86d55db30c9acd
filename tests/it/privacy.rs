//! Zero data retention: excluded data is not stored.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use e2e::TestApp;
use serde_json::json;

const MARKER: &str = "ZDRMARKER7712";

/// First bytes of a zstd frame.
const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Returns every file below the folder that contains the text, also in zstd frames, such as those in a database.
pub(crate) fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let plain = unpacked(&bytes);
        if [bytes, plain].iter().any(|bytes| String::from_utf8_lossy(bytes).contains(text)) {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Returns the text of all zstd frames in a file.
fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    for at in (0..bytes.len()).filter(|at| bytes[*at..].starts_with(&FRAME)) {
        let mut frame = zstd::Decoder::new(&bytes[at..]).unwrap().single_frame();
        // A frame that is not whole, or none at all, gives what it has.
        drop(frame.read_to_end(&mut plain));
    }
    plain
}

fn page() -> String {
    format!(
        "<html><head><title>{MARKER}</title></head><body><main><p>{MARKER} in a paragraph that is long enough to be kept.</p></main></body></html>"
    )
}

#[tokio::test]
async fn zero_data_retention_leaves_nothing_behind() {
    let mut app = TestApp::with_keys().await;
    let path = format!("/{MARKER}");
    app.site.html(&path, page());
    let team = app.team(Some(10), json!({"zeroDataRetention": true})).await;
    let answer = team.scrape(&json!({"url": app.page(&path), "zeroDataRetention": true})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.markdown().contains(MARKER));
    assert_eq!(team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"], 9);
    app.stop().await;
    assert_eq!(files_with(app.data(), MARKER), Vec::<String>::new());
}

#[tokio::test]
async fn an_ordinary_scrape_is_kept_so_the_search_above_can_find() {
    let mut app = TestApp::start().await;
    let path = format!("/{MARKER}");
    app.site.html(&path, page());
    assert_eq!(app.anonymous().scrape(&json!({"url": app.page(&path)})).await.status, 200);
    app.stop().await;
    assert!(!files_with(app.data(), MARKER).is_empty());
}

#[tokio::test]
async fn zero_data_retention_is_the_operators_to_give() {
    let app = TestApp::with_keys().await;
    let team = app.team(Some(10), json!({})).await;
    let answer = team.scrape(&json!({"url": app.page("/"), "zeroDataRetention": true})).await;
    assert_eq!((answer.status, answer.code()), (403, "FORBIDDEN"));
}

#[tokio::test]
async fn a_password_in_a_url_is_used_and_cut() {
    let mut app = TestApp::start().await;
    app.site.html("/a", page());
    let url = app.page("/a").replace("http://", "http://user:URLPASS33@");
    let answer = app.anonymous().scrape(&json!({"url": url})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(!answer.body.to_string().contains("URLPASS33"), "{}", answer.body);
    assert_eq!(app.site.requests()[0].header("authorization"), "Basic dXNlcjpVUkxQQVNTMzM=");
    app.stop().await;
    assert_eq!(files_with(app.data(), "URLPASS33"), Vec::<String>::new());
}
