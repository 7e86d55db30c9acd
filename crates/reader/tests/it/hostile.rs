//! Malicious documents.

use std::time::Duration;

use documents::Kind;
use reader::ReadError;
use tokio::time::Instant;

use crate::world::{after, children_of, job, orders, pool, read, until, works};

#[tokio::test]
async fn one_that_never_ends_is_ended_at_the_deadline() {
    let pool = pool();
    let began = Instant::now();
    assert_eq!(read(&pool, orders("hang"), after(1.5)).await.unwrap_err(), ReadError::Timeout);
    assert!(began.elapsed() < Duration::from_secs(3));
    assert_eq!(pool.children(), 0);
    until("the process is gone", || children_of(std::process::id()).is_empty()).await;
    works(&pool).await;
}

#[tokio::test]
async fn one_that_crashes_is_broken() {
    let pool = pool();
    for order in ["crash", "panic"] {
        match read(&pool, orders(order), after(20.0)).await.unwrap_err() {
            ReadError::Broken(why) => assert!(why.contains("makes its reader fail"), "{why}"),
            other => panic!("{order}: {other:?}"),
        }
        works(&pool).await;
    }
}

#[tokio::test]
async fn one_that_takes_all_memory_goes_beyond_a_limit() {
    let pool = pool();
    match read(&pool, orders("eat"), after(60.0)).await.unwrap_err() {
        ReadError::Limit(why) => assert!(why.contains("exceeds 256 MiB"), "{why}"),
        other => panic!("{other:?}"),
    }
    works(&pool).await;
}

#[tokio::test]
async fn rows_without_end_go_beyond_a_limit() {
    let pool = pool();
    let row = "1,".repeat(300_000);
    let wide = format!("{row}\n{row}\n");
    let refused = read(&pool, job(wide, Kind::Csv), after(60.0)).await;
    assert!(matches!(refused, Err(ReadError::Limit(_))), "{refused:?}");
    works(&pool).await;
}

#[tokio::test]
async fn nothing_leads_out_of_a_child() {
    let pool = pool();
    let answer = read(&pool, orders("1 1=try"), after(20.0)).await.unwrap();
    assert_eq!(answer.markdown, "tried stands here");
    assert!(!std::path::Path::new("/tmp/quarry-reader-was-here").exists());
}
