//! Documents read in processes of their own: behind a fence, a bounded number of them, ended when nobody waits.
//!
//! A document may be made to use all memory, never to end, or to crash who reads it. So none is read in the process of the
//! service: [`Pool`] hands it to a child, which has fenced itself in, holds one document at a time and is killed when its time
//! is over or nobody waits any more. What is recognised from pictures is seen by further children, page by page, so that a page
//! that hangs costs only itself.
//!
//! The child is `quarry-reader`, which can recognise text, or else the program itself, started again: see [`is_child`].

mod child;
mod frame;
mod job;
mod look;
mod pool;
mod process;
mod programs;
mod read;
mod settings;

pub use child::{Eyes, MakeEyes, child, is_child};
pub use job::{Answer, Job, Options, ReadError, Wants};
pub use pool::Pool;
pub use settings::{Settings, StartError};
