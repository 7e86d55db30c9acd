//! The table of all metrics, for `/metrics` and docs/METRICS.md.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

/// Type of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricType {
    /// A value that only grows while the process runs.
    Counter,
    /// A value that goes up and down.
    Gauge,
    /// A distribution of values in buckets.
    Histogram,
}

/// Description of a metric.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Name by the conventions of Prometheus: with the unit, and the suffix `_total` for counters.
    pub name: &'static str,
    /// Type of the metric.
    pub kind: MetricType,
    /// Unit: `seconds`, `bytes`, or empty for a count.
    pub unit: &'static str,
    /// Names of the labels.
    pub labels: &'static [&'static str],
    /// Help text.
    pub help: &'static str,
}

const fn metric(
    kind: MetricType,
    name: &'static str,
    unit: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric { name, kind, unit, labels, help }
}

const fn counter(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Metric {
    metric(MetricType::Counter, name, "", labels, help)
}

const fn gauge(name: &'static str, unit: &'static str, labels: &'static [&'static str], help: &'static str) -> Metric {
    metric(MetricType::Gauge, name, unit, labels, help)
}

const fn seconds(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Metric {
    metric(MetricType::Histogram, name, "seconds", labels, help)
}

/// All metrics, in the order of docs/METRICS.md.
pub const TABLE: &[Metric] = &[
    counter(
        "quarry_http_requests_total",
        &["method", "route", "status"],
        "Answered requests; status 499 means that the client disconnected before the answer.",
    ),
    seconds("quarry_http_request_seconds", &["route"], "Time to the response header, in seconds."),
    gauge("quarry_http_requests_in_flight", "", &[], "Running requests."),
    counter("quarry_http_errors_total", &["code"], "Error answers by code."),
    counter("quarry_rate_limited_total", &[], "Requests refused by a rate limit."),
    counter("quarry_panics_total", &[], "Panics of handlers."),
    counter("quarry_scrapes_total", &["result"], "Finished scrapes: ok, or the kind of failure."),
    gauge("quarry_scrapes_in_flight", "", &[], "Running scrapes, maps and parses of callers in this process."),
    counter("quarry_fetch_steps_total", &["engine", "reason"], "Fetch attempts, by engine and the reason for it."),
    gauge("quarry_pages_in_work", "", &[], "Pages of crawls and batches in progress in this process."),
    seconds("quarry_page_seconds", &[], "Time of a page of a crawl or batch from fetch to document, in seconds."),
    counter("quarry_cache_lookups_total", &["state"], "Lookups in the page cache: hit or miss."),
    counter(
        "quarry_searches_total",
        &["engine", "outcome"],
        "Questions to search engines, by engine and outcome: found, empty or failed.",
    ),
    seconds("quarry_search_seconds", &["engine"], "Time of the answer of a search engine, in seconds."),
    counter("quarry_credits_total", &[], "Credits charged to teams."),
    counter(
        "quarry_webhook_attempts_total",
        &["result"],
        "Attempts of webhook deliveries: delivered, retried, or finally failed.",
    ),
    seconds("quarry_webhook_seconds", &[], "Time of an attempt of a webhook delivery, in seconds."),
    counter("quarry_monitor_checks_total", &["status"], "Checks of monitors that ended or were skipped, by status."),
    gauge("quarry_monitor_checks", "", &["status"], "Checks of monitors, queued or running, on all servers."),
    gauge("quarry_monitors_due", "", &[], "Monitors that are due and whose check has not begun."),
    gauge(
        "quarry_monitors_late_seconds",
        "seconds",
        &[],
        "Time for which the monitor that waits longest has been due, in seconds; 0 when none is.",
    ),
    counter(
        "quarry_monitor_judgments_total",
        &["result"],
        "Judgments of changes by a language model: answered, or failed after all attempts.",
    ),
    counter(
        "quarry_mails_total",
        &["kind", "result"],
        "Attempts to send mails of monitors, summaries and confirmations: sent, skipped, retried, or finally failed.",
    ),
    counter(
        "quarry_chat_messages_total",
        &["kind", "result"],
        "Attempts to send messages to chat channels, by kind of the channel: sent, skipped, retried, or finally failed.",
    ),
    counter("quarry_model_calls_total", &["role"], "Calls of language models, by role."),
    counter(
        "quarry_model_tokens_total",
        &["role", "direction"],
        "Tokens that language models have read (in) and written (out), by role.",
    ),
    counter(
        "quarry_model_failures_total",
        &["role", "reason"],
        "Questions to language models without an answer, after all attempts, by role and reason.",
    ),
    seconds("quarry_model_seconds", &["role"], "Time of a call of a language model, in seconds."),
    counter(
        "quarry_search_engine_queries_total",
        &["engine", "outcome"],
        "Queries to search engines, by engine and outcome: found, empty, cached, or the reason of a failure.",
    ),
    seconds("quarry_search_engine_seconds", &["engine"], "Time of a query to a search engine, in seconds."),
    gauge(
        "quarry_queue_jobs",
        "",
        &["queue", "state"],
        "Jobs in the queues of the database, waiting (including delayed ones) or running on any server.",
    ),
    gauge(
        "quarry_queue_oldest_seconds",
        "seconds",
        &["queue"],
        "Age of the oldest due job, in seconds since it became due; 0 when none waits.",
    ),
    gauge(
        "quarry_queue_measured_timestamp_seconds",
        "seconds",
        &[],
        "Time of the last count of the queues, in seconds since 1970; they are counted at most every 5 seconds.",
    ),
    counter("quarry_task_runs_total", &["task", "result"], "Runs of periodic tasks in this process, by result."),
    gauge(
        "quarry_task_seconds",
        "seconds",
        &["task"],
        "Duration of the last run of a periodic task in this process, in seconds.",
    ),
    gauge("quarry_sessions", "", &[], "Open browser sessions in this process."),
    gauge("quarry_browsers", "", &[], "Running browsers."),
    counter("quarry_browsers_started_total", &[], "Browsers started."),
    gauge("quarry_readers", "", &[], "Child processes that read documents."),
    gauge(
        "quarry_places",
        "",
        &["line"],
        "Slots of each queue: browser pages, CPU work, documents, pages with OCR, and calls of the language model.",
    ),
    gauge("quarry_places_in_use", "", &["line"], "Slots in use."),
    gauge("quarry_places_waiting", "", &["line"], "Waiters for a slot."),
    gauge(
        "quarry_database_connections",
        "",
        &["pool", "state"],
        "Database connections, in_use or idle; SQLite has one for writing.",
    ),
    gauge("quarry_database_waiting", "", &["pool"], "Waiters for a database connection."),
    gauge("quarry_disk_free_bytes", "bytes", &["folder"], "Free space on the disk of the folder, in bytes."),
    gauge("quarry_build_info", "", &["version"], "Always 1; the version of the program is a label."),
    metric(
        MetricType::Counter,
        "process_cpu_seconds_total",
        "seconds",
        &[],
        "CPU time of this process, user and system, in seconds.",
    ),
    gauge("process_resident_memory_bytes", "bytes", &[], "Resident memory of this process, in bytes."),
    gauge("process_virtual_memory_bytes", "bytes", &[], "Virtual memory of this process, in bytes."),
    gauge("process_virtual_memory_max_bytes", "bytes", &[], "Limit of the virtual memory of this process, in bytes."),
    gauge("process_open_fds", "", &[], "Open file descriptors."),
    gauge("process_max_fds", "", &[], "Limit of open file descriptors."),
    gauge("process_threads", "", &[], "Threads of this process."),
    gauge("process_start_time_seconds", "seconds", &[], "Start time of this process, in seconds since 1970."),
];

impl Metric {
    /// Registers the description with the recorder.
    pub(super) fn describe(&self) {
        let Self { name, kind, help, .. } = *self;
        let unit = self.as_unit();
        match kind {
            MetricType::Counter => describe_counter!(name, unit, help),
            MetricType::Gauge => describe_gauge!(name, unit, help),
            MetricType::Histogram => describe_histogram!(name, unit, help),
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

    /// Names follow <https://prometheus.io/docs/practices/naming/> and contain the unit.
    #[test]
    fn names_are_those_that_prometheus_wants() {
        let mut seen = HashSet::new();
        for Metric { name, kind, unit, labels, help } in TABLE {
            assert!(seen.insert(name), "{name} twice");
            assert!(name.starts_with("quarry_") || name.starts_with("process_"), "{name}");
            let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            assert!(plain(name) && labels.iter().all(|label| plain(label)), "{name}");
            assert_eq!(name.ends_with("_total"), *kind == MetricType::Counter, "{name}");
            let base = name.trim_end_matches("_total");
            assert_eq!(base.ends_with("_seconds"), *unit == "seconds", "{name}");
            assert_eq!(base.ends_with("_bytes"), *unit == "bytes", "{name}");
            assert!(help.ends_with('.') && help.len() > 10, "{name}");
            let own = |end| name.ends_with(end);
            assert!(!["_count", "_sum", "_bucket"].into_iter().any(own), "{name}");
        }
    }
}
