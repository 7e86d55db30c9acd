//! The robots.txt of a site (RFC 9309): fetched through the address guard, once for all concurrent callers, and cached
//! in memory and in the database.

mod memory;
mod request;

use std::sync::Arc;
use std::time::Duration;

use base::Timestamp;
use chrono::TimeDelta;
use crawl_frontier::{Robots, RobotsAnswer, Rules, judge};
use store::robots as table;
use tokio::time::timeout_at;
use url::Url;

use crate::{Approach, Site, SiteError};
use memory::{Acceptance, CacheTimes, CachedValue, Memory};
pub use request::RobotsFailure;
use request::{Outcome, Row};

/// Maximum age of a cached failure for work that begins; after that the site is asked again.
const FRESH_FAILURE: TimeDelta = TimeDelta::seconds(5);
/// Largest file, in bytes, that is parsed on the async thread.
const SMALL_FILE: usize = 16 << 10;
/// Byte limit of the cache of rules.
const MAX_RULES_BYTES: u64 = 24 << 20;
/// Byte limit of the cache of files, for robots that have not asked for their rules yet.
const MAX_FILES_BYTES: u64 = 8 << 20;

/// Rules for one robot at one site (scheme, host and port).
#[derive(Debug, Clone, Default)]
pub struct SiteRules {
    /// Paths that it may fetch. Everything is forbidden when the site failed or did not answer.
    pub rules: Rules,
    /// Value of `Crawl-delay`, not capped.
    pub crawl_delay: Option<Duration>,
    /// Values of all `Sitemap` lines as written: they may be relative, and may lead to other sites.
    pub sitemaps: Vec<String>,
    /// Reason why robots.txt could not be fetched. `rules.is_unreachable()` is then true.
    pub failure: Option<RobotsFailure>,
}

/// In-memory cache: the rules of a robot at a site, and below them the file, which is shared by all robots.
pub(crate) struct RobotsCache {
    rules: Memory<Robot, Arc<SiteRules>>,
    files: Memory<Origin, File>,
}

/// Cache key of a site.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Origin {
    text: String,
    /// Whether the certificate was verified. Answers without verification are not used for callers that require it.
    verified: bool,
}

/// Cache key of a robot at a site.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Robot {
    origin: Origin,
    agent: String,
}

/// Parsed robots.txt, or its substitute after a failure.
#[derive(Debug, Clone)]
struct File {
    robots: Arc<Robots>,
    failure: Option<RobotsFailure>,
}

impl Default for RobotsCache {
    fn default() -> Self {
        Self { rules: Memory::new(MAX_RULES_BYTES), files: Memory::new(MAX_FILES_BYTES) }
    }
}

impl Origin {
    fn of(url: &Url, approach: Approach<'_>) -> Self {
        Self { text: url.origin().ascii_serialization(), verified: approach.verify_tls || url.scheme() == "http" }
    }
}

impl Site {
    /// Returns the rules of the site of `url` for the robot `approach.agent`.
    ///
    /// An answer is valid for a day, a failure for five minutes, for all processes on one database; one file serves all
    /// robots. 4xx allows everything; 5xx, no answer within 8 s, and an address that the guard blocks forbid
    /// everything. Up to 5 redirects are followed, each one guarded. Concurrent callers share one request, which goes
    /// on when the first caller has left. With `approach.private` nothing is written except to memory.
    /// # Errors
    /// [`SiteError::Timeout`] when the deadline passes first. Database errors are only logged; the site is asked then.
    pub async fn rules(&self, url: &Url, approach: Approach<'_>) -> Result<Arc<SiteRules>, SiteError> {
        self.find(url, approach, None).await
    }

    /// Returns the rules like [`Site::rules`], for a crawl or map that begins: a failure older than 5 s is ignored and
    /// the site is asked again, so that a site that was down for a moment is not lost for five minutes.
    ///
    /// # Errors
    /// Like [`Site::rules`].
    pub async fn rules_at_start(&self, url: &Url, approach: Approach<'_>) -> Result<Arc<SiteRules>, SiteError> {
        self.find(url, approach, Some(self.now() - FRESH_FAILURE)).await
    }

    /// Returns the rules, ignoring failures from before `failures_since`.
    async fn find(
        &self,
        url: &Url,
        approach: Approach<'_>,
        failures_since: Option<Timestamp>,
    ) -> Result<Arc<SiteRules>, SiteError> {
        let trust = Acceptance { now: self.now(), failures_since };
        let key = Robot { origin: Origin::of(url, approach), agent: approach.agent.to_owned() };
        if let Some(rules) = self.0.known.rules.get(&key, trust).await {
            return Ok(rules);
        }
        let asked = RobotsParameters { url: url.clone(), verify_tls: approach.verify_tls, private: approach.private };
        // A separate task: others wait for the same answer, which is worth caching even when all callers have left.
        let learn = tokio::spawn(self.clone().learn(key, asked, trust));
        match timeout_at(approach.deadline, learn).await {
            Ok(learned) => learned.map_err(|_| SiteError::Panicked)?,
            Err(_) => Err(SiteError::Timeout),
        }
    }

