//! Classification of errors: which ones are about the database as a whole.

use std::fmt::Display;
use std::io;

use diesel::result::{DatabaseErrorKind as Kind, Error};

/// Trouble of the database as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The database does not answer, refuses connections or cannot be written: stopped, unreachable, locked, read-only.
    Away,
    /// The disk of the database is full.
    Full,
}

/// Messages of SQLite, of PostgreSQL (SQLSTATE 53100, which the driver does not expose) and of the system for a full
/// disk.
pub(crate) const FULL: [&str; 4] =
    ["database or disk is full", "No space left on device", "Disk quota exceeded", "File too large (os error 27)"];

/// Messages of PostgreSQL while it stops or starts: SQLSTATE 57P01 to 57P03.
const ENDING: [&str; 2] = ["terminating connection", "the database system is"];

/// Messages of SQLite when its file cannot be used or is locked.
const UNUSABLE: [&str; 5] = [
    "database is locked",
    "database table is locked",
    "disk I/O error",
    "unable to open database file",
    "attempt to write a readonly database",
];

/// Whether the connection was lost, so that the outcome of the statement is unknown.
pub(crate) fn is_lost(error: &Error) -> bool {
    match error {
        Error::BrokenTransactionManager => true,
        Error::DatabaseError(Kind::ClosedConnection | Kind::UnableToSendCommand, _) => true,
        Error::DatabaseError(Kind::Unknown, what) => ENDING.iter().any(|text| what.message().contains(text)),
        Error::RollbackErrorOnCommit { commit_error, .. } => is_lost(commit_error),
        _ => false,
    }
}

/// Returns the trouble behind the error of a statement.
pub(crate) fn of_query(error: &Error) -> Option<Trouble> {
    match error {
        _ if is_lost(error) => Some(Trouble::Away),
        Error::DatabaseError(Kind::ReadOnlyTransaction, _) => Some(Trouble::Away),
        Error::DatabaseError(Kind::Unknown, what) => of_text(what.message()),
        Error::RollbackErrorOnCommit { commit_error, .. } => of_query(commit_error),
        _ => None,
    }
}

/// Returns the trouble behind the text of an error.
pub(crate) fn of_text(text: &str) -> Option<Trouble> {
    let has = |texts: &[&str]| texts.iter().any(|known| text.contains(known));
    if has(&FULL) {
        Some(Trouble::Full)
    } else if has(&UNUSABLE) || has(&ENDING) {
        Some(Trouble::Away)
    } else {
        None
    }
}

/// Returns the trouble behind a system error.
pub(crate) fn of_io(error: &io::Error) -> Option<Trouble> {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge).then_some(Trouble::Full)
}

/// Creates the error of a statement on a full disk, with SQLite's message.
pub(crate) fn no_room(details: impl Display) -> Error {
    Error::DatabaseError(Kind::Unknown, Box::new(format!("{}; {details}", FULL[0])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn troubles_by_error() {
        let check = |kind: Kind, text: &str, expect: Option<Trouble>| {
            let error = Error::DatabaseError(kind, Box::new(text.to_owned()));
            assert_eq!(of_query(&error), expect, "{text}");
        };
        check(Kind::Unknown, "database or disk is full", Some(Trouble::Full));
        check(Kind::Unknown, "could not extend file \"base/1/2\": No space left on device", Some(Trouble::Full));
        check(Kind::Unknown, "database is locked", Some(Trouble::Away));
        check(Kind::Unknown, "attempt to write a readonly database", Some(Trouble::Away));
        check(Kind::Unknown, "terminating connection due to administrator command", Some(Trouble::Away));
        check(Kind::Unknown, "the database system is starting up", Some(Trouble::Away));
        check(Kind::UnableToSendCommand, "connection closed", Some(Trouble::Away));
        check(Kind::ReadOnlyTransaction, "cannot execute UPDATE in a read-only transaction", Some(Trouble::Away));
        check(Kind::Unknown, "no such table: team", None);
        check(Kind::UniqueViolation, "database is locked", None);
        assert_eq!(of_query(&Error::NotFound), None);
        assert_eq!(of_io(&io::Error::from_raw_os_error(28)), Some(Trouble::Full));
        assert_eq!(of_io(&io::Error::from_raw_os_error(13)), None);
    }

    #[test]
    fn a_lost_connection_is_not_a_lock() {
        let error = |text: &str| Error::DatabaseError(Kind::Unknown, Box::new(text.to_owned()));
        assert!(is_lost(&error("terminating connection due to administrator command")));
        assert!(!is_lost(&error("database is locked")) && !is_lost(&error("database or disk is full")));
    }
}
