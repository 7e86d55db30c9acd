//! Documents read in processes of their own: behind a fence, a bounded number of them, ended when nobody waits.

mod job;
mod pool;
mod settings;

pub use job::{Answer, Job, Options, ReadError, Wants};
pub use pool::Pool;
pub use settings::{Settings, StartError};
