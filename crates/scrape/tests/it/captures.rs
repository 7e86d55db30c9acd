//! Captures of a visit in the document.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use scrape::{Files, Ports, ScrapeError, Scraped, Target, Tools};
use serde_json::json;

use crate::browser::Camera;
use crate::setup::{QUIET, decoded, target, tools};

/// File store that records what is stored.
#[derive(Default)]
struct Folder(Mutex<Vec<(&'static str, &'static str, Bytes)>>);

#[async_trait]
impl Files for Folder {
    async fn keep(&self, kind: &'static str, content_type: &'static str, bytes: Bytes) -> Result<String, ScrapeError> {
        let mut kept = self.0.lock().unwrap();
        kept.push((kind, content_type, bytes));
        Ok(format!("http://files.test/{}", kept.len()))
    }
}

async fn take(options: serde_json::Value, folder: Option<&Folder>) -> Scraped {
    let _quiet = QUIET.read().await;
    let tools = Tools { engines: vec![Arc::new(Camera)], ..tools(&[]) };
    let asked = target("http://a.test/".parse().unwrap(), wire::decode_options(options).unwrap());
    let asked = Target { keeps_state: true, ..asked };
    let ports = Ports { files: folder.map(|folder| folder as &dyn Files), ..Ports::default() };
    scrape::run(&tools, ports, &asked, |scraped, _| scraped).await.unwrap()
}

#[tokio::test]
async fn branding_is_what_was_seen() {
    let branding = take(json!({ "formats": ["branding"] }), None).await.document;
    assert_eq!((branding.branding.unwrap().colors["background"].as_str(), branding.warning), ("#102030", None));
}

#[tokio::test]
async fn pictures_and_prints_are_kept_and_named() {
    let folder = Folder::default();
    let options = json!({ "formats": ["markdown", "rawHtml", "screenshot"], "actions": [{ "type": "scrape" }] });
    let scraped = take(options, Some(&folder)).await;
    let document = scraped.document;
    assert_eq!(
        (document.markdown.as_deref(), document.screenshot.as_deref()),
        (Some("seen"), Some("http://files.test/1"))
    );
    assert!(document.raw_html.unwrap().contains("unseen"));
    let actions = json!({
        "screenshots": ["http://files.test/2", "http://files.test/3"],
        "scrapes": [{ "url": "http://a.test/2", "html": "<p>then" }],
        "javascriptReturns": [{ "type": "number", "value": 3 }],
        "pdfs": ["http://files.test/4"],
    });
    assert_eq!(json!(document.actions), actions);
    let metadata = document.metadata;
    assert_eq!((metadata.timezone.as_deref(), metadata.concurrency_limited), (Some("Europe/Berlin"), Some(true)));
    assert_eq!((metadata.concurrency_queue_duration_ms, document.warning), (Some(7), None));
    assert!(scraped.state.is_some());
    let kept = folder.0.lock().unwrap();
    let kinds: Vec<_> = kept.iter().map(|(kind, content_type, bytes)| (*kind, *content_type, bytes.len())).collect();
    let picture = |size| ("screenshot", "image/png", size);
    assert_eq!(kinds, [picture(5), picture(3), picture(3), ("pdf", "application/pdf", 4)]);
}

#[tokio::test]
async fn where_no_files_are_kept_they_stand_in_the_document() {
    let options = json!({ "formats": ["screenshot"], "actions": [{ "type": "pdf" }] });
    let document = take(options, None).await.document;
    let picture = document.screenshot.unwrap();
    assert_eq!(decoded(picture.strip_prefix("data:image/png;base64,").unwrap()), b"whole");
    let print = document.actions.unwrap().pdfs.remove(0);
    assert_eq!(decoded(print.strip_prefix("data:application/pdf;base64,").unwrap()), b"%PDF");
}

#[tokio::test]
async fn windows_are_links_too() {
    let document = take(json!({ "formats": ["links"] }), None).await.document;
    assert_eq!(document.links.unwrap(), ["http://a.test/2", "http://a.test/ad"]);
}

#[tokio::test]
async fn without_actions_there_are_no_results() {
    let document = json!(take(json!({ "waitFor": 5 }), None).await.document);
    assert!(document.get("actions").is_none() && document.get("screenshot").is_none(), "{document}");
}
