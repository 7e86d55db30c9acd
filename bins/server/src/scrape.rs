//! Handlers of `/v2/scrape`.

use std::sync::Arc;

use app::auth::Caller;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;
use wire::{Code, ScrapeAnswer, ScrapeBody, ScrapeRequest, ToolRequest};

use crate::error::Failure;
use crate::job::RunRequest;
use crate::request::{GivenId, RequestContext, reader};
use crate::{Service, extract, keyless};

/// Body of `POST /v2/scrape`: a page to scrape, or calls of provider tools.
// Only the OpenAPI document uses it; `wire` decodes the body.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, clippy::large_enum_variant, reason = "only its schema is used")]
pub(crate) enum ScrapeCall {
    /// A page.
    Page(ScrapeRequest),
    /// Provider tools.
    Tools(ToolRequest),
}

/// Scrape a page.
#[utoipa::path(
    post,
    path = "/v2/scrape",
    tag = "scrape",
    request_body(content = ScrapeCall, example = json!({"url": "http://127.0.0.1:3003/", "formats": ["markdown", "links"]})),
    responses((status = 200, description = "OK", body = ScrapeAnswer))
)]
pub(crate) async fn scrape(
    State(service): State<Arc<Service>>,
    Extension(caller): Extension<Caller>,
    Extension(context): Extension<RequestContext>,
    extract::Json(body): extract::Json,
) -> Result<Response, Failure> {
    match wire::decode_scrape(body)? {
        ScrapeBody::Page(request) => {
            let scraped = app::scrape::scrape_with_room(&service.operations.scraper, &caller, *request).await;
            let (data, room) = scraped.map_err(|error| match caller.is_keyless {
                true => keyless::failure(error),
                false => error.into(),
            })?;
            let owner = reader(Some(&caller), Some(&context));
            Ok(service.outbox.document(&owner, data, room))
        }
        ScrapeBody::Tools(_) => Err(tools(&caller, &context)),
    }
}

/// Get a scrape of the last 24 hours, if its page is still in the cache.
#[utoipa::path(
    get,
    path = "/v2/scrape/{id}",
    tag = "scrape",
    params(("id" = String, Path, description = "Id of the scrape: `data.metadata.scrapeId`")),
    responses((status = 200, description = "OK", body = ScrapeAnswer))
)]
pub(crate) async fn read(asked: RunRequest) -> Result<Response, Failure> {
    let (data, room) = app::scrape::read(&asked.service.operations.scraper, &asked.caller, asked.id).await?;
    Ok(asked.service.outbox.document(&asked.reader, data, room))
}

/// Returns the error of a provider-tool call. Provider tools are unsupported; the checks keep the order of the contract.
fn tools(caller: &Caller, context: &RequestContext) -> Failure {
    if context.given_id() == GivenId::Unusable {
        return Failure::new(Code::BadRequest, "`x-request-id` must be 1 to 128 letters, digits, `.`, `_`, `:` or `-`");
    }
    if !caller.team.catalog {
        return Failure::new(Code::Forbidden, "This endpoint is not enabled for this team.");
    }
    Failure::new(Code::ProviderToolsNotSupported, "provider-tool calls are not available on this server")
}
