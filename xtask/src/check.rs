//! `cargo xtask check`: what a reviewer should not have to say.

use anyhow::Result;

use crate::{codegen, layers, say, setup, sh, sizes};

/// Runs every check; the first that fails ends it.
pub(crate) fn run() -> Result<()> {
    sh::step("setup", setup::for_checks)?;
    sh::step("formatting", || {
        sh::run(sh::cargo().args(["fmt", "--all", "--check"]))?;
        sh::run(sh::cargo().args(["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))
    })?;
    sh::step("layers and gates", layers::check_workspace)?;
    sh::step("sizes", sizes::check_workspace)?;
    sh::step("clippy", || {
        sh::run(sh::cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    })?;
    sh::step("generated files", || codegen::run(true))?;
    sh::step("documentation", || {
        sh::run(sh::cargo().args(["doc", "--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    sh::step("licences, bans and sources", || {
        sh::run(sh::cargo().args(["deny", "check", "bans", "licenses", "sources"]))
    })?;
    advisories();
    say!("all checks passed");
    Ok(())
}

/// The advisory database is fetched from outside, which a closed network does not allow: then it is said, not failed.
fn advisories() {
    say!("==> security advisories");
    match sh::output(sh::cargo().args(["deny", "check", "advisories"])) {
        Ok(_) => say!("    security advisories: ok"),
        Err(error) if format!("{error:#}").contains("failed to fetch advisory database") => {
            say!("    security advisories: not checked, their database cannot be fetched here");
        }
        Err(error) => say!("    security advisories: {error:#}"),
    }
}
