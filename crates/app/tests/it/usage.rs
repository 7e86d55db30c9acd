//! Usage numbers that a team sees.

use app::usage::{self, TOKENS_PER_CREDIT, UNLIMITED_CREDITS};
use wire::{CreateKey, CreditPeriod, ScrapeOptions};

use crate::world::{DAY, World};

#[tokio::test(flavor = "multi_thread")]
async fn credits_and_tokens() {
    let world = World::start().await;
    world.site.html("/", "<p>x</p>");
    let team = world.team(Some(10)).await;
    world.scrape(&team, "/").await.unwrap();
    let credits = usage::credit_usage(&world.app, &team).await.unwrap();
    assert_eq!((credits.remaining_credits, credits.plan_credits), (9, 10));
    let tokens = usage::token_usage(&world.app, &team).await.unwrap();
    assert_eq!((tokens.remaining_tokens, tokens.plan_tokens), (9 * TOKENS_PER_CREDIT, 10 * TOKENS_PER_CREDIT));
    let unlimited = world.team(None).await;
    let credits = usage::credit_usage(&world.app, &unlimited).await.unwrap();
    assert_eq!(credits.remaining_credits, UNLIMITED_CREDITS);
}

#[tokio::test(flavor = "multi_thread")]
async fn months_and_keys() {
    let world = World::start().await;
    world.site.html("/", "<p>x</p>");
    let team = world.team(Some(10)).await;
    assert!(usage::credit_history(&world.app, &team, false).await.unwrap().is_empty());
    world.scrape(&team, "/").await.unwrap();
    world.clock.advance(40 * DAY);
    let ci = app::keys::create(&world.app, team.team.id.parse().unwrap(), CreateKey::new("ci")).await.unwrap();
    let ci = app::auth::authenticate(&world.app, Some(&ci.api_key)).await.unwrap();
    for caller in [&team, &ci, &ci] {
        world.scrape_with(caller, "/", ScrapeOptions { max_age: Some(0), ..Default::default() }).await.unwrap();
    }
    let show = |period: CreditPeriod| {
        let day = |moment: Option<base::Timestamp>| moment.map(|moment| moment.date_naive().to_string());
        (day(period.span.start_date), day(period.span.end_date), period.span.api_key, period.credits_used)
    };
    let day = |text: &str| Some(text.to_owned());
    let months: Vec<_> = usage::credit_history(&world.app, &team, false).await.unwrap().into_iter().map(show).collect();
    assert_eq!(months, [(day("2026-01-01"), day("2026-02-01"), None, 1), (day("2026-02-01"), None, None, 3)]);
    let keys: Vec<_> = usage::credit_history(&world.app, &team, true).await.unwrap().into_iter().map(show).collect();
    let default = || Some("default".to_owned());
    assert_eq!(keys[0], (day("2026-01-01"), day("2026-02-01"), default(), 1));
    assert_eq!(keys.len(), 3);
    assert!(keys.contains(&(day("2026-02-01"), None, default(), 1)));
    assert!(keys.contains(&(day("2026-02-01"), None, Some("ci".to_owned()), 2)));
    let tokens = usage::token_history(&world.app, &team, false).await.unwrap();
    assert_eq!(tokens[1].tokens_used, 3 * TOKENS_PER_CREDIT);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_now() {
    let world = World::start().await;
    world.site.html("/", "<p>x</p>");
    let team = world.team(Some(10)).await;
    let idle = usage::queue_status(&world.app, &team).await.unwrap();
    assert_eq!((idle.jobs_in_queue, idle.max_concurrency, idle.most_recent_success), (0, 100, None));
    let slots: Vec<_> = (0..3).map(|_| world.parts.active.enter(&team.team.id, 10).unwrap()).collect();
    let busy = usage::queue_status(&world.app, &team).await.unwrap();
    assert_eq!((busy.jobs_in_queue, busy.active_jobs_in_queue, busy.waiting_jobs_in_queue), (3, 3, 0));
    let concurrency = usage::concurrency(&world.app, &team);
    assert_eq!((concurrency.concurrency, concurrency.max_concurrency), (3, 100));
    drop(slots);
    world.scrape(&team, "/").await.unwrap();
    let after = usage::queue_status(&world.app, &team).await.unwrap();
    assert_eq!(after.most_recent_success.unwrap().to_rfc3339(), "2026-01-01T00:00:00+00:00");
}
