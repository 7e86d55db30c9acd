//! DevTools protocol over a pipe: JSON messages, each terminated by a zero byte. Unlike a port, a pipe cannot be
//! reached by other programs, and it closes with the process at its other end.

mod error;
mod message;
mod out;
mod pending;
mod pipe;
mod routes;
mod session;
mod share;
mod tap;

pub use error::CdpError;
pub use message::Raw;
pub use pipe::Connection;
pub use session::{Event, Events, Session};
pub use share::{MAX_SAID, Share};
pub use tap::{Passed, Tap, What};
