//! `cargo xtask setup`: installs what is missing, says what and why. Safe to repeat.

use std::process::Command;

use anyhow::{Result, bail};

use crate::{db, say, sh};

/// A Debian package, the check that tells whether it is there, and why it is wanted.
#[derive(Clone, Copy)]
struct Package {
    name: &'static str,
    present: fn() -> bool,
    why: &'static str,
}

/// A cargo subcommand, built from crates.io.
struct Tool {
    name: &'static str,
    why: &'static str,
}

const PACKAGES: &[Package] = &[
    Package { name: "build-essential", present: || sh::on_path("cc"), why: "SQLite and the TLS library hold C code" },
    Package {
        name: "postgresql",
        present: || db::binaries().is_some(),
        why: "the store is tested on a real PostgreSQL",
    },
    Package { name: "g++", present: || sh::on_path("c++"), why: "libFuzzer is C++" },
];

const TOOLS: &[Tool] = &[
    Tool { name: "cargo-nextest", why: "runs the tests" },
    Tool { name: "cargo-deny", why: "checks licences and sources of dependencies" },
];

/// Installs everything that building, testing and checking need.
pub(crate) fn all() -> Result<()> {
    packages(PACKAGES)?;
    for tool in TOOLS {
        install(tool)?;
    }
    Ok(())
}

/// Installs what the tests need.
pub(crate) fn for_tests() -> Result<()> {
    packages(&PACKAGES[..2])?;
    install(&TOOLS[0])
}

/// Installs what `cargo xtask check` needs.
pub(crate) fn for_checks() -> Result<()> {
    packages(&PACKAGES[..1])?;
    install(&TOOLS[1])
}

/// Installs what `cargo xtask fuzz` needs.
pub(crate) fn for_fuzzing() -> Result<()> {
    packages(&[PACKAGES[0], PACKAGES[2]])
}

/// Installs what a build needs.
pub(crate) fn for_build() -> Result<()> {
    packages(&PACKAGES[..1])
}

fn packages(wanted: &[Package]) -> Result<()> {
    let missing: Vec<_> = wanted.iter().filter(|package| !(package.present)()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    for package in &missing {
        say!("setup: installing {} ({})", package.name, package.why);
    }
    if !sh::on_path("apt-get") {
        let names: Vec<_> = missing.iter().map(|package| package.name).collect();
        bail!("apt-get is not here; install the equivalent of {} and run this again", names.join(", "));
    }
    sh::run(apt().args(["update", "-qq"]))?;
    let mut install = apt();
    install.args(["install", "-y", "-qq", "--no-install-recommends"]);
    install.args(missing.iter().map(|package| package.name));
    sh::run(&mut install)
}

/// `apt-get` as root: as it is for root, through sudo for anybody else.
fn apt() -> Command {
    let mut command = if sh::is_root() { sh::command("apt-get") } else { sh::command("sudo") };
    if !sh::is_root() {
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    }
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

fn install(tool: &Tool) -> Result<()> {
    if sh::on_path(tool.name) {
        return Ok(());
    }
    say!("setup: building {} ({}); this takes some minutes, once", tool.name, tool.why);
    sh::run(sh::cargo().args(["install", "--locked", tool.name]))
}
