//! Tests of browsers that end during a visit, and of what must end with the service.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use browser::{BrowserError, Settings, Visit};
use testkit::{Reply, Script};
use tokio::time::Instant;

use crate::world::{World, dom, group, kill, plain, within};

async fn under_way(world: &World, path: &str) {
    within(15, || world.asked().iter().any(|asked| asked == path)).await;
}

#[tokio::test]
async fn a_browser_that_is_killed_is_replaced_and_the_visit_repeated() {
    let world = World::start().await;
    let slow = Script::Reply(
        Reply { body: "<p>late".into(), delay: Duration::from_secs(2), ..Reply::default() }
            .header("content-type", "text/html"),
    );
    world.site.script(
        "/page",
        vec![
            slow,
            Script::Reply(Reply { body: "<p>second".into(), ..Reply::default() }.header("content-type", "text/html")),
        ],
    );
    let url = world.url("/page");
    let visit = plain(&url);
    let killer = async {
        under_way(&world, "/page").await;
        kill(world.browser.pids()[0]);
    };
    let (visited, ()) = tokio::join!(world.visit(&visit), killer);
    assert!(dom(&visited.unwrap()).contains("second"));
    assert_eq!(world.browser.counts().launched, 2);
}

#[tokio::test]
async fn when_browsers_are_killed_again_and_again_nobody_hangs() {
    let world = World::start().await;
    world.site.html("/page", "<p>page<script>setTimeout(() => {}, 100)</script>");
    let killer = async {
        for _ in 0..6 {
            tokio::time::sleep(Duration::from_millis(900)).await;
            world
                .browser
                .pids()
                .into_iter()
                .for_each(|pid| drop(Command::new("kill").args(["-9", &pid.to_string()]).status()));
        }
    };
    let url = world.url("/page");
    let visits = async {
        let mut outcomes = Vec::new();
        for _ in 0..10 {
            let visits = (0..4).map(|_| async {
                let began = Instant::now();
                let visit = Visit { deadline: began + Duration::from_secs(8), ..plain(&url) };
                let result = world.visit(&visit).await;
                assert!(began.elapsed() < Duration::from_millis(8500));
                result.map(drop)
            });
            outcomes.extend(futures_util::future::join_all(visits).await);
        }
        outcomes
    };
    let (outcomes, ()) = tokio::join!(visits, killer);
    let bad: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    let is_known = |error: &&BrowserError| matches!(error, BrowserError::Unavailable { .. } | BrowserError::Timeout);
    assert!(bad.iter().all(is_known), "{bad:?}");
    assert!(outcomes.len() - bad.len() >= 20, "{} of {}: {bad:?}", bad.len(), outcomes.len());
    assert!(dom(&world.path("/page").await.unwrap()).contains("page"));
    world.quiet().await;
}

#[tokio::test]
async fn a_renderer_that_dies_ends_its_visit_at_once() {
    let world = World::start().await;
    world.site.html("/page", "<p>x<img src=/img>");
    world.site.script("/img", vec![Script::Hang(Duration::from_secs(60))]);
    let url = world.url("/page");
    let visit = plain(&url);
    let killer = async {
        under_way(&world, "/img").await;
        let all = group(world.browser.pids()[0]);
        let renderers = all.iter().filter(|(_, line)| line.contains("--type=renderer"));
        renderers.for_each(|(pid, _)| kill(*pid));
        Instant::now()
    };
    let (result, killed) = tokio::join!(async { (world.visit(&visit).await, Instant::now()) }, killer);
    assert!(matches!(result.0, Err(BrowserError::Crashed)));
    assert!(result.1.duration_since(killed) < Duration::from_secs(1));
    world.site.html("/next", "<p>next");
    assert!(dom(&world.path("/next").await.unwrap()).contains("next"));
    assert_eq!(world.browser.counts().launched, 1);
}

#[tokio::test]
async fn closing_leaves_no_process_and_no_folder() {
    let world = World::start().await;
    world.site.html("/page", "<p>x");
    world.path("/page").await.unwrap();
    let leader = world.browser.pids()[0];
    let all = group(leader);
    assert!(all.iter().any(|(_, line)| line.contains("--type=zygote")), "{all:?}");
    assert!(all.iter().all(|(_, line)| !line.contains("--no-sandbox")), "{all:?}");
    for (pid, line) in &all {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let uids = status.lines().find_map(|text| text.strip_prefix("Uid:")).unwrap();
        assert!(uids.split_whitespace().all(|uid| uid != "0"), "{line} runs as root");
        let is_fenced = status.contains("Seccomp:\t2");
        assert!(is_fenced || !line.contains("--type=renderer"), "{line} has no sandbox");
    }
    let folder = all[0].1.split("--user-data-dir=").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    assert!(std::path::Path::new(&folder).is_dir());
    world.browser.close().await;
    within(3, || group(leader).is_empty()).await;
    assert!(!std::path::Path::new(&folder).exists());
    assert!(matches!(world.path("/page").await, Err(BrowserError::Unavailable { .. })));
}

#[tokio::test]
async fn dropping_the_last_handle_ends_everything() {
    let world = World::start().await;
    world.site.html("/page", "<p>x");
    world.path("/page").await.unwrap();
    let leader = world.browser.pids()[0];
    world.quiet().await;
    drop(world);
    within(3, || group(leader).is_empty()).await;
}

/// Not a test: the service that the next test kills.
#[tokio::test]
#[ignore = "a part of the next test"]
async fn a_service_with_a_visit_under_way() {
    let world = World::start().await;
    world.site.script("/page", vec![Script::Hang(Duration::from_secs(60))]);
    let url = world.url("/page");
    let visit = Visit { deadline: Instant::now() + Duration::from_secs(60), ..plain(&url) };
    let say = async {
        under_way(&world, "/page").await;
        println!("LEADER {}", world.browser.pids()[0]);
    };
    let _ = tokio::join!(world.visit(&visit), say);
}

#[tokio::test]
async fn a_service_that_is_killed_leaves_no_browser() {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["death::a_service_with_a_visit_under_way", "--exact", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let found = lines.map_while(Result::ok).find_map(|line| line.split("LEADER ").nth(1)?.trim().parse().ok());
    let leader: u32 = found.unwrap();
    assert!(group(leader).len() > 2);
    kill(child.id());
    child.wait().unwrap();
    within(5, || group(leader).is_empty()).await;
}

#[tokio::test]
async fn a_program_that_is_none_is_named() {
    for (path, word) in [("/nowhere/chromium", "there is no file"), ("/bin/true", "Chromium exited during its start")] {
        let world = World::with(Settings { path: Some(path.into()), ..Settings::default() }).await;
        let error = world.path("/").await.err().unwrap();
        assert!(matches!(&error, BrowserError::Unavailable { reason } if reason.contains(word)), "{error}");
    }
}
