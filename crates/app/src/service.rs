//! What every operation shares: the database, the blobs, the scraping tools, the clock, the settings.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use base::{Clock, Timestamp};
use blobs::Blobs;
use queue::Waker;
use scrape::Tools;
use store::teams::{self, Team};
use store::{Conn, Store};
use tokio_util::task::TaskTracker;
use uuid::Uuid;
use wire::Capabilities;

use crate::crawl::{Contexts, Lost};
use crate::orphans::Pass;
use crate::room::Room;
use crate::{Active, AppError, Changes, Settings, Web};

/// Id of the team that runs calls without a key in open mode. It has no credit limit.
pub const DEFAULT_TEAM: &str = "00000000-0000-7000-8000-000000000000";

/// The operations' shared state. Cheap to clone; all clones are one service.
#[derive(Clone)]
pub struct App(Arc<Inner>);

/// The parts, and what is only kept in memory.
struct Inner {
    parts: Parts,
    contexts: Contexts,
    room: Room,
    lost: Lost,
    orphans: Pass,
}

/// What an [`App`] is made of.
pub struct Parts {
    /// The database.
    pub store: Store,
    /// Where page bodies are kept.
    pub blobs: Blobs,
    /// How pages are fetched and turned into documents.
    pub tools: Tools,
    /// What this server can do beyond what every server can.
    pub capabilities: Capabilities,
    /// The time for everything that is written or compared. Deadlines of running requests use tokio's clock.
    pub clock: Arc<dyn Clock>,
    /// What the operator set.
    pub settings: Settings,
    /// Scrapes in flight.
    pub active: Active,
    /// The way to robots.txt and sitemaps.
    pub web: Web,
    /// Who waits for news of crawls and batches.
    pub changes: Changes,
    /// Tells the workers of this process that there is something to do.
    pub waker: Waker,
    /// Work that must outlive its request: bookings above all.
    pub tracker: TaskTracker,
}

impl App {
    /// Puts the parts together. Nothing is read or written yet.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let (contexts, room) = (Contexts::default(), Room::default());
        let (lost, orphans) = (Lost::default(), Pass::default());
        Self(Arc::new(Inner { parts, contexts, room, lost, orphans }))
    }

    /// Brings the database up to date and makes sure that the default team exists. Safe when several processes start
    /// at once, and cheap when there is nothing to do.
    ///
    /// # Errors
    /// [`AppError::Internal`] when the database cannot be changed.
    #[crate::boxed]
    pub async fn bootstrap(&self) -> Result<(), AppError> {
        let applied = self.store.migrate().await?;
        if !applied.is_empty() {
            tracing::info!(migrations = applied.len(), "database brought up to date");
        }
        let team = Team {
            unlimited: true,
            concurrency: limit(self.settings.team_concurrency),
            rate_per_minute: limit(self.settings.team_rate_per_minute),
            // The machine is the operator's own: what teams must be allowed, its default team may do.
            zero_data_retention: true,
            enterprise: true,
            ..Team::new(DEFAULT_TEAM, "default", self.now())
        };
        teams::create_if_absent(&mut self.conn().await?, &team).await?;
        Ok(())
    }

    /// Takes no new scrapes and waits until every booking that was begun is written. Call it after the last request has
    /// ended or was dropped; put your own time limit around it.
    #[crate::boxed]
    pub async fn drain(&self) {
        self.tracker.close();
        self.tracker.wait().await;
    }

    /// What this server can do beyond what every server can.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        self.0.parts.capabilities
    }

    pub(crate) fn contexts(&self) -> &Contexts {
        &self.0.contexts
    }

    pub(crate) fn room(&self) -> &Room {
        &self.0.room
    }

    pub(crate) fn lost(&self) -> &Lost {
        &self.0.lost
    }

    pub(crate) fn orphans(&self) -> &Pass {
        &self.0.orphans
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) async fn conn(&self) -> Result<Conn, AppError> {
        Ok(self.store.conn().await?)
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0.parts
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").field("store", &self.store).field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// A limit as the database keeps it.
pub(crate) fn limit(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// An id out of the database.
pub(crate) fn uuid(text: &str) -> Result<Uuid, AppError> {
    Uuid::parse_str(text).map_err(AppError::internal)
}
