//! Plain instructions, which need no language model.
//!
//! A small grammar ([`grammar`]) parses a prompt into single instructions. Each is carried out on the page's
//! accessibility tree, by names and roles. A prompt with anything else is rejected as a whole, before anything is done.

mod carry;
mod grammar;
mod target;
mod words;

use browser::{Failure, Hands};
use tokio::time::Instant;

use grammar::Order;

/// Maximum number of instructions in one prompt.
pub const MAX_STEPS: usize = 20;

/// Reason why a prompt was not carried out completely.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    /// Not a plain instruction. The caller adds the name of the setting that a model needs.
    #[error(
        "`{part}` is not one of the plain instructions that are understood without a model (click …, type … into …, select … in …, check …, scroll …, go to …, go back, wait …, read …, take a screenshot)"
    )]
    NotPlain {
        /// Part that was not understood.
        part: String,
    },
    /// More than [`MAX_STEPS`] instructions.
    #[error("the prompt has more than {MAX_STEPS} instructions; split it")]
    TooMany,
    /// Failed instruction.
    #[error("{failure}{}", if did.is_empty() { String::new() } else { format!("; before that: {did}") })]
    Failed {
        /// Reason.
        failure: Failure,
        /// Actions done before the failure.
        did: String,
    },
}

/// Checks whether [`Interact::obey`](crate::Interact::obey) would accept a prompt.
///
/// # Errors
/// [`OrderError::NotPlain`], [`OrderError::TooMany`].
pub fn check_order(prompt: &str) -> Result<(), OrderError> {
    plain(prompt).map(drop)
}

/// Parses a prompt and checks its length.
fn plain(prompt: &str) -> Result<Vec<Order>, OrderError> {
    let orders =
        grammar::parse(prompt).map_err(|part| OrderError::NotPlain { part: part.chars().take(200).collect() })?;
    if orders.len() > MAX_STEPS { Err(OrderError::TooMany) } else { Ok(orders) }
}

/// Carries out a prompt. Returns what was done and read.
pub(crate) async fn obey(hands: &Hands, prompt: &str, by: Instant) -> Result<String, OrderError> {
    let orders = plain(prompt)?;
    let mut told: Vec<String> = Vec::new();
    for order in &orders {
        match carry::carry_out(hands, order, by).await {
            Ok(done) => told.push(done),
            Err(failure) => return Err(OrderError::Failed { failure, did: told.join("; ") }),
        }
    }
    Ok(told.join("\n"))
}
