//! Handlers of `/v2/crawl`.

use std::sync::Arc;

use app::auth::Caller;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::{Extension, Json};
use wire::{ActiveCrawls, CrawlRequest, GivenFields, ParamsPreview, ParamsPreviewed, Started};

use crate::address::PublicAddress;
use crate::error::Failure;
use crate::job::{Runs, idempotency_key, run_routes};
use crate::request::{RequestContext, reader};
use crate::{Service, extract, response_budget};

pub(crate) const RUNS: Runs = Runs { kind: &app::crawl::KIND, path: "/v2/crawl" };

/// Start a crawl.
#[utoipa::path(
    post,
    path = "/v2/crawl",
    tag = "crawl",
    request_body(content = CrawlRequest, example = json!({"url": "http://127.0.0.1:3003/", "limit": 10, "scrapeOptions": {"formats": ["markdown"]}})),
    params(("x-idempotency-key" = Option<String>, Header, description = "Repeated calls with the same key start only one crawl")),
    responses((status = 200, description = "OK", body = Started))
)]
pub(crate) async fn start(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    address: PublicAddress,
    headers: HeaderMap,
    extract::Json(body): extract::Json,
) -> Result<Json<Started>, Failure> {
    let given = GivenFields::of(&body);
    let (request, key) = (wire::decode_crawl(body)?, idempotency_key(&headers)?);
    let id = app::crawl::start(&service.operations.runs, &caller, request, &given, key.as_deref()).await?;
    Ok(Json(Started { success: true, id, url: RUNS.url(&address, id) }))
}

run_routes! {
    path = "/v2/crawl", tag = "crawl", id = "Id of the crawl";
    /// Get the status and the documents of a crawl, or watch it over a WebSocket.
    status;
    /// Cancel a crawl.
    cancel;
    /// List the pages of a crawl that failed or were left out.
    errors;
}

/// List active crawls.
#[utoipa::path(get, path = "/v2/crawl/active", tag = "crawl", responses((status = 200, description = "OK", body = ActiveCrawls)))]
pub(crate) async fn active(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Extension(context): Extension<RequestContext>,
) -> Result<Response, Failure> {
    let permit = service.response_budget.permit(&reader(Some(&caller), Some(&context))).await?;
    Ok(response_budget::whole(&app::crawl::active(&service.operations.runs, &caller).await?, permit))
}

/// List active crawls, as `/v2/crawl/active` does.
#[utoipa::path(get, path = "/v2/crawl/ongoing", tag = "crawl", responses((status = 200, description = "OK", body = ActiveCrawls)))]
pub(crate) async fn ongoing(
    service: State<Arc<Service>>,
    caller: Extension<Caller>,
    context: Extension<RequestContext>,
) -> Result<Response, Failure> {
    active(service, caller, context).await
}

/// Turn a prompt into crawl options.
#[utoipa::path(
    post,
    path = "/v2/crawl/params-preview",
    tag = "crawl",
    request_body(content = ParamsPreview, example = json!({"url": "http://127.0.0.1:3003/", "prompt": "only the blog, first 50 pages, skip PDFs"})),
    responses((status = 200, description = "OK", body = ParamsPreviewed))
)]
pub(crate) async fn params_preview(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    extract::Json(body): extract::Json,
) -> Result<Json<ParamsPreviewed>, Failure> {
    let request = wire::decode_params_preview(body)?;
    Ok(Json(app::crawl::params_preview(&service.operations.runs, &caller, &request).await?))
}
