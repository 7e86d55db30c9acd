//! Assignment of stack samples to the phases of a page.

use std::fmt::Write as _;

/// Phases with parts of the names of their functions; a name with `::` matches at the beginning of a path. A sample
/// belongs to the first phase that any of its functions matches. Specific phases come before general ones, so that JSON
/// within a commit counts as commit.
const PHASES: &[(&str, &[&str])] = &[
    ("content_hash", &["content_hash"]),
    (
        "commit",
        &[
            "queue::commits",
            "store::jobs::end",
            "runs::pages::",
            "crawls::crawl::record::",
            "store::ledger",
            "store::hosts",
        ],
    ),
    ("claim", &["queue::claims", "queue::due", "store::jobs::claim", "store::jobs::due"]),
    ("page cache", &["cache::", "store::cache"]),
    ("JSON and zstd of the document", &["runs::document", "runs::deposit", "zstd", "ZSTD_", "serde_json"]),
    ("markdown", &["formats::markdown"]),
    ("links", &["formats::links", "crawls::crawl::links", "crawl_frontier::"]),
    ("parse", &["html5ever", "markup5ever", "page::parse", "page::page::Page::parse"]),
    ("main content, metadata", &["formats::", "page::"]),
    ("other database", &["store::", "diesel", "sqlite3", "tokio_postgres"]),
    ("fetch", &["fetch::", "scrape::fetch", "net::", "tokio::net", "hyper", "h2::", "encoding_rs"]),
    ("tasks: switches, wake-ups, parking", &["park", "futex", "epoll", "schedule", "tokio::runtime::scheduler"]),
];
/// Phase of samples that match no other one.
const REST: &str = "rest";
/// Number of innermost functions compared with the runtime's names. Runtime functions enclose all samples, so only the
/// innermost ones show that the runtime itself is working.
const INNERMOST: usize = 8;

/// Formats the phases as a Markdown table. The processor time of a page, in milliseconds, is split by the numbers of
/// samples.
pub(super) fn table(samples: &[Vec<String>], ms: f64) -> String {
    let mut counts = [0_usize; PHASES.len() + 1];
    for sample in samples {
        counts[phase(sample)] += 1;
    }
    let mut text = format!("| phase ({} samples) | share | CPU ms a page |\n|---|---|---|\n", samples.len());
    let names = PHASES.iter().map(|(name, _)| *name).chain([REST]);
    for (name, count) in names.zip(counts) {
        let share = count as f64 / samples.len().max(1) as f64;
        let _ = writeln!(text, "| {name} | {:.1} % | {:.3} |", share * 100.0, share * ms);
    }
    let nameless = samples.iter().filter(|sample| sample.iter().all(|name| name.starts_with('['))).count();
    if nameless * 10 > samples.len() {
        let _ = writeln!(text, "\n{nameless} samples have no names: was the program stripped?");
    }
    text
}

/// Returns the index of a sample's phase; the one after the last is the rest.
fn phase(sample: &[String]) -> usize {
    let runtime = PHASES.len() - 1;
    let belongs = |(at, (_, parts)): &(usize, &(&str, &[&str]))| {
        let depth = if *at == runtime { INNERMOST } else { usize::MAX };
        sample.iter().take(depth).any(|name| parts.iter().any(|part| has(name, part)))
    };
    PHASES.iter().enumerate().find(belongs).map_or(PHASES.len(), |(at, _)| at)
}

fn has(name: &str, part: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut found = name.match_indices(part);
    if part.contains("::") { found.any(|(at, _)| !name[..at].ends_with(inside)) } else { found.next().is_some() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(names: &[&str], expected: &str) {
        let sample: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let name = PHASES.get(phase(&sample)).map_or(REST, |(name, _)| *name);
        assert_eq!(name, expected, "{names:?}");
    }

    #[test]
    fn the_special_stands_before_the_general() {
        check(&["memmove", "html5ever::tokenizer::step", "page::parse::parse", "tokio::runtime::task::poll"], "parse");
        check(&["serde_json::ser::to_string", "store::runs::pages", "queue::commits::commit"], "commit");
        check(&["ZSTD_compressBlock", "runs::document::pack"], "JSON and zstd of the document");
        check(&["crawl_frontier::traps::content::content_hash", "crawls::crawl::look::read"], "content_hash");
        check(&["sqlite3VdbeExec", "store::teams::find"], "other database");
    }

    #[test]
    fn a_path_begins_where_the_crate_does() {
        check(&["<page::tree::Tree as core::ops::Drop>::drop"], "main content, metadata");
        check(&["hyper::client::send", "runs::page::work"], "fetch");
        check(&["memmove", "runs::page::work"], REST);
    }

    #[test]
    fn the_runtime_counts_only_where_it_works_itself() {
        check(&["futex_wait", "std::sys::sync::thread_parking::Parker::park"], "tasks: switches, wake-ups, parking");
        let mut deep = vec!["app::something"; INNERMOST];
        deep.push("tokio::runtime::scheduler::multi_thread::worker::run");
        check(&deep, REST);
    }

    #[test]
    fn shares_add_up() {
        let samples = [vec!["content_hash".to_owned()], vec!["[unknown]".to_owned()]];
        let text = table(&samples, 2.0);
        assert!(
            text.contains("| content_hash | 50.0 % | 1.000 |") && text.contains("| rest | 50.0 % | 1.000 |"),
            "{text}"
        );
        assert!(text.contains("1 samples have no names"), "{text}");
    }
}
