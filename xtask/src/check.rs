//! `cargo xtask check`: all automatic checks of the workspace.

use anyhow::Result;

use crate::{codegen, layers, say, setup, sh, sizes};

/// Runs every check and stops at the first failure.
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
    advisories()?;
    say!("all checks passed");
    Ok(())
}

/// Checks security advisories. Without network access to the advisory database the check is skipped with a note; an
/// advisory that applies is a failure.
fn advisories() -> Result<()> {
    say!("==> security advisories");
    match sh::output(sh::cargo().args(["deny", "check", "advisories"])) {
        Ok(_) => say!("    security advisories: ok"),
        Err(error) if is_out_of_reach(&format!("{error:#}")) => {
            say!("    security advisories: NOT CHECKED, their database cannot be fetched here");
        }
        Err(error) => return Err(error.context("security advisories failed")),
    }
    Ok(())
}

/// Returns whether cargo-deny could not fetch the advisory database and reported no errors.
fn is_out_of_reach(said: &str) -> bool {
    said.contains("failed to fetch") && !said.contains("error[")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_advisory_is_not_taken_for_a_closed_network() {
        for (said, expect) in [
            ("[ERROR] failed to fetch advisory database https://github.com/rustsec/advisory-db", true),
            ("error[vulnerability]: Use after free in x\n = ID: RUSTSEC-2026-0001\nadvisories FAILED", false),
            ("error[unmaintained]: x is unmaintained\nadvisories FAILED", false),
            ("[WARN] failed to fetch crates.io index\nerror[yanked]: detected yanked crate", false),
            ("error: no such command: `deny`", false),
        ] {
            assert_eq!(is_out_of_reach(said), expect, "{said}");
        }
    }
}
