//! Observations after a case.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use testkit::Seen;

use super::case::Object;
use super::follow::Job;
use super::innocent::{Waits, p99};
use super::raw::Response;
use super::readers::Readers;
use super::sniffer::BypassPackets;
use super::stage::Counters;

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// Search limit for a stored page, in bytes.
const MAX_SEARCHED: u64 = 256 * 1024 * 1024;

/// Observations of a case, checked by the expectations.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// Answer, or the reason for its absence. Attacks that expect no answer have neither.
    pub(crate) answer: Option<Result<Response, String>>,
    /// Duration of the request; `None` for attacks with a duration of their own.
    pub(crate) elapsed: Option<Duration>,
    /// Whether the request was raw bytes, which the service may refuse before parsing HTTP.
    pub(crate) raw: bool,
    /// Peak growth of the service's memory in MiB.
    pub(crate) memory_mib: u64,
    /// Counters during the case.
    pub(crate) counted: Counters,
    /// Requests received by the origins.
    pub(crate) origin: Vec<Seen>,
    pub(crate) origin2: Vec<Seen>,
    /// Requests received by the webhook receiver.
    pub(crate) receiver: Vec<Seen>,
    /// Signing secret of the team's webhooks; read only for cases that need it.
    pub(crate) hook_secret: String,
    /// Job started by the case, if it is checked.
    pub(crate) job: Option<Job>,
    /// Answer to the same request for an unknown id.
    pub(crate) unknown_id: Option<Vec<u8>>,
    /// Whether the service closed the connection of the attack.
    pub(crate) closed: bool,
    pub(crate) health_ms: Vec<f64>,
    pub(crate) slow_closed_s: Option<f64>,
    /// Running requests of the team.
    pub(crate) inflight: Option<i64>,
    /// Credits charged for the case.
    pub(crate) charges: Option<i64>,
    /// Whether GET /health answered after the case.
    pub(crate) alive: bool,
    /// Whether the case expects a panic.
    pub(crate) panic_planned: bool,
    /// Log of the service since the case began.
    pub(crate) log: Vec<u8>,
    /// Decompressed files of the service; read only for cases that need them.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// Output of GET /metrics; read only for cases that need it.
    pub(crate) metrics: Vec<u8>,
    /// Bytes sent by the origin.
    pub(crate) origin_sent: u64,
    /// Processor time of the service in seconds.
    pub(crate) cpu_seconds: f64,
    /// Waiting times of the bystander.
    pub(crate) innocent: Option<Waits>,
    /// Targets requested from the proxy.
    pub(crate) proxied: Vec<String>,
    /// Files outside of the data folder.
    pub(crate) strays: Vec<String>,
    /// Answer to the same request with the key of another team.
    pub(crate) of_other_team: Option<Response>,
    /// Path of the job of `setup.job`, and its results after the case.
    pub(crate) own_job: Option<String>,
    pub(crate) own_job_now: Value,
    /// Result of `input.sql`.
    pub(crate) sql: Option<Value>,
    /// Numbers of accepted and refused watchers; `None` without watchers.
    pub(crate) watchers: Option<(usize, usize)>,
    /// Keys that must not appear in logs.
    pub(crate) secrets: Vec<String>,
    /// Packets that bypassed the stage and the service; known only in a network namespace.
    pub(crate) outside: Option<BypassPackets>,
    /// Document reader processes; checked only in cases with a document.
    pub(crate) readers: Option<Readers>,
    /// Duration of the next page that needs a browser, or its error; only for cases that need a browser.
    pub(crate) next: Option<Result<Duration, String>>,
    /// Observations of a scenario, under the names of its expectations.
    pub(crate) observed: Option<Object>,
}

