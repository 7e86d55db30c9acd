//! Logging: level filter, format and the panic hook.

use std::error::Error as StdError;
use std::fmt as text;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{Layer, fmt};

use crate::config::{Log, LogFormat};

/// Crates that a plain log level applies to. Other libraries may log the data that they process, such as URLs and headers.
const OURS: [&str; 53] = [
    "accounts",
    "answers",
    "app",
    "base",
    "billing",
    "blobs",
    "boot",
    "branding",
    "browser",
    "cache",
    "cdp",
    "change_diff",
    "children",
    "cpu",
    "crawl_frontier",
    "crawls",
    "documents",
    "extract_product",
    "extractive",
    "fence",
    "fetch",
    "files",
    "formats",
    "indexing",
    "interact",
    "kernel",
    "llm",
    "mail",
    "maps",
    "monitor_scheduler",
    "monitors",
    "net",
    "ocr",
    "outage",
    "page",
    "page_index",
    "politeness",
    "quarry_reader",
    "quarry_server",
    "quarry_worker",
    "queue",
    "reader",
    "runs",
    "scrape",
    "scraping",
    "search",
    "searches",
    "sessions",
    "site",
    "store",
    "visit",
    "webhooks",
    "wire",
];

/// Starts logging to standard error, for the whole process. Panics are logged with their location only, because their
/// message may contain parts of a page.
///
/// # Errors
/// When a log subscriber is already installed.
pub fn start(log: &Log) -> Result<(), TryInitError> {
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

/// Parses a level for the crates of the project, or a list of `target=level` that is used as it is.
fn filter(level: &str) -> Targets {
    let targets = level.parse().unwrap_or_else(|_| Targets::new());
    if level.contains('=') {
        return targets;
    }
    let ours = targets.default_level().unwrap_or(tracing::level_filters::LevelFilter::INFO);
    let others = ours.min(tracing::level_filters::LevelFilter::ERROR);
    Targets::new().with_default(others).with_targets(OURS.map(|target| (target, ours)))
}

/// Displays an error with all its causes on one line.
pub struct Chain<'a>(pub &'a (dyn StdError + 'static));

impl text::Display for Chain<'_> {
    fn fmt(&self, f: &mut text::Formatter<'_>) -> text::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn a_level_is_for_our_own_crates() {
        let check = |level: &str, ours: bool, others: bool| {
            let filter = filter(level);
            assert_eq!(filter.would_enable("scraping::scrape", &Level::DEBUG), ours, "{level}");
            assert_eq!(filter.would_enable("hickory_proto", &Level::DEBUG), others, "{level}");
        };
        check("trace", true, false);
        check("info", false, false);
        check("off", false, false);
        check("error,scraping=debug", true, false);
        check("scraping=info,hickory_proto=trace", false, true);
        assert!(!filter("off").would_enable("rustls", &Level::ERROR));
        assert!(filter("info").would_enable("rustls", &Level::ERROR));
    }

    #[test]
    fn our_own_crates_are_all_there() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap().replace('-', "_");
            // These are for tests and tools.
            let is_ours = !["testkit", "client"].contains(&name.as_str());
            assert_eq!(OURS.contains(&name.as_str()), is_ours, "{name}");
        }
    }
}
