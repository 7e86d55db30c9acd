//! `cargo xtask cases update`: rewrites the expected outputs of the page cases from the current output of the code.

use anyhow::Result;

use crate::{say, sh};

/// Rewrites the expected outputs, for review in `git diff`.
pub(crate) fn update() -> Result<()> {
    sh::run(sh::cargo().args(["test", "--quiet", "--package", "formats", "cases"]).env("UPDATE", "1"))?;
    say!("read what changed: git diff crates/formats/cases");
    Ok(())
}
