//! Usage and limits of a team (docs/CONTRACT.md, "Usage").

use ::runs::PAGES;
use base::Timestamp;
use chrono::{NaiveDate, NaiveTime};
use kernel::auth::Caller;
use kernel::{App, AppError};
use store::usage::{self as rows, Period};
use store::{jobs, ledger, runs, scrapes};
use wire::{BillingPeriod, Concurrency, CreditPeriod, CreditUsage, QueueStatus, TokenPeriod, TokenUsage, UsageSpan};

use crate::keys;

/// Number of tokens shown per credit. The specification names no rate, so this is a convention of this server.
pub const TOKENS_PER_CREDIT: i64 = 15;

/// Credits shown for a team without a limit: clients need a whole number.
pub const UNLIMITED_CREDITS: i64 = 99_999_999;

/// Returns the credits left and granted. Credits do not renew by themselves, so there are no billing periods.
///
/// # Errors
/// [`AppError::Internal`].
#[crate::boxed]
pub async fn credit_usage(app: &App, caller: &Caller) -> Result<CreditUsage, AppError> {
    let (remaining_credits, plan_credits) = if caller.team.unlimited {
        (UNLIMITED_CREDITS, UNLIMITED_CREDITS)
    } else {
        let balance = ledger::balance(&mut app.conn().await?, &caller.team.id).await?;
        (balance.available, balance.granted)
    };
    Ok(CreditUsage { remaining_credits, plan_credits, period: BillingPeriod::default() })
}

/// Returns the credits left and granted, in tokens.
///
/// # Errors
/// [`AppError::Internal`].
#[crate::boxed]
pub async fn token_usage(app: &App, caller: &Caller) -> Result<TokenUsage, AppError> {
    let credits = credit_usage(app, caller).await?;
    Ok(TokenUsage {
        remaining_tokens: tokens(credits.remaining_credits),
        plan_tokens: tokens(credits.plan_credits),
        period: BillingPeriod::default(),
    })
}

/// Returns credits by calendar month (UTC), oldest first, only months with usage; within a month by API key if
/// requested.
///
/// # Errors
/// [`AppError::Internal`].
#[crate::boxed]
pub async fn credit_history(app: &App, caller: &Caller, by_api_key: bool) -> Result<Vec<CreditPeriod>, AppError> {
    let mut conn = app.conn().await?;
    let periods = rows::periods(&mut conn, &caller.team.id, by_api_key).await?;
    let names = if by_api_key { keys::names(&mut conn, &caller.team.id).await? } else { Default::default() };
    let now = app.now();
    let period = |Period { start, end, api_key, credits }| {
        let span = UsageSpan {
            start_date: Some(midnight(start)),
            end_date: Some(midnight(end)).filter(|end| *end <= now),
            api_key: api_key.map(|id| names.get(&id).cloned().unwrap_or(id)),
        };
        CreditPeriod { span, credits_used: credits }
    };
    Ok(periods.into_iter().map(period).collect())
}

/// Returns the usage by month, in tokens.
///
/// # Errors
/// [`AppError::Internal`].
#[crate::boxed]
pub async fn token_history(app: &App, caller: &Caller, by_api_key: bool) -> Result<Vec<TokenPeriod>, AppError> {
    let credits = credit_history(app, caller, by_api_key).await?;
    let period = |period: CreditPeriod| TokenPeriod { span: period.span, tokens_used: tokens(period.credits_used) };
    Ok(credits.into_iter().map(period).collect())
}

/// Returns the numbers of running scrapes and of running and waiting pages of crawls and batches. Scrapes do not wait:
/// those over the limit are refused.
///
/// # Errors
/// [`AppError::Internal`].
#[crate::boxed]
pub async fn queue_status(app: &App, caller: &Caller) -> Result<QueueStatus, AppError> {
    let team = &caller.team.id;
    let mut conn = app.conn().await?;
    let (_, pending) = runs::load_of(&mut conn, team).await?;
    let running = jobs::running(&mut conn, PAGES.name, team).await?;
    let count = |number: i64| u64::try_from(number).unwrap_or(0);
    let active = u64::from(app.active().count(team)) + count(running);
    let waiting = count(pending - running);
    Ok(QueueStatus {
        success: true,
        jobs_in_queue: active + waiting,
        active_jobs_in_queue: active,
        waiting_jobs_in_queue: waiting,
        max_concurrency: max_concurrency(caller),
        most_recent_success: scrapes::last_success(&mut conn, team).await?,
    })
}

/// Returns the number of running scrapes and the limit.
#[must_use]
pub fn concurrency(app: &App, caller: &Caller) -> Concurrency {
    let concurrency = app.active().count(&caller.team.id);
    Concurrency { success: true, concurrency, max_concurrency: max_concurrency(caller) }
}

fn max_concurrency(caller: &Caller) -> u32 {
    u32::try_from(caller.team.concurrency).unwrap_or(0)
}

fn tokens(credits: i64) -> i64 {
    credits.saturating_mul(TOKENS_PER_CREDIT)
}

fn midnight(day: NaiveDate) -> Timestamp {
    day.and_time(NaiveTime::MIN).and_utc()
}
