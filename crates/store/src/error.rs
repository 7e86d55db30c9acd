//! Errors of the database.

use billing::LedgerError;
use thiserror::Error;

use crate::trouble::{self, Trouble};

/// Error of a query, a transaction or the opening of a database.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Invalid address of the database.
    #[error("database address: {0}")]
    Url(String),
    /// The folder of the database file cannot be created.
    #[error("cannot create the database folder {folder}")]
    Folder {
        /// The folder.
        folder: String,
        /// Cause.
        source: std::io::Error,
    },
    /// The database file cannot be created or written.
    #[error("cannot create or write the database file {file}")]
    File {
        /// The file.
        file: String,
        /// Cause.
        source: std::io::Error,
    },
    /// The database does not answer or refuses the login.
    #[error("cannot connect to the database: {0}")]
    Connect(String),
    /// Every pooled connection stayed busy, or no new one could be opened.
    #[error("no database connection available: {0}")]
    Pool(String),
    /// The schema could not be migrated.
    #[error("cannot migrate the database: {0}")]
    Migration(String),
    /// A query failed. Nothing of the statement or its transaction is written, unless the connection was lost in
    /// between ([`StoreError::is_away`]): then the outcome is unknown.
    #[error("query failed: {0}")]
    Query(#[from] diesel::result::Error),
    /// The ledger refused the booking; nothing was written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The team does not exist.
    #[error("the team does not exist")]
    UnknownTeam,
    /// Rows contradict each other; nothing was written.
    #[error("inconsistent rows: {0}")]
    Inconsistent(String),
}

/// Result of every function of this crate.
pub type Result<T> = std::result::Result<T, StoreError>;

impl StoreError {
    /// Whether every retry of the transaction would fail too: the ledger refuses it, a constraint or contradicting rows
    /// forbid it, or a value cannot be stored. A taken unique value does not count: another transaction may have been
    /// faster, and the next attempt sees its row.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        use diesel::result::{DatabaseErrorKind as Kind, Error};
        match self {
            StoreError::Ledger(_) | StoreError::UnknownTeam | StoreError::Inconsistent(_) => true,
            StoreError::Query(Error::DatabaseError(kind, _)) => matches!(
                kind,
                Kind::ForeignKeyViolation
                    | Kind::RestrictViolation
                    | Kind::NotNullViolation
                    | Kind::CheckViolation
                    | Kind::ExclusionViolation
            ),
            StoreError::Query(error) => matches!(
                error,
                Error::InvalidCString(_)
                    | Error::NotFound
                    | Error::QueryBuilderError(_)
                    | Error::DeserializationError(_)
                    | Error::SerializationError(_)
            ),
            _ => false,
        }
    }

    /// Whether no connection was available, or it was lost: the error says nothing about the data to be written.
    #[must_use]
    pub fn is_away(&self) -> bool {
        match self {
            StoreError::Connect(_) | StoreError::Pool(_) => true,
            _ => self.is_lost(),
        }
    }

    /// Returns the trouble of the database as a whole if that caused the error. The operation then works again once it
    /// is over, and the outage is logged once for all callers.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        match self {
            StoreError::Connect(_) | StoreError::Pool(_) => Some(Trouble::Away),
            StoreError::Query(error) => trouble::of_query(error),
            StoreError::Migration(text) => trouble::of_text(text),
            StoreError::Folder { source, .. } | StoreError::File { source, .. } => trouble::of_io(source),
            _ => None,
        }
    }

    /// Whether the connection was lost during a statement, whose outcome is then unknown.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(self, StoreError::Query(error) if trouble::is_lost(error))
    }

    /// Copies the error for another caller that failed for the same reason: with the same
    /// [trouble](StoreError::trouble), or as a missing connection if there is none.
    #[must_use]
    pub fn again(&self) -> Self {
        match self.trouble() {
            Some(Trouble::Full) => Self::Query(trouble::no_room(self)),
            _ => Self::Pool(self.to_string()),
        }
    }

    /// Creates a transient error, as after a conflict with another transaction, for tests of retries.
    #[must_use]
    pub fn transient() -> Self {
        Self::Query(diesel::result::Error::RollbackTransaction)
    }

    /// Creates the error of a transaction that lost its connection, for tests of retries.
    #[must_use]
    pub fn lost() -> Self {
        use diesel::result::{DatabaseErrorKind, Error};
        Self::Query(Error::DatabaseError(DatabaseErrorKind::ClosedConnection, Box::new("on purpose".to_owned())))
    }

    /// Whether the error deserves its own log line: outages are logged elsewhere.
    #[must_use]
    pub fn is_news(&self) -> bool {
        self.trouble().is_none()
    }

    /// Whether a unique value is taken.
    #[must_use]
    pub fn is_duplicate(&self) -> bool {
        use diesel::result::{DatabaseErrorKind, Error};
        matches!(self, StoreError::Query(Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_told_of_the_same_trouble() {
        let full = || std::io::Error::from_raw_os_error(28);
        for (error, trouble) in [
            (StoreError::Query(trouble::no_room("0 bytes")), Trouble::Full),
            (StoreError::File { file: "f".to_owned(), source: full() }, Trouble::Full),
            (StoreError::Pool("refused".to_owned()), Trouble::Away),
            (StoreError::lost(), Trouble::Away),
        ] {
            assert_eq!((error.trouble(), error.again().trouble()), (Some(trouble), Some(trouble)), "{error}");
        }
    }
}
