//! Handlers of feedback on calls.

use std::sync::Arc;

use app::auth::Caller;
use app::search::{FeedbackError, feedback};
use axum::extract::State;
use axum::{Extension, Json};
use wire::{FeedbackAnswer, FeedbackBody, SearchFeedback};

use crate::Service;
use crate::error::Failure;
use crate::extract::{self, Id};

/// Give feedback on a search.
#[utoipa::path(
    post,
    path = "/v2/search/{id}/feedback",
    tag = "search",
    params(("id" = String, Path, description = "Id of the search")),
    request_body(content = SearchFeedback, example = json!({"rating": "good", "valuableSources": [{"url": "https://example.com/"}]})),
    responses((status = 200, description = "OK", body = FeedbackAnswer))
)]
pub(crate) async fn of_search(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    extract::Json(body): extract::Json,
) -> Result<Json<FeedbackAnswer>, Failure> {
    let body = wire::decode_search_feedback(body)?;
    let given = feedback::of_search(&service.operations.searches, &caller, id, body).await;
    given.map(Json).map_err(failure)
}

/// Give feedback on a call, or on provider tools.
#[utoipa::path(
    post,
    path = "/v2/feedback",
    tag = "search",
    request_body(content = FeedbackBody, example = json!({"endpoint": "scrape", "jobId": "01890000-0000-7000-8000-000000000001", "rating": "partial", "issues": ["missing_text"]})),
    responses((status = 200, description = "OK", body = FeedbackAnswer))
)]
pub(crate) async fn of_call(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    extract::Json(body): extract::Json,
) -> Result<Json<FeedbackAnswer>, Failure> {
    let body = wire::decode_feedback(body)?;
    feedback::of_call(&service.operations.searches, &caller, body).await.map(Json).map_err(failure)
}

/// Returns the answer for an error, with the code that clients of feedback read.
fn failure(error: FeedbackError) -> Failure {
    let code = error.feedback_code();
    Failure::from(error).feedback(code)
}
