//! The pages that the sitemaps of a site list, handed out while they are downloaded.
//!
//! ```no_run
//! # async fn list(app: &app::App, start: &url::Url) -> Result<(), app::AppError> {
//! use std::ops::ControlFlow;
//!
//! use app::robots::{AGENT, Manner};
//! use app::sitemaps::{self, Listed, Sink, Terms};
//!
//! struct First(Vec<Listed>);
//!
//! impl Sink for First {
//!     async fn take(&mut self, pages: Vec<Listed>) -> Result<ControlFlow<()>, app::AppError> {
//!         self.0.extend(pages);
//!         Ok(if self.0.len() < 100 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
//!     }
//! }
//!
//! let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(25);
//! let manner = Manner { agent: AGENT, deadline, verify_tls: false, private: false };
//! let mut first = First(Vec::new());
//! let terms = Terms { owner: "team", obey: true };
//! let found = sitemaps::each(app, start, manner, terms, &mut first).await?;
//! println!("{} pages from {} sitemaps", first.0.len(), found.sitemaps);
//! # Ok(())
//! # }
//! ```

mod hunt;
mod read;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use crawl_frontier::{SitemapCandidate, SitemapUrl, sitemap_candidates};
use url::Url;

use crate::robots::{self, Manner};
use crate::{App, AppError};
use hunt::{Hunt, Place};
use read::Context;

/// Most requests of one call, redirects included; together with those for pages a small crawl stays under 100.
pub const MOST_REQUESTS: usize = 60;
/// Most decoded bytes of one call.
pub const MOST_BYTES: u64 = 256 << 20;
/// Longest time for one sitemap.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// A page that a sitemap lists.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its address, absolute, `http` or `https`, without user name and password. It may be of any site, and appear
    /// again.
    pub url: Url,
    /// What else the sitemap says of it.
    pub about: SitemapUrl,
}

/// Whose work it is, and what it must respect.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// Who has it done: reading takes that owner's places for processor work.
    pub owner: &'a str,
    /// Whether robots.txt decides about the places that are only guessed.
    pub obey: bool,
}

/// Who gets the pages.
pub trait Sink: Send {
    /// Takes a batch of pages, two thousand at most and never none. While it works the downloads wait, so it may
    /// write to the database; `Break` ends them.
    fn take(&mut self, pages: Vec<Listed>) -> impl Future<Output = Result<ControlFlow<()>, AppError>> + Send;
}

/// What was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Found {
    /// Sitemaps that were read, indexes and broken ones included.
    pub sitemaps: usize,
    /// Pages that were handed out.
    pub pages: usize,
    /// Sitemaps that were announced and could not be read.
    pub failed: usize,
    /// Whether a limit or the deadline left something out. The sink's own `Break` does not count.
    pub is_cut: bool,
}

/// Hands the pages of all sitemaps of the site of `start` to `sink`: those that robots.txt names, those that they list
/// (3 indexes deep), and else those in the usual places; XML, text, RSS and Atom, gzipped or not, however broken.
///
/// Every request passes the guard. At most 60 requests and 256 MiB, 15 s for each sitemap; `manner.deadline` ends the
/// whole, and what came before counts. Only pieces are in memory, and what the sink keeps. Sitemaps that the site itself
/// names are always read (RFC 9309 section 2.2.4: `Sitemap` belongs to no group). Unpacking and parsing take the places
/// for processor work of the owner.
///
/// # Errors
/// Those of the sink. What goes wrong with a sitemap is counted in [`Found`].
pub async fn each(
    app: &App,
    start: &Url,
    manner: Manner<'_>,
    terms: Terms<'_>,
    sink: &mut impl Sink,
) -> Result<Found, AppError> {
    let lines = match robots::rules(app, start, manner).await {
        Ok(site) => site.sitemaps.clone(),
        Err(AppError::Scrape(_)) => return Ok(Found { is_cut: true, ..Found::default() }),
        Err(error) => return Err(error),
    };
    let context = Context { app, manner, terms, bytes: Arc::default() };
    let mut hunt = Hunt::default();
    let (likely, guesses): (Vec<_>, Vec<_>) = sitemap_candidates(start, &lines).into_iter().partition(is_likely);
    let ended = hunt.run(&context, likely.into_iter().map(Place::from), sink).await?;
    // What content systems call it is asked for only when nothing else is there.
    if ended.is_continue() && hunt.found.sitemaps == 0 {
        let _ended = hunt.run(&context, guesses.into_iter().map(Place::from), sink).await?;
    }
    Ok(hunt.found)
}

fn is_likely(candidate: &SitemapCandidate) -> bool {
    candidate.is_declared || candidate.url.path().ends_with("/sitemap.xml")
}
