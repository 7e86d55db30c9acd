//! Runs: work that a client starts and can come back to. Crawls and batches are [`Kind`]s of them; what all kinds have in
//! common is here.
//!
//! A run begins with `submit`, whole, in one transaction. Its jobs lock its progress (`store::runs::lock`), change it, and
//! hand it to `save`, which ends the run when nothing is left to do. Where its items are pages, `pages::record` does all
//! of that. Reading, cancelling, listing errors and removing are the same for every kind.

mod context;
mod copies;
mod deposit;
mod document;
mod end;
mod ended;
mod erase;
mod errors;
mod kind;
mod known;
mod links;
mod page;
mod pages;
pub(crate) mod patience;
mod read;
mod secrets;
mod seen;
mod submit;
#[cfg(test)]
pub(crate) mod tests;
mod waiting;
mod walk;

use chrono::TimeDelta;
use queue::Queue;
use sha2::{Digest, Sha256};
use url::Url;

pub use self::end::cancel;
pub use self::errors::{ErrorList, errors};
pub use self::kind::Kind;
pub use self::read::{RunStatus, status};

pub(crate) use self::context::{Context, Contexts, Frontier, Start, Terms};
pub(crate) use self::deposit::FOLDER as DOCUMENTS;
pub(crate) use self::document::Lost;
pub(crate) use self::end::{cancel_found, save};
pub(crate) use self::ended::Ended;
pub(crate) use self::erase::whole as erase;
pub(crate) use self::kind::kind_of;
pub(crate) use self::known::MAX_LISTED;
pub(crate) use self::page::{PageHandler, PagePayload};
pub(crate) use self::secrets::{Secrets, hide, of_page};
pub(crate) use self::submit::{
    Begin, Lanes, Submission, add_pages, beside, digest, jobs_of, new_pages, page_lanes, run_of, submit,
};
pub(crate) use self::waiting::release as release_waiting;
pub(crate) use self::walk::Walk;

/// Fetching pages, and what belongs to it.
pub(crate) const PAGES: Queue = Queue { name: "pages", slots: 64 };

/// How long results can be read after the end (docs/CONTRACT.md, "Jobs").
pub(crate) const RETENTION: TimeDelta = TimeDelta::hours(24);
/// A run that has not ended by then gives its credits back.
pub(crate) const MAX_LIFE: TimeDelta = TimeDelta::days(30);

/// Tells requests apart.
pub(crate) fn fingerprint(request: &str) -> String {
    hex::encode(Sha256::digest(request.as_bytes()))
}

/// The URL behind an address as a page is known by: written in full, or as the caller of a batch spelled it.
pub(crate) fn url_of(address: &str) -> Option<Url> {
    Url::parse(address).ok().or_else(|| wire::target_url(address).ok())
}

/// The host that a request to this address must be polite to.
pub(crate) fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}
