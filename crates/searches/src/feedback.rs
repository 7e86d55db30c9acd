//! Feedback on calls: stored once for each call and team, with a credit given back where the operator allows it.

use base::new_id;
use kernel::auth::Caller;
use kernel::{App, AppError, Refusal, through_app};
use serde::Serialize;
use store::feedback::{self as rows, DailyLimits, Feedback, Given};
use store::{Conn, StoreError, scrapes, search};
use uuid::Uuid;
use wire::{Code, FeedbackAnswer, FeedbackBody, FeedbackEndpoint, FeedbackErrorCode, Rating, SearchFeedback};

use crate::Searches;

/// Credits given back for one feedback on a call that was charged.
const REFUND: i64 = 1;
/// Rating in the row of feedback that has none.
const UNRATED: &str = "";

/// Reason why feedback was not stored.
#[derive(Debug, thiserror::Error)]
pub enum FeedbackError {
    /// Error that any operation may have.
    #[error(transparent)]
    App(#[from] AppError),
    /// Feedback on a server that stores none.
    #[error("this server stores no feedback (`feedback.max_per_day` is 0)")]
    OptedOut,
    /// Feedback beyond the daily limit of the team.
    #[error("the team has sent the most feedback of a day, {0}; try again tomorrow (UTC)")]
    TooMany(u32),
}

through_app!(FeedbackError: StoreError);

impl Refusal for FeedbackError {
    fn code(&self) -> Code {
        match self {
            Self::App(error) => error.code(),
            Self::OptedOut => Code::Forbidden,
            Self::TooMany(_) => Code::RateLimited,
        }
    }

    fn passed_on(&self) -> Option<&dyn Refusal> {
        match self {
            Self::App(error) => Some(error),
            Self::OptedOut | Self::TooMany(_) => None,
        }
    }
}

impl FeedbackError {
    /// Returns the reason as clients of feedback read it.
    #[must_use]
    pub fn feedback_code(&self) -> FeedbackErrorCode {
        match self {
            Self::OptedOut => FeedbackErrorCode::TeamOptedOut,
            Self::TooMany(_) => FeedbackErrorCode::DailyLimit,
            Self::App(error) if error.is_outage() => FeedbackErrorCode::DbDisabled,
            Self::App(_) => FeedbackErrorCode::Internal,
        }
    }
}

/// Call that feedback is about.
struct Call {
    /// Id as the client gave it, which need not be known here; none for feedback on provider tools.
    id: Option<Uuid>,
    endpoint: &'static str,
    rating: &'static str,
}

/// Stores feedback on a search.
///
/// # Errors
/// [`FeedbackError`]; see its variants.
#[crate::boxed]
pub async fn of_search(
    searches: &Searches,
    caller: &Caller,
    id: Uuid,
    feedback: SearchFeedback,
) -> Result<FeedbackAnswer, FeedbackError> {
    let call = Call { id: Some(id), endpoint: FeedbackEndpoint::Search.as_str(), rating: feedback.rating.as_str() };
    give(searches, caller, call, &feedback).await
}

/// Stores feedback on any call, or on provider tools.
///
/// # Errors
/// [`FeedbackError`]; see its variants.
#[crate::boxed]
pub async fn of_call(
    searches: &Searches,
    caller: &Caller,
    feedback: FeedbackBody,
) -> Result<FeedbackAnswer, FeedbackError> {
    let call = match &feedback {
        FeedbackBody::Job(job) => {
            Call { id: Some(job.job_id), endpoint: job.endpoint.as_str(), rating: job.feedback.rating.as_str() }
        }
        FeedbackBody::Tools(tools) => {
            Call { id: None, endpoint: tools.endpoint.as_str(), rating: tools.rating.map_or(UNRATED, Rating::as_str) }
        }
    };
    give(searches, caller, call, &feedback).await
}

async fn give(
    searches: &Searches,
    caller: &Caller,
    call: Call,
    content: &impl Serialize,
) -> Result<FeedbackAnswer, FeedbackError> {
    let (app, settings) = (searches.app(), searches.feedback());
    if settings.max_per_day == 0 {
        return Err(FeedbackError::OptedOut);
    }
    let content = serde_json::to_string(content).map_err(AppError::internal)?;
    let mut conn = app.conn().await?;
    let cap = i64::from(settings.credits_per_day);
    let is_paid = cap > 0 && !caller.team.unlimited && was_charged(&mut conn, caller, &call).await?;
    let row = row(app, caller, &call, content, if is_paid { REFUND } else { 0 });
    let limits = DailyLimits { most: settings.max_per_day.into(), credits: cap };
    let (given, today) = rows::give(&mut conn, row, limits).await?;
    let answer = FeedbackAnswer { success: true, ..FeedbackAnswer::default() };
    let answer = match given {
        Given::Stored(stored) => FeedbackAnswer { feedback_id: stored.id, credits_refunded: stored.credits, ..answer },
        Given::Before(before) => FeedbackAnswer { feedback_id: before.id, already_submitted: Some(true), ..answer },
        Given::TooMany => return Err(FeedbackError::TooMany(settings.max_per_day)),
    };
    if cap == 0 {
        return Ok(answer);
    }
    Ok(FeedbackAnswer {
        daily_cap_reached: Some(today >= cap),
        credits_refunded_today: Some(today),
        daily_refund_cap: Some(cap),
        ..answer
    })
}

fn row(app: &App, caller: &Caller, call: &Call, content: String, credits: i64) -> Feedback {
    Feedback {
        id: new_id().to_string(),
        team_id: caller.team.id.clone(),
        job_id: call.id.map(|id| id.to_string()),
        endpoint: call.endpoint.to_owned(),
        rating: call.rating.to_owned(),
        content,
        credits,
        created_at: app.now(),
    }
}

/// Whether the call is known, is one of the team, and has cost credits.
async fn was_charged(conn: &mut Conn, caller: &Caller, call: &Call) -> Result<bool, FeedbackError> {
    let (Some(id), team) = (call.id, &caller.team.id) else { return Ok(false) };
    let id = id.to_string();
    let credits = if call.endpoint == FeedbackEndpoint::Search.as_str() {
        search::find(conn, team, &id).await?.map(|row| row.credits)
    } else {
        scrapes::find(conn, team, &id).await?.map(|row| row.credits)
    };
    Ok(credits.is_some_and(|credits| credits > 0))
}
