//! Pages in a real browser: Chromium behind the egress guard, a fresh context for every visit.

mod actions;
mod ads;
mod browser;
mod cdp;
mod context;
mod dom;
mod emulation;
mod error;
mod page;
mod pdf;
mod place;
mod pool;
mod process;
mod requests;
mod run;
mod screenshot;
mod scroll;
mod settings;
mod stitch;
mod styles;
mod tab;
mod visit;
mod wait;

pub use browser::{Browser, Counts};
pub use error::BrowserError;
pub use settings::{Sandbox, Settings};
pub use visit::{Acted, HeadersFor, Picture, Printed, ScrapedPage, State, Visit, Visited};
