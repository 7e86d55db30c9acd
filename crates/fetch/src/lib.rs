//! Engines that fetch a page ([`Engine`]), the [`Plan`] that orders them, and [`detect`], which classifies the result.
//!
//! ```
//! use fetch::{BodyKind, Fetched, detect};
//! use url::Url;
//!
//! assert_eq!(detect(Some("application/pdf"), b"<!DOCTYPE html><p>not found"), BodyKind::Html);
//!
//! let url = Url::parse("https://example.com/")?;
//! let body = b"<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2".to_vec();
//! let page = Fetched::new(url, 200, Some("text/html".to_owned()), body.into());
//! assert!(page.text().ends_with("Привет"));
//! # Ok::<(), url::ParseError>(())
//! ```

mod browser_engine;
mod charset;
mod disposition;
mod engine;
mod error;
mod fetched;
mod given;
mod headers;
mod http_engine;
mod kind;
mod language;
mod plan;
mod proxies;
mod refresh;
mod validators;

pub use base::address::BasicAuth;
pub use visit::{Acted, ActionFailure, MAX_STATE_BYTES, Picture, Printed, Rendered, ScrapedPage, State, Visit};

pub use browser_engine::{BrowserEngine, own_headers};
pub use engine::{Engine, Feature, FetchRequest};
pub use error::FetchError;
pub use fetched::{Fetched, Text};
pub use given::{Given, Sent, may_reach};
pub use http_engine::HttpEngine;
pub use kind::{BodyKind, detect};
pub use plan::{Plan, Step, Verdict, Why};
pub use proxies::Proxies;
pub use validators::Validators;
