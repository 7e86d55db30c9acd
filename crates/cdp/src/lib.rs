//! DevTools protocol over a pipe: JSON messages, each terminated by a zero byte. Unlike a port, a pipe cannot be
//! reached by other programs, and it closes with the process at its other end.

mod error;
mod events;
mod message;
mod out;
mod passed;
mod pending;
mod pipe;
mod routes;
mod session;
mod share;
mod tap;
mod wire;

pub use error::CdpError;
pub use events::{Event, Events};
pub use message::Raw;
pub use passed::{Passed, What};
pub use pipe::Connection;
pub use session::Session;
pub use share::{MAX_SAID, Share};
pub use tap::Tap;
