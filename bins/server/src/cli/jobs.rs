//! `jobs`: what waits and runs, stopping a crawl or batch, giving dead jobs another chance.

use anyhow::{Context as _, ensure};
use app::jobs::{self, Dead, Depth, Listed};
use app::{App, AppError};
use boot::config::Loaded;
use clap::Subcommand;
use uuid::Uuid;

use super::{PAGE, open_known, print};

#[derive(Subcommand)]
pub(crate) enum Jobs {
    /// How full the queues are, and the jobs in them
    List {
        /// Only of this team
        #[arg(long, value_name = "ID")]
        team: Option<Uuid>,
        /// Jobs that were given up, instead
        #[arg(long)]
        dead: bool,
    },
    /// Stop a crawl or a batch, whoever has started it
    Cancel {
        /// Id of the crawl or batch, as its start has answered it
        id: Uuid,
    },
    /// Put a job that was given up back into its queue, with all its attempts. Pages that their crawl or batch counts as
    /// failed stay
    Redrive {
        /// Id of the job, as `jobs list --dead` prints it; without it all of them
        id: Option<String>,
    },
}

impl Jobs {
    /// Does it, in the database that the settings name.
    pub(crate) async fn run(self, loaded: Loaded) -> anyhow::Result<()> {
        let app = &open_known(&loaded).await?;
        match self {
            Self::List { dead: true, team } => list_dead(app, team).await,
            Self::List { dead: false, team } => list(app, team).await,
            Self::Cancel { id } => match jobs::cancel(app, id).await {
                Err(AppError::NotFound(_)) => Err(anyhow::anyhow!("there is no crawl or batch with this id")),
                done => Ok(done?),
            },
            Self::Redrive { id } => redrive(app, id).await,
        }
    }
}

async fn list(app: &App, team: Option<Uuid>) -> anyhow::Result<()> {
    for Depth { queue, ready, running, oldest } in jobs::depths(app).await? {
        let since = oldest.map(|at| format!(", the first since {}", wire::format_time(at))).unwrap_or_default();
        print(&format!("{queue}: {running} running, {ready} waiting{since}\n"))?;
    }
    let mut after: Option<String> = None;
    loop {
        let page = jobs::list(app, team, after.as_deref(), PAGE).await?;
        for job in &page {
            print(&line(job))?;
        }
        match page.last() {
            Some(last) => after = Some(last.id.clone()),
            None => return Ok(()),
        }
    }
}

fn line(job: &Listed) -> String {
    let Listed { id, queue, kind, lane, attempt, .. } = job;
    let state = if job.is_running { "running" } else { "ready" };
    let due = wire::format_time(job.run_at);
    let error = job.last_error.as_deref().map(|error| format!("  {error}")).unwrap_or_default();
    format!("{id}  {queue} {kind} of {lane}  {state}, attempt {attempt}, due {due}{error}\n")
}

async fn list_dead(app: &App, team: Option<Uuid>) -> anyhow::Result<()> {
    let team = team.map(|id| id.to_string());
    for_each_dead(app, async |dead: &Dead| {
        if team.as_ref().is_none_or(|team| *team == dead.team_id) {
            let Dead { id, queue, kind, lane, attempt, error, .. } = dead;
            let died = wire::format_time(dead.died_at);
            print(&format!("{id}  {queue} {kind} of {lane}  given up {died} after {attempt} attempts  {error}\n"))?;
        }
        Ok(())
    })
    .await
}

/// In pages by key, so that what is taken out on the way changes nothing for the rest.
async fn for_each_dead(app: &App, mut each: impl AsyncFnMut(&Dead) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut after: Option<String> = None;
    loop {
        let page = jobs::dead(app, after.as_deref(), PAGE).await?;
        for dead in &page {
            each(dead).await?;
        }
        match page.last() {
            Some(last) => after = Some(last.id.clone()),
            None => return Ok(()),
        }
    }
}

async fn redrive(app: &App, id: Option<String>) -> anyhow::Result<()> {
    if let Some(id) = id {
        let back = jobs::redrive(app, &id).await.context("the job cannot be put back")?;
        ensure!(
            back,
            "no job with this id was given up, another has taken its place, or it is a page that is counted as failed"
        );
        return Ok(());
    }
    let (mut back, mut left) = (0, 0);
    for_each_dead(app, async |dead: &Dead| {
        match jobs::redrive(app, &dead.id).await? {
            true => back += 1,
            false => left += 1,
        }
        Ok(())
    })
    .await?;
    print(&format!("{back} put back, {left} left\n"))
}
