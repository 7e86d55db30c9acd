//! Log line and metrics of every request.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use boot::metrics;
use tracing::{Instrument, info_span};
use wire::Code;

use crate::Service;
use crate::error::Failure;
use crate::request::{Peer, REQUEST_ID, RequestContext};

/// Status in log and metrics for a client that disconnected before its answer, as in nginx.
const CLIENT_LEFT: u16 = 499;

/// Outermost middleware: gives the request its id, its log line and its metrics.
pub(crate) async fn record(State(service): State<Arc<Service>>, mut request: Request, next: Next) -> Response {
    let peer = request.extensions().get().copied().unwrap_or(Peer(([0, 0, 0, 0], 0).into()));
    let context = RequestContext::new(request.headers(), peer, &service.config.server.trusted_proxies);
    let route = request.extensions().get::<MatchedPath>().map_or("unmatched".into(), |path| path.as_str().to_owned());
    request.extensions_mut().insert(context.clone());
    let span = info_span!("request", id = context.id());
    let mut log = AccessLog {
        method: name(request.method()),
        route,
        context,
        started: Instant::now(),
        status: CLIENT_LEFT,
        code: None,
    };
    metrics::in_flight(1.0);
    let mut response = next.run(request).instrument(span).await;
    log.status = response.status().as_u16();
    log.code = response.extensions().get::<Code>().map(|code| code.as_str());
    if let Ok(id) = HeaderValue::from_str(log.context.id()) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// Log line of a request, written when dropped, so also for clients that disconnect.
struct AccessLog {
    method: &'static str,
    route: String,
    context: RequestContext,
    started: Instant,
    status: u16,
    /// Error code of the answer, if it is an error.
    code: Option<&'static str>,
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        let Self { method, route, context, started, status, code } = self;
        let time = started.elapsed();
        metrics::in_flight(-1.0);
        metrics::request(method, route, *status, time);
        if let Some(code) = *code {
            metrics::error(code);
        }
        let ms = time.as_secs_f64() * 1000.0;
        let ms = (ms * 10.0).round() / 10.0;
        tracing::info!(request_id = context.id(), team = context.team(), method, route, status, code, ms, "request");
    }
}

/// Returns the metrics label of a method. Unknown methods share one label: clients could create metrics without limit.
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

/// Returns the answer for a handler that panicked. The panic hook has logged its location.
pub(crate) fn panicked(_payload: Box<dyn Any + Send + 'static>) -> Response {
    metrics::panicked();
    Failure::new(Code::UnknownError, "unexpected error").into_response()
}
