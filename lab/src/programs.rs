//! Programs for experiments: built, or taken from the folder in `QUARRY_PROGRAMS`.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xtask::sh;

/// Returns the path of the server, with the worker and the reader next to it.
///
/// # Errors
/// When the build fails or the folder does not exist.
pub fn release() -> Result<PathBuf> {
    let programs = ["--package", "quarry-server", "--package", "quarry-worker", "--package", "quarry-reader"];
    given().unwrap_or_else(|| sh::build("release", &programs))
}

/// Returns the path of the server with fail points, with the reader next to it.
///
/// # Errors
/// Those of [`release`].
pub fn with_fail_points() -> Result<PathBuf> {
    let programs = ["--package", "quarry-server", "--package", "quarry-reader"];
    let build = || sh::build("release", &[&programs[..], &["--features", "quarry-server/fail-points"]].concat());
    given().unwrap_or_else(|| sh::step("build quarry-server with fail points", build))
}

/// Returns the path of the server for experiments under libfaketime, which waits for itself in programs with jemalloc.
///
/// # Errors
/// When the build fails.
pub fn for_other_times() -> Result<PathBuf> {
    let programs = ["--package", "quarry-server", "--package", "quarry-reader"];
    sh::build("dev", &[&programs[..], &["--features", "quarry-server/system-allocator"]].concat())
}

#[expect(clippy::disallowed_methods, reason = "this is a setting of the tools")]
fn given() -> Option<Result<PathBuf>> {
    let folder = env::var_os("QUARRY_PROGRAMS")?;
    let folder = Path::new(&folder).canonicalize().context("QUARRY_PROGRAMS names no folder");
    Some(folder.map(|folder| folder.join("quarry-server")))
}
