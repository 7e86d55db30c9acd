//! Price table: the maximum price of a request beforehand, and its actual price afterwards.
//!
//! Source of all prices: docs/CONTRACT.md, "Credits".

use wire::{ChangeMode, Document, Format, FormatKind, ScrapeOptions};

/// Price of one page, fetched or cached; for a PDF, of each page read.
pub const PAGE: i64 = 1;
/// Price of a cache hit under lockdown (for a PDF, of its first page). Replaces [`PAGE`].
pub const LOCKDOWN_HIT: i64 = 5;
/// Price of a cache miss under lockdown.
pub const LOCKDOWN_MISS: i64 = 1;
/// Price of a map, regardless of the number of URLs.
pub const MAP: i64 = 1;
/// Price of each started [`RESULTS`] results of a search, over all its sources.
pub const SEARCH: i64 = 2;
/// Replaces [`SEARCH`] with zero data retention.
pub const PRIVATE_SEARCH: i64 = 10;
/// Number of search results that one price covers.
pub const RESULTS: usize = 10;

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

/// Parts of a document that determine its price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivered {
    /// Number of PDF pages read; 1 for everything else.
    pub pages: u32,
    /// Extras delivered.
    pub extras: Vec<Extra>,
}

impl Delivered {
    /// Returns a delivery of this many pages, without extras.
    #[must_use]
    pub const fn pages(pages: u32) -> Self {
        Self { pages, extras: Vec::new() }
    }

    /// Adds the extras whose result is in the document. Redaction and the check for prompt injection leave none there;
    /// the phase that does them adds them itself.
    pub fn add_results(&mut self, document: &Document) {
        self.extras.extend(EXTRAS.iter().map(|(extra, _)| *extra).filter(|extra| has_result(document, *extra)));
    }
}

/// Result of a scrape, as far as it determines the price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// No document was produced. A page that answers 404 or 500 yields a document, so it is an [`Outcome::Page`].
    Failed,
    /// A document, fetched or cached.
    Page(Delivered),
    /// A document from the cache under lockdown.
    LockdownHit(Delivered),
    /// A cache miss under lockdown.
    LockdownMiss,
}

/// Returns the price of a search that found this many results over all its sources, without their pages, in credits.
#[must_use]
pub fn search(results: usize, private: bool) -> i64 {
    let started = i64::try_from(results.div_ceil(RESULTS)).unwrap_or(i64::MAX);
    started.saturating_mul(if private { PRIVATE_SEARCH } else { SEARCH })
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
    price(&document(options, Delivered { pages, extras: extras(options) }))
}

/// Returns the price of a document, in credits, by what was delivered of what the options request; never more than
/// [`quote_pages`] for its pages.
#[must_use]
pub fn charge(options: &ScrapeOptions, delivered: &Delivered) -> i64 {
    let extras = delivered.extras.iter().copied().filter(|extra| asks_for(options, *extra)).collect();
    price(&document(options, Delivered { pages: delivered.pages, extras }))
}

fn document(options: &ScrapeOptions, delivered: Delivered) -> Outcome {
    if options.lockdown { Outcome::LockdownHit(delivered) } else { Outcome::Page(delivered) }
}

/// Returns the price of a scrape with this result, in credits.
#[must_use]
pub fn price(outcome: &Outcome) -> i64 {
    match outcome {
        Outcome::Failed => 0,
        Outcome::Page(delivered) => PAGE + beyond_first_page(delivered),
        Outcome::LockdownHit(delivered) => LOCKDOWN_HIT + beyond_first_page(delivered),
        Outcome::LockdownMiss => LOCKDOWN_MISS,
    }
}

