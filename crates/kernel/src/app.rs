//! Shared state of all operations: the database, the blobs, the scraping tools, the clock, the settings.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use base::{Clock, Owner, Timestamp};
use blobs::Blobs;
use files::Files;
use queue::Waker;
use site::Site;
use store::teams::{self, Team};
use store::{Conn, Store, StoreError, Trouble};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::bookings::Bookings;
use crate::callers::Callers;
use crate::held_keys::HeldKeys;
use crate::room::DiskRoom;
use crate::{Active, AppError, Settings, room};

/// Id of the team that runs calls without a key in open mode. It has no credit limit.
pub const DEFAULT_TEAM: &str = "00000000-0000-7000-8000-000000000000";

/// Time after which an unresponsive database counts as unavailable.
const ANSWER: Duration = Duration::from_secs(2);

/// Shared state of the operations. Cheap to clone; all clones are one service.
#[derive(Clone)]
pub struct App(Arc<Core>);

/// Parts of a service, and the in-memory state of its operations.
pub(crate) struct Core {
    parts: Parts,
    bookings: Bookings,
    callers: Callers,
    files: Files,
    held_keys: HeldKeys,
    room: DiskRoom,
}

/// Parts of an [`App`].
#[derive(Clone)]
pub struct Parts {
    /// Database.
    pub store: Store,
    /// Blob store for page bodies.
    pub blobs: Blobs,
    /// Clock for all times that are stored or compared. Deadlines of running requests use tokio's clock.
    pub clock: Arc<dyn Clock>,
    /// Settings of the operator.
    pub settings: Settings,
    /// Counters of scrapes in flight.
    pub active: Active,
    /// Reader of robots.txt and sitemaps.
    pub site: Site,
    /// HTTP client for other outgoing requests: webhooks.
    pub client: net::Client,
    /// Wakes the workers of this process when there is work.
    pub waker: Waker,
    /// Tracker of work that must outlive its request, mostly bookings.
    pub tracker: TaskTracker,
}

