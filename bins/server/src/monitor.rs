//! Handlers of `/v2/monitor`.

use std::sync::Arc;

use app::auth::Caller;
use app::monitors::{self, CheckPart};
use axum::extract::State;
use axum::response::Response;
use axum::{Extension, Json};
use uuid::Uuid;
use wire::{
    CheckQuery, ChecksQuery, CreateMonitor, DataResponse, MonitorCheck, MonitorCheckAnswer, MonitorCheckDetail,
    MonitorRemoved, MonitorView, MonitorsQuery, UpdateMonitor,
};

use crate::address::PublicAddress;
use crate::error::Failure;
use crate::extract::{Id, Ids, Query};
use crate::request::reader;
use crate::{Service, extract, response_budget};

/// Create a monitor.
#[utoipa::path(
    post,
    path = "/v2/monitor",
    tag = "monitor",
    request_body(content = CreateMonitor, example = json!({"name": "granite", "schedule": {"text": "every 30 minutes", "timezone": "UTC"}, "targets": [{"type": "scrape", "urls": ["http://127.0.0.1:3003/"]}]})),
    responses((status = 200, description = "OK", body = DataResponse<MonitorView>))
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    extract::Json(body): extract::Json,
) -> Result<Json<DataResponse<MonitorView>>, Failure> {
    let request = wire::decode_create_monitor(body)?;
    Ok(Json(DataResponse::new(monitors::create(&service.operations.monitors, &caller, request).await?)))
}

/// List the monitors of the team, newest first.
#[utoipa::path(
    get,
    path = "/v2/monitor",
    tag = "monitor",
    params(MonitorsQuery),
    responses((status = 200, description = "OK", body = DataResponse<Vec<MonitorView>>))
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<MonitorsQuery>,
) -> Result<Json<DataResponse<Vec<MonitorView>>>, Failure> {
    Ok(Json(DataResponse::new(monitors::list(&service.operations.monitors, &caller, &query).await?)))
}

/// Get a monitor.
#[utoipa::path(
    get,
    path = "/v2/monitor/{id}",
    tag = "monitor",
    params(("id" = String, Path, description = "Id of the monitor")),
    responses((status = 200, description = "OK", body = DataResponse<MonitorView>))
)]
pub(crate) async fn read(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Json<DataResponse<MonitorView>>, Failure> {
    Ok(Json(DataResponse::new(monitors::read(&service.operations.monitors, &caller, id).await?)))
}

/// Change a monitor, pause it or resume it.
#[utoipa::path(
    patch,
    path = "/v2/monitor/{id}",
    tag = "monitor",
    params(("id" = String, Path, description = "Id of the monitor")),
    request_body(content = UpdateMonitor, example = json!({"status": "paused"})),
    responses((status = 200, description = "OK", body = DataResponse<MonitorView>))
)]
pub(crate) async fn update(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    extract::Json(body): extract::Json,
) -> Result<Json<DataResponse<MonitorView>>, Failure> {
    let request = wire::decode_update_monitor(body)?;
    Ok(Json(DataResponse::new(monitors::update(&service.operations.monitors, &caller, id, request).await?)))
}

/// Remove a monitor with its checks.
#[utoipa::path(
    delete,
    path = "/v2/monitor/{id}",
    tag = "monitor",
    params(("id" = String, Path, description = "Id of the monitor")),
    responses((status = 200, description = "OK", body = MonitorRemoved))
)]
pub(crate) async fn remove(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Json<MonitorRemoved>, Failure> {
    monitors::remove(&service.operations.monitors, &caller, id).await?;
    Ok(Json(MonitorRemoved { success: true }))
}

/// Begin a check of a monitor, without waiting for its schedule.
#[utoipa::path(
    post,
    path = "/v2/monitor/{id}/run",
    tag = "monitor",
    params(("id" = String, Path, description = "Id of the monitor")),
    responses((status = 200, description = "OK", body = DataResponse<MonitorCheck>))
)]
pub(crate) async fn run(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    extract::JsonOrNone(body): extract::JsonOrNone,
) -> Result<Json<DataResponse<MonitorCheck>>, Failure> {
    if let Some(body) = body {
        let _client = wire::decode_run_monitor(body)?;
    }
    Ok(Json(DataResponse::new(monitors::run(&service.operations.monitors, &caller, id).await?)))
}

/// List the checks of a monitor, newest first.
#[utoipa::path(
    get,
    path = "/v2/monitor/{id}/checks",
    tag = "monitor",
    params(("id" = String, Path, description = "Id of the monitor"), ChecksQuery),
    responses((status = 200, description = "OK", body = DataResponse<Vec<MonitorCheck>>))
)]
pub(crate) async fn checks(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    Query(query): Query<ChecksQuery>,
) -> Result<Json<DataResponse<Vec<MonitorCheck>>>, Failure> {
    Ok(Json(DataResponse::new(monitors::checks(&service.operations.monitors, &caller, id, &query).await?)))
}

/// Get a check of a monitor with its pages.
#[utoipa::path(
    get,
    path = "/v2/monitor/{id}/checks/{checkId}",
    tag = "monitor",
    params(
        ("id" = String, Path, description = "Id of the monitor"),
        ("checkId" = String, Path, description = "Id of the check"),
        CheckQuery,
    ),
    responses((status = 200, description = "OK", body = MonitorCheckAnswer))
)]
pub(crate) async fn check(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    address: PublicAddress,
    Ids(id, check): Ids,
    Query(query): Query<CheckQuery>,
) -> Result<Response, Failure> {
    let permit = service.response_budget.permit(&reader(Some(&caller), None)).await?;
    let part = monitors::check(&service.operations.monitors, &caller, id, check, &query).await?;
    let CheckPart { check: found, pages, next_skip } = part;
    let next = next_skip.map(|skip| next_url(&address, id, check, CheckQuery { skip, ..query }));
    let data = MonitorCheckDetail { check: found, pages, next: next.clone() };
    Ok(response_budget::whole(&MonitorCheckAnswer { success: true, next, data }, permit))
}

/// Returns the URL of further pages of a check.
fn next_url(address: &PublicAddress, id: Uuid, check: Uuid, query: CheckQuery) -> String {
    let CheckQuery { limit, skip, status } = query;
    let status = status.map(|status| format!("&status={}", status.as_str())).unwrap_or_default();
    format!("{}/v2/monitor/{id}/checks/{check}?limit={limit}&skip={skip}{status}", address.0)
}

#[cfg(test)]
mod tests {
    use wire::{CheckPageStatus, QueryParams as _};

    use super::*;

    #[test]
    fn the_next_url_asks_for_the_next_pages() {
        let address = PublicAddress("https://api.test".to_owned());
        let query = CheckQuery { limit: 5, skip: 10, status: Some(CheckPageStatus::New) };
        let url = next_url(&address, Uuid::nil(), Uuid::nil(), query);
        let (path, rest) = url.split_once('?').unwrap();
        assert_eq!(path, format!("https://api.test/v2/monitor/{0}/checks/{0}", Uuid::nil()));
        assert_eq!(CheckQuery::decode(rest), Ok(query));
    }
}
