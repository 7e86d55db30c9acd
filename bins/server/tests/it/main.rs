//! The server over a socket, without scraping anything: heads, bodies, refusals, limits, the end.

mod body;
mod caller;
mod doors;
mod ending;

use caller::{Answer, call, service};
