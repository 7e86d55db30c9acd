//! `cargo xtask fuzz`: runs the targets of fuzz/ with libFuzzer, on the stable toolchain.
//!
//! cargo-fuzz needs a nightly compiler for the address sanitizer. Without it libFuzzer needs only coverage, whose compiler
//! flags are stable. The code has no `unsafe`, so the targets search for panics, overflows, violated properties, and inputs
//! that take too much time, memory or stack.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{say, setup, sh};

/// Arguments of `cargo xtask fuzz`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Duration of each target in seconds.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Run only this target.
    #[arg(long)]
    target: Option<String>,
    /// Run the target on this single input, such as one that it has failed on.
    #[arg(long, requires = "target")]
    input: Option<PathBuf>,
}

struct Target {
    name: &'static str,
    /// Maximum length of an input in bytes.
    longest: usize,
    /// Dictionary file of tokens for generating inputs.
    tokens: Option<&'static str>,
}

const TARGETS: [Target; 17] = [
    Target { name: "page", longest: 65_536, tokens: Some("html.dict") },
    Target { name: "selector", longest: 4096, tokens: Some("html.dict") },
    Target { name: "text_links", longest: 65_536, tokens: Some("text.dict") },
    Target { name: "decode", longest: 8192, tokens: Some("json.dict") },
    Target { name: "target_url", longest: 2048, tokens: None },
    Target { name: "encoding", longest: 16_384, tokens: Some("html.dict") },
    Target { name: "sniff", longest: 4096, tokens: Some("html.dict") },
    Target { name: "pdf", longest: 65_536, tokens: Some("pdf.dict") },
    Target { name: "pdf_content", longest: 16_384, tokens: Some("pdf.dict") },
    Target { name: "pdf_font", longest: 16_384, tokens: Some("pdf.dict") },
    Target { name: "product", longest: 16_384, tokens: Some("json.dict") },
    Target { name: "detection", longest: 16_384, tokens: Some("office.dict") },
    Target { name: "office", longest: 16_384, tokens: Some("office.dict") },
    Target { name: "picture", longest: 8192, tokens: None },
    Target { name: "mail", longest: 16_384, tokens: Some("text.dict") },
    Target { name: "unified", longest: 16_384, tokens: Some("markdown.dict") },
    Target { name: "fields", longest: 16_384, tokens: Some("json.dict") },
];

