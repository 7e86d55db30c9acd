//! `cargo xtask test`: everything that can be tested, on SQLite and on a private PostgreSQL; or the tests of a name, built alone.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use cargo_metadata::{Metadata, MetadataCommand};

use crate::{db, say, setup, sh};

/// Packages whose tests start the programs of the workspace.
const START_PROGRAMS: [&str; 2] = ["e2e", "lab"];

/// Selection of tests.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Parts of names of tests. Only the packages that have such tests are built, and SQLite is the only database.
    names: Vec<String>,
    /// Run on a private PostgreSQL too. A run of all tests always does.
    #[arg(long)]
    postgres: bool,
    /// Passed on to the test runner, such as --no-capture.
    #[arg(last = true)]
    options: Vec<String>,
}

/// Installs what is missing, then runs unit, store, end-to-end and documentation tests, or those that are named.
pub(crate) fn run(args: &Args) -> Result<()> {
    sh::step("setup", setup::for_tests)?;
    let packages = packages(&args.names)?;
    if packages.is_empty() {
        sh::step("build", sh::build_all)?;
    } else if packages.iter().any(|name| START_PROGRAMS.contains(&&**name)) {
        sh::step("build", || sh::run(sh::cargo().args(["build", "--workspace"])))?;
    }
    let has_postgres = args.postgres || args.names.is_empty();
    let cluster = if has_postgres { Some(sh::step("a private PostgreSQL", db::Cluster::start)?) } else { None };
    match &cluster {
        Some(cluster) => say!("    store tests run on SQLite and on {}", cluster.url()),
        None => say!("    store tests run on SQLite; --postgres adds a private PostgreSQL"),
    }
    sh::step("unit, store and end-to-end tests", || {
        let mut runner = sh::cargo();
        runner.args(["nextest", "run", "--no-fail-fast"]);
        match packages.as_slice() {
            [] => runner.arg("--workspace"),
            some => runner.args(some.iter().flat_map(|name| ["--package", name])),
        };
        runner.args(&args.names).args(&args.options);
        if let Some(cluster) = &cluster {
            runner.env("QUARRY_TEST_POSTGRES", cluster.url());
        }
        sh::run(&mut runner)
    })?;
    if args.names.is_empty() {
        sh::step("examples in the documentation", || {
            sh::run(sh::cargo().args(["test", "--quiet", "--workspace", "--doc"]))
        })?;
    }
    say!("all tests passed");
    Ok(())
}

/// Packages that have tests of these names. Empty for the whole workspace: without names, or when no package is found.
fn packages(names: &[String]) -> Result<Vec<String>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let metadata = MetadataCommand::new().current_dir(sh::root()).no_deps().exec()?;
    packages_of(&metadata, names)
}

fn packages_of(metadata: &Metadata, names: &[String]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for package in metadata.workspace_packages() {
        let folder = package.manifest_path.parent().context("a package has a folder")?;
        // End-to-end tests stand in `it`.
        let folders = ["src", "tests", "it"].map(|name| folder.join(name));
        let has = |name: &String| folders.iter().any(|folder| has_test(folder.as_std_path(), "", name));
        if names.iter().any(has) {
            found.push(package.name.to_string());
        }
    }
    Ok(found)
}

/// Whether a file below `folder`, whose module path is `path`, may have a test of this name: a function, or a module.
fn has_test(folder: &Path, path: &str, name: &str) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let file = entry.path();
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let path = format!("{path}::{stem}");
        if file.is_dir() {
            return has_test(&file, &path, name);
        }
        file.extension().is_some_and(|extension| extension == "rs")
            && fs::read_to_string(&file).is_ok_and(|text| has_test_in(&text, &path, name))
    })
}

fn has_test_in(text: &str, path: &str, name: &str) -> bool {
    let is_test = |line: &str| line.trim_start().starts_with("#[") && line.contains("test");
    let mut follows_test = false;
    for line in text.lines() {
        let function = line.split_once("fn ").and_then(|(_, rest)| rest.split('(').next());
        if let (true, Some(function)) = (follows_test, function) {
            follows_test = false;
            if format!("{path}::tests::{function}").contains(name) || format!("{path}::{function}").contains(name) {
                return true;
            }
        }
        follows_test |= is_test(line);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_found_by_part_of_their_names() {
        let text = "fn helper() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn links_are_sorted() {}\n\n    #[tokio::test]\n    async fn waits() {}\n}\n";
        for (name, expect) in [
            ("links_are", true),
            ("waits", true),
            ("links::tests", true),
            ("runs::links::tests::links_are_sorted", true),
            ("runs::links", true),
            ("helper", false),
            ("absent", false),
        ] {
            assert_eq!(has_test_in(text, "::runs::links", name), expect, "{name}");
        }
    }

    #[test]
    fn a_name_selects_the_packages_that_have_it() {
        let names = ["tests_are_found_by_part_of_their_names".to_owned()];
        assert_eq!(packages(&names).unwrap(), ["xtask"]);
        assert!(packages(&["there_is_no_such_test_anywhere".to_owned()]).unwrap().is_empty());
    }
}
