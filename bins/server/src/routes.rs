//! The table of contents: every route, by the function that answers it.

use std::sync::Arc;

use axum::Router;
use axum::http::{Extensions, HeaderMap, StatusCode, Version, header};
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};
use tower_http::compression::{CompressionLayer, CompressionLevel, DefaultPredicate};
use utoipa_axum::router::UtoipaMethodRouter;
use utoipa_axum::routes;
use wire::Code;

use crate::auth::Listener;
use crate::error::Failure;
use crate::{
    Service, admin, auth, batch, browser, crawl, files, health, interact, map, openapi, parse, root, scrape, sessions,
    team, telemetry, webhooks,
};

/// Answers under this many bytes are sent as they are.
const COMPRESS_ABOVE: u64 = 1024;

/// One line of the table.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    /// What it does, in a few words.
    pub(crate) summary: String,
    /// The handler, and how it describes itself in the OpenAPI document.
    pub(crate) parts: Described,
}

/// A handler with its `#[utoipa::path(…)]`, which is where method, path and summary are written.
type Described = UtoipaMethodRouter<Arc<Service>>;

/// Every route. Who may call a path follows from how it begins, see [`auth::Access::of`].
pub(crate) fn table() -> Vec<Route> {
    handlers().into_iter().filter_map(Route::of).collect()
}

fn handlers() -> Vec<Described> {
    [scraping(), browsing(), jobs(), usage(), operator(), monitoring()].into_iter().flatten().collect()
}

fn scraping() -> Vec<Described> {
    vec![
        routes!(scrape::scrape),
        routes!(scrape::read),
        routes!(map::map),
        routes!(parse::parse),
        routes!(parse::upload_url),
        routes!(parse::formats),
        routes!(files::show),
        routes!(files::receive),
    ]
}

fn browsing() -> Vec<Described> {
    vec![
        routes!(interact::run),
        routes!(interact::end),
        routes!(browser::start),
        routes!(browser::list),
        routes!(browser::execute),
        routes!(browser::end),
        routes!(sessions::open),
        routes!(sessions::version),
    ]
}

fn jobs() -> Vec<Described> {
    vec![
        routes!(crawl::start),
        routes!(crawl::active),
        routes!(crawl::ongoing),
        routes!(crawl::params_preview),
        routes!(crawl::status),
        routes!(crawl::cancel),
        routes!(crawl::errors),
        routes!(batch::start),
        routes!(batch::status),
        routes!(batch::cancel),
        routes!(batch::errors),
    ]
}

fn usage() -> Vec<Described> {
    vec![
        routes!(team::credit_usage),
        routes!(team::credit_history),
        routes!(team::token_usage),
        routes!(team::token_history),
        routes!(team::queue_status),
        routes!(team::concurrency),
    ]
}

fn operator() -> Vec<Described> {
    vec![
        routes!(admin::create_team),
        routes!(admin::list_teams),
        routes!(admin::read_team),
        routes!(admin::update_team),
        routes!(admin::create_key),
        routes!(admin::list_keys),
        routes!(admin::revoke_key),
        routes!(webhooks::deliveries),
        routes!(webhooks::redeliver),
        routes!(webhooks::secret),
        routes!(webhooks::rotate_secret),
    ]
}

fn monitoring() -> Vec<Described> {
    vec![
        routes!(health::health),
        routes!(health::live),
        routes!(health::ready),
        routes!(health::metrics),
        routes!(openapi::show),
        routes!(root::show),
    ]
}

impl Route {
    /// `None` for a method that the API does not use.
    fn of(parts: Described) -> Option<Self> {
        let (path, item) = parts.1.paths.first_key_value()?;
        let operations = [
            ("GET", &item.get),
            ("POST", &item.post),
            ("PUT", &item.put),
            ("PATCH", &item.patch),
            ("DELETE", &item.delete),
        ];
        let (method, operation) =
            operations.into_iter().find_map(|(method, operation)| Some((method, operation.as_ref()?)))?;
        let summary = operation.summary.as_deref().unwrap_or_default().trim_end_matches('.').to_owned();
        Some(Self { method, path: path.clone(), summary, parts })
    }
}

/// What is served there.
pub(crate) fn router(listener: Listener, service: Arc<Service>) -> Router {
    let of_operator = |path: &str| path.starts_with("/admin/") || path == "/metrics";
    let apart = service.config.admin.listen.is_some();
    let served = |route: &Route| match listener {
        Listener::Api => !(apart && of_operator(&route.path)),
        Listener::Operator => of_operator(&route.path) || route.path.starts_with("/health"),
    };
    serving(table().into_iter().filter(served).collect(), auth::Gate { service, listener })
}

/// What comes in ranges is a file: most are packed already, and their size has to stay known.
fn is_no_file(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    !headers.contains_key(header::ACCEPT_RANGES)
}

/// Routes inside the layers that every request passes, outermost last.
fn serving(table: Vec<Route>, gate: auth::Gate) -> Router {
    let service = gate.service.clone();
    let compress = CompressionLayer::new()
        .no_br()
        .quality(CompressionLevel::Fastest)
        .compress_when(DefaultPredicate::new().and(SizeAbove::new(COMPRESS_ABOVE)).and(is_no_file));
    let mut router = table.into_iter().fold(Router::new(), |router, route| router.route(&route.path, route.parts.2));
    if gate.listener == Listener::Api {
        router = router.route(sessions::VERSION_WITH_SLASH, get(sessions::version));
    }
    router
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_handler_is_a_route() {
        assert_eq!(table().len(), handlers().len());
    }
}