/// Timeout of one input in seconds.
const SLOWEST: u64 = 10;
/// Memory limit of a target in MiB.
const MEMORY: u64 = 1024;
/// Stack size in KiB, as in the threads of the service that convert pages.
const STACK: u64 = 2048;
/// Compiler flags for the coverage instrumentation of libFuzzer.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Runs the targets one after the other, and returns an error at the end if any has failed.
pub(crate) fn run(args: &Args) -> Result<()> {
    let wanted = |target: &&Target| args.target.as_deref().is_none_or(|name| name == target.name);
    let targets: Vec<_> = TARGETS.iter().filter(wanted).collect();
    if targets.is_empty() {
        bail!("no such target; the targets are {}", TARGETS.map(|target| target.name).join(", "));
    }
    sh::step("setup", setup::for_fuzzing)?;
    let programs = sh::step("build", || build(&targets))?;
    if let (Some(input), [target]) = (&args.input, &targets[..]) {
        return sh::run(bounded(&programs.join(target.name)).arg(input));
    }
    let mut failed = Vec::new();
    for target in targets {
        say!("==> {} for {} s", target.name, args.seconds);
        if let Err(error) = fuzz(target, &programs, args.seconds) {
            say!("    {}: {error:#}", target.name);
            failed.push(target.name);
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    say!("all targets are clean");
    Ok(())
}

/// Builds the targets with coverage and all runtime checks, and returns their folder.
fn build(targets: &[&Target]) -> Result<PathBuf> {
    let version = sh::output(Command::new("rustc").arg("-vV").current_dir(folder()))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    let mut cargo = sh::cargo();
    // With an explicit `--target` the flags do not apply to build scripts, which are not linked with libFuzzer.
    cargo.current_dir(folder()).args(["build", "--release", "--target", host, "--target-dir", "target"]);
    targets.iter().for_each(|target| _ = cargo.args(["--bin", target.name]));
    sh::run(cargo.env("RUSTFLAGS", COVERAGE))?;
    Ok(folder().join("target").join(host).join("release"))
}

fn folder() -> PathBuf {
    sh::root().join("fuzz")
}

/// Returns the command of a target with limits on stack, time and memory.
fn bounded(program: &Path) -> Command {
    let mut command = sh::command("sh");
    command.args(["-c", &format!("ulimit -s {STACK} && exec \"$0\" \"$@\"")]).arg(program);
    command.args([format!("-timeout={SLOWEST}"), format!("-rss_limit_mb={MEMORY}")]);
    command
}

fn fuzz(target: &Target, programs: &Path, seconds: u64) -> Result<()> {
    let found = folder().join("target/corpus").join(target.name);
    let failures = folder().join("target/failures").join(target.name);
    fs::create_dir_all(&found)?;
    fs::create_dir_all(&failures)?;
    let mut command = bounded(&programs.join(target.name));
    command.args([format!("-max_total_time={seconds}"), format!("-max_len={}", target.longest)]);
    command.args(["-print_final_stats=1".to_owned(), format!("-artifact_prefix={}/", failures.display())]);
    command.args(target.tokens.map(|file| format!("-dict={}", folder().join("tokens").join(file).display())));
    command.arg(&found).arg(folder().join("corpus").join(target.name));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let mut told = FuzzOutput::default();
    if let Some(stderr) = child.stderr.take() {
        BufReader::new(stderr).split(b'\n').map_while(Result::ok).for_each(|line| told.hear(&line));
    }
    let status = child.wait()?;
    say!("    {}", told.summary(fs::read_dir(&found)?.count(), !status.success()));
    if status.success() {
        return Ok(());
    }
    told.last.iter().for_each(|line| say!("    | {line}"));
    bail!("{status}; try again with: cargo xtask fuzz --target {} --input FILE", target.name);
}

/// Output of libFuzzer so far.
struct FuzzOutput {
    shown: Instant,
    /// Last lines that are neither progress nor statistics.
    last: VecDeque<String>,
    executions: String,
    rate: String,
    memory: String,
}

impl Default for FuzzOutput {
    fn default() -> Self {
        let none = || "?".to_owned();
        FuzzOutput { shown: Instant::now(), last: VecDeque::new(), executions: none(), rate: none(), memory: none() }
    }
}

impl FuzzOutput {
    fn hear(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        if let Some(figure) = line.strip_prefix("stat::") {
            let value = figure.split_whitespace().last().unwrap_or_default().to_owned();
            match figure.split(':').next().unwrap_or_default() {
                "number_of_executed_units" => self.executions = value,
                "average_exec_per_sec" => self.rate = value,
                "peak_rss_mb" => self.memory = value,
                _ => {}
            }
        } else if line.starts_with('#') && line.contains(" cov: ") {
            if self.shown.elapsed() > Duration::from_secs(10) {
                self.shown = Instant::now();
                say!("    {}", line.trim());
            }
        } else if !line.contains("# Uses: ") && !line.trim().is_empty() {
            self.last.push_back(line.chars().take(400).collect());
            self.last.drain(..self.last.len().saturating_sub(25));
        }
    }

    fn summary(&self, corpus: usize, crashed: bool) -> String {
        format!(
            "{} executions, {} per second, {} MB, corpus of {corpus}, {} crashes",
            self.executions,
            self.rate,
            self.memory,
            u8::from(crashed)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_what_is_said() {
        let mut told = FuzzOutput::default();
        for line in [
            "#12\tNEW    cov: 3 ft: 4 corp: 2/3b",
            "stat::number_of_executed_units: 203747",
            "stat::average_exec_per_sec:     33957",
            "stat::peak_rss_mb:              30",
            "\"x\" # Uses: 4",
            "thread panicked",
        ] {
            told.hear(line.as_bytes());
        }
        assert_eq!(told.summary(7, true), "203747 executions, 33957 per second, 30 MB, corpus of 7, 1 crashes");
        assert_eq!(told.last, ["thread panicked"]);
    }

    #[test]
    fn every_target_has_a_program_and_seeds() {
        let manifest = fs::read_to_string(folder().join("Cargo.toml")).unwrap();
        assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
        for target in TARGETS {
            assert!(manifest.contains(&format!("name = \"{}\"", target.name)), "{}", target.name);
            assert!(fs::read_dir(folder().join("corpus").join(target.name)).unwrap().count() > 0, "{}", target.name);
            assert!(target.tokens.is_none_or(|file| folder().join("tokens").join(file).exists()), "{}", target.name);
        }
    }
}
