//! Rust types of the v2 contract, and the table of all error codes.
//!
//! Request bodies and query strings are decoded by functions that collect every fault with its path. Responses are plain
//! serde types. All types have OpenAPI schemas.
//!
//! ```
//! use wire::{Capability, FormatKind, ScrapeBody, decode_scrape};
//!
//! let body = serde_json::json!({ "url": "https://example.com", "formats": ["markdown", "summary"] });
//! let ScrapeBody::Page(request) = decode_scrape(body)? else { unreachable!() };
//! assert!(request.options.wants(FormatKind::Summary));
//! // Only a server with a language model supports this; others refuse it.
//! let need = &request.needs()[0];
//! assert_eq!((need.capability, need.code.as_str()), (Capability::Answers, "SCRAPE_SUMMARY_NOT_SUPPORTED"));
//!
//! let body = serde_json::json!({ "url": "https://example.com", "formats": [{ "type": "screenshot", "quality": 101 }] });
//! let invalid = decode_scrape(body).unwrap_err();
//! assert_eq!(invalid.message, "`formats[0].quality` must be a whole number from 1 to 100, got 101");
//! # Ok::<(), wire::Invalid>(())
//! ```

mod action;
mod activity;
mod admin;
mod append;
mod attribution;
mod batch;
mod block;
mod branding;
mod browser;
mod capability;
mod chat;
mod code;
mod crawl;
mod crawl_params;
mod decode;
mod document;
mod error;
pub mod event;
#[cfg(test)]
mod example;
mod feedback;
mod file;
mod format;
mod headers;
mod interact;
mod job;
mod key;
mod map;
mod menu;
mod metadata;
mod model_limits;
mod monitor;
mod near;
mod needs;
mod option;
mod parse;
mod parser;
mod product;
mod query;
mod read;
mod redact;
mod rules;
mod scrape;
mod search;
mod source;
mod stamp;
mod target;
mod task;
mod team;
mod threat;
mod tool;
mod vertical;
mod webhook;
mod webhook_config;
mod words;

pub use action::*;
pub use activity::*;
pub use admin::*;
pub use append::GivenFields;
pub use attribution::Attribution;
pub use batch::*;
pub use block::*;
pub use branding::*;
pub use browser::*;
pub use capability::{Capabilities, Capability};
pub use chat::{ChatChannel, ChatKind, MAX_CHAT_CHANNELS};
pub use code::Code;
pub use crawl::*;
pub use crawl_params::{CrawlParams, DerivedOptions, ParamsPreviewed};
pub use decode::{HARMLESS_KEYS, ScrapeBody, decode_scrape};
pub use document::*;
pub use error::*;
pub use event::{EventFamily, EventType, Phase};
pub use feedback::*;
pub use file::*;
pub use format::*;
pub use headers::{MAX_HEADER_BYTES, MAX_HEADERS, is_connection_header};
pub use interact::*;
pub use job::*;
pub use key::*;
pub use map::*;
pub use menu::*;
pub use metadata::*;
pub use model_limits::*;
pub use monitor::*;
pub use needs::Need;
pub use option::*;
pub use parse::*;
pub use parser::*;
pub use product::*;
pub use query::QueryParams;
pub use redact::*;
pub use rules::{EndpointGroup, MAX_ADDRESSES};
pub use scrape::*;
pub use search::*;
pub use source::{SourceUrl, without_userinfo};
pub use stamp::format_time;
pub use target::{InvalidUrl, MAX_URL_CHARS, target_url};
pub use task::*;
pub use team::*;
pub use threat::*;
pub use tool::*;
pub use vertical::*;
pub use webhook::*;
pub use webhook_config::*;
