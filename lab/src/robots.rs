//! `cargo xtask robots`: checks files of robots.txt cases with the crate `crawl-frontier`.
//!
//! There are two formats: cases with an expected answer (a list, or an object with `cases`), and, one per line and
//! optionally gzipped, real files with the answers of another parser, whose differences are only reported. Cases of
//! `kind` http are run on loopback by the example `robots_cases` of the crate `site`.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use crawl_frontier::Robots;
use serde_json::Value;

use crate::{say, sh};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Case files.
    #[arg(long, num_args = 1.., default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases/robots_cases.json"))]
    cases: Vec<PathBuf>,
}

/// Counts of one file.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    /// Skipped cases: unscored, or about more than a file and a path.
    left_out: usize,
}

/// Prints passed and failed cases; fails when a scored case fails.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut failed = 0;
    for path in &args.cases {
        let text = read_robots(path)?;
        match serde_json::from_str::<Value>(&text) {
            Ok(cases) => {
                failed += expected(path, &cases)?;
                play(path, &cases)?;
            }
            Err(_) => compared(path, &text)?,
        }
    }
    if failed > 0 {
        bail!("{failed} cases failed");
    }
    Ok(())
}

fn read_robots(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("read {}", path.display()))?;
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text)?;
    } else {
        text = String::from_utf8(bytes)?;
    }
    Ok(text)
}

fn expected(path: &Path, file: &Value) -> Result<usize> {
    let cases = file.get("cases").unwrap_or(file).as_array().context("no list of cases")?;
    let mut tally = Tally::default();
    for case in cases {
        let scored = case["scored"].as_bool().unwrap_or(true);
        match (case["allowed"].as_bool(), allowed(case)) {
            (Some(expect), Some(found)) if scored && expect == found => tally.passed += 1,
            (Some(_), Some(found)) if scored => {
                tally.failed += 1;
                say!("failed: {} answered {found}", shown(case));
            }
            (Some(expect), Some(found)) if expect != found => {
                tally.left_out += 1;
                say!("differs, not scored: {}", shown(case));
            }
            _ => tally.left_out += 1,
        }
    }
    say!("{}: {} passed, {} failed, {} not judged", path.display(), tally.passed, tally.failed, tally.left_out);
    Ok(tally.failed)
}

/// Runs the cases that need a server.
fn play(path: &Path, file: &Value) -> Result<()> {
    let cases = file.get("cases").unwrap_or(file).as_array().into_iter().flatten();
    if !cases.into_iter().any(|case| case["kind"] == "http") {
        return Ok(());
    }
    let example = ["run", "--quiet", "--package", "site", "--example", "robots_cases", "--"];
    sh::run(sh::cargo().args(example).arg(path))
}

/// Returns the answer of one case; `None` if it is not about a single answer.
fn allowed(case: &Value) -> Option<bool> {
    let url = case["url"].as_str()?;
    let agent = case["user_agent"].as_str().or(case["ua"].as_str()).unwrap_or("OurBot");
    let file = case["robots_txt"].as_str().or(case["robots"].as_str());
    let robots = Robots::parse(file?.as_bytes());
    // The path as written, not as a URL parser would normalise it.
    let after_host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = after_host.find(['/', '?']).map_or("/", |at| &after_host[at..]);
    let path = path.split('#').next()?;
    Some(robots.allows(agent, path))
}

/// Compares real files with the answers of another parser, for its user agent.
fn compared(path: &Path, lines: &str) -> Result<()> {
    let (mut same, mut different, mut delays, mut sitemaps, mut files) = (0, 0, 0, 0, 0);
    for line in lines.lines() {
        let case: Value = serde_json::from_str(line).with_context(|| format!("a line of {}", path.display()))?;
        let robots = Robots::parse(case["robots"].as_str().unwrap_or_default().as_bytes());
        let paths: Vec<&str> = case["paths"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (agent, answers) in case["protego"].as_object().into_iter().flatten() {
            let rules = robots.rules(agent);
            for (path, answer) in paths.iter().zip(answers.as_array().into_iter().flatten()) {
                if answer.as_bool() == Some(rules.allows(path)) {
                    same += 1;
                } else {
                    different += 1;
                    say!("differs: {} {agent} {path}: the other answers {answer}", shown(&case["host"]));
                }
            }
        }
        files += 1;
        let delay = robots.rules("*").crawl_delay().map(|delay| delay.as_secs_f64());
        delays += usize::from(delay == case["crawl_delay"].as_f64());
        let listed = case["sitemaps"].as_array().into_iter().flatten().filter_map(Value::as_str);
        sitemaps += usize::from(listed.eq(robots.sitemaps().iter().map(String::as_str)));
    }
    say!(
        "{}: {same} answers agree, {different} differ; of {files} files {delays} crawl delays and {sitemaps} lists of sitemaps agree",
        path.display()
    );
    Ok(())
}

fn shown(case: &Value) -> String {
    case.to_string().chars().take(300).collect()
}