impl App {
    /// Assembles the service. Nothing is read or written yet.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let room = DiskRoom::new(&parts);
        let Parts { store, blobs, clock, settings, .. } = &parts;
        let files = Files::new(store.clone(), blobs.clone(), clock.clone(), settings.files.clone());
        let bookings = Bookings::new(store);
        Self(Arc::new(Core {
            parts,
            bookings,
            callers: Callers::default(),
            files,
            held_keys: HeldKeys::default(),
            room,
        }))
    }

    /// Migrates the database and creates the default team if it is missing. Safe when several processes start at once,
    /// and cheap when there is nothing to do.
    ///
    /// # Errors
    /// [`AppError::Internal`] when the database cannot be changed.
    #[crate::boxed]
    pub async fn bootstrap(&self) -> Result<(), AppError> {
        let applied = self.store().migrate().await?;
        if !applied.is_empty() {
            tracing::info!(migrations = applied.len(), "database migrated");
        }
        let team = Team {
            unlimited: true,
            concurrency: limit(self.settings().team_concurrency),
            rate_per_minute: limit(self.settings().team_rate_per_minute),
            // The server belongs to the operator, so the default team may do what other teams must be allowed to do.
            zero_data_retention: true,
            enterprise: true,
            ..Team::new(DEFAULT_TEAM, "default", self.now())
        };
        teams::create_if_absent(&mut self.conn().await?, &team).await?;
        Ok(())
    }

    /// Checks that the service is ready: reads one row, because a pooled connection alone proves nothing, then checks
    /// that results can be stored.
    ///
    /// # Errors
    /// [`AppError::DatabaseUnavailable`], [`AppError::StorageFull`] or [`AppError::StorageUnavailable`], within two
    /// seconds each.
    #[crate::boxed]
    pub async fn ready(&self) -> Result<(), AppError> {
        let row = async { teams::find(&mut self.conn().await?, DEFAULT_TEAM).await.map_err(AppError::from) };
        match timeout(ANSWER, row).await {
            Ok(found) => drop(found?),
            Err(_) => return Err(StoreError::Pool("the database does not answer".to_owned()).into()),
        }
        if self.store().trouble() == Some(Trouble::Away) {
            return Err(StoreError::Pool("the database cannot be written".to_owned()).into());
        }
        room::check(self)?;
        Ok(self.blobs().check().await?)
    }

    /// Refuses new scrapes and waits until all bookings in progress are written. Call it after the last request has
    /// ended or was dropped; it has no timeout of its own.
    #[crate::boxed]
    pub async fn drain(&self) {
        self.tracker().close();
        self.tracker().wait().await;
    }

    /// Returns the current time for everything that is stored or compared.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock().now()
    }

    /// Returns the database.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.0.parts.store
    }

    /// Returns the blob store.
    #[must_use]
    pub fn blobs(&self) -> &Blobs {
        &self.0.parts.blobs
    }

    /// Returns the HTTP client for outgoing requests other than scrapes.
    #[must_use]
    pub fn client(&self) -> &net::Client {
        &self.0.parts.client
    }

    /// Returns the reader of robots.txt and sitemaps.
    #[must_use]
    pub fn site(&self) -> &Site {
        &self.0.parts.site
    }

    /// Returns the clock for all times that are stored or compared.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.0.parts.clock
    }

    /// Returns the settings of the operator.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.0.parts.settings
    }

    /// Returns the counters of scrapes in flight.
    #[must_use]
    pub fn active(&self) -> &Active {
        &self.0.parts.active
    }

    /// Returns what wakes the workers of this process.
    #[must_use]
    pub fn waker(&self) -> &Waker {
        &self.0.parts.waker
    }

    /// Returns the tracker of work that must outlive its request.
    #[must_use]
    pub fn tracker(&self) -> &TaskTracker {
        &self.0.parts.tracker
    }

    /// Whether the disks may take anything more.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.0.room.is_free()
    }

    /// Reserves room for the body of a request in the memory budget for bodies.
    #[must_use]
    pub fn room_for_body(&self, owner: &Owner) -> net::Room {
        self.client().in_flight().room(owner)
    }

    pub(crate) fn bookings(&self) -> &Bookings {
        &self.0.bookings
    }

    /// Forgets what is known of callers, after a change of a key or a team.
    pub fn forget_callers(&self) {
        self.callers().forget();
    }

    /// Ends the holds of a revoked key.
    pub fn end_key(&self, key: &str) {
        self.held_keys().end(key);
    }

    pub(crate) fn callers(&self) -> &Callers {
        &self.0.callers
    }

    /// Returns the files that have a signed URL.
    #[must_use]
    pub fn files(&self) -> &Files {
        &self.0.files
    }

    pub(crate) fn held_keys(&self) -> &HeldKeys {
        &self.0.held_keys
    }

    pub(crate) fn room(&self) -> &DiskRoom {
        &self.0.room
    }

    /// Returns a weak reference, which does not keep the service alive.
    pub(crate) fn downgrade(&self) -> Weak<Core> {
        Arc::downgrade(&self.0)
    }

    /// Returns the service, unless it is gone.
    pub(crate) fn upgrade(weak: &Weak<Core>) -> Option<Self> {
        weak.upgrade().map(Self)
    }

    /// Takes a connection to the database.
    ///
    /// # Errors
    /// [`AppError::DatabaseUnavailable`], [`AppError::Internal`].
    #[crate::boxed]
    pub async fn conn(&self) -> Result<Conn, AppError> {
        Ok(self.store().conn().await?)
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").field("store", self.store()).field("settings", self.settings()).finish_non_exhaustive()
    }
}

/// Converts a limit to its database type.
#[must_use]
pub fn limit(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Parses an id from the database.
///
/// # Errors
/// [`AppError::Internal`].
pub fn uuid(text: &str) -> Result<Uuid, AppError> {
    Uuid::parse_str(text).map_err(AppError::internal)
}
