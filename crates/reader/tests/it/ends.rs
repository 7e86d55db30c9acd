//! No child process outlives its caller.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::world::{after, children_of, example, is_alive, orders, pool, read, until, works};

#[tokio::test]
async fn a_dropped_document_ends_its_children() {
    let pool = pool();
    for order in ["hang", "2 1=hang 2=hang"] {
        let read = read(&pool, orders(order), after(60.0));
        assert!(tokio::time::timeout(Duration::from_secs(1), read).await.is_err());
        until("no child is at work", || {
            let children = children_of(std::process::id());
            children.iter().all(|pid| !is_busy(*pid))
        })
        .await;
        works(&pool).await;
    }
}

#[tokio::test]
async fn a_dropped_pool_ends_its_children() {
    let pool = pool();
    works(&pool).await;
    assert_eq!(children_of(std::process::id()).len(), 1);
    drop(pool);
    until("no child is left", || children_of(std::process::id()).is_empty()).await;
}

#[tokio::test]
async fn a_killed_service_leaves_no_child() {
    let mut parent = Command::new(example("parent"));
    let mut parent = parent.arg(example("reading_child")).stdout(Stdio::null()).spawn().unwrap();
    let pid = parent.id();
    let mut children = Vec::new();
    // One that counts, one that reads and waits, two under OCR.
    until("four children are at work", || {
        children = children_of(pid);
        children.len() == 4
    })
    .await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(children.iter().all(|pid| is_alive(*pid)));
    parent.kill().unwrap();
    parent.wait().unwrap();
    until("no child is left", || children.iter().all(|pid| !is_alive(*pid))).await;
}

/// Whether a process is using CPU time.
fn is_busy(pid: u32) -> bool {
    let ticks = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, rest) = stat.rsplit_once(") ")?;
        rest.split(' ').nth(11)?.parse::<u64>().ok()
    };
    let before = ticks();
    std::thread::sleep(Duration::from_millis(100));
    ticks().zip(before).is_some_and(|(now, before)| now > before + 1)
}
