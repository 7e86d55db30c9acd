//! What is counted and measured: the recorder, what HTTP counts, and what is measured when somebody asks. Every metric of
//! the programs, also those of other crates, has its line in [`TABLE`].

mod figures;
mod table;

use std::sync::OnceLock;
use std::time::Duration;

use metrics::{counter, gauge, histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

pub use figures::Figures;
pub use table::{Kind, Metric, TABLE};

const REQUESTS: &str = "quarry_http_requests_total";
const SECONDS: &str = "quarry_http_request_seconds";
const IN_FLIGHT: &str = "quarry_http_requests_in_flight";
const ERRORS: &str = "quarry_http_errors_total";
const RATE_LIMITED: &str = "quarry_rate_limited_total";
const PANICS: &str = "quarry_panics_total";
const BUILD: &str = "quarry_build_info";

/// Upper bounds of the time buckets, in seconds.
const BUCKETS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 120.0];

/// What `/metrics` is written from. The recorder belongs to the process, not to a service: several services in one process
/// share it.
#[must_use]
pub fn handle() -> PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE.get_or_init(install).clone()
}

/// Begins to make what [`handle`] gives on another thread: its clock is measured against that of the system, which keeps a
/// processor busy for some 25 ms.
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
    // Fails only when the program that embeds us has a recorder of its own, which then gets the numbers.
    let _ = metrics::set_global_recorder(recorder);
    TABLE.iter().for_each(Metric::describe);
    gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    handle
}

/// A request of this method and matched route was answered after this time, or its client has left.
pub fn request(method: &'static str, route: &str, status: u16, time: Duration) {
    counter!(REQUESTS, "method" => method, "route" => route.to_owned(), "status" => status.to_string()).increment(1);
    histogram!(SECONDS, "route" => route.to_owned()).record(time.as_secs_f64());
}

/// A request was answered with this error code.
pub fn error(code: &'static str) {
    counter!(ERRORS, "code" => code).increment(1);
}

/// A request begins (1) or ends (-1).
pub fn in_flight(change: f64) {
    gauge!(IN_FLIGHT).increment(change);
}

/// A request was refused because of requests per minute.
pub fn rate_limited() {
    counter!(RATE_LIMITED).increment(1);
}

/// A handler panicked.
pub fn panicked() {
    counter!(PANICS).increment(1);
}
