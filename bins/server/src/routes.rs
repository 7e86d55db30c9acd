//! The table of contents: every path, what it does, and the function that does it.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, delete, get, patch, post};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};
use tower_http::compression::{CompressionLayer, CompressionLevel, DefaultPredicate};
use wire::Code;

use crate::error::Failure;
use crate::{Service, admin, auth, batch, crawl, health, map, openapi, root, scrape, team, telemetry, webhooks};

/// Answers under this many bytes are sent as they are.
const COMPRESS_ABOVE: u64 = 1024;

/// One line of the table.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) what: &'static str,
    handler: MethodRouter<Arc<Service>>,
}

/// Every route. Who may call a path follows from how it begins, see [`auth::Access::of`].
pub(crate) fn table() -> Vec<Route> {
    [pages(), jobs(), usage(), operator(), watchers()].into_iter().flatten().collect()
}

fn pages() -> Vec<Route> {
    vec![
        route("POST", "/v2/scrape", "Turn one page into data", post(scrape::scrape)),
        route("GET", "/v2/scrape/{id}", "A scrape of the last 24 hours", get(scrape::read)),
        route("POST", "/v2/map", "List the addresses of a site", post(map::map)),
    ]
}

fn jobs() -> Vec<Route> {
    vec![
        route("POST", "/v2/crawl", "Start a crawl", post(crawl::start)),
        route("GET", "/v2/crawl/active", "Crawls that have not ended", get(crawl::active)),
        route("GET", "/v2/crawl/ongoing", "Another name of `/v2/crawl/active`", get(crawl::ongoing)),
        route("POST", "/v2/crawl/params-preview", "Turn a prompt into crawl options", post(crawl::params_preview)),
        route("GET", "/v2/crawl/{id}", "A crawl and its documents; also as WebSocket", get(crawl::status)),
        route("DELETE", "/v2/crawl/{id}", "Stop a crawl", delete(crawl::cancel)),
        route("GET", "/v2/crawl/{id}/errors", "Pages of a crawl that were left out", get(crawl::errors)),
        route("POST", "/v2/batch/scrape", "Scrape a list of pages", post(batch::start)),
        route("GET", "/v2/batch/scrape/{id}", "A batch and its documents; also as WebSocket", get(batch::status)),
        route("DELETE", "/v2/batch/scrape/{id}", "Stop a batch", delete(batch::cancel)),
        route("GET", "/v2/batch/scrape/{id}/errors", "Pages of a batch that were left out", get(batch::errors)),
    ]
}

fn usage() -> Vec<Route> {
    vec![
        route("GET", "/v2/team/credit-usage", "Credits left and granted", get(team::credit_usage)),
        route("GET", "/v2/team/credit-usage/historical", "Credits by month", get(team::credit_history)),
        route("GET", "/v2/team/token-usage", "Tokens left and granted", get(team::token_usage)),
        route("GET", "/v2/team/token-usage/historical", "Tokens by month", get(team::token_history)),
        route("GET", "/v2/team/queue-status", "Scrapes that are waiting and running", get(team::queue_status)),
        route("GET", "/v2/concurrency-check", "Scrapes that are running, and how many may", get(team::concurrency)),
    ]
}

fn operator() -> Vec<Route> {
    vec![
        route("POST", "/admin/teams", "Make a team with a first key", post(admin::create_team)),
        route("GET", "/admin/teams", "Teams, page by page", get(admin::list_teams)),
        route("GET", "/admin/teams/{team}", "One team", get(admin::read_team)),
        route("PATCH", "/admin/teams/{team}", "Change a team or give it credits", patch(admin::update_team)),
        route("POST", "/admin/teams/{team}/keys", "Make another key", post(admin::create_key)),
        route("GET", "/admin/teams/{team}/keys", "The keys of a team", get(admin::list_keys)),
        route("DELETE", "/admin/keys/{key}", "Revoke a key", delete(admin::revoke_key)),
        route("GET", "/admin/teams/{team}/webhooks/deliveries", "Webhook deliveries", get(webhooks::deliveries)),
        route(
            "POST",
            "/admin/webhooks/deliveries/{delivery}/redeliver",
            "Send a delivery again",
            post(webhooks::redeliver),
        ),
        route(
            "GET",
            "/admin/teams/{team}/webhook-secret",
            "The secret that webhooks are signed with",
            get(webhooks::secret),
        ),
        route("POST", "/admin/teams/{team}/webhook-secret", "Replace the secret", post(webhooks::rotate_secret)),
    ]
}

fn watchers() -> Vec<Route> {
    vec![
        route("GET", "/health", "Whether the service works", get(health::health)),
        route("GET", "/health/live", "Whether the process answers", get(health::live)),
        route("GET", "/health/ready", "Whether it can take requests", get(health::ready)),
        route("GET", "/metrics", "Metrics for Prometheus", get(health::metrics)),
        route("GET", "/openapi.json", "This interface as OpenAPI", get(openapi::show)),
        route("GET", "/", "The service's name, version and documentation", get(root::show)),
    ]
}

fn route(method: &'static str, path: &'static str, what: &'static str, handler: MethodRouter<Arc<Service>>) -> Route {
    Route { method, path, what, handler }
}

/// Where requests come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listener {
    /// `server.listen`, for everybody.
    Api,
    /// `admin.listen`, for the operator.
    Operator,
}

/// What is served there.
pub(crate) fn router(listener: Listener, service: Arc<Service>) -> Router {
    let of_operator = |path: &str| path.starts_with("/admin/") || path == "/metrics";
    let apart = service.config.admin.listen.is_some();
    let served = |route: &Route| match listener {
        Listener::Api => !(apart && of_operator(route.path)),
        Listener::Operator => of_operator(route.path) || route.path.starts_with("/health"),
    };
    serving(table().into_iter().filter(served).collect(), auth::Gate { service, listener })
}

/// Routes inside the layers that every request passes, outermost last.
fn serving(table: Vec<Route>, gate: auth::Gate) -> Router {
    let service = gate.service.clone();
    let compress = CompressionLayer::new()
        .no_br()
        .quality(CompressionLevel::Fastest)
        .compress_when(DefaultPredicate::new().and(SizeAbove::new(COMPRESS_ABOVE)));
    table
        .into_iter()
        .fold(Router::new(), |router, route| router.route(route.path, route.handler))
        .fallback(async || auth::not_found())
        .method_not_allowed_fallback(async || {
            Failure::new(Code::MethodNotAllowed, "the path does not take this method")
        })
        .layer(from_fn_with_state(gate, auth::guard))
        .layer(CatchPanicLayer::custom(telemetry::panicked))
        .layer(compress)
        .layer(from_fn_with_state(service.clone(), telemetry::record))
        .with_state(service)
}
