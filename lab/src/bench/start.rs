//! `cargo xtask bench start`: cold starts with an empty database.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};
use xtask::say;

/// Arguments of `bench start`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of cold starts; the median counts.
    #[arg(long, default_value_t = 9)]
    times: usize,
    /// Path of a built server, instead of building one.
    #[arg(long)]
    server: Option<PathBuf>,
}

/// Prints the median time to ready and the memory of an idle server.
pub(crate) fn run(args: &Args) -> Result<()> {
    if args.times == 0 {
        bail!("--times must be at least 1");
    }
    let program = super::server(args.server.as_ref())?;
    let mut ready = Vec::new();
    let (mut idle, mut own) = (Vec::new(), Vec::new());
    for _ in 0..args.times {
        let server = super::installation(&program, "")?.server()?;
        thread::sleep(Duration::from_millis(500));
        ready.push(server.ready_after());
        let memory = server.memory()?;
        idle.push(memory.now);
        own.push(memory.own);
    }
    ready.sort();
    idle.sort_by(f64::total_cmp);
    own.sort_by(f64::total_cmp);
    say!(
        "cold start to ready with an empty database: median {:.0} ms of {}",
        ready[ready.len() / 2].as_secs_f64() * 1e3,
        args.times
    );
    let middle = args.times / 2;
    say!(
        "idle memory: median {:.1} MiB, {:.1} of them heap and stacks, the rest pages of files",
        idle[middle],
        own[middle]
    );
    Ok(())
}
