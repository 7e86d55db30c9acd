//! Price table: the maximum price of a request beforehand, and its actual price afterwards.
//!
//! Source of all prices: docs/CONTRACT.md, "Credits".

use wire::{ChangeMode, Format, FormatKind, ScrapeOptions};

/// Price of one page, fetched or cached; for a PDF, of each page read.
pub const PAGE: i64 = 1;
/// Price of a cache hit under lockdown (for a PDF, of its first page). Replaces [`PAGE`].
pub const LOCKDOWN_HIT: i64 = 5;
/// Price of a cache miss under lockdown.
pub const LOCKDOWN_MISS: i64 = 1;
/// Price of a map, regardless of the number of URLs.
pub const MAP: i64 = 1;

/// Extra work on a page. Charged at most once per document, except [`Extra::RedactPii`], which is charged per page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extra {
    /// Format `json`, or change tracking in json mode. Charged once even if both are requested.
    Json,
    /// Format `question`, or its former name `query`.
    Question,
    /// Format `highlights`.
    Highlights,
    /// Redaction of personal data.
    RedactPii,
    /// Extraction of the audio track.
    Audio,
    /// Extraction of the video.
    Video,
    /// Check for prompt injection, requested in either of its two places.
    PromptInjection,
}

/// Price of each extra, in credits.
pub const EXTRAS: [(Extra, i64); 7] = [
    (Extra::Json, 4),
    (Extra::Question, 4),
    (Extra::Highlights, 4),
    (Extra::RedactPii, 4),
    (Extra::Audio, 4),
    (Extra::Video, 4),
    (Extra::PromptInjection, 4),
];

/// Result of a scrape, as far as it determines the price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// No document was produced. A page that answers 404 or 500 yields a document, so it is an [`Outcome::Page`].
    Failed,
    /// A document, fetched or cached, with the extras that were delivered.
    Page {
        /// Number of PDF pages read; 1 for everything else.
        pages: u32,
        /// Extras delivered; at most those that [`extras`] returns.
        extras: Vec<Extra>,
    },
    /// A document from the cache under lockdown.
    LockdownHit {
        /// Number of PDF pages read; 1 for everything else.
        pages: u32,
        /// Extras delivered; at most those that [`extras`] returns.
        extras: Vec<Extra>,
    },
    /// A cache miss under lockdown.
    LockdownMiss,
}

/// Returns the extras that the options request, each once, in the order of [`EXTRAS`].
#[must_use]
pub fn extras(options: &ScrapeOptions) -> Vec<Extra> {
    EXTRAS.iter().map(|(extra, _)| *extra).filter(|extra| asks_for(options, *extra)).collect()
}

/// Returns the maximum price of a scrape, in credits, for anything but a PDF with several pages. Reserved before the
/// scrape starts.
#[must_use]
pub fn quote(options: &ScrapeOptions) -> i64 {
    quote_pages(options, 1)
}

/// Returns the maximum price, in credits, if `pages` pages of a PDF are read. Reserved before they are read.
#[must_use]
pub fn quote_pages(options: &ScrapeOptions, pages: u32) -> i64 {
    let extras = extras(options);
    price(&match options.lockdown {
        true => Outcome::LockdownHit { pages, extras },
        false => Outcome::Page { pages, extras },
    })
}

/// Returns the price of a scrape with this result, in credits; never more than [`quote_pages`] for its pages.
#[must_use]
pub fn price(outcome: &Outcome) -> i64 {
    match outcome {
        Outcome::Failed => 0,
        Outcome::Page { pages, extras } => PAGE + document(*pages, extras),
        Outcome::LockdownHit { pages, extras } => LOCKDOWN_HIT + document(*pages, extras),
        Outcome::LockdownMiss => LOCKDOWN_MISS,
    }
}

/// Returns the price of the pages after the first, plus the extras. A document has at least one page.
fn document(pages: u32, extras: &[Extra]) -> i64 {
    let pages = i64::from(pages.max(1));
    let asked = EXTRAS.iter().filter(|(extra, _)| extras.contains(extra));
    // Iterates over the table, so duplicates in `extras` are charged once.
    let extras: i64 =
        asked.map(|(extra, credits)| if *extra == Extra::RedactPii { credits * pages } else { *credits }).sum();
    (pages - 1) * PAGE + extras
}