    #[crate::boxed]
    async fn learn(self, key: Robot, asked: RobotsParameters, trust: Acceptance) -> Result<Arc<SiteRules>, SiteError> {
        let Robot { origin, agent } = &key;
        let learn = || async {
            let learn = || self.file(origin, &asked, agent, trust);
            let CachedValue { value, times, bytes, .. } = self.0.known.files.get_or_learn(origin, trust, learn).await?;
            let name = agent.clone();
            let rules = off_thread(bytes, move || rules_of(&value, &name)).await?;
            let bytes = rules.size() + origin.text.len() + agent.len();
            Ok(CachedValue { is_failure: rules.rules.is_unknown(), value: Arc::new(rules), times, bytes })
        };
        Ok(self.0.known.rules.get_or_learn(&key, trust, learn).await?.value)
    }

    /// Loads the file from the database, else from the site.
    async fn file(
        &self,
        origin: &Origin,
        asked: &RobotsParameters,
        agent: &str,
        trust: Acceptance,
    ) -> Result<CachedValue<File>, SiteError> {
        if let Some((outcome, times)) = self.look_up(origin).await {
            let (file, _) = parse_outcome(outcome).await?;
            let answer = file.answer(origin, times);
            if answer.holds(trust) {
                return Ok(answer);
            }
        }
        let outcome = request::send(self, asked, agent).await;
        let row = if asked.private { None } else { outcome.row() };
        let (file, life) = parse_outcome(outcome).await?;
        let since = self.now();
        let times = CacheTimes { since, until: since + life };
        if let Some(row) = row {
            self.keep(origin, row, times).await;
        }
        Ok(file.answer(origin, times))
    }

    /// Returns a valid answer from the database, with its times.
    async fn look_up(&self, origin: &Origin) -> Option<(Outcome, CacheTimes)> {
        let now = self.now();
        let find = async { table::find(&mut self.0.store.conn().await?, &origin.text, origin.verified, now).await };
        let row = find.await.unwrap_or_else(|error| {
            if error.is_news() {
                tracing::warn!(%error, "could not read robots.txt from the database; requesting it from the site");
            }
            None
        })?;
        let times = CacheTimes { since: row.fetched_at, until: row.expires_at };
        Some((Outcome::from_row(Row { status: row.status, error: row.error, body: row.body })?, times))
    }

    async fn keep(&self, origin: &Origin, row: Row, times: CacheTimes) {
        let row = table::RobotsAnswer {
            origin: origin.text.clone(),
            verified: origin.verified,
            status: row.status,
            error: row.error,
            body: row.body,
            fetched_at: times.since,
            expires_at: times.until,
        };
        let keep = async { table::keep(&mut self.0.store.conn().await?, row).await };
        if let Err(error) = keep.await
            && error.is_news()
        {
            tracing::warn!(%error, "could not store robots.txt in the database; other processes will request it again");
        }
    }
}

/// Parameters of the request, besides the robot.
struct RobotsParameters {
    url: Url,
    verify_tls: bool,
    private: bool,
}

/// Parses an answer, and returns the file with its lifetime.
async fn parse_outcome(outcome: Outcome) -> Result<(File, TimeDelta), SiteError> {
    off_thread(outcome.size(), move || {
        let (answer, failure) = match &outcome {
            Outcome::Answer { status, body } => (RobotsAnswer::Status(*status, body), None),
            Outcome::Failure(failure) => (RobotsAnswer::Failed, Some(*failure)),
        };
        let (robots, life) = judge(answer);
        (File { robots: Arc::new(robots), failure }, TimeDelta::from_std(life).unwrap_or_default())
    })
    .await
}

impl File {
    fn answer(self, origin: &Origin, times: CacheTimes) -> CachedValue<Self> {
        let bytes = self.robots.size() + origin.text.len();
        CachedValue { times, is_failure: self.robots.is_unknown(), bytes, value: self }
    }
}

fn rules_of(file: &File, agent: &str) -> SiteRules {
    let rules = file.robots.rules(agent);
    let (crawl_delay, sitemaps) = (rules.crawl_delay(), file.robots.sitemaps().to_vec());
    SiteRules { rules, crawl_delay, sitemaps, failure: file.failure }
}

impl SiteRules {
    /// Returns the size in memory, in bytes.
    fn size(&self) -> usize {
        let sitemaps = self.sitemaps.iter().map(|line| size_of::<String>() + line.capacity());
        self.rules.size() + sitemaps.sum::<usize>()
    }
}

/// Runs small work at once, and other work on a blocking thread. The file size is limited, and so is the work.
async fn off_thread<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SiteError> {
    if bytes <= SMALL_FILE {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await.map_err(|_| SiteError::Panicked)
}
