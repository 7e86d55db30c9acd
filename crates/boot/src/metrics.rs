//! Metrics: the Prometheus recorder, the HTTP counters, and the gauges that are measured when `/metrics` is read. [`TABLE`]
//! lists every metric of the programs, including those of other crates.

mod figures;
mod table;

use std::sync::OnceLock;
use std::time::Duration;

use metrics::{counter, gauge, histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

pub use figures::Figures;
pub use table::{Metric, MetricType, TABLE};

const REQUESTS: &str = "quarry_http_requests_total";
const SECONDS: &str = "quarry_http_request_seconds";
const IN_FLIGHT: &str = "quarry_http_requests_in_flight";
const ERRORS: &str = "quarry_http_errors_total";
const RATE_LIMITED: &str = "quarry_rate_limited_total";
const PANICS: &str = "quarry_panics_total";
const BUILD: &str = "quarry_build_info";

/// Upper bounds of the time buckets, in seconds.
const BUCKETS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 120.0];

/// Returns the handle that renders `/metrics`. The recorder is global: several services in one process share it.
#[must_use]
pub fn handle() -> PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE.get_or_init(install).clone()
}

/// Installs the recorder on another thread, because the calibration of its clock keeps a processor busy for about 25 ms.
pub fn prepare() {
    drop(tokio::task::spawn_blocking(handle));
}

fn install() -> PrometheusHandle {
    let builder = PrometheusBuilder::new();
    let recorder = match builder.set_buckets(&BUCKETS) {
        Ok(builder) => builder.build_recorder(),
        // Only an empty list of buckets is refused.
        Err(_) => PrometheusBuilder::new().build_recorder(),
    };
    let handle = recorder.handle();
    // Fails only when an embedding program has installed a recorder of its own, which then receives the metrics.
    let _ = metrics::set_global_recorder(recorder);
    TABLE.iter().for_each(Metric::describe);
    gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    handle
}

/// Records a request that was answered after `time`, or whose client has disconnected.
pub fn request(method: &'static str, route: &str, status: u16, time: Duration) {
    counter!(REQUESTS, "method" => method, "route" => route.to_owned(), "status" => status.to_string()).increment(1);
    histogram!(SECONDS, "route" => route.to_owned()).record(time.as_secs_f64());
}

/// Counts an answer with this error code.
pub fn error(code: &'static str) {
    counter!(ERRORS, "code" => code).increment(1);
}

/// Records the begin (1) or the end (-1) of a request.
pub fn in_flight(change: f64) {
    gauge!(IN_FLIGHT).increment(change);
}

/// Counts a request refused by a rate limit.
pub fn rate_limited() {
    counter!(RATE_LIMITED).increment(1);
}

/// Counts a panic of a handler.
pub fn panicked() {
    counter!(PANICS).increment(1);
}
