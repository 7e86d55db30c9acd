//! The command `jobs`: lists jobs, queue depths and periodic tasks, cancels a crawl or batch, redrives dead jobs.

use anyhow::{Context as _, ensure};
use app::jobs::{self, Dead, Depth, Listed};
use app::{App, AppError, Operations, RunsError};
use boot::config::Loaded;
use clap::Subcommand;
use uuid::Uuid;
use wire::TaskView;

use super::{PAGE, open_known, print};

#[derive(Subcommand)]
pub(crate) enum Jobs {
    /// List the depth of each queue and the jobs in it
    List {
        /// Only jobs of this team
        #[arg(long, value_name = "ID")]
        team: Option<Uuid>,
        /// List dead jobs instead: those that used up their attempts
        #[arg(long)]
        dead: bool,
    },
    /// Cancel a crawl or batch of any team
    Cancel {
        /// Id of the crawl or batch, as the call that started it returned
        id: Uuid,
    },
    /// List the periodic tasks and their last runs
    Tasks,
    /// Put a dead job back into its queue, with all its attempts. Pages that their crawl or batch has counted as failed
    /// are left out
    Redrive {
        /// Id of the job, as `jobs list --dead` prints it [default: all dead jobs]
        id: Option<String>,
    },
}

impl Jobs {
    /// Runs the command on the database of the settings.
    pub(crate) async fn run(self, loaded: Loaded) -> anyhow::Result<()> {
        let operations = open_known(&loaded).await?;
        let app = &operations.app;
        match self {
            Self::List { dead: true, team } => list_dead(app, team).await,
            Self::List { dead: false, team } => list(app, team).await,
            Self::Cancel { id } => match jobs::cancel(&operations.runs, id).await {
                Err(RunsError::App(AppError::NotFound(_))) => {
                    Err(anyhow::anyhow!("there is no crawl or batch with this id"))
                }
                done => Ok(done?),
            },
            Self::Redrive { id } => redrive(app, id).await,
            Self::Tasks => list_tasks(&operations).await,
        }
    }
}

async fn list_tasks(operations: &Operations) -> anyhow::Result<()> {
    for TaskView { name, every_ms, last_run } in app::tasks(operations).await? {
        let every = every_ms / 1000;
        let Some(run) = last_run else {
            print(&format!("{name}: every {every} s, never run\n"))?;
            continue;
        };
        let [started, next] = [run.started_at, run.next_at].map(wire::format_time);
        let error = run.error.map(|error| format!("  {error}")).unwrap_or_default();
        let details = serde_json::Value::Object(run.details);
        print(&format!(
            "{name}: every {every} s, {} at {started} in {} ms {details}, next at {next}{error}\n",
            run.status, run.duration_ms
        ))?;
    }
    Ok(())
}

async fn list(app: &App, team: Option<Uuid>) -> anyhow::Result<()> {
    for Depth { queue, ready, running, oldest } in jobs::depths(app).await? {
        let since = oldest.map(|at| format!(", oldest since {}", wire::format_time(at))).unwrap_or_default();
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
            print(&format!("{id}  {queue} {kind} of {lane}  dead since {died} after {attempt} attempts  {error}\n"))?;
        }
        Ok(())
    })
    .await
}

/// Calls `each` for every dead job. Pages by key, so that jobs removed on the way do not shift the rest.
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
        let back = jobs::redrive(app, &id).await.context("cannot redrive the job")?;
        ensure!(
            back,
            "no dead job with this id can be redriven: it does not exist, another job has taken its place, or it is a \
             page that its crawl or batch has counted as failed"
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
    print(&format!("{back} redriven, {left} left\n"))
}
