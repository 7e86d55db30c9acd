//! Building of the pages with Node, in the target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use xtask::{say, sh};

use super::book;

/// Minimum Node version for building the pages.
const MIN_NODE: u32 = 20;

/// Returns the major version of Node on the PATH.
pub(crate) fn node() -> Option<u32> {
    let version = sh::output(Command::new("node").arg("--version")).ok()?;
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// Returns whether Node can build and run the pages; prints a line if not.
pub(crate) fn has_node() -> bool {
    let found = node();
    let fine = found.is_some_and(|major| major >= MIN_NODE);
    if !fine {
        let have = found.map_or("none is on the PATH".to_owned(), |major| format!("this is {major}"));
        say!("skipped: the pages are built by Node {MIN_NODE} or newer, and {have}");
    }
    fine
}

/// Installs the npm packages of the lock file, if missing.
pub(crate) fn install() -> Result<()> {
    let (home, installed) = (book::home(), book::home().join("node_modules/.package-lock.json"));
    let age = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    if age(&installed) >= age(&home.join("package-lock.json")) && installed.is_file() {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.current_dir(&home).args(["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]);
    sh::step("npm ci", || sh::run(&mut npm))
}

/// Builds the given pages, or all without names, and returns the folder with a subfolder for each.
pub(crate) fn build(only: &[String]) -> Result<PathBuf> {
    install()?;
    let metadata =
        Command::new("cargo").args(["metadata", "--no-deps", "--format-version=1"]).current_dir(sh::root()).output()?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&metadata.stdout).context("cargo metadata tells nothing")?;
    let target = metadata["target_directory"].as_str().context("cargo metadata names no target folder")?;
    let folder = Path::new(target).join("browser-pages");
    let mut node = Command::new("node");
    node.current_dir(book::home()).arg("build.mjs").arg(&folder).args(only);
    sh::step("build pages", || sh::run(&mut node))?;
    Ok(folder)
}
