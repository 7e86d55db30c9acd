//! Handlers of `/v2/team/…` and `/v2/concurrency-check`: usage and limits of a team.

use std::sync::Arc;

use app::auth::Caller;
use app::usage;
use axum::extract::State;
use axum::{Extension, Json};
use wire::{
    Activity, ActivityQuery, Concurrency, CreditPeriod, CreditUsage, DataResponse, HistoryQuery, Periods, QueueStatus,
    TokenPeriod, TokenUsage,
};

use crate::Service;
use crate::error::Failure;
use crate::extract::Query;

/// Get the remaining and granted credits.
#[utoipa::path(get, path = "/v2/team/credit-usage", tag = "team", responses((status = 200, description = "OK", body = DataResponse<CreditUsage>)))]
pub(crate) async fn credit_usage(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<DataResponse<CreditUsage>>, Failure> {
    Ok(Json(DataResponse::new(usage::credit_usage(&service.operations.app, &caller).await?)))
}

/// Get the remaining and granted tokens.
#[utoipa::path(get, path = "/v2/team/token-usage", tag = "team", responses((status = 200, description = "OK", body = DataResponse<TokenUsage>)))]
pub(crate) async fn token_usage(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<DataResponse<TokenUsage>>, Failure> {
    Ok(Json(DataResponse::new(usage::token_usage(&service.operations.app, &caller).await?)))
}

/// Get the credits used in each month.
#[utoipa::path(
    get,
    path = "/v2/team/credit-usage/historical",
    tag = "team",
    params(HistoryQuery),
    responses((status = 200, description = "OK", body = Periods<CreditPeriod>))
)]
pub(crate) async fn credit_history(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Query(wanted): Query<HistoryQuery>,
) -> Result<Json<Periods<CreditPeriod>>, Failure> {
    Ok(Json(Periods::new(usage::credit_history(&service.operations.app, &caller, wanted.by_api_key).await?)))
}

/// Get the tokens used in each month.
#[utoipa::path(
    get,
    path = "/v2/team/token-usage/historical",
    tag = "team",
    params(HistoryQuery),
    responses((status = 200, description = "OK", body = Periods<TokenPeriod>))
)]
pub(crate) async fn token_history(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Query(wanted): Query<HistoryQuery>,
) -> Result<Json<Periods<TokenPeriod>>, Failure> {
    Ok(Json(Periods::new(usage::token_history(&service.operations.app, &caller, wanted.by_api_key).await?)))
}

/// Get the number of running and waiting jobs.
#[utoipa::path(get, path = "/v2/team/queue-status", tag = "team", responses((status = 200, description = "OK", body = QueueStatus)))]
pub(crate) async fn queue_status(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<QueueStatus>, Failure> {
    Ok(Json(usage::queue_status(&service.operations.app, &caller).await?))
}

/// Get the number of running scrapes and the concurrency limit.
#[utoipa::path(get, path = "/v2/concurrency-check", tag = "team", responses((status = 200, description = "OK", body = Concurrency)))]
pub(crate) async fn concurrency(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
) -> Json<Concurrency> {
    Json(usage::concurrency(&service.operations.app, &caller))
}

/// List the activity of the team, newest first.
#[utoipa::path(
    get,
    path = "/v2/team/activity",
    tag = "team",
    params(ActivityQuery),
    responses((status = 200, description = "OK", body = Activity))
)]
pub(crate) async fn activity(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<ActivityQuery>,
) -> Result<Json<Activity>, Failure> {
    Ok(Json(app::activity::list(&service.operations.runs, &caller, query).await?))
}
