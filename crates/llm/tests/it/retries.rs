//! Failures of endpoints: what is repeated, how long it takes, and when nothing is asked any more.

use std::time::Duration;

use base::Owner;
use llm::{AskError, Kind};
use serde_json::json;
use testkit::ModelFault;
use tokio::time::Instant;

use crate::world::World;

#[tokio::test]
async fn what_passes_is_repeated() {
    for fault in [
        ModelFault::Status(500),
        ModelFault::Status(503),
        ModelFault::Status(529),
        ModelFault::Status(429),
        ModelFault::RetryAfter(1),
        ModelFault::ErrorBody(json!(502)),
        ModelFault::ErrorBody(json!("server_error")),
        ModelFault::ErrorBody(json!(429)),
        ModelFault::Reset,
        ModelFault::Half,
        ModelFault::Body("<html>bad gateway</html>".to_owned()),
        ModelFault::Body("{}".to_owned()),
    ] {
        let world = World::start().await;
        world.server.fail_with(vec![fault.clone()]);
        assert_eq!(world.expect_mug().await.attempts, 2, "{fault:?}");
        assert_eq!(world.server.asked().len(), 2, "{fault:?}");
    }
}

#[tokio::test]
async fn attempts_are_limited() {
    let world = World::start().await;
    world.server.fail_with(vec![ModelFault::Status(500); 9]);
    assert_eq!(world.ask().await, Err(AskError::Upstream { status: 500 }));
    assert_eq!(world.server.asked().len(), 3);
}

#[tokio::test]
async fn the_pause_that_an_endpoint_asks_for_is_kept() {
    let world = World::start().await;
    world.server.fail_with(vec![ModelFault::RetryAfter(2)]);
    let start = Instant::now();
    world.expect_mug().await;
    assert!(start.elapsed() >= Duration::from_secs(2));
    // A pause beyond the deadline is not waited for.
    world.server.fail_with(vec![ModelFault::RetryAfter(60)]);
    let start = Instant::now();
    let wait = Some(Duration::from_secs(60));
    assert_eq!(world.ask_within(Duration::from_secs(5)).await, Err(AskError::RateLimited { wait }));
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn the_deadline_is_kept() {
    let world = World::start().await;
    for fault in [ModelFault::Hang(Duration::from_secs(60)), ModelFault::Slow(Duration::from_secs(60))] {
        world.server.fail_with(vec![fault]);
        let start = Instant::now();
        assert_eq!(world.ask_within(Duration::from_millis(500)).await, Err(AskError::Timeout));
        let time = start.elapsed();
        assert!((Duration::from_millis(500)..Duration::from_secs(5)).contains(&time), "{time:?}");
    }
}

#[tokio::test]
async fn a_call_has_its_own_timeout() {
    let world = World::of(Kind::OpenAi, |settings| settings.timeout = Duration::from_secs(1)).await;
    world.server.fail_with(vec![ModelFault::Hang(Duration::from_secs(60))]);
    let start = Instant::now();
    assert_eq!(world.ask().await, Err(AskError::Timeout));
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn an_endpoint_that_fails_again_and_again_is_left_alone() {
    let world = World::of(Kind::OpenAi, |settings| settings.attempts = 1).await;
    world.server.fail_with(vec![ModelFault::Status(500); 5]);
    for _ in 0..5 {
        assert_eq!(world.ask().await, Err(AskError::Upstream { status: 500 }));
    }
    assert_eq!(world.ask().await, Err(AskError::Paused));
    assert_eq!(world.server.asked().len(), 5);
}

#[tokio::test]
async fn nothing_listens() {
    let world = World::of(Kind::OpenAi, |settings| {
        settings.url = Some("http://127.0.0.1:1/v1".parse().unwrap());
        settings.attempts = 1;
    });
    let error = world.await.ask().await.unwrap_err();
    assert!(matches!(&error, AskError::Connection(reason) if reason.contains("127.0.0.1")), "{error:?}");
}

#[tokio::test]
async fn teams_take_turns_at_an_endpoint() {
    let world = World::of(Kind::OpenAi, |settings| settings.parallel = 1).await;
    world.server.fail_with(vec![ModelFault::Slow(Duration::from_millis(150)); 7]);
    let world = std::sync::Arc::new(world);
    let order = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let mut tasks = Vec::new();
    for team in ["many", "many", "many", "many", "one", "two"] {
        let (world, order) = (std::sync::Arc::clone(&world), std::sync::Arc::clone(&order));
        tasks.push(tokio::spawn(async move {
            world.ask_of(&Owner::of_team(team), Duration::from_secs(20)).await.unwrap();
            order.lock().unwrap().push(team);
        }));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*order.lock().unwrap(), ["many", "many", "one", "two", "many", "many"]);
}
