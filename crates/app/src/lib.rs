//! Operations of the service, independent of HTTP: one module per resource, one function per operation.
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use app::{Operations, Parts, auth, usage};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder_of_index = folder.path().join("index");
//! # let folder = folder.path().display();
//! let store = store::Store::open(&format!("sqlite://{folder}/quarry.db"), store::Options::default()).await?;
//! let client = net::Client::new(net::Config::default())?;
//! let cpu = scrape::Cpu::new(2);
//! let interact = interact::Interact::new(interact::Settings { program: None, user: None, places: 1 });
//! let operations = Operations::new(Parts {
//!     core: app::CoreParts {
//!         site: site::Site::new(client.clone(), vec![], store.clone(), Arc::new(base::SystemClock), cpu.clone()),
//!         store,
//!         client,
//!         blobs: blobs::Blobs::open(&format!("file://{folder}/blobs"))?,
//!         clock: Arc::new(base::SystemClock),
//!         settings: app::Settings::default(),
//!         active: app::Active::default(),
//!         waker: app::Waker::default(),
//!         tracker: tokio_util::task::TaskTracker::new(),
//!     },
//!     scraping: app::ScrapingParts {
//!         tools: scrape::Tools::new(vec![], cpu),
//!         capabilities: wire::Capabilities::default(),
//!         cache: app::CacheSettings::default(),
//!         profile_key: base::Secret::default(),
//!         remembers: false,
//!     },
//!     index: app::IndexParts { documents: None, folder: folder_of_index, settings: app::IndexingSettings::default() },
//!     searches: app::SearchParts::default(),
//!     monitors: app::MonitorSettings::default(),
//!     mail: None,
//!     sessions: app::SessionParts {
//!         browser: None,
//!         interact: Arc::new(interact),
//!         settings: app::SessionSettings::default(),
//!     },
//!     upkeep: app::UpkeepSettings::default(),
//! });
//! let app = &operations.app;
//! app.bootstrap().await?;
//!
//! let caller = auth::authenticate(app, None).await?;
//! assert_eq!(caller.team.name, "default");
//! assert_eq!(usage::queue_status(app, &caller).await?.active_jobs_in_queue, 0);
//! app.drain().await;
//! # Ok(())
//! # }
//! ```

/// Boxes the future of an async function, so that it is compiled once, in this crate. Otherwise every crate that awaits
/// it compiles it again, including its queries.
pub(crate) use async_recursion::async_recursion as boxed;

pub mod jobs;
mod load;
mod monitor_search;
mod operations;
mod retention;
mod task;
mod tasks;
mod upkeep;
mod worker;

pub use ::accounts::{activity, keys, teams, usage};
pub use ::cache::CacheSettings;
pub use ::crawls::{CrawlsError, batch, crawl};
pub use ::indexing::{self, Indexing, IndexingSettings};
pub use ::kernel::{
    Active, App, AppError, AuthMode, DEFAULT_TEAM, KeyHold, Parts as CoreParts, Refusal, Refused, Report, Rules,
    Settings, SiteSettings, Slot, Waker, auth,
};
pub use ::maps::{self as map, MapError};
pub use ::monitors::{self, MailParts, MonitorSettings, Monitors, MonitorsError};
pub use ::runs::{self, Runs, RunsError, webhooks};
pub use ::scraping::{Parts as ScrapingParts, Scraper, ScrapingError, files, parse, scrape};
pub use ::searches::{self as search, FeedbackError, Parts as SearchParts, SearchError, Searches};
pub use ::sessions::{Parts as SessionParts, SessionSettings, Sessions, SessionsError, browser, interact};
pub use load::{Load, load};
pub use operations::{IndexParts, Operations, Parts};
pub use retention::{Retention, UpkeepSettings};
pub use tasks::{maintain, maintain_once, tasks};
pub use worker::{QUEUES, WorkerSettings, worker};
