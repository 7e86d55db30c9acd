//! `cargo xtask bench search`: the index of pages of the real server: what following costs a crawl, the speed of indexing
//! alone, queries over a large index, and how well known pages are found.

mod corpus;
mod crawls;
mod known;
mod queries;
mod rebuild;

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use lab::Installation;
use xtask::say;

/// Arguments of `bench search`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of documents in the index that is asked: those of installed documentation, and generated ones.
    #[arg(long, default_value_t = 100_000)]
    documents: usize,
    /// Number of pages of the crawls.
    #[arg(long, default_value_t = 3000)]
    pages: usize,
    /// Number of crawls with the follower, each in turn with one without it; the medians count.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Number of queries in each phase.
    #[arg(long, default_value_t = 2000)]
    queries: usize,
    /// Run only this part: crawl, index, query or known.
    #[arg(long)]
    only: Option<String>,
    /// Path of a built server, instead of building one.
    #[arg(long)]
    server: Option<PathBuf>,
    /// Path of the built example `index_pages`, instead of building it.
    #[arg(long)]
    example: Option<PathBuf>,
}

/// Prints the figures of each part.
pub(crate) async fn run(args: Args) -> Result<()> {
    let program = super::server(args.server.as_ref())?;
    let wanted = |name: &str| args.only.as_deref().is_none_or(|only| only == name);
    if wanted("crawl") {
        crawls::run(&program, args.pages, args.rounds).await?;
    }
    if wanted("known") {
        known::run(&super::installation(&program, "")?, args.example.as_deref()).await?;
    }
    if wanted("index") || wanted("query") {
        let installation = super::installation(&program, "")?;
        let corpus = corpus::write(&installation.temporary().join("corpus.jsonl"), args.documents)?;
        rebuild::run(&installation, &corpus)?;
        if wanted("query") {
            queries::run(&installation, &corpus, args.queries).await?;
        }
    }
    Ok(())
}

/// Size of an index, as `index stats` prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) pages: u64,
    pub(crate) bytes: u64,
    /// Cached pages that the follower has not looked at.
    pub(crate) waiting: u64,
}

/// Asks the server program for the size of its index.
pub(crate) fn size(installation: &Installation) -> Result<Size> {
    let output = installation.command(&["index", "stats"]).stderr(Stdio::inherit()).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "`index stats` failed: {text}");
    read_size(&text).with_context(|| format!("`index stats` printed {text:?}"))
}

fn read_size(text: &str) -> Option<Size> {
    if text.starts_with("there is no index") {
        return Some(Size { pages: 0, bytes: 0, waiting: 0 });
    }
    let mut numbers = text.split(", ").map(|part| part.split_once(' ')?.0.parse().ok());
    let mut next = || numbers.next().flatten();
    Some(Size { pages: next()?, bytes: next()?, waiting: next()? })
}

/// Prints a rate with the index next to one without it.
fn slower(off: f64, on: f64) {
    say!("  the follower slows a crawl by {:.1} %", (1.0 - on / off) * 100.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let size = read_size("12 pages, 3456 bytes, 7 cached pages to look at\n");
        assert_eq!(size, Some(Size { pages: 12, bytes: 3456, waiting: 7 }));
        assert_eq!(read_size("there is no index yet: …").map(|size| size.pages), Some(0));
        assert_eq!(read_size("what?"), None);
    }
}
