//! The route table and the router with its middleware.

use std::sync::Arc;

use axum::Router;
use axum::http::{Extensions, HeaderMap, StatusCode, Version, header};
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, MethodRouter, get};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};
use tower_http::compression::{CompressionLayer, CompressionLevel, DefaultPredicate};
use utoipa_axum::router::UtoipaMethodRouter;
use utoipa_axum::{PathItemExt, paste, routes};
use wire::Code;

use crate::auth::Listener;
use crate::error::Failure;
use crate::{
    Service, admin, auth, batch, browser, crawl, files, health, interact, map, missing, openapi, parse, root, scrape,
    sessions, team, telemetry, webhooks,
};

/// Size in bytes from which answers are compressed.
const COMPRESS_ABOVE: u64 = 1024;

/// A handler with its path. The OpenAPI description of its `#[utoipa::path(…)]`, with the schemas of all requests and
/// answers, is built only on demand: it is larger than everything else that an idle server holds in memory.
struct Handler {
    path: String,
    serve: MethodRouter<Arc<Service>>,
    describe: fn() -> Described,
}

/// Makes the [`Handler`] of a handler function.
macro_rules! route {
    ($module:ident::$handler:ident) => {{
        let (path, methods) = place(&paste!($module::[<__path_ $handler>]));
        let serve = MethodRouter::new().on(methods, $module::$handler);
        Handler { path, serve, describe: || routes!($module::$handler) }
    }};
}

impl Handler {
    /// Serves the handler under another path.
    fn at(self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self }
    }

    /// Builds the OpenAPI description, under the path that the handler is served at.
    fn described(&self) -> Described {
        let (schemas, mut paths, serve) = (self.describe)();
        if let Some((_, item)) = paths.paths.pop_first() {
            paths.paths.insert(self.path.clone(), item);
        }
        (schemas, paths, serve)
    }
}

/// Returns path and methods of a handler, from the type that `#[utoipa::path(…)]` generates.
fn place<P: utoipa::Path>(_: &P) -> (String, MethodFilter) {
    let methods = P::methods().iter().map(PathItemExt::to_method_filter).reduce(MethodFilter::or);
    (P::path(), methods.unwrap_or(MethodFilter::GET))
}

/// One row of the route table.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    /// First line of the handler's documentation.
    pub(crate) summary: String,
    /// The handler with its OpenAPI description.
    pub(crate) parts: Described,
}

/// A handler with its `#[utoipa::path(…)]`: method, path and summary.
type Described = UtoipaMethodRouter<Arc<Service>>;

/// Returns every route. The path prefix decides the access, see [`auth::Access::of`].
pub(crate) fn table() -> Vec<Route> {
    handlers().into_iter().filter_map(|handler| Route::of(handler.described())).collect()
}

fn handlers() -> Vec<Handler> {
    [scraping(), browsing(), jobs(), usage(), operator(), monitoring()].into_iter().flatten().collect()
}

fn scraping() -> Vec<Handler> {
    vec![
        route!(scrape::scrape),
        route!(scrape::read),
        route!(map::map),
        route!(parse::parse),
        route!(parse::upload_url),
        route!(parse::formats),
        route!(files::show),
        route!(files::receive),
    ]
}

fn browsing() -> Vec<Handler> {
    vec![
        route!(interact::run),
        route!(interact::end),
        route!(browser::start),
        route!(browser::list),
        route!(browser::execute),
        route!(browser::end),
        // The newer name of the same endpoints.
        route!(browser::start).at("/v2/interact"),
        route!(browser::list).at("/v2/interact"),
        route!(browser::execute).at("/v2/interact/{id}/execute"),
        route!(browser::end).at("/v2/interact/{id}"),
        route!(sessions::open),
        route!(sessions::version),
    ]
}

fn jobs() -> Vec<Handler> {
    vec![
        route!(crawl::start),
        route!(crawl::active),
        route!(crawl::ongoing),
        route!(crawl::params_preview),
        route!(crawl::status),
        route!(crawl::cancel),
        route!(crawl::errors),
        route!(batch::start),
        route!(batch::status),
        route!(batch::cancel),
        route!(batch::errors),
    ]
}

fn usage() -> Vec<Handler> {
    vec![
        route!(team::credit_usage),
        route!(team::credit_history),
        route!(team::token_usage),
        route!(team::token_history),
        route!(team::queue_status),
        route!(team::concurrency),
        route!(team::activity),
    ]
}

fn operator() -> Vec<Handler> {
    vec![
        route!(admin::create_team),
        route!(admin::list_teams),
        route!(admin::read_team),
        route!(admin::update_team),
        route!(admin::create_key),
        route!(admin::list_keys),
        route!(admin::update_key),
        route!(admin::revoke_key),
        route!(webhooks::deliveries),
        route!(webhooks::redeliver),
        route!(webhooks::secret),
        route!(webhooks::rotate_secret),
    ]
}

fn monitoring() -> Vec<Handler> {
    vec![
        route!(health::health),
        route!(health::live),
        route!(health::ready),
        route!(health::metrics),
        route!(openapi::show),
        route!(root::show),
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

/// Returns the router of a listener. With `admin.listen` the operator's paths move to the operator's listener.
pub(crate) fn router(listener: Listener, service: Arc<Service>) -> Router {
    let of_operator = |path: &str| path.starts_with("/admin/") || path == "/metrics";
    let apart = service.config.admin.listen.is_some();
    let served = |handler: &Handler| match listener {
        Listener::Api => !(apart && of_operator(&handler.path)),
        Listener::Operator => of_operator(&handler.path) || handler.path.starts_with("/health"),
    };
    serving(handlers().into_iter().filter(served).collect(), auth::Gate { service, listener })
}

/// Excludes files, which accept ranges, from compression: most are compressed already, and their size must stay known.
fn is_no_file(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    !headers.contains_key(header::ACCEPT_RANGES)
}

/// Wraps the routes in the middleware of every request, outermost last.
fn serving(handlers: Vec<Handler>, gate: auth::Gate) -> Router {
    let service = gate.service.clone();
    let compress = CompressionLayer::new()
        .no_br()
        .quality(CompressionLevel::Fastest)
        .compress_when(DefaultPredicate::new().and(SizeAbove::new(COMPRESS_ABOVE)).and(is_no_file));
    let mut router =
        handlers.into_iter().fold(Router::new(), |router, handler| router.route(&handler.path, handler.serve));
    if gate.listener == Listener::Api {
        router = router.route(sessions::VERSION_WITH_SLASH, get(sessions::version));
    }
    router
        .fallback(missing::answer)
        .method_not_allowed_fallback(async || {
            Failure::new(Code::MethodNotAllowed, "this path does not support the method of the request")
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
