//! The scrape pipeline, from one URL to one document: plan, fetch, detect, derive, ask, compare, finish. Independent of
//! database and teams.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! use std::{sync::Arc, time::Duration};
//! use scrape::{Cpu, Ports, ScrapeError, Target, Tools};
//!
//! // Without an engine nothing is fetched.
//! let tools = Tools::new(Vec::new(), Cpu::new(2));
//! let deadline = tokio::time::Instant::now() + Duration::from_secs(5);
//! let target = Target::new("https://example.com/".parse()?, Arc::default(), deadline);
//! let markdown = scrape::run(&tools, Ports::default(), &target, |scraped, _| scraped.document.markdown).await;
//! assert!(matches!(markdown, Err(ScrapeError::Fetch(_))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ask;
mod captures;
mod clean;
mod compare;
mod derive;
mod detect;
mod document;
mod embedded;
mod error;
mod export;
mod extract;
mod fetch;
mod finish;
mod metrics;
mod needs_scripts;
mod page_text;
mod plain;
mod ports;
mod product;
mod product_service;
mod revalidate;
mod reviewer;
mod run;
mod sheets;
mod source;
mod steps;
mod target;
mod tracked;
mod versions;

pub use cpu::{Cpu, CpuError};
pub use detect::is_document;
pub use error::{DocumentError, ScrapeError};
pub use extract::{Extract, Question};
pub use ports::{Copies, CopyLookup, Files, Funds, Outdated, Ports, Wants};
pub use product_service::ProductService;
pub use reviewer::{Reviewed, Reviewer};
pub use run::{read, run};
pub use target::{Scraped, Target, Tools, Values};
pub use versions::{Extraction, NextVersion, Previous, PreviousVersion, Versions};