/// Returns the price of the pages after the first, plus the extras. A document has at least one page.
fn beyond_first_page(delivered: &Delivered) -> i64 {
    let pages = i64::from(delivered.pages.max(1));
    // Iterates over the table, so duplicates in `extras` are charged once.
    let charged = EXTRAS.iter().filter(|(extra, _)| delivered.extras.contains(extra));
    let extras: i64 =
        charged.map(|(extra, credits)| if *extra == Extra::RedactPii { credits * pages } else { *credits }).sum();
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

/// Whether the document holds the result of an extra.
fn has_result(document: &Document, extra: Extra) -> bool {
    match extra {
        Extra::Json => {
            let compared = document.change_tracking.iter().flatten().any(|tracking| tracking.json.is_some());
            document.json.is_some() || compared
        }
        Extra::Question => document.answer.is_some(),
        Extra::Highlights => document.highlights.is_some(),
        Extra::Audio => document.audio.is_some(),
        Extra::Video => document.video.is_some(),
        Extra::RedactPii | Extra::PromptInjection => false,
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
    fn searches_are_charged_by_started_tens() {
        let prices = |private| [0, 1, 10, 11, 100, 300].map(|results| search(results, private));
        assert_eq!(prices(false), [0, 2, 2, 4, 20, 60]);
        assert_eq!(prices(true), [0, 10, 10, 20, 100, 300]);
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
        check(json!({ "formats": ["markdown", { "type": "changeTracking", "modes": ["json"], "prompt": "x" }] }), 5);
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
        let delivered = |pages, extras: &[Extra]| Delivered { pages, extras: extras.to_vec() };
        let page = |pages, extras: &[Extra]| Outcome::Page(delivered(pages, extras));
        check(page(1, &[]), 1);
        check(page(1, &[Extra::Json, Extra::Question]), 9);
        check(page(1, &[Extra::Json, Extra::Json]), 5);
        check(page(12, &[]), 12);
        check(page(0, &[]), 1);
        check(page(12, &[Extra::Json]), 16);
        check(page(12, &[Extra::RedactPii, Extra::RedactPii]), 60);
        check(page(10_000, &[Extra::RedactPii, Extra::Json]), 50_004);
        check(Outcome::LockdownHit(Delivered::pages(1)), 5);
        check(Outcome::LockdownHit(delivered(3, &[Extra::RedactPii])), 19);
        check(Outcome::LockdownMiss, 1);
    }

    #[test]
    fn an_extra_is_charged_when_its_result_is_in_the_document() {
        let asks = json!({
            "formats": [
                "markdown", "audio", "video", { "type": "json", "prompt": "x" }, { "type": "question", "question": "x" },
                { "type": "highlights", "query": "x" },
            ],
        });
        let tracking =
            json!({ "formats": ["markdown", { "type": "changeTracking", "modes": ["json"], "prompt": "x" }] });
        let check = |asks: &Value, document: Value, expect: i64| {
            let document: Document = serde_json::from_value(document).unwrap();
            let mut delivered = Delivered::pages(1);
            delivered.add_results(&document);
            assert_eq!(charge(&options(asks.clone()), &delivered), expect, "{document:?}");
        };
        let compared =
            json!({ "previousScrapeAt": null, "changeStatus": "changed", "visibility": "visible", "json": {} });
        let unread = json!({ "previousScrapeAt": null, "changeStatus": "new", "visibility": "visible" });
        check(&asks, json!({ "metadata": {} }), 1);
        check(&asks, json!({ "metadata": {}, "json": {} }), 5);
        check(&asks, json!({ "metadata": {}, "answer": "", "highlights": "" }), 9);
        check(
            &asks,
            json!({ "metadata": {}, "json": 1, "answer": "", "highlights": "", "audio": "", "video": "" }),
            21,
        );
        check(&tracking, json!({ "metadata": {}, "changeTracking": unread }), 1);
        check(&tracking, json!({ "metadata": {}, "changeTracking": compared }), 5);
        // What was not requested is never charged.
        check(&json!({}), json!({ "metadata": {}, "json": {}, "answer": "" }), 1);
    }

    #[test]
    fn extras_without_a_result_are_charged_when_they_are_reported() {
        let options = options(json!({ "redactPII": true, "checkPromptInjection": true }));
        let check = |extras: &[Extra], expect: i64| {
            assert_eq!(charge(&options, &Delivered { pages: 2, extras: extras.to_vec() }), expect, "{extras:?}");
        };
        check(&[], 2);
        check(&[Extra::PromptInjection], 6);
        check(&[Extra::PromptInjection, Extra::RedactPii], quote_pages(&options, 2));
    }

    #[test]
    fn no_outcome_costs_more_than_its_quote() {
        for lockdown in [false, true] {
            let body = json!({ "lockdown": lockdown, "formats": ["audio", "video"], "checkPromptInjection": true, "redactPII": true });
            let options = options(body);
            let all = extras(&options);
            for pages in [1, 2, 77] {
                let whole = || Delivered { pages, extras: all.clone() };
                let ends = if lockdown {
                    vec![Outcome::Failed, Outcome::LockdownMiss, Outcome::LockdownHit(whole())]
                } else {
                    vec![Outcome::Failed, Outcome::Page(Delivered::pages(pages)), Outcome::Page(whole())]
                };
                for outcome in ends {
                    assert!(price(&outcome) <= quote_pages(&options, pages), "{outcome:?}");
                }
            }
        }
    }
}
