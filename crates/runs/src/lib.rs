//! Runs: long-running jobs that a client starts and polls. Crawls and batches are [`Kind`]s of run; this crate holds
//! what all kinds share.
//!
//! `submit` creates a run in a single transaction. The jobs of the run lock its progress row (`store::runs::lock`),
//! change it, and pass it to `save`, which ends the run when no work is left. For runs whose items are pages,
//! `pages::record` does all of that. Status, cancellation, error lists and removal work the same for every kind.

/// Boxes the future of an async function, so that it is compiled once, in this crate. Otherwise every crate that awaits
/// it compiles it again, including its queries.
pub(crate) use async_recursion::async_recursion as boxed;

mod changes;
mod context;
mod deposit;
mod document;
mod end;
mod ended;
mod erase;
mod error;
mod errors;
#[cfg(test)]
mod fixture;
mod handle;
mod hook;
mod kind;
mod lanes;
mod lost;
mod metrics;
pub mod orphans;
mod page;
mod page_kind;
mod page_result;
mod pages;
pub mod patience;
mod payload;
mod read;
mod secrets;
mod stored;
mod submit;
#[cfg(test)]
mod tests;
pub mod webhooks;

use chrono::TimeDelta;
use queue::Queue;
use url::Url;

pub use self::context::{Context, Terms};
pub use self::document::Packed;
pub use self::end::{cancel, cancel_found, save};
pub use self::ended::Ended;
pub use self::erase::whole as erase;
pub use self::error::RunsError;
pub use self::errors::{ErrorList, errors};
pub use self::handle::{RunKind, Runs};
pub use self::kind::{Closed, Drained, Draining, Kind, nothing_more, nothing_then};
pub use self::lanes::{Lanes, beside, page_lanes, run_of};
pub use self::page::PageHandler;
pub use self::page_kind::{
    Given, KeptPage, Look, Looked, Opening, Page, PageKind, PagePlan, PageRecord, PageRun, PageSpec, Plain,
    PlannedPage, Recording, Visit,
};
pub use self::page_result::{Found, Layers, Left, Outcome, PageResult};
pub use self::pages::record;
pub use self::payload::PagePayload;
pub use self::read::{RunStatus, status};
pub use self::secrets::{Secrets, hide, of_page};
pub use self::submit::{Begin, Placing, Submission, add_pages, digest, jobs_of, new_page, started, submit, submit_in};

pub(crate) use self::deposit::FOLDER as DOCUMENTS;

/// Queue of the jobs that fetch pages and prepare runs of pages.
pub const PAGES: Queue = Queue { name: "pages", slots: 64 };

/// Retention of results after the end of a run (docs/CONTRACT.md, "Jobs").
pub const RETENTION: TimeDelta = TimeDelta::hours(24);
/// Maximum lifetime of a run; a run that is still open after it gives its reserved credits back.
pub const MAX_LIFE: TimeDelta = TimeDelta::days(30);

/// Parses the address of a page, given either as a full URL or as the caller of a batch spelled it.
pub fn url_of(address: &str) -> Option<Url> {
    Url::parse(address).ok().or_else(|| wire::target_url(address).ok())
}

/// Returns the host, with an explicit port, whose rate limits apply to a request for this URL.
pub fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}
