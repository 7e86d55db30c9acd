//! `/health/live`, `/health/ready`, `/health` and `/metrics`: for balancers, supervisors and Prometheus. No key needed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use app::App;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use store::{StoreError, teams};
use tokio::time::timeout;
use utoipa::ToSchema;
use wire::{Capabilities, Capability};

use crate::Service;

/// How long the database may take to answer before it counts as away.
const PATIENCE: Duration = Duration::from_secs(2);

/// How the service is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// Whether `status` is `ok`.
    success: bool,
    /// How it is.
    status: Status,
    /// Version of the program.
    version: &'static str,
    /// What this server can do beyond what every server can; `/health` alone tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    capabilities: Option<Vec<Capability>>,
}

/// One word for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// All is well.
    Ok,
    /// It is about to stop and should get no new requests.
    Draining,
    /// The database does not answer.
    DatabaseAway,
}

/// The process runs and answers.
#[utoipa::path(get, path = "/health/live", tag = "health", responses((status = 200, description = "OK", body = Health)))]
pub(crate) async fn live() -> Response {
    answer(Status::Ok, None)
}

/// The service can do its work: it is not stopping, and the database answers.
#[utoipa::path(get, path = "/health/ready", tag = "health", responses((status = 200, description = "OK", body = Health), (status = 503, description = "Service Unavailable", body = Health)))]
pub(crate) async fn ready(State(service): State<Arc<Service>>) -> Response {
    if service.draining.load(Ordering::Relaxed) {
        return answer(Status::Draining, None);
    }
    match timeout(PATIENCE, database(&service.app)).await {
        Ok(Ok(())) => answer(Status::Ok, None),
        Ok(Err(error)) => {
            tracing::warn!(error = %crate::error::Chain(&error), "not ready");
            answer(Status::DatabaseAway, None)
        }
        Err(_) => answer(Status::DatabaseAway, None),
    }
}

/// Whether the service works, in short: 200 as long as the process serves, also while it drains.
#[utoipa::path(get, path = "/health", tag = "health", responses((status = 200, description = "OK", body = Health)))]
pub(crate) async fn health(State(service): State<Arc<Service>>) -> Response {
    answer(Status::Ok, Some(service.app.capabilities()))
}

/// Metrics in the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "health", responses((status = 200, description = "OK", body = String, content_type = "text/plain")))]
pub(crate) async fn metrics(State(service): State<Arc<Service>>) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], service.prometheus.render()).into_response()
}

/// Reads one row: a connection alone may come from the pool untried.
async fn database(app: &App) -> Result<(), StoreError> {
    teams::find(&mut app.store.conn().await?, app::DEFAULT_TEAM).await.map(drop)
}

fn answer(status: Status, capabilities: Option<Capabilities>) -> Response {
    let success = status == Status::Ok;
    let code = if success { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let capabilities = capabilities.map(|own| own.iter().collect());
    let health = Health { success, status, version: env!("CARGO_PKG_VERSION"), capabilities };
    let mut health = serde_json::to_value(health).unwrap_or_default();
    if !success && let Some(members) = health.as_object_mut() {
        // Every answer that is not 200 has `error` (docs/CONTRACT.md, "Errors").
        members.insert("error".to_owned(), "the service takes no requests now".into());
    }
    (code, Json(health)).into_response()
}
