//! The table of contents: every route, by the function that answers it.

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

/// Answers under this many bytes are sent as they are.
const COMPRESS_ABOVE: u64 = 1024;

/// A function that answers a route, with what serving it needs. The rest of its `#[utoipa::path(…)]`, with the types of all
/// requests and answers, is made when somebody asks: it is larger than all else that a server at rest holds.
struct Handler {
    path: String,
    serve: MethodRouter<Arc<Service>>,
    describe: fn() -> Described,
}

/// A [`Handler`] by its name.
macro_rules! route {
    ($module:ident::$handler:ident) => {{
        let (path, methods) = place(&paste!($module::[<__path_ $handler>]));
        let serve = MethodRouter::new().on(methods, $module::$handler);
        Handler { path, serve, describe: || routes!($module::$handler) }
    }};
}

impl Handler {
    /// The same under another path.
    fn at(self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self }
    }

    /// What it says of itself, under the path that it has.
    fn described(&self) -> Described {
        let (schemas, mut paths, serve) = (self.describe)();
        if let Some((_, item)) = paths.paths.pop_first() {
            paths.paths.insert(self.path.clone(), item);
        }
        (schemas, paths, serve)
    }
}

/// Where a handler is served, by what `#[utoipa::path(…)]` has made of its name.
fn place<P: utoipa::Path>(_: &P) -> (String, MethodFilter) {
    let methods = P::methods().iter().map(PathItemExt::to_method_filter).reduce(MethodFilter::or);
    (P::path(), methods.unwrap_or(MethodFilter::GET))
}

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
        // The newer name of the same.
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

/// What is served there.
pub(crate) fn router(listener: Listener, service: Arc<Service>) -> Router {
    let of_operator = |path: &str| path.starts_with("/admin/") || path == "/metrics";
    let apart = service.config.admin.listen.is_some();
    let served = |handler: &Handler| match listener {
        Listener::Api => !(apart && of_operator(&handler.path)),
        Listener::Operator => of_operator(&handler.path) || handler.path.starts_with("/health"),
    };
    serving(handlers().into_iter().filter(served).collect(), auth::Gate { service, listener })
}

/// What comes in ranges is a file: most are packed already, and their size has to stay known.
fn is_no_file(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    !headers.contains_key(header::ACCEPT_RANGES)
}

/// Routes inside the layers that every request passes, outermost last.
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
