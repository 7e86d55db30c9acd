//! Search engines of the web behind one trait: `searxng`, `brave`, `serper`, `google` and `tavily`, asked in the order of
//! the settings, with fallback, limits and a cache.
//!
//! Answers are validated: plain text without HTML, http and https only, no private addresses, no tracking parameters, and
//! only what the query asked for, even if the engine ignores a part of it. [`Engines`] asks; an index of this server's own
//! pages takes part as one more [`SearchEngine`].

mod adapter;
mod allowance;
mod answer;
mod cache;
mod endpoint;
mod engine;
mod engines;
mod error;
mod fuse;
mod language;
mod metrics;
mod months;
mod operators;
mod place;
mod plain;
mod query;
mod rounds;
mod settings;
mod sieve;
mod text;
mod when;

mod brave;
mod google;
mod searxng;
mod serper;
mod tavily;

#[cfg(test)]
mod tests;

pub use answer::{EngineAnswer, EngineImage, EngineResult};
pub use engine::SearchEngine;
pub use engines::{Engines, Found, Parts};
pub use error::{EngineError, Failure, Failures};
pub use fuse::{Order, fuse};
pub use months::Months;
pub use operators::{Operators, Words};
pub use query::{Domains, EngineQuery, Source, TimeWindow};
pub use settings::{EngineName, Limit, Limits, Settings, SettingsError};
