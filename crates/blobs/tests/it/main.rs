//! Tests that run on a directory and on an S3-compatible store.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

#[cfg(test)]
mod outage;
#[cfg(test)]
mod suite;

use std::time::Duration;

use base::Secret;
use blobs::content::{self, Hashed};
use blobs::{Blobs, Digest, S3};
use testkit::Bucket;

fn settings(bucket: &Bucket) -> S3 {
    let (id, secret) = Bucket::KEY;
    S3 {
        endpoint: Some(bucket.endpoint()),
        access_key_id: Some(id.to_owned()),
        secret_access_key: Some(Secret::new(secret)),
        ..S3::default()
    }
}

fn open(bucket: &Bucket, url: &str) -> Blobs {
    Blobs::open_with(url, &settings(bucket)).unwrap()
}

#[tokio::test]
async fn directory() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("file://{}/new/folder", folder.path().display());
    suite::run(&Blobs::open(&url).unwrap()).await;
    assert!(Blobs::open(&url).unwrap().exists("kept").await.unwrap());
}

#[tokio::test]
async fn bucket_with_and_without_prefix() {
    let server = Bucket::start().await;
    suite::run(&open(&server, "s3://pages")).await;
    suite::run(&open(&server, "s3://pages/a/b")).await;
    let keys = server.keys();
    assert!(keys.contains(&"/pages/kept".to_owned()) && keys.contains(&"/pages/a/b/kept".to_owned()), "{keys:?}");
}

#[tokio::test]
async fn equal_bodies_are_stored_once_and_compressed() {
    let server = Bucket::start().await;
    let blobs = open(&server, "s3://pages");
    let body = bytes::Bytes::from("<p>the same</p>".repeat(1000));
    let first = Hashed::of(body.clone()).await.put(&blobs).await.unwrap();
    let second = Hashed::of(body.clone()).await.put(&blobs).await.unwrap();
    assert_eq!((first, server.writes()), (second, 1));
    assert!(server.object(&server.keys()[0]).unwrap().len() < body.len() / 20);
}

#[tokio::test]
async fn a_damaged_body_is_not_there_and_heals() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(&format!("file://{}", folder.path().display())).unwrap();
    let digest = Hashed::of("original".into()).await.put(&blobs).await.unwrap();
    let hex = digest.to_string();
    let file = folder.path().join("content").join(&hex[..2]).join(format!("{}.zst", &hex[2..]));
    for damage in [Vec::new(), b"garbage".to_vec(), zstd::bulk::compress(b"another", 3).unwrap()] {
        std::fs::write(&file, damage).unwrap();
        assert_eq!(content::get(&blobs, &digest, 100).await.unwrap(), None);
        Hashed::of("original".into()).await.put(&blobs).await.unwrap();
        assert_eq!(content::get(&blobs, &digest, 100).await.unwrap().as_deref(), Some(&b"original"[..]));
    }
}

#[tokio::test]
async fn parallel_writers_of_one_key_leave_one_whole_body() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(&format!("file://{}", folder.path().display())).unwrap();
    let bodies: Vec<_> = (0..16u8).map(|n| bytes::Bytes::from(vec![n; 100_000])).collect();
    let writers: Vec<_> = bodies
        .iter()
        .map(|body| {
            tokio::spawn({
                let (blobs, body) = (blobs.clone(), body.clone());
                async move { blobs.put("one", body).await }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap().unwrap();
    }
    assert!(bodies.contains(&blobs.get("one").await.unwrap().unwrap()));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn unreachable_bucket_is_an_error_not_a_miss() {
    let server = Bucket::start().await;
    let blobs = open(&server, "s3://forbidden");
    assert!(blobs.get("x").await.is_err());
    assert!(content::get(&blobs, &Digest::of(b"x"), 10).await.is_err());
}

#[tokio::test]
async fn only_a_bucket_gives_addresses_away() {
    let (server, folder) = (Bucket::start().await, tempfile::tempdir().unwrap());
    let local = Blobs::open(&format!("file://{}", folder.path().display())).unwrap();
    let (blobs, hour) = (open(&server, "s3://pages/a"), Duration::from_secs(3600));
    let headers = [("content-type", "image/png"), ("content-disposition", "inline; filename=\"a b.png\"")];
    for blobs in [&local, &blobs] {
        blobs.put("one", "1".into()).await.unwrap();
    }
    assert_eq!(local.presigned("one", hour, &headers).await.unwrap(), None);
    let url = blobs.presigned("one", hour, &headers).await.unwrap().unwrap();
    assert!(url.as_str().starts_with(&format!("{}/pages/a/one?", server.endpoint())), "{url}");
    let query = |name: &str| url.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
    assert_eq!((query("X-Amz-Expires"), query("response-content-type")), ("3600".to_owned(), "image/png".to_owned()));
    assert_eq!(query("response-content-disposition"), headers[1].1);
    assert_eq!(query("X-Amz-Signature").len(), 64);
}
