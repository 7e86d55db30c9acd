//! Stack samples of a running process, taken by `perf`.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use xtask::{say, sh};

/// Samples a second for each processor. A higher rate would slow down the measured process.
const FREQUENCY: &str = "199";
/// Method of unwinding: a copy of this many bytes of the stack with the unwind tables, because the programs are built
/// without frame pointers.
const STACKS: &str = "dwarf,32768";
/// Timeout of `perf`, for attaching and for writing its file.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `perf record`; ended when dropped.
pub(super) struct Perf {
    child: Child,
    folder: TempDir,
}

impl Perf {
    /// Starts sampling a process. Returns `None`, with a printed hint, if `perf` is not installed or not permitted.
    pub(super) fn start(pid: u32) -> Result<Option<Self>> {
        if !sh::on_path("perf") {
            say!(
                "perf is not installed, so phases are not told: apt-get install linux-perf (on Ubuntu linux-tools-generic)"
            );
            return Ok(None);
        }
        let folder = tempfile::tempdir()?;
        let log = File::create(folder.path().join("log"))?;
        let mut command = Command::new("perf");
        command.args([
            "record",
            "--no-buildid-cache",
            "--freq",
            FREQUENCY,
            "--call-graph",
            STACKS,
            "--pid",
            &pid.to_string(),
            "--output",
        ]);
        command.arg(folder.path().join("data")).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = command.spawn().context("cannot start perf")?;
        let mut perf = Self { child, folder };
        if let Err(error) = perf.looks() {
            say!("perf cannot be used here, so phases are not told: {error:#}");
            return Ok(None);
        }
        Ok(Some(perf))
    }

    /// Stops `perf`, and returns the functions of each sample, innermost first.
    pub(super) fn finish(mut self) -> Result<Vec<Vec<String>>> {
        let pid = Pid::from_raw(i32::try_from(self.child.id())?).context("no process id")?;
        kill_process(pid, Signal::INT)?;
        let started = Instant::now();
        // It ends by the signal, so its exit status means nothing.
        while self.child.try_wait()?.is_none() {
            ensure!(started.elapsed() < PATIENCE, "perf did not end: {}", self.log());
            thread::sleep(Duration::from_millis(50));
        }
        let mut script = Command::new("perf");
        script.args(["script", "--fields", "comm,ip,sym", "--no-inline", "--input"]).arg(self.data());
        let samples = stacks(&sh::output(script.stdin(Stdio::null()))?);
        ensure!(!samples.is_empty(), "perf saw nothing: {}", self.log());
        Ok(samples)
    }

    /// Waits until `perf` has started its file, and a moment longer.
    fn looks(&mut self) -> Result<()> {
        let started = Instant::now();
        while fs::metadata(self.data()).map_or(0, |file| file.len()) == 0 {
            let ended = self.child.try_wait()?;
            ensure!(ended.is_none() && started.elapsed() < PATIENCE, "perf does not begin: {}", self.log());
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(Duration::from_millis(500));
        Ok(())
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Perf {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Parses the output of `perf script`: per sample a line with the thread name, one indented line per function that
/// begins with an address, and an empty line.
fn stacks(script: &str) -> Vec<Vec<String>> {
    let mut samples = Vec::new();
    let mut stack = Vec::new();
    for line in script.lines().chain([""]) {
        let function = line.strip_prefix(['\t', ' ']).and_then(|frame| frame.trim_start().split_once(' '));
        match function {
            Some((_, name)) => stack.push(name.trim().to_owned()),
            None if stack.is_empty() => {}
            None => samples.push(std::mem::take(&mut stack)),
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_what_stands_between_empty_lines() {
        let script = "tokio-rt-worker \n\t  b04e ZSTD_compress\n\t 707f <a::B as core::fmt::Display>::fmt\n\n\
                      quarry-server \n\t  1 main\n\t  2 [unknown]\n";
        let samples = stacks(script);
        assert_eq!(samples[0], ["ZSTD_compress", "<a::B as core::fmt::Display>::fmt"]);
        assert_eq!(samples[1..], [["main", "[unknown]"]]);
    }
}
