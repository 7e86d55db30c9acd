//! CPU slots: who gets one, and when it is free again.

use std::sync::mpsc;
use std::time::Duration;

use base::{Owner, Stop};
use fetch::Fetched;
use scrape::{Cpu, CpuError, ScrapeError, Tools};
use tokio::time::{Instant, timeout};
use wire::ScrapeOptions;

use crate::setup::{options, page, run_with, target, tools, with_page};

fn in_ms(ms: u64) -> Instant {
    Instant::now() + Duration::from_millis(ms)
}

/// Works until it is told to stop, reports that, and works on until `release`.
fn until_stopped(told: mpsc::Sender<()>, release: mpsc::Receiver<()>) -> impl FnOnce(&Stop) + Send + 'static {
    move |stop| {
        while !stop.is_set() {
            std::thread::sleep(Duration::from_millis(1));
        }
        told.send(()).unwrap();
        let _ = release.recv();
    }
}

const A_MINUTE: u64 = 60_000;

#[tokio::test]
async fn work_is_told_to_stop_at_its_deadline_and_keeps_its_place_until_it_has() {
    let cpu = Cpu::new(1);
    let ((told, is_told), (release, released)) = (mpsc::channel(), mpsc::channel());
    let done = cpu.run(&Owner::of_team("a"), in_ms(50), until_stopped(told, released)).await;
    assert_eq!(done, Err(CpuError::Timeout));
    is_told.recv_timeout(Duration::from_secs(10)).unwrap();
    assert_eq!(cpu.run(&Owner::of_team("a"), in_ms(50), |_| ()).await, Err(CpuError::Timeout));
    drop(release);
    assert_eq!(cpu.run(&Owner::of_team("a"), in_ms(A_MINUTE), |_| 7).await, Ok(7));
}

#[tokio::test]
async fn work_that_nobody_waits_for_is_told_to_stop() {
    let cpu = Cpu::new(1);
    let ((told, is_told), (release, released)) = (mpsc::channel(), mpsc::channel());
    let dropped = timeout(
        Duration::from_millis(50),
        cpu.run(&Owner::of_team("a"), in_ms(A_MINUTE), until_stopped(told, released)),
    )
    .await;
    assert!(dropped.is_err());
    is_told.recv_timeout(Duration::from_secs(10)).unwrap();
    drop(release);
    assert_eq!(cpu.run(&Owner::of_team("a"), in_ms(A_MINUTE), base::Stop::is_set).await, Ok(false));
}

#[tokio::test]
async fn slow_work_holds_up_neither_its_own_team_nor_others() {
    let cpu = Cpu::new(2);
    let mut ends = Vec::new();
    let mut slow = Vec::new();
    for _ in 0..2 {
        let (release, released) = mpsc::channel::<()>();
        let cpu = cpu.clone();
        slow.push(tokio::spawn(async move {
            cpu.run(&Owner::of_team("a"), in_ms(A_MINUTE), move |_| {
                let _ = released.recv();
            })
            .await
        }));
        ends.push(release);
    }
    tokio::task::yield_now().await;
    for owner in ["a", "b"] {
        let began = Instant::now();
        assert_eq!(cpu.run(&Owner::of_team(owner), in_ms(A_MINUTE), |_| ()).await, Ok(()));
        assert!(began.elapsed() < Duration::from_secs(5), "{owner} waited {:?}", began.elapsed());
    }
    drop(ends);
    for one in slow {
        assert_eq!(one.await.unwrap(), Ok(()));
    }
}

#[tokio::test]
async fn another_team_has_a_place_while_one_has_all_it_may_have() {
    let cpu = Cpu::new(1);
    let mut ends = Vec::new();
    for _ in 0..20 {
        let (release, released) = mpsc::channel::<()>();
        let cpu = cpu.clone();
        tokio::spawn(async move {
            cpu.run(&Owner::of_team("a"), in_ms(A_MINUTE), move |_| {
                let _ = released.recv();
            })
            .await
        });
        ends.push(release);
    }
    // Long enough for slow work to have moved to the slow slots.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(cpu.run(&Owner::of_team("a"), in_ms(100), |_| ()).await, Err(CpuError::Timeout));
    for _ in 0..3 {
        assert_eq!(cpu.run(&Owner::of_team("b"), in_ms(A_MINUTE), |_| ()).await, Ok(()));
    }
}

#[tokio::test]
async fn a_panic_frees_the_place() {
    let cpu = Cpu::new(1);
    let broken = cpu
        .run(&Owner::of_team("a"), in_ms(A_MINUTE), |_| assert!(std::hint::black_box(false), "as the test wants it"))
        .await;
    assert_eq!(broken, Err(CpuError::Panicked));
    assert_eq!(cpu.run(&Owner::of_team("a"), in_ms(A_MINUTE), |_| ()).await, Ok(()));
}

#[tokio::test]
async fn a_page_is_given_up_when_nobody_waits_for_it() {
    let tools = Tools { cpu: Cpu::new(1), ..tools(&[]) };
    let crowd = bytes::Bytes::from(format!("<p>{}", "<i class=a>x</i>".repeat(60_000)));
    let selectors = vec!["i ~ b ~ i".to_owned(), "*:has(~ b)".to_owned()];
    let costly =
        target("http://a.test/".parse().unwrap(), ScrapeOptions { exclude_tags: selectors, ..options(Vec::new()) });
    let large = Fetched::new(costly.url.clone(), 200, Some("text/html".to_owned()), crowd);
    let with_large = with_page(tools.clone(), large);
    for _ in 0..4 {
        let dropped = timeout(Duration::from_millis(100), run_with(&with_large, costly.clone())).await;
        assert!(dropped.is_err());
    }
    let began = Instant::now();
    let small = Fetched::new(costly.url.clone(), 200, None, "<p>x".into());
    assert!(run_with(&with_page(tools, small), costly).await.is_ok());
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test]
async fn selectors_that_cost_too_much_are_an_error() {
    let crowd = format!("<p>{}", "<i>x</i>".repeat(40_000));
    let costly =
        || ScrapeOptions { exclude_tags: vec!["b ~ i".to_owned()], timeout: 60_000, ..ScrapeOptions::default() };
    let error = page("text/html", &crowd, costly()).await.unwrap_err();
    assert!(matches!(error, ScrapeError::Selectors), "{error}");
    assert!(page("text/html", "<b></b><i>x</i>y", costly()).await.is_ok());
}
