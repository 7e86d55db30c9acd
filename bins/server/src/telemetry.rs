//! Logging: how it is set up, and the one line that every request gets.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::{Instrument, info_span};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{Layer, fmt};
use wire::Code;

use crate::Service;
use crate::config::{Log, LogFormat};
use crate::error::Failure;
use crate::metrics;
use crate::request::{Context, REQUEST_ID};
use crate::serve::Peer;

/// Our own crates. Other libraries write down whatever passes through them, so a plain level is not for them.
const OURS: [&str; 16] = [
    "app",
    "base",
    "billing",
    "blobs",
    "cpu",
    "crawl_frontier",
    "fetch",
    "formats",
    "net",
    "quarry_server",
    "queue",
    "scrape",
    "site",
    "store",
    "webhooks",
    "wire",
];
/// Status in log and metrics for a client that left before its answer (a custom of nginx).
const CLIENT_LEFT: u16 = 499;

/// Starts logging to standard error, for the whole process. Panics are logged by place alone: their text may hold
/// pieces of a page.
///
/// # Errors
/// When logging was started before.
pub fn init(log: &Log) -> Result<(), TryInitError> {
    let lines = match log.format {
        LogFormat::Json => {
            fmt::layer().json().flatten_event(true).with_current_span(false).with_writer(std::io::stderr).boxed()
        }
        LogFormat::Text => fmt::layer().with_writer(std::io::stderr).boxed(),
    };
    tracing_subscriber::registry().with(lines.with_filter(filter(&log.level))).try_init()?;
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place = place.as_deref().unwrap_or("unknown"), "panicked");
    }));
    Ok(())
}

/// A level for our own crates, or a list of `target=level` that is taken as it is.
fn filter(level: &str) -> Targets {
    let targets = level.parse().unwrap_or_else(|_| Targets::new());
    if level.contains('=') {
        return targets;
    }
    let ours = targets.default_level().unwrap_or(tracing::level_filters::LevelFilter::INFO);
    let others = ours.min(tracing::level_filters::LevelFilter::ERROR);
    Targets::new().with_default(others).with_targets(OURS.map(|target| (target, ours)))
}

/// The outermost layer: gives the request its id and its log line, and counts it.
pub(crate) async fn record(State(service): State<Arc<Service>>, mut request: Request, next: Next) -> Response {
    let peer = request.extensions().get().copied().unwrap_or(Peer(([0, 0, 0, 0], 0).into()));
    let context = Context::new(request.headers(), peer, &service.config.server.trusted_proxies);
    let route = request.extensions().get::<MatchedPath>().map_or("unmatched".into(), |path| path.as_str().to_owned());
    request.extensions_mut().insert(context.clone());
    let span = info_span!("request", id = context.id());
    let mut line =
        Line { method: name(request.method()), route, context, started: Instant::now(), status: CLIENT_LEFT };
    metrics::in_flight(1.0);
    let mut response = next.run(request).instrument(span).await;
    line.status = response.status().as_u16();
    if let Ok(id) = HeaderValue::from_str(line.context.id()) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// Written when dropped, and so also for a request whose client has left.
struct Line {
    method: &'static str,
    route: String,
    context: Context,
    started: Instant,
    status: u16,
}

impl Drop for Line {
    fn drop(&mut self) {
        let Self { method, route, context, started, status } = self;
        let time = started.elapsed();
        metrics::in_flight(-1.0);
        metrics::request(method, route, *status, time);
        let ms = time.as_secs_f64() * 1000.0;
        let ms = (ms * 10.0).round() / 10.0;
        tracing::info!(request_id = context.id(), team = context.team(), method, route, status, ms, "request");
    }
}

/// Other methods share one name, or a client could fill the metrics with its inventions.
fn name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PATCH => "PATCH",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "OTHER",
    }
}

/// What a client gets when a handler panicked. The place is already in the log.
pub(crate) fn panicked(_payload: Box<dyn Any + Send + 'static>) -> Response {
    metrics::panicked();
    Failure::new(Code::UnknownError, "unexpected error").into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn a_level_is_for_our_own_crates() {
        let check = |level: &str, ours: bool, others: bool| {
            let filter = filter(level);
            assert_eq!(filter.would_enable("app::scrape", &Level::DEBUG), ours, "{level}");
            assert_eq!(filter.would_enable("hickory_proto", &Level::DEBUG), others, "{level}");
        };
        check("trace", true, false);
        check("info", false, false);
        check("off", false, false);
        check("error,app=debug", true, false);
        check("app=info,hickory_proto=trace", false, true);
        assert!(!filter("off").would_enable("rustls", &Level::ERROR));
        assert!(filter("info").would_enable("rustls", &Level::ERROR));
    }
}
