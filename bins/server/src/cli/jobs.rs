//! `jobs`: what waits and runs, stopping a crawl or batch, giving dead jobs another chance.

use anyhow::{Context as _, bail, ensure};
use app::auth::Caller;
use app::{App, crawl};
use boot::config::Loaded;
use clap::Subcommand;
use store::jobs::{self, Dead, Depth, Filter, Listed};
use store::{crawls, teams};
use uuid::Uuid;

use super::{PAGE, open, print};

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
    /// Put a job that was given up back into its queue, with all its attempts
    Redrive {
        /// Id of the job, as `jobs list --dead` prints it; without it all of them
        id: Option<String>,
    },
}

impl Jobs {
    /// Does it, in the database that the settings name.
    pub(crate) async fn run(self, loaded: Loaded) -> anyhow::Result<()> {
        let app = &open(&loaded).await?;
        match self {
            Self::List { dead: true, team } => list_dead(app, team).await,
            Self::List { dead: false, team } => list(app, team).await,
            Self::Cancel { id } => cancel(app, id).await,
            Self::Redrive { id } => redrive(app, id).await,
        }
    }
}

async fn list(app: &App, team: Option<Uuid>) -> anyhow::Result<()> {
    let mut conn = app.store().conn().await?;
    for Depth { queue, ready, running, oldest } in jobs::depths(&mut conn).await? {
        let since = oldest.map(|at| format!(", the first since {}", wire::format_time(at))).unwrap_or_default();
        print(&format!("{}: {running} running, {ready} waiting{since}\n", queue.as_str()))?;
    }
    let team = team.map(|id| id.to_string());
    let filter = Filter { team_id: team.as_deref(), ..Filter::default() };
    let mut after: Option<String> = None;
    loop {
        let page = jobs::list(&mut conn, filter, after.as_deref(), PAGE.into()).await?;
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
        let page = jobs::dead(&mut app.store().conn().await?, after.as_deref(), PAGE.into()).await?;
        for dead in &page {
            each(dead).await?;
        }
        match page.last() {
            Some(last) => after = Some(last.id.clone()),
            None => return Ok(()),
        }
    }
}

async fn cancel(app: &App, id: Uuid) -> anyhow::Result<()> {
    let mut conn = app.store().conn().await?;
    let row = crawls::find(&mut conn, &id.to_string()).await?.context("there is no crawl or batch with this id")?;
    let team = teams::find(&mut conn, &row.team_id).await?.context("its team is gone")?;
    drop(conn);
    let kind = match row.kind.as_str() {
        "crawl" => "crawl",
        "batch" => "batch",
        other => bail!("a {other} cannot be cancelled"),
    };
    Ok(crawl::cancel(app, &Caller { team, key: None }, kind, id).await?)
}

async fn redrive(app: &App, id: Option<String>) -> anyhow::Result<()> {
    if let Some(id) = id {
        let back = jobs::redrive(&mut app.store().conn().await?, &id, app.now()).await?;
        ensure!(back, "no job with this id was given up, or another has taken its place");
        return Ok(());
    }
    let (mut back, mut left) = (0, 0);
    for_each_dead(app, async |dead: &Dead| {
        match jobs::redrive(&mut app.store().conn().await?, &dead.id, app.now()).await? {
            true => back += 1,
            false => left += 1,
        }
        Ok(())
    })
    .await?;
    print(&format!("{back} put back, {left} left\n"))
}
