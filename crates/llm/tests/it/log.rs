//! Log lines about an endpoint that refuses every call.

use llm::{AskError, Kind};
use testkit::{CapturedLog, ModelFault};

use crate::world::{KEY, World};

#[tokio::test]
async fn a_key_that_is_not_accepted_has_one_line_and_not_one_for_each_call() {
    let log = CapturedLog::start();
    let world = World::of(Kind::OpenAi, |_| {}).await;
    world.server.fail_with(vec![ModelFault::Status(401); 5]);
    for _ in 0..5 {
        assert_eq!(world.ask().await.unwrap_err(), AskError::Unauthorized { status: 401 });
    }
    let found = log.lines_with("the model cannot be used");
    assert!(found.len() == 1 && found[0].contains("check llm.key") && !found[0].contains(KEY), "{found:#?}");
    // Another endpoint has a line of its own.
    let other = World::of(Kind::OpenAi, |_| {}).await;
    other.server.fail_with(vec![ModelFault::Status(403)]);
    other.ask().await.unwrap_err();
    assert_eq!(log.lines_with("the model cannot be used").len(), 2);
}
