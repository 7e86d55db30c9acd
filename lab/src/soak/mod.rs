//! `cargo xtask soak`: a mixed load for a long time on loopback, with checks for leaks in the server.

mod load;
mod sample;
mod stage;
mod tally;
mod verdict;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use lab::programs;
use xtask::say;

use sample::Sample;
use stage::Stage;
use tally::Tally;
use verdict::Observations;

/// Arguments of `soak`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Duration of the load in minutes.
    #[arg(long, default_value_t = 30.0)]
    minutes: f64,
    /// Folder with quarry-server and quarry-reader, instead of building them; QUARRY_PROGRAMS has the same effect.
    #[arg(long)]
    programs: Option<PathBuf>,
}

/// Pause between two samples.
const EVERY: Duration = Duration::from_secs(20);
/// Pause between the end of the load and the last sample.
const QUIET: Duration = Duration::from_secs(20);

/// Prints a line every 20 seconds and the verdict; fails when a limit is exceeded.
pub(crate) fn run(args: &Args) -> Result<()> {
    ensure!(args.minutes > 0.0 && args.minutes <= 24.0 * 60.0, "--minutes must be more than 0 and at most a day");
    let server = match &args.programs {
        Some(folder) => folder.canonicalize().context("--programs names no folder")?.join("quarry-server"),
        None => programs::release()?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let failures = runtime.block_on(soak(server, Duration::from_secs_f64(args.minutes * 60.0)))?;
    if !failures.is_empty() {
        bail!("{}", failures.join("; "));
    }
    Ok(())
}

async fn soak(server: PathBuf, length: Duration) -> Result<Vec<String>> {
    lab::adopt_orphans()?;
    let stage = Arc::new(Stage::start(server).await?);
    let idle = stage.sample(Duration::ZERO, 0)?;
    say!("at rest: {:.1} MiB, {} handles, {} threads", idle.server_mib, idle.handles, idle.threads);
    say!("{}", sample::HEAD);
    let tally = Tally::default();
    let load = load::start(&stage, &tally)?;
    let started = Instant::now();
    let mut samples: Vec<Sample> = Vec::new();
    while started.elapsed() < length {
        tokio::time::sleep(EVERY.min(length.saturating_sub(started.elapsed()))).await;
        let sample = stage.sample(started.elapsed(), tally.requests())?;
        say!("{}", sample.line(samples.last()));
        samples.push(sample);
    }
    load.finish().await?;
    tokio::time::sleep(QUIET).await;
    let after = stage.sample(started.elapsed(), tally.requests())?;
    say!("{} s after the load: {:.1} MiB, {} handles", QUIET.as_secs(), after.server_mib, after.handles);
    tally.kinds().iter().for_each(|kind| say!("{kind}"));
    let ledger = stage.ledger(&tally).await?;
    say!("{ledger}");
    let judged = Observations { samples: &samples, kinds: tally.kinds(), ledger, webhooks: stage.webhooks() };
    let verdict = judged.verdict();
    verdict.lines.iter().for_each(|line| say!("{line}"));
    Ok(verdict.failures)
}
