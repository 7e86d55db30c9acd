//! Errors of the operations, independent of HTTP.

mod answer;

use std::error::Error as StdError;
use std::net::IpAddr;

use blobs::BlobError;
use site::SiteError;
use store::{StoreError, Trouble};
use wire::Need;

/// Reason why an operation was refused or failed. Its [`Refusal`](crate::Refusal) makes the answer for the client.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// Request that violates the contract; the fields are named inside.
    #[error(transparent)]
    Invalid(#[from] wire::Invalid),
    /// Request for features that this server lacks; each names its field and code. Never empty.
    #[error("the request needs features that this server does not support")]
    Unsupported(Vec<Need>),
    /// Missing, unknown or revoked API key.
    #[error("{0}")]
    Unauthorized(&'static str),
    /// Not enough credits for the maximum cost of the request. Nothing was executed or charged.
    #[error("insufficient credits: this request needs {needed} and the team has {available}")]
    InsufficientCredits {
        /// Maximum cost of the request, in credits.
        needed: i64,
        /// Credits that the team can spend now.
        available: i64,
    },
    /// Option that is not enabled for the team.
    #[error("{0}")]
    Forbidden(&'static str),
    /// Use of an API key beyond its limits.
    #[error("this key may not use {what}; it is limited to {allowed} (key rule `{rule}`)")]
    KeyNotAllowed {
        /// Refused item, such as `format screenshot`.
        what: String,
        /// Allowed items.
        allowed: String,
        /// Rule that refuses it: `endpoints` or `formats`.
        rule: &'static str,
    },
    /// Call from a network that the team does not allow.
    #[error("calls of this team may not come from {address} (team rule `addresses`)")]
    AddressNotAllowed {
        /// Address of the caller.
        address: IpAddr,
    },
    /// Unknown item, or one of another team: the two look alike.
    #[error("{0} not found")]
    NotFound(&'static str),
    /// Deadline of the request exceeded.
    #[error("the scrape did not finish in time; a longer timeout may help")]
    Timeout,
    /// Too many scrapes and maps of the team in flight.
    #[error("concurrency limit reached: {limit} requests of this team are already running")]
    ConcurrencyLimited {
        /// Maximum number of scrapes in flight.
        limit: u32,
    },
    /// Idempotency key that belongs to another request.
    #[error("this x-idempotency-key was used for a request with other parameters")]
    DuplicateRequest,
    /// Service that is shutting down and accepts no new work.
    #[error("the server is shutting down; try again shortly, or use another instance")]
    ShuttingDown,
    /// Full or nearly full disk: no work is started whose results have to be stored.
    #[error("a disk of this server is full or nearly full; its operator must free space")]
    StorageFull,
    /// Unavailable or read-only database. The outage is logged once, elsewhere.
    #[error("the database of this server is unavailable; try again shortly")]
    DatabaseUnavailable(#[source] Box<dyn StdError + Send + Sync>),
    /// Unreachable blob store. The outage is logged once, elsewhere.
    #[error("the file storage of this server is unavailable; try again shortly")]
    StorageUnavailable(#[source] Box<dyn StdError + Send + Sync>),
    /// Failure of the ledger: nothing can be charged, and nothing was executed.
    #[error("credits cannot be deducted at the moment; nothing was executed")]
    BillingUnavailable(#[source] Box<dyn StdError + Send + Sync>),
    /// Internal error. The cause is for the log only.
    #[error("unexpected error")]
    Internal(#[source] Box<dyn StdError + Send + Sync>),
}

impl AppError {
    /// Wraps a failure of the database, the blob store or a task; an outage becomes the error of that outage.
    pub(crate) fn internal(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::of_outage(cause.into()).unwrap_or_else(Self::Internal)
    }

    /// Returns the error of an outage.
    ///
    /// # Errors
    /// The given error, if it is no outage.
    pub(crate) fn of_outage(cause: Box<dyn StdError + Send + Sync>) -> Result<Self, Box<dyn StdError + Send + Sync>> {
        match part(&*cause) {
            Some(Part::Database) => Ok(Self::DatabaseUnavailable(cause)),
            Some(Part::Files) => Ok(Self::StorageUnavailable(cause)),
            Some(Part::Room) => Ok(Self::StorageFull),
            None => Err(cause),
        }
    }
}

/// Part of the deployment that an outage affects.
enum Part {
    Database,
    Files,
    Room,
}

/// Returns the part whose outage is among the causes.
fn part(error: &(dyn StdError + 'static)) -> Option<Part> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(trouble) = error.downcast_ref::<StoreError>().and_then(StoreError::trouble) {
            return Some(match trouble {
                Trouble::Away => Part::Database,
                Trouble::Full => Part::Room,
            });
        }
        match error.downcast_ref::<BlobError>() {
            Some(BlobError::Away(_)) => return Some(Part::Files),
            Some(BlobError::Full(_)) => return Some(Part::Room),
            _ => cause = error.source(),
        }
    }
    None
}

impl From<SiteError> for AppError {
    fn from(error: SiteError) -> Self {
        match error {
            SiteError::Timeout => Self::Timeout,
            SiteError::Panicked => Self::internal(error),
        }
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        Self::internal(error)
    }
}

impl From<BlobError> for AppError {
    fn from(error: BlobError) -> Self {
        Self::internal(error)
    }
}

#[cfg(test)]
mod tests {
    use wire::Code;

    use super::*;
    use crate::Refusal as _;

    #[test]
    fn outages_are_found_among_the_causes() {
        let check = |error: AppError, expect: Code| assert_eq!(error.code(), expect, "{error:?}");
        check(StoreError::Pool("refused".to_owned()).into(), Code::DatabaseUnavailable);
        check(StoreError::Migration("database or disk is full".to_owned()).into(), Code::StorageFull);
        check(BlobError::Away("refused".to_owned()).into(), Code::StorageUnavailable);
        check(BlobError::Key("?".to_owned()).into(), Code::UnknownError);
        check(StoreError::UnknownTeam.into(), Code::UnknownError);
    }
}
