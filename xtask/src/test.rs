//! `cargo xtask test`: everything that can be tested, on SQLite and on a private PostgreSQL.

use anyhow::Result;

use crate::{db, say, setup, sh};

/// Installs what is missing, then runs unit, store, end-to-end and documentation tests.
pub(crate) fn run(filter: &[String]) -> Result<()> {
    sh::step("setup", setup::for_tests)?;
    sh::step("build", || sh::run(sh::cargo().args(["build", "--workspace"])))?;
    let cluster = sh::step("a private PostgreSQL", db::Cluster::start)?;
    say!("    store tests run on SQLite and on {}", cluster.url());
    sh::step("unit, store and end-to-end tests", || {
        sh::run(
            sh::cargo()
                .args(["nextest", "run", "--workspace", "--no-fail-fast"])
                .args(filter)
                .env("QUARRY_TEST_POSTGRES", cluster.url()),
        )
    })?;
    if filter.is_empty() {
        sh::step("examples in the documentation", || {
            sh::run(sh::cargo().args(["test", "--quiet", "--workspace", "--doc"]))
        })?;
    }
    say!("all tests passed");
    Ok(())
}
