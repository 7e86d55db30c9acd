//! `cargo xtask crawl-docs`: crawls of documentation packages, served on loopback, compared with a walk over their files.
//! Every difference must have a reason.

mod compare;
mod crawl;
mod folder;
mod html;
mod walk;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use xtask::{say, setup};

use crate::bench;
use compare::{Differences, Group};
use folder::{ContentKind, Folder};

/// Arguments of `crawl-docs`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folders of HTML [default: those of the packages installed by `cargo xtask setup --docs`].
    folders: Vec<PathBuf>,
    /// Start page in each folder.
    #[arg(long, default_value = "/")]
    start: String,
    /// Number of concurrent pages.
    #[arg(long, default_value_t = 32)]
    concurrency: u32,
    /// Path of a built server, instead of building one.
    #[arg(long)]
    server: Option<PathBuf>,
}

/// Maximum number of pages printed for one reason.
const EXAMPLES: usize = 20;

/// Crawls the folders one after another, and fails when a difference has no reason.
pub(crate) fn run(args: &Args) -> Result<()> {
    let folders = if args.folders.is_empty() { setup::docs_folders() } else { args.folders.clone() };
    ensure!(!folders.is_empty(), "no documentation is installed; run `cargo xtask setup --docs`");
    let program = bench::server(args.server.as_ref())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut failed = Vec::new();
    for folder in &folders {
        if !runtime.block_on(one(args, folder, &program))? {
            failed.push(folder.display().to_string());
        }
    }
    if !failed.is_empty() {
        bail!("differences without a reason in {}", failed.join(", "));
    }
    Ok(())
}

/// Crawls one folder, and returns whether every difference has a reason.
async fn one(args: &Args, path: &Path, program: &Path) -> Result<bool> {
    let folder = Folder::at(path);
    let site = folder.serve().await;
    let start = site.url(&args.start);
    let walk = walk::walk(&folder, &start)?;
    let installation = bench::installation(program, &site.addr().to_string())?;
    let server = installation.set("worker.per_host", args.concurrency.to_string()).server()?;
    let is_page = |url: &_| {
        walk::spot(&folder, url)
            .and_then(|spot| walk.reached.get(&spot))
            .is_some_and(|page| page.kind == ContentKind::Html)
    };
    let crawled = crawl::crawl(&server.client(None)?, &start, args.concurrency, |url| !is_page(url)).await?;
    let differences = compare::compare(&folder, &walk, &start, &crawled);
    let seconds = crawled.took.as_secs_f64();
    let html = walk.reached.values().filter(|page| page.kind == ContentKind::Html).count();
    say!(
        "{}: {} files reachable ({html} of HTML), {} links to no file; {} documents, {} of those files found, \
         {} missing, {} extra, {} duplicates; {seconds:.1} s, {:.0} pages/s",
        path.display(),
        walk.reached.len(),
        walk.dead.len(),
        crawled.documents.len(),
        differences.found,
        count(&differences.missing),
        count(&differences.extra),
        count(&differences.twice),
        crawled.documents.len() as f64 / seconds,
    );
    Ok(show(&differences))
}

fn count(group: &Group) -> usize {
    group.values().map(Vec::len).sum()
}

/// Prints the differences, and returns whether all of them are explained.
fn show(differences: &Differences) -> bool {
    let mut all_explained = true;
    let groups = [("missing", &differences.missing), ("extra", &differences.extra), ("duplicate", &differences.twice)];
    for (name, group) in groups {
        for (why, pages) in group {
            say!("  {name}, {}: {why}", pages.len());
            for page in pages.iter().take(EXAMPLES) {
                say!("    {page}");
            }
            all_explained &= why.is_explained();
        }
    }
    all_explained
}
