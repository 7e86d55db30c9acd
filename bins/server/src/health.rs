//! Handlers of `/health/live`, `/health/ready`, `/health` and `/metrics` for load balancers, supervisors and Prometheus.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use boot::health::{Health, Status};
use wire::Capabilities;

use crate::Service;

/// Path prefix of the health checks.
pub(crate) const ROOT: &str = "/health";

/// Check that the process answers.
#[utoipa::path(get, path = "/health/live", tag = "health", responses((status = 200, description = "OK", body = Health)))]
pub(crate) async fn live() -> Response {
    answer(Status::Ok, None)
}

/// Check that the service can take requests: it is not shutting down, and the database answers.
#[utoipa::path(get, path = "/health/ready", tag = "health", responses((status = 200, description = "OK", body = Health), (status = 503, description = "Service Unavailable", body = Health)))]
pub(crate) async fn ready(State(service): State<Arc<Service>>) -> Response {
    answer(Status::check(&service.operations.app, service.draining.load(Ordering::Relaxed)).await, None)
}

/// Check that the service answers, also while it drains; lists its capabilities.
#[utoipa::path(get, path = "/health", tag = "health", responses((status = 200, description = "OK", body = Health)))]
pub(crate) async fn health(State(service): State<Arc<Service>>) -> Response {
    answer(Status::Ok, Some(service.operations.capabilities()))
}

/// Get metrics in the Prometheus text format.
#[utoipa::path(get, path = "/metrics", tag = "health", responses((status = 200, description = "OK", body = String, content_type = "text/plain")))]
pub(crate) async fn metrics(State(service): State<Arc<Service>>) -> Response {
    service.figures.refresh(&service.operations).await;
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], service.prometheus.render()).into_response()
}

fn answer(status: Status, capabilities: Option<Capabilities>) -> Response {
    let code = StatusCode::from_u16(status.code()).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    (code, Json(status.body(capabilities))).into_response()
}
