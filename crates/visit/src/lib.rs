//! A visit of a page: its parameters, made of the scrape options, and its results.
//!
//! ```
//! use std::time::Duration;
//! use visit::Visit;
//! use wire::ScrapeOptions;
//!
//! let options = ScrapeOptions { mobile: true, wait_for: 500, ..ScrapeOptions::default() };
//! let (url, deadline) = ("https://example.com/".parse()?, tokio::time::Instant::now() + Duration::from_secs(30));
//! let visit = Visit::for_scrape(&url, &options, false, deadline);
//! assert!(visit.mobile && visit.block_ads && visit.wait_for == Duration::from_millis(500));
//! # Ok::<(), url::ParseError>(())
//! ```

mod failure;
mod parameters;
mod rendered;
mod state;

pub use failure::ActionFailure;
pub use parameters::Visit;
pub use rendered::{Acted, Picture, Printed, Rendered, ScrapedPage};
pub use state::{MAX_STATE_BYTES, State};
