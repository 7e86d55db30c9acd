//! Budgets: what is counted, and what is not asked any more.

use std::time::Duration;

use llm::{AskError, Kind, Limit, Limits, Micros, OverBudget, Scope};
use testkit::ModelFault;

use crate::world::World;

fn tokens(tokens: u64) -> Limit {
    Limit { tokens, ..Limit::default() }
}

#[tokio::test]
async fn tokens_and_money_are_those_of_the_endpoint() {
    let world = World::of(Kind::OpenAi, |settings| {
        settings.input_price = Micros(2_000_000);
        settings.output_price = Micros(10_000_000);
    });
    let world = world.await;
    let answer = world.expect_mug().await;
    let (input, output) = (answer.usage.input, answer.usage.output);
    assert_eq!(answer.cost, Micros(2 * input + 10 * output));
    let spent = world.budget.spent();
    assert_eq!((spent.tokens, spent.cost), (input + output, answer.cost));
    assert!(spent.time > Duration::ZERO);
}

#[tokio::test]
async fn a_call_that_cannot_fit_is_not_made() {
    for (limits, scope) in [
        (Limits { call: tokens(4200), ..Limits::default() }, Scope::Call),
        (Limits { request: tokens(4200), ..Limits::default() }, Scope::Request),
        (Limits { team_day: tokens(4200), ..Limits::default() }, Scope::TeamDay),
    ] {
        let world = World::of(Kind::OpenAi, |settings| settings.limits = limits).await;
        assert_eq!(world.ask().await, Err(AskError::Budget(OverBudget { quantity: "tokens", scope })));
        assert!(world.server.asked().is_empty() && world.budget.spent().tokens == 0);
    }
}

#[tokio::test]
async fn attempts_that_failed_cost_no_tokens() {
    let world = World::start().await;
    world.server.fail_with(vec![ModelFault::Status(500), ModelFault::Reset]);
    let answer = world.expect_mug().await;
    assert_eq!((answer.attempts, world.budget.spent().tokens), (3, answer.usage.input + answer.usage.output));
}

#[tokio::test]
async fn the_time_of_a_budget_ends_a_call() {
    let limit = Limit { time: Duration::from_secs(1), ..Limit::default() };
    let limits = Limits { request: limit, ..Limits::default() };
    let world = World::of(Kind::OpenAi, |settings| settings.limits = limits).await;
    world.server.fail_with(vec![ModelFault::Hang(Duration::from_secs(60))]);
    let start = tokio::time::Instant::now();
    let over = AskError::Budget(OverBudget { quantity: "time", scope: Scope::Request });
    assert_eq!(world.ask().await, Err(over.clone()));
    assert!(start.elapsed() < Duration::from_secs(2));
    assert_eq!(world.ask().await, Err(over));
    assert_eq!(world.server.asked().len(), 1);
}
