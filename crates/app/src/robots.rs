//! robots.txt of a site by RFC 9309: fetched through the guard, once for all who ask at the same time, and kept in
//! memory and in the database.
//!
//! ```no_run
//! # async fn page(app: &app::App, url: &url::Url) -> Result<(), app::AppError> {
//! use app::robots::{self, AGENT, Manner};
//!
//! let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
//! let manner = Manner { agent: AGENT, deadline, verify_tls: false, private: false };
//! let site = robots::rules(app, url, manner).await?;
//! if !site.rules.allows_url(url) {
//!     match site.failure {
//!         // Nobody answered: say why, it is not the site's wish.
//!         Some(failure) => return Err(failure.error(url).into()),
//!         None => println!("the site does not want robots there"),
//!     }
//! }
//! println!("wait {:?} between pages; sitemaps: {:?}", site.crawl_delay, site.sitemaps);
//! # Ok(())
//! # }
//! ```

mod fetch;
mod memory;

use std::sync::Arc;
use std::time::Duration;

use base::Timestamp;
use chrono::TimeDelta;
use crawl_frontier::{RobotsAnswer, Rules, judge};
use scrape::ScrapeError;
use store::robots as table;
use tokio::time::timeout_at;
use url::Url;

pub use crate::web::{AGENT, Manner};
use crate::{App, AppError};
pub use fetch::Failure;
use fetch::{Outcome, Row};
pub(crate) use memory::Memory;
use memory::Times;

/// A failure that is remembered for longer is no answer for work that begins.
const FRESH_FAILURE: TimeDelta = TimeDelta::seconds(5);
/// Files of this size are read where they do not hold up others.
const SMALL_FILE: usize = 16 << 10;

/// What one robot may do at one site: scheme, host and port.
#[derive(Debug, Clone, Default)]
pub struct SiteRules {
    /// Which paths it may fetch. Everything is forbidden when the site failed or did not answer.
    pub rules: Rules,
    /// What `Crawl-delay` asks for, not capped.
    pub crawl_delay: Option<Duration>,
    /// The values of all `Sitemap` lines as written: they may be relative, and lead to other sites.
    pub sitemaps: Vec<String>,
    /// Why the site could not be asked. `rules.is_unreachable()` is true then.
    pub failure: Option<Failure>,
}

impl SiteRules {
    /// Bytes in memory.
    fn size(&self) -> usize {
        let sitemaps = self.sitemaps.iter().map(|line| size_of::<String>() + line.capacity());
        self.rules.size() + sitemaps.sum::<usize>()
    }
}

/// The rules of the site of `url` for the robot `manner.agent`.
///
/// An answer holds for a day, a failure for five minutes, for all processes on one database; the file is not read twice
/// for two robots. 4xx allows all; 5xx, no answer within 8 s, and an address that the guard refuses forbid all. Up to 5
/// redirects are followed, each one guarded. With `manner.private` nothing is written but memory.
///
/// # Errors
/// [`ScrapeError::Timeout`] when the deadline passes before it is known. Trouble with the database is logged and no
/// error: the site is asked then.
pub async fn rules(app: &App, url: &Url, manner: Manner<'_>) -> Result<Arc<SiteRules>, AppError> {
    find(app, url, manner, None).await
}

/// The same for a crawl or map that begins: a failure that is remembered for more than 5 s is no answer, the site is asked
/// anew. So a site that was down for a moment is not lost for five minutes.
///
/// # Errors
/// Those of [`rules`].
pub async fn rules_at_start(app: &App, url: &Url, manner: Manner<'_>) -> Result<Arc<SiteRules>, AppError> {
    find(app, url, manner, Some(app.now() - FRESH_FAILURE)).await
}

/// Failures from before `trusted` are as good as forgotten.
async fn find(
    app: &App,
    url: &Url,
    manner: Manner<'_>,
    trusted: Option<Timestamp>,
) -> Result<Arc<SiteRules>, AppError> {
    let site = Site::of(url, manner);
    let memory = app.web.robots();
    if let Some(rules) = memory.get(&site, manner.agent, (app.now(), trusted)) {
        return Ok(rules);
    }
    let found = timeout_at(manner.deadline, async {
        // Who comes second waits here, and finds what the first has left.
        let flight = memory.flight(&site);
        let _turn = flight.lock().await;
        match memory.get(&site, manner.agent, (app.now(), trusted)) {
            Some(rules) => Ok(rules),
            None => learn(app, url, &site, (manner, trusted)).await,
        }
    });
    found.await.unwrap_or(Err(ScrapeError::Timeout.into()))
}

