//! Speed of indexing alone: the command `index rebuild` on a cache that is full of documents.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use lab::Installation;
use xtask::say;

use super::corpus::Corpus;
use super::size;

/// Imports the corpus, builds its index again, and prints the speed and the size.
pub(super) fn run(installation: &Installation, corpus: &Corpus) -> Result<()> {
    let file = corpus.file.display().to_string();
    let (took, _) = command(installation, &["index", "import", &file])?;
    let (documents, seconds) = (corpus.documents as f64, took.as_secs_f64());
    say!("imported and indexed in {seconds:.0} s, {:.0} documents/s", documents / seconds);
    let (took, cpu) = command(installation, &["index", "rebuild"])?;
    let found = size(installation)?;
    ensure!(found.pages == corpus.documents as u64 && found.waiting == 0, "{found:?} of {documents} documents");
    say!(
        "built again in {:.0} s: {:.0} pages/s, {:.0} pages per CPU-second, reading and parsing included",
        took.as_secs_f64(),
        documents / took.as_secs_f64(),
        documents / cpu.as_secs_f64()
    );
    let each = found.bytes as f64 / documents;
    say!("size: {each:.0} bytes a page, beside {:.0} of the page itself", corpus.bytes as f64 / documents);
    Ok(())
}

/// Runs a command of the server; returns the time that it took, and its CPU time.
fn command(installation: &Installation, arguments: &[&str]) -> Result<(Duration, Duration)> {
    let started = Instant::now();
    let mut child = installation.command(arguments).stdout(Stdio::null()).spawn().context("cannot start the server")?;
    let mut cpu = Duration::ZERO;
    let status = loop {
        // Its times are gone when it is, so the last look before counts.
        cpu = lab::cpu(child.id()).unwrap_or(cpu).max(cpu);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        thread::sleep(Duration::from_millis(20));
    };
    ensure!(status.success(), "`{}` failed", arguments.join(" "));
    Ok((started.elapsed(), cpu))
}
