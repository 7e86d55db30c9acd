//! `cargo xtask codegen [--check]`: the generated documents in docs/.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use crate::{say, sh};

/// Writes the generated files, or with `check` only compares them and lists those that differ.
pub(crate) fn run(check: bool) -> Result<()> {
    let fresh = tempfile::tempdir()?;
    sh::run(
        sh::cargo().args(["run", "--quiet", "--package", "quarry-server", "--", "codegen", "--out"]).arg(fresh.path()),
    )?;
    let docs = sh::root().join("docs");
    let mut stale = Vec::new();
    for entry in fs::read_dir(fresh.path())? {
        let entry = entry?;
        let kept = docs.join(entry.file_name());
        if has_same_files(&entry.path(), &kept)? {
            continue;
        }
        stale.push(format!("docs/{}", entry.file_name().to_string_lossy()));
        if !check {
            fs::create_dir_all(&docs)?;
            fs::copy(entry.path(), &kept)?;
        }
    }
    match (check, stale.is_empty()) {
        (_, true) => say!("generated files are up to date"),
        (false, false) => say!("written: {}", stale.join(", ")),
        (true, false) => bail!("out of date: {}; run cargo xtask codegen and commit", stale.join(", ")),
    }
    Ok(())
}

fn has_same_files(fresh: &Path, kept: &Path) -> Result<bool> {
    Ok(kept.exists() && fs::read(fresh)? == fs::read(kept)?)
}
