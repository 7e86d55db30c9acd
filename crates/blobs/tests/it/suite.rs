//! Behaviour that every store must have.

use blobs::content::{self, Hashed};
use blobs::{BlobError, Blobs, Digest};
use futures_util::TryStreamExt;

pub(crate) async fn run(blobs: &Blobs) {
    assert_eq!(blobs.get("a/b").await.unwrap(), None);
    assert!(!blobs.exists("a/b").await.unwrap());
    blobs.delete("a/b").await.unwrap();

    blobs.put("a/b", "one".into()).await.unwrap();
    blobs.put("a/b", "two".into()).await.unwrap();
    assert_eq!(blobs.get("a/b").await.unwrap().as_deref(), Some(&b"two"[..]));
    assert!(matches!(blobs.get_up_to("a/b", 2).await, Err(BlobError::TooLarge { limit: 2, .. })));
    assert!(blobs.exists("a/b").await.unwrap());
    blobs.delete("a/b").await.unwrap();
    assert!(!blobs.exists("a/b").await.unwrap());

    for key in ["../x", "a/../../x", "/etc/passwd", "", "a//b"] {
        assert!(matches!(blobs.put(key, "x".into()).await, Err(BlobError::Key(_))), "{key}");
        assert!(matches!(blobs.get(key).await, Err(BlobError::Key(_))), "{key}");
    }

    for body in [&b""[..], b"x", &[7; 300_000]] {
        let digest = Hashed::of(bytes::Bytes::copy_from_slice(body)).await.put(blobs).await.unwrap();
        assert_eq!(digest, Digest::of(body));
        assert_eq!(content::get(blobs, &digest, body.len()).await.unwrap().as_deref(), Some(body));
        if let Some(less) = body.len().checked_sub(1) {
            assert!(matches!(content::get(blobs, &digest, less).await, Err(BlobError::TooLarge { .. })));
        }
        content::delete(blobs, &digest).await.unwrap();
        assert_eq!(content::get(blobs, &digest, body.len()).await.unwrap(), None);
    }
    ranges(blobs).await;
    blobs.put("kept", "1".into()).await.unwrap();
}

async fn ranges(blobs: &Blobs) {
    let body: Vec<u8> = (0..200_000u32).map(|n| n.to_le_bytes()[0]).collect();
    blobs.put("long", body.clone().into()).await.unwrap();
    for range in [0..body.len(), 0..1, 99_999..150_000, body.len() - 1..body.len(), 7..7] {
        let pieces = blobs.read("long", range.start as u64..range.end as u64).await.unwrap().unwrap();
        let pieces: Vec<bytes::Bytes> = pieces.try_collect().await.unwrap();
        assert!(pieces.concat() == body[range.clone()], "{range:?}");
        assert!(pieces.iter().all(|piece| piece.len() <= 128 * 1024), "{range:?} comes in pieces");
    }
    assert!(blobs.read("none", 0..1).await.unwrap().is_none());
    assert!(blobs.read("none", 0..0).await.unwrap().is_none());
    assert!(matches!(blobs.read("../x", 0..1).await, Err(BlobError::Key(_))));
    blobs.delete("long").await.unwrap();
}
