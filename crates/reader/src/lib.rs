//! Documents read in sandboxed child processes, from a bounded pool, killed when the caller goes away.
//!
//! A malicious document may use up all memory, never end, or crash its reader. So no document is read in the process of
//! the service: [`Pool`] passes it to a child process, which has sandboxed itself, reads one document at a time, and is
//! killed when its time is over or the caller has gone away. OCR runs in further children, page by page, so that a page
//! that hangs costs only itself.
//!
//! The child is `quarry-reader`, which has OCR, or else the program itself, started again: see [`role`].

mod child;
mod children;
mod job;
mod look;
mod message;
mod pool;
mod process;
mod programs;
mod read;
mod settings;

pub use child::{Eyes, MakeEyes, role};
pub use job::{Answer, Job, Options, ReadError, Wants};
pub use pool::Pool;
pub use settings::{Settings, StartError};
