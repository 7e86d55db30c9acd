//! What can go wrong between the service and its database.

use billing::LedgerError;
use thiserror::Error;

use crate::trouble::{self, Trouble};

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
    /// A query failed. What the statement or its transaction was to write is not written, unless the connection was lost
    /// over it ([`StoreError::is_away`]): then that is not known.
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
    /// Whether the same transaction would fail again, however often it is tried: the ledger refuses it, the rows contradict
    /// each other or a constraint, or a value cannot be stored. A unique value that is taken is not among them: another
    /// transaction may have been faster, and the next attempt sees its row.
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

    /// Whether no connection could be had, or it was lost: it says nothing about what was to be written.
    #[must_use]
    pub fn is_away(&self) -> bool {
        match self {
            StoreError::Connect(_) | StoreError::Pool(_) => true,
            _ => self.is_lost(),
        }
    }

    /// What the database as a whole suffers from, when that is why this failed: then the same works when that is over, and the
    /// log tells of it once for all.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        match self {
            StoreError::Connect(_) | StoreError::Pool(_) => Some(Trouble::Away),
            StoreError::Query(error) => trouble::of(error),
            StoreError::Migration(text) => trouble::of_text(text),
            StoreError::Folder { source, .. } | StoreError::File { source, .. } => trouble::of_io(source),
            _ => None,
        }
    }

    /// Whether a connection was lost over a statement: what became of that is not known.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(self, StoreError::Query(error) if trouble::is_lost(error))
    }

    /// The same for another who failed with this one: with the same [trouble](StoreError::trouble), and without one as if
    /// there had been no connection.
    #[must_use]
    pub fn again(&self) -> Self {
        match self.trouble() {
            Some(Trouble::Full) => Self::Query(trouble::no_room(self)),
            _ => Self::Pool(self.to_string()),
        }
    }

    /// An error of one transaction that may succeed the next time, as when others have changed the same rows meanwhile: for
    /// tests of those who try again.
    #[must_use]
    pub fn transient() -> Self {
        Self::Query(diesel::result::Error::RollbackTransaction)
    }

    /// An error of a transaction that has lost its connection, for the same tests.
    #[must_use]
    pub fn lost() -> Self {
        use diesel::result::{DatabaseErrorKind, Error};
        Self::Query(Error::DatabaseError(DatabaseErrorKind::ClosedConnection, Box::new("on purpose".to_owned())))
    }

    /// Whether it deserves a line of its own in the log: an outage has its lines already.
    #[must_use]
    pub fn is_news(&self) -> bool {
        self.trouble().is_none()
    }

    /// Whether a row with the same unique value is there already.
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
