//! The server over a socket, without scraping: headers, bodies, refusals, limits, shutdown.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod body;
mod caller;
mod crowd;
mod documents;
mod doors;
mod ending;
mod lists;
mod pages;

use caller::{Answer, call, service};
