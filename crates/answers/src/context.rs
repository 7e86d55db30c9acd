//! Request that questions belong to.

use base::Owner;
use cpu::Cpu;
use llm::TeamLimit;
use tokio::time::Instant;

use crate::CacheUse;

/// Request that questions belong to.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Team and run that ask.
    pub owner: &'a Owner,
    /// Whether the request leaves no trace: its text goes only to a model that stores nothing.
    pub private: bool,
    /// Time at which answers are of no more use.
    pub deadline: Instant,
    /// Use of the cache of answers. A private request does not use it.
    pub cache: CacheUse,
    /// Slots for CPU-bound work. None is held while a model is waited for.
    pub cpu: &'a Cpu,
    /// Limits of the team per day.
    pub limit: TeamLimit,
}
