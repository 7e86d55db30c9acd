//! What can go wrong between the service and its database.

use billing::LedgerError;
use thiserror::Error;

/// Why a query, a transaction or a start failed.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The address of the database cannot be used.
    #[error("database address: {0}")]
    Url(String),
    /// The folder of the database file cannot be made.
    #[error("cannot make the folder {folder} of the database")]
    Folder {
        /// The folder.
        folder: String,
        /// Why.
        source: std::io::Error,
    },
    /// The database file cannot be made or written.
    #[error("cannot write the database {file}")]
    File {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// The database does not answer, or refuses the login.
    #[error("cannot connect to the database: {0}")]
    Connect(String),
    /// All connections stayed busy, or none could be made.
    #[error("no database connection: {0}")]
    Pool(String),
    /// The schema could not be changed.
    #[error("cannot migrate the database: {0}")]
    Migration(String),
    /// A query failed.
    #[error("query failed: {0}")]
    Query(#[from] diesel::result::Error),
    /// The ledger refuses; nothing was written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The team does not exist.
    #[error("there is no such team")]
    UnknownTeam,
    /// The rows contradict each other; nothing was written.
    #[error("inconsistent rows: {0}")]
    Inconsistent(String),
}

/// The result of everything here.
pub type Result<T> = std::result::Result<T, StoreError>;

impl StoreError {
    /// Whether a row with the same unique value is there already.
    #[must_use]
    pub fn is_duplicate(&self) -> bool {
        use diesel::result::{DatabaseErrorKind, Error};
        matches!(self, StoreError::Query(Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _)))
    }
}