fn asks_for(options: &ScrapeOptions, extra: Extra) -> bool {
    match extra {
        Extra::Json => options.formats.iter().any(|format| match format {
            Format::Json(_) => true,
            Format::ChangeTracking(tracking) => tracking.modes.contains(&ChangeMode::Json),
            _ => false,
        }),
        Extra::Question => options.wants(FormatKind::Question) || options.wants(FormatKind::Query),
        Extra::Highlights => options.wants(FormatKind::Highlights),
        Extra::RedactPii => options.redact_pii.is_some(),
        Extra::Audio => options.wants(FormatKind::Audio),
        Extra::Video => options.wants(FormatKind::Video),
        Extra::PromptInjection => {
            let older = |format: &Format| matches!(format, Format::Json(json) if json.check_prompt_injection);
            options.check_prompt_injection || options.formats.iter().any(older)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use wire::{ScrapeBody, decode_scrape};

    fn options(mut body: Value) -> ScrapeOptions {
        body["url"] = json!("https://example.com");
        match decode_scrape(body) {
            Ok(ScrapeBody::Page(request)) => request.options,
            other => panic!("not a page: {other:?}"),
        }
    }

    #[test]
    fn quotes_follow_the_price_table() {
        let check = |body: Value, expect: i64| assert_eq!(quote(&options(body.clone())), expect, "{body}");
        check(json!({}), 1);
        check(json!({ "formats": ["links", "html", "rawHtml", "images"] }), 1);
        check(json!({ "formats": [{ "type": "json", "prompt": "x" }] }), 5);
        check(json!({ "formats": [{ "type": "json", "prompt": "x", "checkPromptInjection": true }] }), 9);
        check(json!({ "formats": [{ "type": "question", "question": "x" }] }), 5);
        check(json!({ "formats": [{ "type": "query", "prompt": "x" }] }), 5);
        check(json!({ "formats": [{ "type": "highlights", "query": "x" }, "markdown"] }), 5);
        check(json!({ "formats": ["audio", "video"] }), 9);
        check(json!({ "formats": ["markdown", { "type": "changeTracking", "modes": ["git-diff"] }] }), 1);
        check(json!({ "formats": ["markdown", { "type": "changeTracking", "modes": ["json"] }] }), 5);
        check(json!({ "redactPII": true }), 5);
        check(json!({ "redactPII": false }), 1);
        check(json!({ "checkPromptInjection": true }), 5);
        check(json!({ "parsers": [] }), 1);
        check(json!({ "lockdown": true }), 5);
        check(json!({ "lockdown": true, "formats": ["audio"] }), 9);
    }

    #[test]
    fn prices_follow_the_price_table() {
        let check = |outcome: Outcome, expect: i64| assert_eq!(price(&outcome), expect, "{outcome:?}");
        check(Outcome::Failed, 0);
        let page = |pages, extras: &[Extra]| Outcome::Page { pages, extras: extras.to_vec() };
        check(page(1, &[]), 1);
        check(page(1, &[Extra::Json, Extra::Question]), 9);
        check(page(1, &[Extra::Json, Extra::Json]), 5);
        check(page(12, &[]), 12);
        check(page(0, &[]), 1);
        check(page(12, &[Extra::Json]), 16);
        check(page(12, &[Extra::RedactPii, Extra::RedactPii]), 60);
        check(page(10_000, &[Extra::RedactPii, Extra::Json]), 50_004);
        check(Outcome::LockdownHit { pages: 1, extras: vec![] }, 5);
        check(Outcome::LockdownHit { pages: 3, extras: vec![Extra::RedactPii] }, 19);
        check(Outcome::LockdownMiss, 1);
    }

    #[test]
    fn no_outcome_costs_more_than_its_quote() {
        for lockdown in [false, true] {
            let body = json!({ "lockdown": lockdown, "formats": ["audio", "video"], "checkPromptInjection": true, "redactPII": true });
            let options = options(body);
            let all = extras(&options);
            for pages in [1, 2, 77] {
                let extras = || all.clone();
                let ends = if lockdown {
                    vec![Outcome::Failed, Outcome::LockdownMiss, Outcome::LockdownHit { pages, extras: extras() }]
                } else {
                    vec![
                        Outcome::Failed,
                        Outcome::Page { pages, extras: vec![] },
                        Outcome::Page { pages, extras: extras() },
                    ]
                };
                for outcome in ends {
                    assert!(price(&outcome) <= quote_pages(&options, pages), "{outcome:?}");
                }
            }
        }
    }
}
