//! The route table, with the access rule of every route, and the router with its middleware.

use std::collections::HashSet;
use std::sync::Arc;

use axum::handler::Handler as _;
use axum::http::{Extensions, HeaderMap, StatusCode, Version, header};
use axum::middleware::from_fn_with_state;
use axum::routing::MethodRouter;
use axum::{Json, Router};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};
use tower_http::compression::{CompressionLayer, CompressionLevel, DefaultPredicate};
use utoipa::openapi::OpenApi;
use wire::Code;

use crate::access::Access;
use crate::auth::Listener;
use crate::error::Failure;
use crate::route::{Handler, Route, route};
use crate::{
    Service, admin, auth, batch, browser, crawl, feedback, files, health, interact, mail, map, missing, monitor,
    openapi, parse, root, scrape, search, sessions, tasks, team, telemetry, vertical, webhooks,
};

/// Size in bytes from which answers are compressed.
const COMPRESS_ABOVE: u64 = 1024;

/// Returns every route.
pub(crate) fn table() -> Vec<Route> {
    handlers().iter().filter_map(Route::of).collect()
}

fn handlers() -> Vec<Handler> {
    [scraping(), searching(), browsing(), jobs(), monitors(), usage(), operator(), monitoring()]
        .into_iter()
        .flatten()
        .collect()
}

fn scraping() -> Vec<Handler> {
    vec![
        route!(TeamOrKeyless(Scrape), scrape::scrape),
        route!(Team(Scrape), scrape::read),
        route!(Team(Map), map::map),
        route!(Team(Parse), parse::parse),
        route!(Team(Parse), parse::upload_url),
        route!(Team(Parse), parse::formats),
        route!(Signed, files::show),
        route!(Signed, files::receive),
    ]
}

fn searching() -> Vec<Handler> {
    vec![
        route!(TeamOrKeyless(Search), search::search),
        route!(Team(Search), vertical::developer),
        route!(Team(Search), vertical::read_developer),
        route!(Team(Search), vertical::gov),
        route!(Team(Search), feedback::of_search),
        route!(Team(Search), feedback::of_call),
    ]
}

fn browsing() -> Vec<Handler> {
    vec![
        route!(Team(Interact), interact::run),
        route!(Team(Interact), interact::end),
        route!(Team(Browser), browser::start),
        route!(Team(Browser), browser::list),
        route!(Team(Browser), browser::execute),
        route!(Team(Browser), browser::end),
        // The newer name of the same endpoints.
        route!(Team(Browser), browser::start).at("/v2/interact"),
        route!(Team(Browser), browser::list).at("/v2/interact"),
        route!(Team(Browser), browser::execute).at("/v2/interact/{id}/execute"),
        route!(Team(Browser), browser::end).at("/v2/interact/{id}"),
        route!(Signed, sessions::open),
        route!(Signed, sessions::version),
    ]
}

fn jobs() -> Vec<Handler> {
    vec![
        route!(Team(Crawl), crawl::start),
        route!(Team(Crawl), crawl::active),
        route!(Team(Crawl), crawl::ongoing),
        route!(Team(Crawl), crawl::params_preview),
        route!(Team(Crawl), crawl::status),
        route!(Team(Crawl), crawl::cancel),
        route!(Team(Crawl), crawl::errors),
        route!(Team(Batch), batch::start),
        route!(Team(Batch), batch::status),
        route!(Team(Batch), batch::cancel),
        route!(Team(Batch), batch::errors),
    ]
}

fn monitors() -> Vec<Handler> {
    vec![
        route!(Team(Monitor), monitor::create),
        route!(Team(Monitor), monitor::list),
        route!(Team(Monitor), monitor::read),
        route!(Team(Monitor), monitor::update),
        route!(Team(Monitor), monitor::remove),
        route!(Team(Monitor), monitor::run),
        route!(Team(Monitor), monitor::checks),
        route!(Team(Monitor), monitor::check),
        route!(Signed, mail::show_confirm),
        route!(Signed, mail::confirm),
        route!(Signed, mail::show_unsubscribe),
        route!(Signed, mail::unsubscribe),
    ]
}

fn usage() -> Vec<Handler> {
    vec![
        route!(Team(Team), team::credit_usage),
        route!(Team(Team), team::credit_history),
        route!(Team(Team), team::token_usage),
        route!(Team(Team), team::token_history),
        route!(Team(Team), team::queue_status),
        route!(Team(Team), team::concurrency),
        route!(Team(Team), team::activity),
    ]
}