/// A site as answers are kept for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    origin: String,
    /// What comes without a checked certificate is not shown to those who want one.
    verified: bool,
}

impl Site {
    fn of(url: &Url, manner: Manner<'_>) -> Self {
        Self { origin: url.origin().ascii_serialization(), verified: manner.verify_tls || url.scheme() == "http" }
    }
}

/// From the database, else from the site.
async fn learn(
    app: &App,
    url: &Url,
    site: &Site,
    (manner, trusted): (Manner<'_>, Option<Timestamp>),
) -> Result<Arc<SiteRules>, AppError> {
    let memory = app.web.robots();
    if let Some((outcome, times)) = look_up(app, site).await {
        let (rules, _) = understood(outcome, manner.agent).await?;
        if !is_outdated(&rules, times.since, trusted) {
            return Ok(memory.put(site, manner.agent, Arc::new(rules), times));
        }
    }
    let outcome = fetch::fetch(&app.web, url, manner).await?;
    let row = if manner.private { None } else { outcome.row() };
    let (rules, life) = understood(outcome, manner.agent).await?;
    let since = app.now();
    let times = Times { since, until: since + life };
    if let Some(row) = row {
        keep(app, site, row, times).await;
    }
    Ok(memory.put(site, manner.agent, Arc::new(rules), times))
}

/// Whether it is a failure from before `trusted`.
fn is_outdated(rules: &SiteRules, since: Timestamp, trusted: Option<Timestamp>) -> bool {
    rules.rules.is_unknown() && trusted.is_some_and(|trusted| since < trusted)
}

/// The rules that an answer stands for, and how long they hold.
async fn understood(outcome: Outcome, agent: &str) -> Result<(SiteRules, TimeDelta), AppError> {
    if outcome.size() <= SMALL_FILE {
        return Ok(read(&outcome, agent));
    }
    let agent = agent.to_owned();
    // A file has a largest size, and with it the work.
    tokio::task::spawn_blocking(move || read(&outcome, &agent)).await.map_err(AppError::internal)
}

fn read(outcome: &Outcome, agent: &str) -> (SiteRules, TimeDelta) {
    let answer = match outcome {
        Outcome::Answer { status, body } => RobotsAnswer::Status(*status, body),
        Outcome::Failure(_) => RobotsAnswer::Failed,
    };
    let (robots, life) = judge(answer);
    let rules = robots.rules(agent);
    let failure = match outcome {
        Outcome::Answer { .. } => None,
        Outcome::Failure(failure) => Some(*failure),
    };
    let (crawl_delay, sitemaps) = (rules.crawl_delay(), robots.sitemaps().to_vec());
    (SiteRules { rules, crawl_delay, sitemaps, failure }, TimeDelta::from_std(life).unwrap_or_default())
}

/// An answer that is in the database, and how long it still holds.
async fn look_up(app: &App, site: &Site) -> Option<(Outcome, Times)> {
    let now = app.now();
    let find = async { table::find(&mut app.store.conn().await?, &site.origin, site.verified, now).await };
    let row = find.await.unwrap_or_else(|error| {
        tracing::warn!(%error, "robots.txt not readable from the database, the site is asked");
        None
    })?;
    let times = Times { since: row.fetched_at, until: row.expires_at };
    Some((Outcome::from_row(row.status, row.error.as_deref(), row.body)?, times))
}

async fn keep(app: &App, site: &Site, (status, error, body): Row, times: Times) {
    let row = table::RobotsAnswer {
        origin: site.origin.clone(),
        verified: site.verified,
        status,
        error,
        body,
        fetched_at: times.since,
        expires_at: times.until,
    };
    let keep = async { table::keep(&mut app.store.conn().await?, row).await };
    if let Err(error) = keep.await {
        tracing::warn!(%error, "robots.txt not kept in the database");
    }
}
