//! `input.sql` of a case: a query to the database of the service after the case.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask::sh;

use super::case::Object;

/// SQLite shell for queries.
const SHELL: &str = "sqlite3";
/// Name of the database file in the data folder.
const FILE: &str = "quarry.db";
/// Busy timeout in milliseconds.
const PATIENCE: &str = "10000";

/// Runs a query. Returns a single value, or otherwise a list of rows as objects by column names.
pub(crate) fn query(data: &Path, sql: &str) -> Result<Value> {
    let file = data.join(FILE);
    ensure!(file.is_file(), "there is no database {}", file.display());
    let mut command = Command::new(SHELL);
    command.args(["-readonly", "-json", "-bail", "-cmd", &format!(".timeout {PATIENCE}")]).arg(&file).arg(sql);
    let output = command.output().context("the sqlite3 shell, which asks the database, cannot be started")?;
    ensure!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr).trim());
    // The shell prints nothing for an empty result.
    let text = if output.stdout.is_empty() { b"[]" } else { output.stdout.as_slice() };
    let rows: Vec<Object> = serde_json::from_slice(text).context("no JSON of the sqlite3 shell")?;
    let alone =
        rows.first().filter(|row| rows.len() == 1 && row.len() == 1).and_then(|row| row.values().next().cloned());
    Ok(alone.unwrap_or_else(|| rows.into_iter().map(Value::Object).collect()))
}

/// Whether the SQLite shell is installed.
pub(crate) fn is_possible() -> bool {
    sh::on_path(SHELL)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_value_is_no_list() {
        if !is_possible() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        assert!(query(folder.path(), "select 1").unwrap_err().to_string().contains("no database"));
        let made = Command::new(SHELL).arg(folder.path().join(FILE)).arg("create table t (a, b)").status().unwrap();
        assert!(made.success());
        let query = |sql: &str| query(folder.path(), sql);
        assert_eq!(query("select count(*) from t").unwrap(), json!(0));
        assert_eq!(query("select * from t").unwrap(), json!([]));
        assert_eq!(query("select 1 as a, 'x' as b").unwrap(), json!([{"a": 1, "b": "x"}]));
        assert!(query("select * from moon").unwrap_err().to_string().contains("no such table"));
        assert!(query("insert into t values (1, 2)").is_err(), "a case changes nothing");
    }
}
