//! A worker: background jobs and maintenance as in a server, with only health and metrics on `worker.listen`.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant as Started};

use app::Operations;
use base::SystemClock;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use wire::{Capabilities, Code, ErrorBody};

use crate::config::Config;
use crate::health::Status;
use crate::operator::Operator;
use crate::{Background, StartError, browser, metrics, parts};

/// Maximum number of connections; further ones are closed. Supervisors and Prometheus need only a few.
const MAX_CONNECTIONS: usize = 64;
/// Longest lifetime of a connection, which serves one request.
const MAX_TIME: Duration = Duration::from_secs(10);
/// Pause after `accept` has failed, for example because the file descriptors are used up.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A running worker. Dropping it stops it at once; [`Running::stop`] shuts down gracefully.
pub struct Running {
    /// Listening address, with the port that the system assigned when the settings ask for port 0.
    pub address: SocketAddr,
    monitor: Arc<Monitor>,
    background: Background,
    stop_listening: CancellationToken,
}

/// State of the health and metrics endpoints.
struct Monitor {
    operations: Operations,
    config: Config,
    address: SocketAddr,
    operator: Option<Operator>,
    prometheus: PrometheusHandle,
    figures: Arc<metrics::Figures>,
    /// Whether shutdown has begun; readiness fails from then on.
    draining: AtomicBool,
}

/// Opens the database and the blob store, and starts the background work. Needs tokio's multi-thread runtime.
///
/// # Errors
/// [`StartError`], with the name of the setting at fault.
#[async_recursion::async_recursion]
pub async fn start(config: Config) -> Result<Running, StartError> {
    metrics::prepare();
    let (listener, address) = parts::bind("WORKER__LISTEN", config.worker.listen).await?;
    let operations = parts::open(&config, Arc::new(SystemClock), Some(address)).await?;
    let prometheus = metrics::handle();
    let background = Background::start(operations.clone(), prometheus.clone(), Some(parts::worker_settings(&config)));
    let operator = Operator::new(&config.admin.token);
    let draining = AtomicBool::new(false);
    let figures = Arc::default();
    let monitor = Arc::new(Monitor { operations, config, address, operator, prometheus, figures, draining });
    let stop_listening = CancellationToken::new();
    tokio::spawn(listen(listener, monitor.clone(), stop_listening.clone()));
    tracing::info!(%address, version = env!("CARGO_PKG_VERSION"), "worker is running");
    Ok(Running { address, monitor, background, stop_listening })
}

impl Running {
    /// Shuts down gracefully: readiness fails, no new job is started, and running ones finish. Health is answered until
    /// then. Returns true when all of it finished within `server.drain_s`; the rest is aborted.
    pub async fn stop(self) -> bool {
        let until = Instant::now() + self.monitor.config.server.drain;
        self.monitor.draining.store(true, Ordering::Relaxed);
        self.background.stop_jobs();
        let settled = self.background.settle(std::future::ready(()), until).await;
        self.stop_listening.cancel();
        settled
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop_listening.cancel();
    }
}

/// Accepts connections until `stop`, and answers each in a task of its own.
async fn listen(listener: TcpListener, monitor: Arc<Monitor>, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    while let Some(accepted) = stop.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((stream, _)) => {
                let Ok(place) = places.clone().try_acquire_owned() else { continue };
                let (monitor, stop) = (monitor.clone(), stop.clone());
                tokio::spawn(async move {
                    let _ = stop.run_until_cancelled(timeout(MAX_TIME, monitor.serve(stream))).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection; trying again");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

impl Monitor {
    async fn serve(self: Arc<Self>, stream: TcpStream) {
        let local = stream.local_addr().ok();
        let max_head = self.config.server.max_head;
        let service = service_fn(move |request| {
            let monitor = self.clone();
            async move { Ok::<_, Infallible>(monitor.answer(request, local).await) }
        });
        let mut builder = http1::Builder::new();
        builder.keep_alive(false).timer(TokioTimer::new()).header_read_timeout(MAX_TIME).max_buf_size(max_head);
        // Broken connections are caused by clients and not logged.
        let _ = builder.serve_connection(TokioIo::new(stream), service).await;
    }

    async fn answer(&self, request: Request<Incoming>, local: Option<SocketAddr>) -> Response<Full<Bytes>> {
        let started = Started::now();
        let (parts, _) = request.into_parts();
        let (route, response) = self.route(&parts, local).await;
        let (status, time) = (response.status().as_u16(), started.elapsed());
        let method = match parts.method {
            Method::GET => "GET",
            Method::HEAD => "HEAD",
            _ => "OTHER",
        };
        metrics::request(method, route, status, time);
        let ms = (time.as_secs_f64() * 10_000.0).round() / 10.0;
        tracing::info!(method, route, status, ms, "request");
        response
    }

    /// Returns the matched route and its answer.
    async fn route(
        &self,
        request: &http::request::Parts,
        local: Option<SocketAddr>,
    ) -> (&'static str, Response<Full<Bytes>>) {
        let route = match request.uri.path() {
            "/health" => "/health",
            "/health/live" => "/health/live",
            "/health/ready" => "/health/ready",
            "/metrics" => "/metrics",
            _ => return ("unmatched", refusal(Code::NotFound, "there is nothing at this path")),
        };
        if !matches!(request.method, Method::GET | Method::HEAD) {
            return (route, refusal(Code::MethodNotAllowed, "this path does not support the method of the request"));
        }
        let response = match route {
            "/metrics" => self.metrics(request, local).await,
            "/health/ready" => {
                health(Status::check(&self.operations.app, self.draining.load(Ordering::Relaxed)).await, None)
            }
            "/health" => health(Status::Ok, Some(self.operations.capabilities())),
            _ => health(Status::Ok, None),
        };
        (route, response)
    }

    /// Answers with the metrics, unless a web page of another site may have sent the request.
    async fn metrics(&self, request: &http::request::Parts, local: Option<SocketAddr>) -> Response<Full<Bytes>> {
        let is_operator = self.operator.is_some_and(|operator| operator.sends(&request.headers));
        let local = local.unwrap_or(self.address);
        match browser::check(request, &self.config.server.hosts, [self.address, local]) {
            Err(why) if !is_operator => refusal(Code::Forbidden, &why.to_string()),
            _ => {
                self.figures.refresh(&self.operations).await;
                response(200, "text/plain; version=0.0.4", self.prometheus.render())
            }
        }
    }
}

fn health(status: Status, capabilities: Option<Capabilities>) -> Response<Full<Bytes>> {
    response(status.code(), "application/json", status.body(capabilities).to_string())
}

fn refusal(code: Code, error: &str) -> Response<Full<Bytes>> {
    let body = serde_json::to_string(&ErrorBody::new(code, error)).unwrap_or_default();
    response(code.status(), "application/json", body)
}

fn response(status: u16, content_type: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static(content_type));
    response
}
