//! Judgements of changes by a scripted model.

use std::time::Duration;

use base::Owner;
use llm::judge::{Change, ChangeKind, Confidence, JudgeError, Judgment, judge};
use llm::{AskError, Kind};
use serde_json::{Value, json};
use testkit::{Asked, ModelFault};
use tokio::time::Instant;

use crate::world::World;

const DIFF: &str = "--- previous\n+++ current\n@@ -1,2 +1,2 @@\n-Price: 10 EUR\n+Price: 12 EUR\n";

async fn world(rule: impl Fn(&Asked) -> String + Send + Sync + 'static) -> World {
    World::answering(Kind::OpenAi, rule, |settings| settings.attempts = 1).await
}

async fn judged(world: &World, diff: &str) -> Result<Judgment, JudgeError> {
    let owner = Owner::of_team("team");
    let change = Change {
        goal: "Tell me when the price changes.",
        extraction: "",
        diff,
        fields: "price: 10 -> 12\n",
        owner: &owner,
        budget: &world.budget,
        deadline: Instant::now() + Duration::from_secs(20),
    };
    judge(&world.model, &change).await
}

fn risen() -> Value {
    json!({
        "meaningful": true, "confidence": "high", "reason": "The price has risen.",
        "meaningfulChanges": [{ "type": "changed", "before": "10 EUR", "after": "12 EUR", "reason": "higher" }],
    })
}

#[tokio::test]
async fn a_change_is_judged_in_the_form_of_the_contract() {
    let world = world(|_| risen().to_string()).await;
    let judgment = judged(&world, DIFF).await.unwrap();
    assert_eq!(serde_json::to_value(&judgment).unwrap(), risen());
    let asked = world.server.asked();
    assert!(asked[0].user.contains("Tell me when") && asked[0].user.contains("+Price: 12 EUR"));
    assert!(asked[0].user.contains("price: 10 -> 12") && !asked[0].system.contains("Price"));
}

#[tokio::test]
async fn members_of_a_judgment_agree() {
    let answer = json!({
        "meaningful": true, "confidence": "High", "reason": "r",
        "meaningfulChanges": [{ "type": "added", "before": "old", "after": "new", "reason": "r" }],
    });
    let judgment = judged(&world(move |_| answer.to_string()).await, DIFF).await.unwrap();
    assert_eq!(judgment.confidence, Confidence::High);
    let change = &judgment.meaningful_changes[0];
    assert_eq!(
        (change.kind, change.before.as_deref(), change.after.as_deref()),
        (ChangeKind::Added, None, Some("new"))
    );
    let mut noise = risen();
    noise["meaningful"] = json!(false);
    let judgment = judged(&world(move |_| noise.to_string()).await, DIFF).await.unwrap();
    assert!(!judgment.meaningful && judgment.meaningful_changes.is_empty());
}

#[tokio::test]
async fn a_wrong_form_is_asked_for_once_more() {
    let corrects = world(|asked| match asked.user.contains("errors of that answer") {
        true => risen().to_string(),
        false => json!({ "verdict": "yes" }).to_string(),
    });
    let world_of_one = corrects.await;
    assert!(judged(&world_of_one, DIFF).await.unwrap().meaningful);
    assert_eq!(world_of_one.server.asked().len(), 2);
    let never = world(|_| json!({ "verdict": "yes" }).to_string()).await;
    assert!(matches!(judged(&never, DIFF).await, Err(JudgeError::Invalid(_))));
    assert_eq!(never.server.asked().len(), 2);
}

#[tokio::test]
async fn a_model_that_fails_gives_no_judgment() {
    let world = world(|_| risen().to_string()).await;
    world.server.fail_with(vec![ModelFault::Status(500)]);
    let error = judged(&world, DIFF).await.unwrap_err();
    assert_eq!(error, JudgeError::Ask(AskError::Upstream { status: 500 }));
    let judgment = Judgment::unjudged(&error.to_string());
    assert!(judgment.meaningful && judgment.reason.ends_with("has failed (status 500)."));
}

#[tokio::test]
async fn a_long_change_is_cut_at_a_line() {
    let world = world(|_| risen().to_string()).await;
    let long = "+ a line of text that was added to the page\n".repeat(20_000);
    judged(&world, &long).await.unwrap();
    let asked = &world.server.asked()[0].user;
    assert!(asked.len() < long.len() && asked.contains("to the page\nEND"));
}
