//! The price table, and the two questions asked of it: what may this request cost, and what did it cost.
//!
//! Source of every number: docs/CONTRACT.md, "Credits".

use wire::{ChangeMode, Format, FormatKind, ScrapeOptions};

/// One page, fresh or from the cache; of a PDF, each page that was read.
pub const PAGE: i64 = 1;
/// One page that lockdown found in the cache, or the first of a PDF; takes the place of [`PAGE`].
pub const LOCKDOWN_HIT: i64 = 5;
/// One look-up that lockdown did not find.
pub const LOCKDOWN_MISS: i64 = 1;
/// One map, however many addresses it finds.
pub const MAP: i64 = 1;

/// Work on top of the page. Each is paid at most once per document, [`Extra::RedactPii`] once per page of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extra {
    /// The json format, or change tracking in json mode; both together are paid once.
    Json,
    /// The question format, or its older name, query.
    Question,
    /// The highlights format.
    Highlights,
    /// Redaction of personal data.
    RedactPii,
    /// Extraction of the sound track.
    Audio,
    /// Extraction of the video.
    Video,
    /// The check for prompt injection, asked for in either of its places.
    PromptInjection,
}

/// What each extra adds to the price, in credits.
pub const EXTRAS: [(Extra, i64); 7] = [
    (Extra::Json, 4),
    (Extra::Question, 4),
    (Extra::Highlights, 4),
    (Extra::RedactPii, 4),
    (Extra::Audio, 4),
    (Extra::Video, 4),
    (Extra::PromptInjection, 4),
];

/// How a scrape ended, as far as its price is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// No document came out. A page that answers 404 or 500 is a document, hence a [`Outcome::Page`].
    Failed,
    /// A document, fresh or cached, with the extras that were delivered.
    Page {
        /// How many pages of a PDF were read; 1 for everything else.
        pages: u32,
        /// What was done on top; [`extras`] names the most it can be.
        extras: Vec<Extra>,
    },
    /// A document that lockdown found in the cache.
    LockdownHit {
        /// As in [`Outcome::Page`].
        pages: u32,
        /// As in [`Outcome::Page`].
        extras: Vec<Extra>,
    },
    /// Lockdown found nothing.
    LockdownMiss,
}

/// The extras that these options ask for, each once, in the order of [`EXTRAS`].
#[must_use]
pub fn extras(options: &ScrapeOptions) -> Vec<Extra> {
    EXTRAS.iter().map(|(extra, _)| *extra).filter(|extra| asks_for(options, *extra)).collect()
}

/// The most a scrape with these options can cost as long as it finds no PDF of several pages, in credits: what is reserved
/// before it starts.
#[must_use]
pub fn quote(options: &ScrapeOptions) -> i64 {
    quote_pages(options, 1)
}

/// The most that it can cost when so many pages of a PDF are read, in credits: what must be reserved before that.
#[must_use]
pub fn quote_pages(options: &ScrapeOptions, pages: u32) -> i64 {
    let extras = extras(options);
    price(&match options.lockdown {
        true => Outcome::LockdownHit { pages, extras },
        false => Outcome::Page { pages, extras },
    })
}

/// What a scrape that ended like this costs, in credits; never more than [`quote_pages`] of its pages.
#[must_use]
pub fn price(outcome: &Outcome) -> i64 {
    match outcome {
        Outcome::Failed => 0,
        Outcome::Page { pages, extras } => PAGE + document(*pages, extras),
        Outcome::LockdownHit { pages, extras } => LOCKDOWN_HIT + document(*pages, extras),
        Outcome::LockdownMiss => LOCKDOWN_MISS,
    }
}

/// The pages after the first, and the extras. A document has one page at least.
fn document(pages: u32, extras: &[Extra]) -> i64 {
    let pages = i64::from(pages.max(1));
    let asked = EXTRAS.iter().filter(|(extra, _)| extras.contains(extra));
    // A duplicate in the list is paid once.
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
