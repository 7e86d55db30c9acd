//! DevTools protocol over a pipe: JSON messages, each terminated by a zero byte. Unlike a port, a pipe cannot be
//! reached by other programs, and it closes with the process at its other end.

mod error;
mod message;
mod out;
mod pipe;
mod routes;
mod session;
mod share;
mod tap;

pub(crate) use error::CdpError;
pub(crate) use message::Raw;
pub(crate) use pipe::Connection;
pub(crate) use session::{Event, Events, Session};
pub(crate) use share::{MAX_SAID, Share};
pub(crate) use tap::{Passed, Tap, What};
