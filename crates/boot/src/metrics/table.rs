//! Every metric by name: what `/metrics` says of it, and docs/METRICS.md.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

/// How a metric behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only grows, until the process ends.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts values by their size.
    Histogram,
}

/// A metric.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Its name, as Prometheus wants it: with the unit, and `_total` at the end of a counter.
    pub name: &'static str,
    /// How it behaves.
    pub kind: Kind,
    /// What it is measured in: `seconds`, `bytes`, or nothing for a number of things.
    pub unit: &'static str,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// What it says.
    pub help: &'static str,
}

const fn metric(
    kind: Kind,
    name: &'static str,
    unit: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric { name, kind, unit, labels, help }
}

const fn counter(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Metric {
    metric(Kind::Counter, name, "", labels, help)
}

const fn gauge(name: &'static str, unit: &'static str, labels: &'static [&'static str], help: &'static str) -> Metric {
    metric(Kind::Gauge, name, unit, labels, help)
}

const fn seconds(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Metric {
    metric(Kind::Histogram, name, "seconds", labels, help)
}

/// Every metric, in the order of the document.
pub const TABLE: &[Metric] = &[
    counter(
        "quarry_http_requests_total",
        &["method", "route", "status"],
        "Requests that were answered; status 499 is a client that left before.",
    ),
    seconds("quarry_http_request_seconds", &["route"], "Time to the head of the answer, in seconds."),
    gauge("quarry_http_requests_in_flight", "", &[], "Requests that run now."),
    counter("quarry_http_errors_total", &["code"], "Answers with an error, by its code."),
    counter("quarry_rate_limited_total", &[], "Requests that were refused because of requests per minute."),
    counter("quarry_panics_total", &[], "Handlers that panicked."),
    counter("quarry_scrapes_total", &["result"], "Scrapes that ended: ok, or the kind of failure."),
    gauge("quarry_scrapes_in_flight", "", &[], "Scrapes, maps and files of callers that are at work in this process."),
    counter("quarry_fetch_steps_total", &["engine", "reason"], "Steps taken to pages, by engine and why it was taken."),
    gauge("quarry_pages_in_work", "", &[], "Pages of crawls and batches that this process works on."),
    seconds("quarry_page_seconds", &[], "Time of a page of a crawl or batch from fetch to document, in seconds."),
    counter("quarry_cache_lookups_total", &["state"], "Look-ups in the page cache: hit or miss."),
    counter("quarry_credits_total", &[], "Credits charged to teams."),
    counter(
        "quarry_webhook_attempts_total",
        &["result"],
        "Attempts at webhook deliveries: delivered, retried, or failed for good.",
    ),
    seconds("quarry_webhook_seconds", &[], "Time of an attempt at a webhook delivery, in seconds."),
    gauge(
        "quarry_queue_jobs",
        "",
        &["queue", "state"],
        "Jobs in the queues of the database, waiting (those for later included) or running on any server.",
    ),
    gauge(
        "quarry_queue_oldest_seconds",
        "seconds",
        &["queue"],
        "For how many seconds the job has been due that waits longest; 0 when none waits.",
    ),
    gauge(
        "quarry_queue_measured_timestamp_seconds",
        "seconds",
        &[],
        "When the queues were last counted, in seconds since 1970; they are counted anew every 5 seconds at most.",
    ),
    gauge("quarry_sessions", "", &[], "Browser sessions that are open in this process."),
    gauge("quarry_browsers", "", &[], "Browsers that run."),
    counter("quarry_browsers_started_total", &[], "Browsers that were started."),
    gauge("quarry_readers", "", &[], "Processes that read documents."),
    gauge(
        "quarry_places",
        "",
        &["line"],
        "Places there are: for visits of the browser, work on the processor, documents, and pages that are recognised.",
    ),
    gauge("quarry_places_in_use", "", &["line"], "Places that are taken."),
    gauge("quarry_places_waiting", "", &["line"], "Who waits for a place."),
    gauge(
        "quarry_database_connections",
        "",
        &["pool", "state"],
        "Connections to the database, in_use or idle; with SQLite there is one for writing.",
    ),
    gauge("quarry_database_waiting", "", &["pool"], "Who waits for a connection to the database."),
    gauge("quarry_disk_free_bytes", "bytes", &["folder"], "Bytes that may still be written below the folder."),
    gauge("quarry_build_info", "", &["version"], "Always 1; the version of the program is a label."),
    metric(
        Kind::Counter,
        "process_cpu_seconds_total",
        "seconds",
        &[],
        "Processor time of this process, of the user and of the system, in seconds.",
    ),
    gauge("process_resident_memory_bytes", "bytes", &[], "Resident memory of this process, in bytes."),
    gauge("process_virtual_memory_bytes", "bytes", &[], "Virtual memory of this process, in bytes."),
    gauge(
        "process_virtual_memory_max_bytes",
        "bytes",
        &[],
        "The most virtual memory that this process may have, in bytes.",
    ),
    gauge("process_open_fds", "", &[], "File handles that are open."),
    gauge("process_max_fds", "", &[], "The most file handles that may be open."),
    gauge("process_threads", "", &[], "Threads of this process."),
    gauge("process_start_time_seconds", "seconds", &[], "When this process was started, in seconds since 1970."),
];

impl Metric {
    /// Tells the recorder what it is.
    pub(super) fn describe(&self) {
        let Self { name, kind, help, .. } = *self;
        let unit = self.as_unit();
        match kind {
            Kind::Counter => describe_counter!(name, unit, help),
            Kind::Gauge => describe_gauge!(name, unit, help),
            Kind::Histogram => describe_histogram!(name, unit, help),
        }
    }

    fn as_unit(&self) -> Unit {
        match self.unit {
            "seconds" => Unit::Seconds,
            "bytes" => Unit::Bytes,
            _ => Unit::Count,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// <https://prometheus.io/docs/practices/naming/>, and that a name says its unit.
    #[test]
    fn names_are_those_that_prometheus_wants() {
        let mut seen = HashSet::new();
        for Metric { name, kind, unit, labels, help } in TABLE {
            assert!(seen.insert(name), "{name} twice");
            assert!(name.starts_with("quarry_") || name.starts_with("process_"), "{name}");
            let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            assert!(plain(name) && labels.iter().all(|label| plain(label)), "{name}");
            assert_eq!(name.ends_with("_total"), *kind == Kind::Counter, "{name}");
            let base = name.trim_end_matches("_total");
            assert_eq!(base.ends_with("_seconds"), *unit == "seconds", "{name}");
            assert_eq!(base.ends_with("_bytes"), *unit == "bytes", "{name}");
            assert!(help.ends_with('.') && help.len() > 10, "{name}");
            let own = |end| name.ends_with(end);
            assert!(!["_count", "_sum", "_bucket"].into_iter().any(own), "{name}");
        }
    }
}
