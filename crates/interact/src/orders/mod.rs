//! Orders in words: the plain ones, which need no model.
//!
//! A sentence is taken apart by a small grammar ([`grammar`]) into single orders; each is carried out on what the page
//! shows to those who cannot look, by names and roles. What is no plain order is refused as a whole, before anything is
//! done.

mod carry;
mod grammar;
mod target;
mod words;

use browser::{Failure, Hands};
use tokio::time::Instant;

use grammar::Order;

/// How many single orders one sentence may hold.
pub const MAX_STEPS: usize = 20;

/// Why an order was not obeyed, or not wholly.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    /// It is none of the plain ones. The text does not name the setting that a model needs: the caller adds it.
    #[error(
        "`{part}` is none of the plain orders that are understood without a model (click …, type … into …, select … in …, check …, scroll …, go to …, go back, wait …, read …, take a screenshot)"
    )]
    NotPlain {
        /// The part that was not understood.
        part: String,
    },
    /// The sentence holds more than [`MAX_STEPS`] orders.
    #[error("at most {MAX_STEPS} orders at once")]
    TooMany,
    /// One of them could not be carried out.
    #[error("{failure}{}", if did.is_empty() { String::new() } else { format!("; before that: {did}") })]
    Failed {
        /// Why.
        failure: Failure,
        /// What was done before.
        did: String,
    },
}

/// Tells whether a sentence is one that [`Interact::obey`](crate::Interact::obey) would begin to carry out.
///
/// # Errors
/// [`OrderError::NotPlain`], [`OrderError::TooMany`].
pub fn check_order(prompt: &str) -> Result<(), OrderError> {
    plain(prompt).map(drop)
}

/// Takes a sentence apart.
fn plain(prompt: &str) -> Result<Vec<Order>, OrderError> {
    let orders =
        grammar::parse(prompt).map_err(|part| OrderError::NotPlain { part: part.chars().take(200).collect() })?;
    if orders.len() > MAX_STEPS { Err(OrderError::TooMany) } else { Ok(orders) }
}

/// Does what a sentence says. Returns what was done and read.
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
