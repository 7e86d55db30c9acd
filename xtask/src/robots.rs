//! `cargo xtask robots --cases FILE…`: judges files of robots.txt cases with the crawl-frontier crate.
//!
//! Two forms are read: cases with an expected answer (a list, or an object with `cases`), and, one per line and gzipped
//! or not, real files with the answers of another parser, which are compared and not judged.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use base64::Engine;
use crawl_frontier::{MOST_ROBOTS_BYTES, MOST_ROBOTS_REDIRECTS, Robots, RobotsAnswer, Url, judge};
use serde_json::Value;

use crate::say;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files of cases.
    #[arg(long, required = true, num_args = 1..)]
    cases: Vec<PathBuf>,
}

/// Counts of one file.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    /// Not judged: unscored, or about more than one answer of one server.
    left_out: usize,
}

/// Prints passed and failed cases; fails when a scored case fails.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut failed = 0;
    for path in &args.cases {
        let text = read(path)?;
        match serde_json::from_str::<Value>(&text) {
            Ok(cases) => failed += expected(path, &cases)?,
            Err(_) => compared(path, &text)?,
        }
    }
    if failed > 0 {
        bail!("{failed} cases failed");
    }
    Ok(())
}

fn read(path: &Path) -> Result<String> {
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

/// The answer to one case; None when it is about something else than one answer.
fn allowed(case: &Value) -> Option<bool> {
    let url = case["url"].as_str()?;
    let agent = case["user_agent"].as_str().or(case["ua"].as_str()).unwrap_or("OurBot");
    let file = case["robots_txt"].as_str().or(case["robots"].as_str());
    let robots = match file {
        Some(file) => Robots::parse(file.as_bytes()),
        None => fetched(case)?,
    };
    // The bytes of the path as they stand there, not as a URL parser would spell them.
    let after_host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = after_host.find(['/', '?']).map_or("/", |at| &after_host[at..]);
    let path = path.split('#').next()?;
    Some(robots.allows(agent, path))
}

/// What the answer that a case describes stands for.
fn fetched(case: &Value) -> Option<Robots> {
    let origin = &case["origin"];
    // Other authorities and the clock need a server.
    if Url::parse(case["url"].as_str()?).is_ok() || case.get("clock_shift_h").is_some() {
        return None;
    }
    if ["connect", "tls", "hang_s", "dns"].iter().any(|fault| origin.get(fault).is_some()) {
        return Some(judge(RobotsAnswer::Failed).0);
    }
    if origin["redirect_to"].as_str().is_some_and(|place| place.contains("{CANARY}")) {
        return Some(judge(RobotsAnswer::Failed).0);
    }
    let too_many = origin["redirects"].as_u64().is_some_and(|count| count > u64::from(MOST_ROBOTS_REDIRECTS));
    if too_many || origin["redirect_loop"].as_bool() == Some(true) {
        return Some(judge(RobotsAnswer::TooManyRedirects).0);
    }
    let status = u16::try_from(origin["status"].as_u64().unwrap_or(200)).ok()?;
    Some(judge(RobotsAnswer::Status(status, &body(origin)?)).0)
}

fn body(origin: &Value) -> Option<Vec<u8>> {
    if let Some(text) = origin["body"].as_str().or(origin["final"].as_str()) {
        return Some(text.as_bytes().to_vec());
    }
    if let Some(encoded) = origin["body_b64"].as_str() {
        return base64::engine::general_purpose::STANDARD.decode(encoded).ok();
    }
    let made = &origin["body_gen"];
    let bounded =
        |count: &Value| count.as_u64().and_then(|count| usize::try_from(count).ok()).map(|c| c.min(MOST_ROBOTS_BYTES));
    if let Some(zeros) = bounded(&made["zeros_bytes"]) {
        return Some(vec![0; zeros]);
    }
    if let Some(padding) = bounded(&made["pad_comment_bytes"]) {
        let then = made["then"].as_str().unwrap_or_default();
        return Some(format!("{}\n{then}", "#".repeat(padding)).into_bytes());
    }
    Some(Vec::new())
}

/// Real files with the answers of another parser under its own name.
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
