//! Operations of the service, independent of HTTP: one module per resource, one function per operation.
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use app::{Operations, Parts, auth, usage};
//!
//! # let folder = tempfile::tempdir()?;
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
//!         tools: scrape::Tools { engines: vec![], proxies: Arc::default(), cpu, documents: None },
//!         capabilities: wire::Capabilities::default(),
//!         cache: app::CacheSettings::default(),
//!         profile_key: base::Secret::default(),
//!         remembers: false,
//!     },
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

mod active;
pub mod activity;
mod admit;
pub mod auth;
pub mod batch;
mod bookings;
pub mod browser;
mod callers;
mod changes;
mod check;
pub mod crawl;
mod credentials;
mod error;
pub mod files;
mod held_keys;
mod idempotency;
pub mod interact;
pub mod jobs;
pub mod keys;
mod load;
pub mod map;
mod metrics;
mod operations;
mod orphans;
pub mod parse;
mod profiles;
mod recent;
mod refusal;
mod reservation;
mod retention;
mod room;
mod rules;
pub mod runs;
pub mod scrape;
mod scraper;
mod service;
mod sessions;
mod settings;
pub mod teams;
mod tracked;
mod upkeep;
pub mod usage;
pub mod webhooks;
mod worker;

pub use active::{Active, Slot};
pub use cache::CacheSettings;
pub use crawl::CrawlsError;
pub use error::AppError;
pub use held_keys::KeyHold;
pub use load::{Load, load};
pub use map::MapError;
pub use operations::{Operations, Parts};
pub use queue::Waker;
pub use refusal::{Refusal, Refused, Report};
pub use retention::{Retention, UpkeepSettings};
pub use rules::Rules;
pub use runs::{Runs, RunsError};
pub use scraper::{Scraper, ScrapingError, ScrapingParts};
pub use service::{App, CoreParts, DEFAULT_TEAM};
pub use sessions::{SessionParts, SessionSettings, Sessions, SessionsError};
pub use settings::{AuthMode, Settings, SiteSettings};
pub use upkeep::{maintain, maintain_once};
pub use worker::{QUEUES, WorkerSettings, worker};
