//! The command `index`: builds the index of pages again, shows its size, imports documents, and crawls sites into it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use app::Operations;
use app::auth::Caller;
use app::indexing::{IndexError, IndexingError, Stats};
use boot::config::Loaded;
use clap::Subcommand;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use url::Url;
use uuid::Uuid;
use wire::{GivenFields, JobStatus, ResultsQuery};

use super::import::ImportedPages;
use super::{open, open_known, print, team_or_default};

/// Interval between two looks at a crawl.
const LOOK_EVERY: Duration = Duration::from_millis(500);

#[derive(Subcommand)]
pub(crate) enum Index {
    /// Remove the index and build it again from the cached pages; the server must be stopped
    Rebuild,
    /// Print the number of indexed pages and the size of the index
    Stats,
    /// Store documents as cached pages, and index them. They expire as cached pages do
    Import {
        /// File with one JSON object per line: url, one of text, markdown and html, and optionally title, description,
        /// language and published. Or a web archive: its name ends in .warc or .warc.gz
        file: PathBuf,
        /// Team whose searches find them [default: the default team]
        #[arg(long, value_name = "ID")]
        team: Option<Uuid>,
    },
    /// Crawl sites, so that searches find their pages
    Seed {
        /// Where the crawls start
        #[arg(required = true, value_name = "URL")]
        urls: Vec<Url>,
        /// Maximum number of pages of each site
        #[arg(long, default_value_t = 1000)]
        limit: u32,
        /// Team whose searches find the pages [default: the default team]
        #[arg(long, value_name = "ID")]
        team: Option<Uuid>,
    },
}

impl Index {
    /// Runs the command on the data of the settings.
    pub(crate) async fn run(self, loaded: Loaded) -> anyhow::Result<()> {
        let operations = match self {
            Self::Import { .. } | Self::Seed { .. } => open(&loaded).await?,
            Self::Rebuild | Self::Stats => open_known(&loaded).await?,
        };
        ensure!(operations.indexing.is_enabled(), IndexingError::Disabled);
        match self {
            Self::Rebuild => rebuild(&loaded, &operations).await,
            Self::Stats => stats(&operations).await,
            Self::Import { file, team } => import(&loaded, &operations, &file, team).await,
            Self::Seed { urls, limit, team } => seed(&loaded, &operations, &Seeds { urls, limit, team }).await,
        }
    }
}

async fn rebuild(loaded: &Loaded, operations: &Operations) -> anyhow::Result<()> {
    let _owned = boot::data::lock(&loaded.config).context("the server must be stopped")?;
    match operations.indexing.rebuild().await {
        Err(IndexingError::Index(IndexError::Busy)) => bail!("a server uses the index: stop it first"),
        pages => print(&format!("{} pages\n", pages?)),
    }
}

async fn stats(operations: &Operations) -> anyhow::Result<()> {
    let Some(Stats { pages, bytes, .. }) = operations.indexing.stats().await? else {
        return print("there is no index yet: it begins with the first page\n");
    };
    let waiting = operations.indexing.waiting().await?;
    print(&format!("{pages} pages, {bytes} bytes, {waiting} cached pages to look at\n"))
}

async fn import(loaded: &Loaded, operations: &Operations, file: &Path, team: Option<Uuid>) -> anyhow::Result<()> {
    let team = caller(operations, team).await?.team.id;
    let (mut pages, mut stored) = (ImportedPages::open(file)?, 0);
    loop {
        let batch = pages.batch()?;
        if batch.is_empty() {
            break;
        }
        stored += operations.indexing.import(&team, batch).await?;
    }
    print(&format!("{stored} documents stored\n"))?;
    catch_up(loaded, operations).await
}

/// Sites to crawl.
struct Seeds {
    urls: Vec<Url>,
    limit: u32,
    team: Option<Uuid>,
}

async fn seed(loaded: &Loaded, operations: &Operations, seeds: &Seeds) -> anyhow::Result<()> {
    let caller = caller(operations, seeds.team).await?;
    // A server that runs does the work; without one it is done here.
    let owned = boot::data::lock(&loaded.config);
    let stop = CancellationToken::new();
    let worker = owned
        .is_ok()
        .then(|| tokio::spawn(app::worker(operations, boot::worker_settings(&loaded.config)).run(stop.clone())));
    let crawled = crawl_all(operations, &caller, seeds).await;
    stop.cancel();
    if let Some(worker) = worker {
        worker.await?;
    }
    drop(owned);
    crawled?;
    catch_up(loaded, operations).await
}

async fn crawl_all(operations: &Operations, caller: &Caller, seeds: &Seeds) -> anyhow::Result<()> {
    for url in &seeds.urls {
        let body = json!({ "url": url, "limit": seeds.limit, "scrapeOptions": { "formats": ["links"] } });
        let given = GivenFields::of(&body);
        let id = app::crawl::start(&operations.runs, caller, wire::decode_crawl(body)?, &given, None).await?;
        let nothing = ResultsQuery { skip: None, limit: Some(1) };
        let end = loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let status = app::runs::status(&operations.runs, caller, &app::crawl::KIND, id, nothing).await?;
            if status.status.is_final() {
                break status;
            }
        };
        print(&format!("{url}: {} pages\n", end.completed))?;
        ensure!(end.status == JobStatus::Completed, "the crawl of {url} {}", end.status.as_str());
    }
    Ok(())
}

/// Indexes what was stored, unless a server does that.
async fn catch_up(loaded: &Loaded, operations: &Operations) -> anyhow::Result<()> {
    let by_server = "the server that runs indexes them\n";
    let Ok(_owned) = boot::data::lock(&loaded.config) else { return print(by_server) };
    match operations.indexing.catch_up().await {
        Err(IndexingError::Index(IndexError::Busy)) => print(by_server),
        done => {
            done?;
            stats(operations).await
        }
    }
}

async fn caller(operations: &Operations, team: Option<Uuid>) -> anyhow::Result<Caller> {
    let id = team_or_default(team)?.to_string();
    let team = store::teams::find(&mut operations.app.store().conn().await?, &id).await?;
    Ok(Caller::of(team.context("there is no team with this id")?, None, None))
}
