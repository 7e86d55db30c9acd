//! Health and metrics.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use boot::metrics::{MetricType, TABLE};
use e2e::{TestApp, openapi};
use serde_json::json;

#[tokio::test]
async fn health_ready_metrics_and_the_document_answer() {
    let app = TestApp::start().await;
    for path in ["/health", "/health/live", "/health/ready"] {
        assert_eq!(app.anonymous().get(path).await.status, 200, "{path}");
    }
    // This server can do what needs neither another program nor a model.
    assert_eq!(app.anonymous().get("/health").await.body["capabilities"], json!(["answers"]));
    assert!(app.anonymous().get("/health/live").await.body.get("capabilities").is_none());
    app.site.html("/a", "<p>some words");
    app.anonymous().scrape(&json!({"url": app.page("/a")})).await;
    let metrics = app.anonymous().get("/metrics").await;
    assert!(metrics.body.as_str().unwrap().contains("# TYPE"), "{}", metrics.body);
    let document = app.anonymous().get("/openapi.json").await.body;
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    assert!(document["paths"]["/v2/scrape"]["post"].is_object());
    assert!(openapi::operations().contains(&"POST /v2/scrape".to_owned()));
}

/// The samples of `/metrics`, by name and labels as written, and the help text of each name.
#[derive(Default)]
struct Exposed {
    samples: BTreeMap<String, f64>,
    kinds: BTreeMap<String, String>,
    help: BTreeMap<String, String>,
}

impl Exposed {
    fn of(text: &str) -> Self {
        let mut exposed = Self::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
                exposed.kinds.insert(name.to_owned(), kind.to_owned());
            } else if let Some((name, help)) = line.strip_prefix("# HELP ").and_then(|rest| rest.split_once(' ')) {
                exposed.help.insert(name.to_owned(), help.to_owned());
            } else {
                let (name, value) = line.rsplit_once(' ').unwrap();
                exposed.samples.insert(name.to_owned(), value.parse().unwrap());
            }
        }
        exposed
    }

    fn value(&self, sample: &str) -> f64 {
        *self.samples.get(sample).unwrap_or_else(|| panic!("{sample} is not in {:#?}", self.samples.keys()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_tell_how_busy_the_service_is_and_each_is_described() {
    let app = TestApp::with_keys().await;
    app.site.html("/a", "<p>some words");
    let team = app.team(None, json!({})).await;
    team.scrape(&json!({"url": app.page("/a")})).await;
    assert_eq!(team.get("/v2/nope").await.status, 404);
    let job = team.start("/v2/crawl", &json!({"url": app.page("/a"), "limit": 2})).await;
    team.ended(&job).await;
    let text = app.operator().get("/metrics").await.body.as_str().unwrap().to_owned();
    let exposed = Exposed::of(&text);
    for (name, kind) in &exposed.kinds {
        let described = TABLE.iter().find(|metric| metric.name == name);
        let described = described.unwrap_or_else(|| panic!("{name} has no line in the table"));
        let expect = match described.kind {
            MetricType::Counter => "counter",
            MetricType::Gauge => "gauge",
            MetricType::Histogram => "histogram",
        };
        assert_eq!(
            (kind.as_str(), exposed.help.get(name).map(String::as_str)),
            (expect, Some(described.help)),
            "{name}"
        );
    }
    let of_table = |sample: &str| {
        let name = sample.split('{').next().unwrap();
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        *TABLE.iter().find(|metric| metric.name == name || metric.name == base).unwrap_or_else(|| panic!("{name}"))
    };
    for sample in exposed.samples.keys() {
        let labels = sample.split_once('{').map_or("", |(_, labels)| labels.trim_end_matches('}'));
        let keys = labels.split("\",").filter_map(|label| label.split_once('=')).map(|(key, _)| key.trim());
        for key in keys.filter(|key| *key != "le") {
            assert!(of_table(sample).labels.contains(&key), "{sample}: {key}");
        }
    }
    assert!(exposed.value("quarry_places{line=\"cpu\"}") >= 2.0);
    assert!(exposed.value("quarry_places_in_use{line=\"cpu\"}") >= 0.0);
    assert!(exposed.value("quarry_places_waiting{line=\"cpu\"}") >= 0.0);
    for queue in app::QUEUES {
        for state in ["waiting", "running"] {
            exposed.value(&format!("quarry_queue_jobs{{queue=\"{}\",state=\"{state}\"}}", queue.name));
        }
        assert!(exposed.value(&format!("quarry_queue_oldest_seconds{{queue=\"{}\"}}", queue.name)) >= 0.0);
    }
    assert!(exposed.value("quarry_queue_measured_timestamp_seconds") > 1_700_000_000.0);
    assert!(exposed.value("quarry_http_errors_total{code=\"NOT_FOUND\"}") >= 1.0);
    assert!(exposed.value("quarry_cache_lookups_total{state=\"hit\"}") >= 1.0);
    assert!(exposed.value("quarry_cache_lookups_total{state=\"miss\"}") >= 1.0);
    assert!(exposed.value("quarry_database_connections{pool=\"read\",state=\"idle\"}") >= 0.0);
    let folder = app.data().display();
    assert!(exposed.value(&format!("quarry_disk_free_bytes{{folder=\"{folder}\"}}")) > 1e6);
    assert!(exposed.value("process_resident_memory_bytes") > 1e6);
    assert!(exposed.value("process_cpu_seconds_total") >= 0.0);
    assert!(exposed.value("process_open_fds") > 3.0 && exposed.value("process_threads") > 1.0);
    assert!(exposed.value("process_start_time_seconds") > 1_700_000_000.0);
    for name in
        ["quarry_pages_in_work", "quarry_sessions", "quarry_browsers", "quarry_readers", "quarry_scrapes_in_flight"]
    {
        assert!(exposed.value(name) >= 0.0, "{name}");
    }
}

/// Metrics are recorded in several crates; their names and descriptions are in one table.
#[test]
fn every_name_of_a_metric_in_the_code_has_its_line() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files: Vec<PathBuf> = ["crates", "bins"].iter().map(|folder| root.join(folder)).collect();
    let mut names = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let is_code = path.extension().is_some_and(|end| end == "rs");
        let text = if is_code { fs::read_to_string(&path).unwrap() } else { continue };
        let constants = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for name in constants.flat_map(|line| line.split('"')).filter(|part| part.starts_with("quarry_")) {
            let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            // Names of our programs in log filters, and of a folder of tests.
            let is_other =
                ["quarry_", "quarry_reader", "quarry_server", "quarry_worker", "quarry_jobs"].contains(&name);
            if is_name && !is_other && !name.ends_with("_bucket") {
                assert!(TABLE.iter().any(|metric| metric.name == name), "{name} in {}", path.display());
                names += 1;
            }
        }
    }
    assert!(names > TABLE.len(), "{names}");
}
