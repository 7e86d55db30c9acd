//! Common HTTP handling of crawls and batches ("runs"): status, failed pages, cancellation and idempotency keys.

use std::sync::Arc;

use app::AppError;
use app::auth::Caller;
use app::runs::{self, RunStatus};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use axum::response::Response;
use axum::{Extension, Json};
use base::Timestamp;
use uuid::Uuid;
use wire::{Cancelled, Code, ErrorsQuery, JobProgress, JobStatus, ResultsQuery};

use crate::address::PublicAddress;
use crate::error::Failure;
use crate::extract::JobId;
use crate::request::reader;
use crate::{Service, response_budget};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("x-idempotency-key");
/// Longest `x-idempotency-key`, in characters.
const MAX_KEY_LENGTH: usize = 255;

/// A kind of run and its path in the API.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Runs {
    pub(crate) kind: &'static runs::Kind,
    pub(crate) path: &'static str,
}

impl Runs {
    /// Returns the status URL of a run.
    pub(crate) fn url(self, address: &PublicAddress, id: Uuid) -> String {
        format!("{}{}/{id}", address.0, self.path)
    }

    /// Returns the status of a run with one page of its documents.
    pub(crate) async fn status(self, request: &RunRequest, query: ResultsQuery) -> Result<RunStatus, AppError> {
        runs::status(&request.service.operations.runs, &request.caller, self.kind, request.id, query).await
    }

    /// Answers with the pages that failed, starting after the id in the `after` parameter.
    pub(crate) async fn errors(
        self,
        request: &RunRequest,
        address: &PublicAddress,
        ErrorsQuery { after }: ErrorsQuery,
    ) -> Result<Response, Failure> {
        let permit = request.service.response_budget.permit(&request.reader).await?;
        let runs::ErrorList { mut errors, last } =
            runs::errors(&request.service.operations.runs, &request.caller, self.kind, request.id, after).await?;
        errors.next = last.map(|last| format!("{}/errors?after={last}", self.url(address, request.id)));
        Ok(response_budget::whole(&errors, permit))
    }

    /// Cancels a run.
    pub(crate) async fn cancel(self, request: &RunRequest) -> Result<Json<Cancelled>, Failure> {
        runs::cancel(&request.service.operations.runs, &request.caller, self.kind, request.id).await?;
        Ok(Json(Cancelled { success: true, status: JobStatus::Cancelled }))
    }
}

/// Defines the handlers `status`, `cancel` and `errors` of a kind of run, with the summaries given. They use the constant
/// `RUNS` of the module.
macro_rules! run_routes {
    (
        path = $path:literal, tag = $tag:literal, id = $id:literal;
        $(#[$status:meta])+ status;
        $(#[$cancel:meta])+ cancel;
        $(#[$errors:meta])+ errors;
    ) => {
        $(#[$status])+
        #[utoipa::path(
            get,
            path = concat!($path, "/{id}"),
            tag = $tag,
            params(("id" = String, Path, description = $id), wire::ResultsQuery),
            responses((status = 200, description = "OK", body = wire::JobProgress))
        )]
        pub(crate) async fn status(
            request: $crate::status::StatusRequest,
        ) -> Result<axum::response::Response, $crate::error::Failure> {
            request.answer(RUNS).await
        }

        $(#[$cancel])+
        #[utoipa::path(
            delete,
            path = concat!($path, "/{id}"),
            tag = $tag,
            params(("id" = String, Path, description = $id)),
            responses((status = 200, description = "OK", body = wire::Cancelled))
        )]
        pub(crate) async fn cancel(
            request: $crate::job::RunRequest,
        ) -> Result<axum::Json<wire::Cancelled>, $crate::error::Failure> {
            RUNS.cancel(&request).await
        }

        $(#[$errors])+
        #[utoipa::path(
            get,
            path = concat!($path, "/{id}/errors"),
            tag = $tag,
            params(("id" = String, Path, description = $id), wire::ErrorsQuery),
            responses((status = 200, description = "OK", body = wire::JobErrors))
        )]
        pub(crate) async fn errors(
            request: $crate::job::RunRequest,
            address: $crate::address::PublicAddress,
            $crate::extract::Query(query): $crate::extract::Query<wire::ErrorsQuery>,
        ) -> Result<axum::response::Response, $crate::error::Failure> {
            RUNS.errors(&request, &address, query).await
        }
    };
}
pub(crate) use run_routes;

/// A request for one job or session: the id from the path and the caller.
#[derive(Clone)]
pub(crate) struct RunRequest {
    pub(crate) service: Arc<Service>,
    pub(crate) caller: Caller,
    pub(crate) id: Uuid,
    /// Identity of the caller in [`ResponseBudget`](crate::response_budget::ResponseBudget).
    pub(crate) reader: String,
}

impl FromRequestParts<Arc<Service>> for RunRequest {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, service: &Arc<Service>) -> Result<Self, Failure> {
        let JobId(id) = JobId::from_request_parts(parts, service).await?;
        let caller = Extension::<Caller>::from_request_parts(parts, service).await;
        let Extension(caller) = caller.map_err(|error| Failure::internal(&error))?;
        let reader = reader(Some(&caller), parts.extensions.get());
        Ok(Self { service: service.clone(), caller, id, reader })
    }
}

/// Converts the status of a run into the body of the answer.
pub(crate) fn body(progress: RunStatus, next: Option<String>, now: Timestamp) -> JobProgress {
    let RunStatus {
        status,
        total,
        completed,
        credits_used,
        created_at,
        completed_at,
        expires_at,
        documents,
        warning,
        error,
        ..
    } = progress;
    let seconds = (completed_at.unwrap_or(now) - created_at).num_seconds();
    JobProgress {
        success: true,
        status,
        total,
        completed,
        credits_used,
        created_at,
        completed_at,
        duration: u64::try_from(seconds).unwrap_or(0),
        expires_at,
        next,
        warning,
        error: error.filter(|_| status == JobStatus::Failed),
        data: documents,
    }
}

/// Returns the idempotency key of a request.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Failure> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(None);
    };
    match value.to_str() {
        Ok(key) if (1..=MAX_KEY_LENGTH).contains(&key.len()) => Ok(Some(key.to_owned())),
        _ => {
            let why = format!("`x-idempotency-key` must have 1 to {MAX_KEY_LENGTH} visible ASCII characters");
            Err(Failure::new(Code::BadRequest, why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idempotency_keys() {
        let check = |value: &[u8], expect: Result<Option<usize>, ()>| {
            let headers = [(IDEMPOTENCY_KEY, value.try_into().unwrap())].into_iter().collect();
            let found = idempotency_key(&headers).map(|key| key.map(|key| key.len()));
            assert_eq!(found.map_err(drop), expect, "{value:?}");
        };
        check(b"x", Ok(Some(1)));
        check(&[b'k'; 255], Ok(Some(255)));
        check(&[b'k'; 256], Err(()));
        check(b"", Err(()));
        check("ü".as_bytes(), Err(()));
        assert_eq!(idempotency_key(&HeaderMap::new()).unwrap(), None);
    }

    #[test]
    fn jobs_have_urls() {
        let address = PublicAddress("https://api.example".to_owned());
        assert_eq!(
            crate::batch::RUNS.url(&address, Uuid::nil()),
            "https://api.example/v2/batch/scrape/00000000-0000-0000-0000-000000000000"
        );
    }
}