impl Evidence {
    /// Returns the answer, or fails if there is none.
    pub(crate) fn answer(&self) -> Result<&Response, String> {
        match &self.answer {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(error)) => Err(format!("no answer: {error}")),
            None => Err("the case has no answer to look at".to_owned()),
        }
    }

    /// Returns the job, or fails if there is none.
    pub(crate) fn job(&self) -> Result<&Job, String> {
        self.job.as_ref().ok_or_else(|| "the case has started no job".to_owned())
    }

    /// Returns the texts of the answer and of all answers about the job.
    pub(crate) fn told(&self) -> Result<String, String> {
        let job = self.job.as_ref().map(|job| job.text.as_str()).unwrap_or_default();
        Ok(self.answer()?.text() + job)
    }

    /// Returns a member of the document in the answer; empty if missing. Fails on a success without a document, because
    /// there is nothing to check.
    pub(crate) fn document(&self, pointer: &str) -> Result<String, String> {
        let answer = self.answer()?;
        let json = answer.json();
        if answer.status == 200 && !json["data"].is_object() {
            return Err("the answer has no document to look at".to_owned());
        }
        let value = json.pointer(&format!("/data/{pointer}"));
        Ok(value.and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    /// Returns a requested format of the document; fails if the document lacks it.
    pub(crate) fn format(&self, name: &str) -> Result<String, String> {
        let text = self.document(name)?;
        let answer = self.answer()?;
        if answer.status == 200 && !answer.json()["data"][name].is_string() {
            return Err(format!("the document has no {name} to look at"));
        }
        Ok(text)
    }

    /// Returns the requests of the origin; fails if the case succeeded without any, because there is nothing to check.
    pub(crate) fn asked(&self) -> Result<&[Seen], String> {
        let accepted = !matches!(&self.answer, Some(Ok(answer)) if answer.status >= 400);
        if self.origin.is_empty() && accepted {
            return Err("the origin got no request to look at".to_owned());
        }
        Ok(&self.origin)
    }

    /// Returns the webhooks; fails if the case succeeded without any, because there is nothing to check.
    pub(crate) fn delivered(&self) -> Result<&[Seen], String> {
        let accepted = !matches!(&self.answer, Some(Ok(answer)) if answer.status >= 400);
        if self.receiver.is_empty() && accepted {
            return Err("the receiver got no webhook to look at".to_owned());
        }
        Ok(&self.receiver)
    }

    /// Returns the number of crawls that were not requested by the runner, from the request lines of the service's log.
    pub(crate) fn foreign_crawls(&self) -> usize {
        let log = String::from_utf8_lossy(&self.log);
        let posts = log.lines().filter(|line| line.contains("\"route\":\"/v2/crawl\"") && line.contains("\"POST\""));
        posts.count().saturating_sub(1)
    }

    /// Formats a one-line summary.
    pub(crate) fn summary(&self) -> String {
        let mut out = match &self.answer {
            Some(Ok(answer)) => format!("{} {}, ", answer.status, answer.json()["code"].as_str().unwrap_or("no code")),
            Some(Err(error)) => format!("{error}, "),
            None => String::new(),
        };
        let Counters { canary, dns, outbound, .. } = self.counted;
        let seconds = self.elapsed.unwrap_or_default().as_secs_f64();
        out += &format!("{seconds:.2} s, +{} MiB, {canary} canary, {dns} dns, {outbound} outbound", self.memory_mib);
        if !self.health_ms.is_empty() {
            out += &format!(", health p99 {:.0} ms, closed {}", self.health_p99(), self.closed);
        }
        if let Some(seconds) = self.slow_closed_s {
            out += &format!(", slow connections closed after {seconds:.1} s");
        }
        if let Some(Job { status, completed, good_pages, .. }) = &self.job {
            let asked = self.origin.len();
            out += &format!(", job {status}, {completed} pages, {good_pages} good, {asked} requests");
        }
        if let Some(Waits { work, alone, .. }) = &self.innocent {
            let slowest = self.health_ms.iter().copied().fold(0.0, f64::max);
            let (own, before) = (p99(work), p99(alone));
            out += &format!(
                ", bystander p99 {own:.0} ms of {} (alone {before:.0}), health at most {slowest:.0} ms",
                work.len()
            );
        }
        out += &format!(", {:.1} s of processor time", self.cpu_seconds);
        if let Some((open, refused)) = &self.watchers {
            out += &format!(", {open} watchers let in, {refused} refused");
        }
        if let Some(sql) = &self.sql {
            out += &format!(", the database says {sql}");
        }
        if let Some(outside) = &self.outside {
            out += &format!(", {outside}");
        }
        if let Some(readers) = &self.readers {
            out += &format!(", {readers}");
        }
        if let Some(next) = &self.next {
            out += &format!(", next page {next:?}");
        }
        if let Some(observed) = &self.observed {
            out += &format!(", {}", Value::from(observed.clone()));
        }
        out
    }

    /// Returns the 99th percentile of the health check latencies, in milliseconds.
    pub(crate) fn health_p99(&self) -> f64 {
        p99(&self.health_ms)
    }

    /// Returns the first place that contains the text; `places` are names such as `logs` and `files`.
    pub(crate) fn find(&self, needle: &str, places: &[&str]) -> Option<String> {
        let holds = |bytes: &[u8]| bytes.windows(needle.len().max(1)).any(|window| window == needle.as_bytes());
        for place in places {
            let found = match *place {
                "log" if holds(&self.log) => Some("the log".to_owned()),
                "metrics" if holds(&self.metrics) => Some("the metrics".to_owned()),
                "files" => self.files.iter().find(|(_, bytes)| holds(bytes)).map(|(name, _)| name.clone()),
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// Reads every file below a folder, with its name; files compressed with zstd are decompressed too.
pub(crate) fn read_files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            out.extend(read_files(&path));
            continue;
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        if bytes.starts_with(&ZSTD_MAGIC) {
            out.push((format!("{} (unpacked)", path.display()), unpack(&bytes)));
        }
        // File names can leak data too.
        let named = [path.to_string_lossy().as_bytes(), b"\n", &bytes].concat();
        out.push((path.display().to_string(), named));
    }
    out
}

fn unpack(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    if let Ok(decoder) = zstd::stream::read::Decoder::new(bytes) {
        // Data decompressed before an error is still searched.
        let _ = decoder.take(MAX_SEARCHED).read_to_end(&mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_text_in_packed_files_and_in_names() {
        let folder = tempfile::tempdir().unwrap();
        let text = "a marker in the middle of a long text ".repeat(50);
        std::fs::create_dir(folder.path().join("blobs")).unwrap();
        std::fs::write(folder.path().join("blobs/page"), zstd::encode_all(text.as_bytes(), 3).unwrap()).unwrap();
        let evidence = Evidence { files: read_files(folder.path()), ..Evidence::default() };
        assert!(evidence.find("text a marker in the middle", &["files"]).unwrap().ends_with("(unpacked)"));
        assert!(evidence.find("blobs/page", &["files"]).is_some());
        assert_eq!(evidence.find("blobs/page", &["log", "metrics"]), None);
    }

    #[test]
    fn the_p99_is_the_second_slowest_of_two_hundred() {
        let mut evidence = Evidence { health_ms: (1..=200).map(f64::from).collect(), ..Evidence::default() };
        assert!((evidence.health_p99() - 198.0).abs() < f64::EPSILON);
        evidence.health_ms.clear();
        assert!(evidence.health_p99().is_infinite());
    }
}
