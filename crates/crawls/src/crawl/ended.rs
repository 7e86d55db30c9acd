//! Explanations for crawls that end without documents or without their start page.

use ::runs::{Ended, url_of};
use crawl_frontier::Reason;
use kernel::credentials;
use serde_json::Value;
use store::runs::{ListedPage, Run};
use url::Url;

/// First part of the error of a crawl without documents.
pub(super) const NOTHING: &str = "no page could be scraped";

/// Returns the warning that a crawl has from the beginning when its start is out of scope.
pub(super) fn left_out(reason: Reason) -> String {
    format!("the start page is left out: {}", reason.message())
}

/// Explains why a crawl has no documents, or that its start page is missing.
pub(super) fn explain(ended: &Ended<'_>) -> Option<String> {
    let start = |page: &&ListedPage| is_start(ended.run, page);
    let lost = match (ended.blocked.as_ref().filter(start), ended.failed.as_ref().filter(start)) {
        (Some(_), _) => Some("robots.txt forbids the start page".to_owned()),
        (None, Some(page)) => Some(format!("the start page failed with {}", ended.cause(page))),
        (None, None) => None,
    };
    match ended.progress.done {
        0 => Some(format!("{NOTHING}: {}", lost.unwrap_or_else(|| nothing(ended)))),
        _ => lost,
    }
}

/// Explains why a crawl whose start was left out found no other pages.
fn nothing(ended: &Ended<'_>) -> String {
    let others = match (&ended.failed, &ended.blocked) {
        (Some(page), _) => format!("the first page of a sitemap failed with {}", ended.cause(page)),
        (None, Some(_)) => "robots.txt forbids the pages that sitemaps list".to_owned(),
        (None, None) if skips_sitemaps(ended.run) => "sitemap is `skip`, so there is no other page".to_owned(),
        (None, None) => "no sitemap lists a page that the options let through".to_owned(),
    };
    ended.run.warning.iter().map(String::as_str).chain([others.as_str()]).collect::<Vec<_>>().join("; ")
}

fn is_start(run: &Run, page: &ListedPage) -> bool {
    let start = run.subject.as_deref().and_then(|subject| Url::parse(subject).ok());
    start.is_some() && url_of(&page.url).map(|url| credentials::split(url).0) == start
}

fn skips_sitemaps(run: &Run) -> bool {
    let spec: Option<Value> = serde_json::from_str(&run.spec).ok();
    spec.is_some_and(|spec| spec["sitemap"] == "skip")
}
