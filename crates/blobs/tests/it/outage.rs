//! Outages: a store that goes away or is full, and comes back.

use std::time::{Duration, Instant};

use blobs::{BlobError, Blobs};
use testkit::{Bucket, StoreOutage};

use crate::open;

/// Returns the error, which must come soon: within two seconds, plus a margin for a busy machine.
async fn error(blobs: &Blobs) -> BlobError {
    let started = Instant::now();
    let error = blobs.put("new", "x".into()).await.unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    error
}

async fn until_back(blobs: &Blobs) {
    let started = Instant::now();
    while blobs.put("new", "x".into()).await.is_err() || blobs.is_full() {
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", blobs.check().await);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    blobs.check().await.unwrap();
}

#[tokio::test]
async fn a_bucket_that_is_away_is_told_from_one_that_lacks_a_key() {
    let server = Bucket::start().await;
    let blobs = open(&server, "s3://pages");
    blobs.put("kept", "1".into()).await.unwrap();
    blobs.check().await.unwrap();
    for outage in [StoreOutage::Closed, StoreOutage::Silent] {
        server.set_outage(Some(outage));
        let error = error(&blobs).await;
        assert!(matches!(&error, BlobError::Away(_)), "{outage:?}: {error:?}");
        let text = error.to_string();
        assert!(text.contains("the bucket pages at") && text.contains(&server.endpoint()), "{text}");
        // The outage is known by now, so the next call fails at once.
        let started = Instant::now();
        assert!(matches!(blobs.get("kept").await, Err(BlobError::Away(_))));
        assert!(matches!(blobs.check().await, Err(BlobError::Away(_))));
        assert!(started.elapsed() < Duration::from_secs(1));
        server.set_outage(None);
        until_back(&blobs).await;
    }
    assert_eq!(blobs.get("kept").await.unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(blobs.get("never").await.unwrap(), None);
}

#[tokio::test]
async fn credentials_for_one_folder_of_a_bucket_are_enough() {
    let server = Bucket::start().await;
    let own = open(&server, "s3://narrow/own");
    own.look().await.unwrap();
    own.put("kept", "1".into()).await.unwrap();
    own.check().await.unwrap();
    // A full bucket is probed by writing a blob, which must stay inside of the prefix.
    server.set_outage(Some(StoreOutage::Full));
    assert!(matches!(error(&own).await, BlobError::Full(_)));
    server.set_outage(None);
    until_back(&own).await;
    assert!(server.keys().iter().all(|key| key.starts_with("/narrow/own/")), "{:?}", server.keys());
    let error = open(&server, "s3://narrow/other").look().await.unwrap_err().to_string();
    assert!(error.contains("the credentials do not open it"), "{error}");
}

#[tokio::test]
async fn a_bucket_without_room_says_so_and_can_be_read() {
    let server = Bucket::start().await;
    let blobs = open(&server, "s3://pages");
    blobs.put("kept", "1".into()).await.unwrap();
    server.set_outage(Some(StoreOutage::Full));
    assert!(matches!(error(&blobs).await, BlobError::Full(_)));
    assert!(blobs.is_full());
    assert!(blobs.get("kept").await.unwrap().is_some());
    server.set_outage(None);
    until_back(&blobs).await;
}

#[tokio::test]
async fn what_cannot_be_used_at_the_start_is_one_sentence() {
    let server = Bucket::start().await;
    let check = |blobs: Blobs, part: &'static str| async move {
        let error = blobs.look().await.unwrap_err().to_string();
        assert!(error.contains(&blobs.place()) && error.contains(part) && !error.contains('\n'), "{error}");
    };
    check(open(&server, "s3://missing"), "there is no such bucket").await;
    check(open(&server, "s3://forbidden"), "the credentials do not open it").await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let s3 = blobs::S3 { endpoint: Some(format!("http://{free}")), ..crate::settings(&server) };
    check(Blobs::open_with("s3://pages", &s3).unwrap(), "refused").await;
}

#[tokio::test]
async fn a_folder_that_is_gone_is_away() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("blobs");
    let blobs = Blobs::open(&format!("file://{}", place.display())).unwrap();
    blobs.put("a/kept", "1".into()).await.unwrap();
    std::fs::rename(&place, folder.path().join("aside")).unwrap();
    std::fs::write(&place, "a file in its place").unwrap();
    let error = error(&blobs).await;
    assert!(matches!(&error, BlobError::Away(_)), "{error:?}");
    assert!(error.to_string().contains(&place.display().to_string()), "{error}");
    std::fs::remove_file(&place).unwrap();
    std::fs::rename(folder.path().join("aside"), &place).unwrap();
    until_back(&blobs).await;
    assert!(blobs.get("a/kept").await.unwrap().is_some());
}
