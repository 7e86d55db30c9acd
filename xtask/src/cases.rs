//! `cargo xtask cases update`: rewrites the expected outputs of the page cases from what the code gives now.

use anyhow::Result;

use crate::{say, sh};

/// Rewrites them; the difference is for a person to read in `git diff`.
pub(crate) fn update() -> Result<()> {
    sh::run(sh::cargo().args(["test", "--quiet", "--package", "formats", "cases"]).env("UPDATE", "1"))?;
    say!("read what changed: git diff crates/formats/cases");
    Ok(())
}
