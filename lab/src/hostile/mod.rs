//! `cargo xtask hostile`: runs a file of hostile cases against the real server, all on loopback.

mod alive;
mod attack;
pub(crate) mod browser;
mod call;
mod case;
mod database;
mod evidence;
mod expect;
mod follow;
pub(crate) mod innocent;
mod looks;
mod made;
mod markdown;
mod namespace;
mod play;
mod proxy;
pub(crate) mod raw;
mod readers;
mod redirects;
mod repeat;
mod report;
mod scenario;
mod server;
mod setup;
mod sniffer;
mod stage;
mod traps;
mod verdict;
mod waiting;
mod watchers;
mod words;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use lab::programs;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use xtask::sh;

use case::{Case, File, Object};
use play::Player;
use report::{Outcome, Report};

/// Arguments of `hostile`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Case file [default: tests/cases/hostile*.json and those in tests/cases/hostile].
    #[arg(long)]
    cases: Option<PathBuf>,
    /// Run only cases of this kind.
    #[arg(long)]
    kind: Option<String>,
    /// Run only the case with this id.
    #[arg(long)]
    id: Option<String>,
    /// Path of a server built with the feature `fail-points`, instead of building one.
    #[arg(long)]
    server: Option<PathBuf>,
    /// Print the observations of every case.
    #[arg(long)]
    verbose: bool,
}

/// Runs the cases; fails when one of them fails.
#[expect(clippy::needless_pass_by_value, reason = "the caller has no use for the arguments afterwards")]
pub(crate) fn run(args: Args) -> Result<()> {
    let mut files = Vec::new();
    for path in args.cases.clone().map_or_else(own_files, |path| Ok(vec![path]))? {
        let mut file = File::read(&path)?;
        file.cases.retain(|case| {
            args.kind.as_ref().is_none_or(|kind| *kind == case.kind) && args.id.as_ref().is_none_or(|id| *id == case.id)
        });
        files.push(file);
    }
    if files.iter().all(|file| file.cases.is_empty()) {
        bail!("no case has this kind or id");
    }
    let binary = match &args.server {
        Some(binary) => binary.canonicalize()?,
        None => programs::with_fail_points()?,
    };
    let browser = files.iter().flat_map(|file| &file.cases).any(browser::needs) && browser::is_installed();
    if browser && !namespace::is_inside() && namespace::is_possible() {
        // The inner run has printed its results already.
        return if namespace::run_again(&binary)? { Ok(()) } else { std::process::exit(1) };
    }
    raise_file_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let failed = runtime.block_on(play_all(&files, &binary, args.verbose))?;
    // Floods may still be writing to clients that have left; do not wait for them.
    runtime.shutdown_background();
    if failed > 0 {
        // The counts are printed and must be the last line; returning an error would print more.
        std::process::exit(1);
    }
    Ok(())
}

/// Returns the case files of the repository.
fn own_files() -> Result<Vec<PathBuf>> {
    let folder = sh::root().join("tests/cases");
    let mut found = Vec::new();
    for (folder, prefix) in [(folder.clone(), "hostile"), (folder.join("hostile"), "")] {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with(prefix) && name.ends_with(".json") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Raises the limit of open files: thousands of slow connections need more than the usual 1024. If the limit cannot be
/// raised, the cases that need it fail with a message.
fn raise_file_limit() {
    const FILES: u64 = 32_768;
    let own = getrlimit(Resource::Nofile);
    let files = own.maximum.map_or(FILES, |maximum| maximum.min(FILES));
    let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum: own.maximum });
}

async fn play_all(files: &[File], binary: &Path, verbose: bool) -> Result<usize> {
    let mut report = Report::default();
    for file in files.iter().filter(|file| !file.cases.is_empty()) {
        play_file(file, binary, verbose, &mut report).await?;
    }
    Ok(report.close())
}

async fn play_file(file: &File, binary: &Path, verbose: bool, report: &mut Report) -> Result<()> {
    let mut player = Player::start(binary.to_path_buf(), &file.every_case_also_expects).await?;
    for case in &file.cases {
        let outcome = match (unknown(case, &file.every_case_also_expects), waiting::reason(case)) {
            (Some(unknown), _) => Outcome::Failed(vec![unknown]),
            (None, Some(reason)) => Outcome::Waiting(reason),
            (None, None) => {
                let (outcome, observed) = player.play(case).await;
                if verbose {
                    crate::say!("{} ({}): {observed}", case.id, case.note);
                }
                outcome
            }
        };
        report.add(&case.id, &case.kind, &case.note, outcome);
    }
    report.add_outside(player.outside_in_all());
    Ok(())
}

/// Returns the first member of a case that neither the expectations nor the table of missing features contain. A
/// waiting scenario may have unknown members.
fn unknown(case: &Case, every: &Object) -> Option<String> {
    if case.input.contains_key("scenario") {
        return None;
    }
    let expectations = case.expected.keys().chain(every.keys());
    let nothing = evidence::Evidence::default();
    let odd = expectations.filter(|key| expect::check(key, &serde_json::Value::Null, &nothing).is_none());
    if let Some(key) = odd.into_iter().find(|key| !waiting::knows_expectation(key)) {
        return Some(format!("the expectation {key} is not known"));
    }
    if let Some(key) = call::unknown(&case.input) {
        return Some(format!("input.{key} is not known"));
    }
    let key = case.setup.keys().find(|key| !stage::knows(key))?;
    Some(format!("setup.{key} is not known"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks that every word of the repository's case files is known.
    #[test]
    fn the_own_cases_can_be_read() {
        for path in own_files().unwrap() {
            let file = File::read(&path).unwrap();
            for case in &file.cases {
                assert_eq!(unknown(case, &file.every_case_also_expects), None, "{} of {}", case.id, path.display());
            }
        }
    }

    #[test]
    fn a_word_that_nobody_knows_is_a_failure() {
        let check = |part: &str, value: serde_json::Value, expect: Option<&str>| {
            let mut case =
                json!({"id": "x", "kind": "x", "setup": {}, "input": {}, "expected": {}, "note": "", "source": ""});
            case[part] = value;
            let case: Case = serde_json::from_value(case).unwrap();
            assert_eq!(unknown(&case, &Object::new()).as_deref(), expect);
        };
        check("expected", json!({"http": 200, "final_status": "completed"}), None);
        check("expected", json!({"moon": 1}), Some("the expectation moon is not known"));
        check("input", json!({"moon": 1}), Some("input.moon is not known"));
        check("setup", json!({"needs": "browser", "origin": []}), None);
        check("setup", json!({"moon": 1}), Some("setup.moon is not known"));
    }
}
