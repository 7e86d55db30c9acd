//! One URL in, one document out, in phases: fetch, detect, derive, finish. Knows no database and no team.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! use std::{sync::Arc, time::Duration};
//! use scrape::{Cpu, Target, Tools};
//! use url::Url;
//!
//! let tools = Tools { engines: Vec::new(), cpu: Cpu::new(2) };
//! let url = Url::parse("https://example.com/")?;
//! let target = Target::new(url.clone(), Arc::default(), tokio::time::Instant::now() + Duration::from_secs(5));
//! // With engines, `scrape::fetch(&tools, &target)` gets the page; here it is at hand already.
//! let page = fetch::Fetched::new(url, 200, None, "<h1>Hello</h1>".into());
//! let derived = scrape::derive(&tools, &target, page).await?;
//! assert_eq!(derived.document.markdown.as_deref().map(str::trim), Some("# Hello"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod derive;
mod detect;
mod error;
mod fetch_phase;
mod finish;
mod plain;
mod target;

pub use cpu::{Cpu, CpuError};
pub use derive::derive;
pub use error::ScrapeError;
pub use fetch_phase::fetch;
pub use target::{Derived, Target, Tools};
