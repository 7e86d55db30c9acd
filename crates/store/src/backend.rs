//! The kind of a database, by its address.

use crate::error::{Result, StoreError};

/// Kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// SQLite: one file, one machine.
    Sqlite,
    /// PostgreSQL: a server, any number of machines.
    Postgres,
}

/// Returns the kind of database that an address names.
pub(crate) fn backend(url: &str) -> Result<Backend> {
    match url.split_once("://").map(|(scheme, _)| scheme) {
        Some("sqlite") => Ok(Backend::Sqlite),
        Some("postgres" | "postgresql") => Ok(Backend::Postgres),
        Some(scheme) if OTHERS.contains(&scheme) => {
            Err(StoreError::Url(format!("{scheme} is not supported: the database is SQLite or PostgreSQL; {EXAMPLES}")))
        }
        // Not quoted in the error: the rest may hold a password.
        _ => Err(StoreError::Url(format!("must begin with sqlite:// or postgres://; {EXAMPLES}"))),
    }
}

/// Schemes of databases that people try.
const OTHERS: [&str; 7] = ["mysql", "mariadb", "mssql", "sqlserver", "mongodb", "redis", "cockroachdb"];

/// Example addresses for error messages.
const EXAMPLES: &str = "write sqlite:///path/to/quarry.db, or postgres://user:password@host:5432/database";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart() {
        let check = |url: &str, expect: Option<Backend>| assert_eq!(backend(url).ok(), expect, "{url}");
        check("sqlite:///var/lib/quarry.db", Some(Backend::Sqlite));
        check("postgres://u:p@h/db", Some(Backend::Postgres));
        check("postgresql://h/db", Some(Backend::Postgres));
        check("mysql://h/db", None);
        check("quarry.db", None);
    }
}
