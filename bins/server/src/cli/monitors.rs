//! The command `monitors`: lists the monitors of all teams, pauses one, begins a check of one.

use anyhow::Context as _;
use app::monitors::operator::{self, OfTeam};
use boot::config::Loaded;
use clap::Subcommand;
use uuid::Uuid;

use super::{PAGE, open_known, print};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List monitors with their schedules and next runs
    List {
        /// Only monitors of this team
        #[arg(long, value_name = "ID")]
        team: Option<Uuid>,
    },
    /// Begin a check of a monitor now; it is paid by its team. The workers of the servers take it
    Run {
        /// Id of the monitor, as `monitors list` prints it
        id: Uuid,
    },
    /// Stop the schedule of a monitor until its team resumes it; a running check goes on
    Pause {
        /// Id of the monitor, as `monitors list` prints it
        id: Uuid,
    },
}

impl Command {
    /// Runs the command on the database of the settings.
    pub(crate) async fn run(self, loaded: Loaded) -> anyhow::Result<()> {
        let operations = open_known(&loaded).await?;
        let monitors = &operations.monitors;
        match self {
            Self::List { team } => {
                let mut after = None;
                loop {
                    let page = operator::list(monitors, team, after, i64::from(PAGE)).await?;
                    for found in &page {
                        print(&line(found))?;
                    }
                    match page.last() {
                        Some(last) => after = Some(last.monitor.id),
                        None => return Ok(()),
                    }
                }
            }
            Self::Run { id } => {
                let check = operator::run(monitors, id).await.context("cannot run the monitor")?;
                print(&format!("check {}  {}\n", check.id, check.status.as_str()))
            }
            Self::Pause { id } => operator::pause(monitors, id).await.context("cannot pause the monitor"),
        }
    }
}

fn line(found: &OfTeam) -> String {
    let OfTeam { team, monitor } = found;
    let next = monitor.next_run_at.map_or_else(String::new, |at| format!(", next {}", wire::format_time(at)));
    let last = monitor.last_run_at.map_or_else(String::new, |at| format!(", last {}", wire::format_time(at)));
    format!(
        "{}  {}  {}, `{}` {}{next}{last}, team {team}\n",
        monitor.id,
        monitor.name,
        monitor.status.as_str(),
        monitor.schedule.cron,
        monitor.schedule.timezone,
    )
}