fn operator() -> Vec<Handler> {
    vec![
        route!(Operator, admin::create_team),
        route!(Operator, admin::list_teams),
        route!(Operator, admin::read_team),
        route!(Operator, admin::update_team),
        route!(Operator, admin::create_key),
        route!(Operator, admin::list_keys),
        route!(Operator, admin::update_key),
        route!(Operator, admin::revoke_key),
        route!(Operator, webhooks::deliveries),
        route!(Operator, webhooks::redeliver),
        route!(Operator, webhooks::secret),
        route!(Operator, webhooks::rotate_secret),
        route!(Operator, tasks::list),
    ]
}

fn monitoring() -> Vec<Handler> {
    vec![
        route!(Health, health::health),
        route!(Health, health::live),
        route!(Health, health::ready),
        route!(Metrics, health::metrics),
        route!(Open, self::show),
        route!(Open, root::show),
    ]
}

/// Get this API as an OpenAPI document.
#[utoipa::path(get, path = "/openapi.json", tag = "health", responses((status = 200, description = "OK", body = serde_json::Value)))]
pub(crate) async fn show() -> Json<OpenApi> {
    Json(openapi::document(table()))
}

/// Returns the router of a listener. With `admin.listen` the operator's paths move to the operator's listener.
pub(crate) fn router(listener: Listener, service: Arc<Service>) -> Router {
    let apart = service.config.admin.listen.is_some();
    let served = |handler: &Handler| match listener {
        Listener::Api => !(apart && handler.access.is_operators()),
        Listener::Operator => handler.access.is_operators() || handler.access == Access::Health,
    };
    let mut handlers: Vec<Handler> = handlers().into_iter().filter(served).collect();
    if listener == Listener::Api {
        // Not in the table: one client requests this path instead of the one without a slash.
        handlers.push(route!(Signed, sessions::version).at(sessions::VERSION_WITH_SLASH));
    }
    serving(handlers, &auth::Gate { service, listener })
}

/// Excludes files, which accept ranges, from compression: most are compressed already, and their size must stay known.
fn is_no_file(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    !headers.contains_key(header::ACCEPT_RANGES)
}

/// Wraps the routes in the middleware of every request, outermost last.
fn serving(handlers: Vec<Handler>, gate: &auth::Gate) -> Router {
    let service = gate.service.clone();
    let compress = CompressionLayer::new()
        .no_br()
        .quality(CompressionLevel::Fastest)
        .compress_when(DefaultPredicate::new().and(SizeAbove::new(COMPRESS_ABOVE)).and(is_no_file));
    guarded(handlers, gate)
        .layer(CatchPanicLayer::custom(telemetry::panicked))
        .layer(compress)
        .layer(from_fn_with_state(service.clone(), telemetry::record))
        .with_state(service)
}

/// Returns the routes with a guard in front of each, of the methods that a path does not support, and of all other paths.
fn guarded(handlers: Vec<Handler>, gate: &auth::Gate) -> Router<Arc<Service>> {
    let guard = |access| from_fn_with_state(auth::GuardState { gate: gate.clone(), access }, auth::guard);
    let mut router =
        Router::new().fallback(missing::answer).layer(from_fn_with_state(gate.clone(), auth::guard_without_route));
    let mut paths = HashSet::new();
    for Handler { access, path, serve, .. } in handlers {
        let mut serve: MethodRouter<Arc<Service>> = serve.layer(guard(access));
        // Only the first handler of a path gets a fallback: axum panics when two method routers with fallbacks are merged.
        if paths.insert(path.clone()) {
            serve = serve.fallback(other_method.layer(guard(access.other_methods())));
        }
        router = router.route(&path, serve);
    }
    router
}

/// Answers requests with a method that the path does not support.
async fn other_method() -> Failure {
    Failure::new(Code::MethodNotAllowed, "this path does not support the method of the request")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use wire::EndpointGroup;

    use super::*;

    #[test]
    fn every_handler_is_a_route() {
        assert_eq!(table().len(), handlers().len());
    }

    /// A key restricted to a group without a route could not call anything.
    #[test]
    fn every_group_has_a_route() {
        let used: BTreeSet<EndpointGroup> = handlers().iter().filter_map(|handler| handler.access.group()).collect();
        assert_eq!(used, EndpointGroup::ALL.iter().copied().collect());
    }

    /// Unsupported methods of a path get the access rule of its first handler.
    #[test]
    fn handlers_of_a_path_have_one_rule() {
        let mut rules: BTreeMap<String, Access> = BTreeMap::new();
        for handler in handlers() {
            let access = handler.access.other_methods();
            let first = *rules.entry(handler.path.clone()).or_insert(access);
            assert_eq!(first, access, "{}", handler.path);
        }
    }

    /// Unknown paths are refused like the routes next to them, so that refusals do not reveal which paths exist.
    #[test]
    fn paths_without_a_route_have_the_rule_of_their_neighbours() {
        for handler in handlers() {
            let access = Some(handler.access).filter(|access| access.group().is_none());
            assert_eq!(Access::without_route(&handler.path), access, "{}", handler.path);
        }
    }
}
