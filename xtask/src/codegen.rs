//! `cargo xtask codegen [--check]`: the generated documents in docs/.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::{say, sh};

/// Writes the generated files, or with `check` only compares them and lists those that differ.
pub(crate) fn run(check: bool) -> Result<()> {
    let fresh = tempfile::tempdir()?;
    sh::run(server(check)?.args(["codegen", "--out"]).arg(fresh.path()))?;
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

/// Returns the command that starts the server. To check, it is the program that the tests have started: built alone, it
/// needs other features of its dependencies, and so a second build of nearly all of them.
fn server(check: bool) -> Result<Command> {
    if check {
        sh::build_all()?;
        return Ok(sh::command(sh::target()?.join("debug/quarry-server")));
    }
    let mut cargo = sh::cargo();
    cargo.args(["run", "--quiet", "--package", "quarry-server", "--"]);
    Ok(cargo)
}

fn has_same_files(fresh: &Path, kept: &Path) -> Result<bool> {
    Ok(kept.exists() && fs::read(fresh)? == fs::read(kept)?)
}
