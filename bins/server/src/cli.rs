//! The command line: administration commands for keys, teams, jobs, monitors, filter lists, the index of pages and
//! backups.

mod backup;
mod import;
mod index;
mod jobs;
mod lists;
mod monitors;

use std::borrow::Borrow;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use app::{App, DEFAULT_TEAM, Operations, keys, teams};
use boot::config::Loaded;
use clap::{Args, Parser, Subcommand};
use serde_json::json;
use uuid::Uuid;
use wire::{CreateTeam, FlagChanges, KeyView, ModelLimitChanges, ModelLimits, TeamFlags, TeamView, UpdateTeam};

/// Page size of database reads when listing.
const PAGE: u32 = 500;

/// Turns web pages into clean data. Starts the server when no command is given.
#[derive(Parser)]
#[command(name = "quarry-server", version)]
pub(crate) struct Cli {
    /// Settings file [default: quarry.toml in the working directory, if it exists]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Manage API keys
    #[command(subcommand)]
    Keys(Keys),
    /// Manage teams
    #[command(subcommand)]
    Teams(Teams),
    /// List, cancel and redrive jobs: crawls, batches and webhook deliveries
    #[command(subcommand)]
    Jobs(jobs::Jobs),
    /// List, pause and run monitors
    #[command(subcommand)]
    Monitors(monitors::Command),
    /// Manage the filter lists that block advertisements, trackers and consent notices
    #[command(subcommand)]
    Lists(lists::Lists),
    /// Manage the index of the pages that this instance has read
    #[command(subcommand)]
    Index(index::Index),
    /// Back up the database and page bodies to a new folder, also while the server runs (SQLite only)
    Backup(backup::Backup),
    /// Restore a backup into an empty data folder (SQLite only)
    Restore(backup::Restore),
    /// Run pending migrations of the database schema
    Migrate(backup::Migrate),
    /// Print the effective settings, with secrets as ***
    Config,
    /// Print the OpenAPI 3.1 description of the API
    Openapi,
    /// Write the generated documents
    #[command(hide = true)]
    Codegen {
        /// Output folder
        #[arg(long)]
        out: PathBuf,
    },
}

#[derive(Subcommand)]
pub(crate) enum Keys {
    /// Create a key and print it; it cannot be shown again
    Create {
        /// Team that owns the key [default: the default team]
        #[arg(long, value_name = "ID")]
        team: Option<Uuid>,
        /// Name of the key
        #[arg(long, default_value = "default")]
        name: String,
        /// Endpoint groups that the key may use, such as scrape,map [default: all]
        #[arg(long, value_delimiter = ',', value_name = "LIST")]
        endpoints: Option<Vec<String>>,
        /// Formats that the key may request, such as markdown,links [default: all]
        #[arg(long, value_delimiter = ',', value_name = "LIST")]
        formats: Option<Vec<String>>,
    },
    /// Rename a key or change its restrictions; jobs that it has started continue
    Set {
        /// Id of the key, as `keys list` prints it
        id: Uuid,
        /// New name
        #[arg(long)]
        name: Option<String>,
        /// Endpoint groups that the key may use, such as scrape,map; `all` removes the restriction
        #[arg(long, value_delimiter = ',', value_name = "LIST")]
        endpoints: Option<Vec<String>>,
        /// Formats that the key may request, such as markdown,links; `all` removes the restriction
        #[arg(long, value_delimiter = ',', value_name = "LIST")]
        formats: Option<Vec<String>>,
    },
    /// List the keys of a team
    List {
        /// Team whose keys to list [default: the default team]
        #[arg(long, value_name = "ID")]
        team: Option<Uuid>,
    },
    /// Revoke a key, and end its sessions and watchers
    Revoke {
        /// Id of the key, as `keys list` prints it
        id: Uuid,
    },
}

#[derive(Subcommand)]
pub(crate) enum Teams {
    /// Create a team with its first key, and print both
    Create(NewTeam),
    /// List all teams
    List,
    /// Change a team or add credits
    Set(Box<TeamChange>),
}

#[derive(Args)]
pub(crate) struct NewTeam {
    /// Name of the team
    name: String,
    /// Initial credits [default: unlimited]
    #[arg(long)]
    credits: Option<i64>,
    /// Maximum number of concurrent scrapes
    #[arg(long)]
    concurrency: Option<u32>,
    /// Requests per minute, 0 for no limit
    #[arg(long)]
    rate_limit: Option<u32>,
    /// Allow zero data retention
    #[arg(long)]
    zero_data_retention: bool,
    /// Allow the enterprise options
    #[arg(long)]
    enterprise: bool,
    /// Allow the catalog of provider tools
    #[arg(long)]
    catalog: bool,
    /// Networks that the team may call from, such as 10.0.0.0/8,2001:db8::/32 [default: all]
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    addresses: Option<Vec<String>>,
    /// Tokens of language models per day, 0 for no limit [default: llm.limits.team_day]
    #[arg(long)]
    model_tokens_per_day: Option<u64>,
    /// Cost of language models per day, 0 for no limit [default: llm.limits.team_day]
    #[arg(long)]
    model_cost_per_day: Option<f64>,
    /// Maximum number of monitors [default: monitors.max_per_team]
    #[arg(long)]
    max_monitors: Option<u32>,
    /// Addresses that get the mails of its monitors without confirmation, such as ops@example.com,dev@example.com
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    alert_emails: Vec<String>,
}

#[derive(Args)]
pub(crate) struct TeamChange {
    /// Id of the team, as `teams list` prints it
    id: Uuid,
    /// New name
    #[arg(long)]
    name: Option<String>,
    /// Whether the team has unlimited credits
    #[arg(long)]
    unlimited: Option<bool>,
    /// Credits to add to the balance
    #[arg(long)]
    add_credits: Option<i64>,
    /// Maximum number of concurrent scrapes
    #[arg(long)]
    concurrency: Option<u32>,
    /// Requests per minute, 0 for no limit
    #[arg(long)]
    rate_limit: Option<u32>,
    /// Whether the team may use zero data retention
    #[arg(long)]
    zero_data_retention: Option<bool>,
    /// Whether the team may use the enterprise options
    #[arg(long)]
    enterprise: Option<bool>,
    /// Whether the team may use the catalog of provider tools
    #[arg(long)]
    catalog: Option<bool>,
    /// Networks that the team may call from, such as 10.0.0.0/8,2001:db8::/32; `all` removes the restriction
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    addresses: Option<Vec<String>>,
    /// Tokens of language models per day, 0 for no limit; without a value llm.limits.team_day applies again
    #[arg(long)]
    model_tokens_per_day: Option<Option<u64>>,
    /// Cost of language models per day, 0 for no limit; without a value llm.limits.team_day applies again
    #[arg(long)]
    model_cost_per_day: Option<Option<f64>>,
    /// Maximum number of monitors; without a value monitors.max_per_team applies again
    #[arg(long)]
    max_monitors: Option<Option<u32>>,
    /// Addresses that get the mails of its monitors without confirmation, such as ops@example.com,dev@example.com; `none`
    /// removes all
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    alert_emails: Option<Vec<String>>,
}

/// Writes to standard output.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    std::io::stdout().lock().write_all(text.as_bytes()).context("cannot write to standard output")
}

/// Writes the generated documents into a folder.
pub(crate) fn codegen(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for (name, text) in quarry_server::docs::files()? {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Opens existing data; fails where there is none instead of creating it.
async fn open_known(loaded: &Loaded) -> anyhow::Result<Operations> {
    boot::data::must_exist(&loaded.config)?;
    open(loaded).await
}

async fn open(loaded: &Loaded) -> anyhow::Result<Operations> {
    Ok(boot::open(&loaded.config, Arc::new(base::SystemClock), None).await?)
}

impl Keys {
    /// Runs the command on the database of the settings.
    pub(crate) async fn run(self, loaded: Loaded) -> anyhow::Result<()> {
        let operations = match self {
            Self::Create { .. } => open(&loaded).await?,
            Self::Set { .. } | Self::List { .. } | Self::Revoke { .. } => open_known(&loaded).await?,
        };
        let app = &operations.app;
        match self {
            Self::Create { team, name, endpoints, formats } => {
                let (endpoints, formats) = (rule(endpoints), rule(formats));
                let body = json!({ "name": name, "endpoints": endpoints, "formats": formats });
                let made = keys::create(app, team_or_default(team)?, wire::decode_create_key(body)?).await?;
                print(&format!("{}\n", made.api_key))
            }
            Self::Set { id, name, endpoints, formats } => {
                let (endpoints, formats) = (rule(endpoints), rule(formats));
                let body = json!({ "name": name, "endpoints": endpoints, "formats": formats });
                print(&key_line(&keys::update(app, id, wire::decode_update_key(body)?).await?))
            }
            Self::List { team } => list_keys(app, team_or_default(team)?).await,
            Self::Revoke { id } => Ok(keys::revoke(app, id).await?),
        }
    }
}

async fn list_keys(app: &App, team: Uuid) -> anyhow::Result<()> {
    let mut after = None;
    loop {
        let page = keys::list(app, team, after, PAGE).await?;
        for key in page.data {
            print(&key_line(&key))?;
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

fn key_line(key: &KeyView) -> String {
    let state = match key.revoked_at {
        Some(at) => format!("revoked {}", wire::format_time(at)),
        None => "works".to_owned(),
    };
    let endpoints: Vec<&str> = key.endpoints.iter().map(|group| group.as_str()).collect();
    let formats: Vec<&str> = key.formats.iter().map(|format| format.as_str()).collect();
    let rules = limits("endpoints", &endpoints) + &limits("formats", &formats);
    format!("{}  …{}  {}  {state}{rules}\n", key.id, key.hint, key.name)
}

/// Returns a restriction as lists print it, or an empty string when everything is allowed.
fn limits<T: Borrow<str>>(rule: &str, allowed: &[T]) -> String {
    if allowed.is_empty() { String::new() } else { format!("  {rule} {}", allowed.join(",")) }
}

/// Converts a restriction from the command line for a request: `all` becomes the empty list, which removes it.
fn rule(words: Option<Vec<String>>) -> Option<Vec<String>> {
    words.map(|words| if words == ["all"] { Vec::new() } else { words })
}

impl Teams {
    /// Runs the command on the database of the settings.
    pub(crate) async fn run(self, loaded: Loaded) -> anyhow::Result<()> {
        let operations = match self {
            Self::Create(_) => open(&loaded).await?,
            Self::List | Self::Set(_) => open_known(&loaded).await?,
        };
        let app = &operations.app;
        match self {
            Self::Create(new) => create_team(app, new).await,
            Self::List => list_teams(app).await,
            Self::Set(change) => change_team(app, *change).await,
        }
    }
}

async fn create_team(app: &App, new: NewTeam) -> anyhow::Result<()> {
    let flags =
        TeamFlags { zero_data_retention: new.zero_data_retention, enterprise: new.enterprise, catalog: new.catalog };
    let model_limits = ModelLimits { tokens_per_day: new.model_tokens_per_day, cost_per_day: new.model_cost_per_day };
    let NewTeam { name, credits, concurrency, rate_limit, addresses, max_monitors, alert_emails, .. } = new;
    let addresses = rule(addresses).unwrap_or_default();
    let request = CreateTeam {
        name,
        credits,
        concurrency,
        rate_limit,
        flags,
        addresses,
        model_limits,
        max_monitors,
        partner_grant: None,
        alert_emails,
        // Their URLs are secrets, which other users of the machine could read in the arguments of a command.
        chat_channels: Vec::new(),
    };
    // Decoded like a request over HTTP, so that the same bounds apply.
    let request = wire::decode_create_team(serde_json::to_value(request)?)?;
    let made = teams::create(app, request).await?;
    print(&format!("team {}\nkey  {}\n", made.team_id, made.api_key))
}

async fn change_team(app: &App, change: TeamChange) -> anyhow::Result<()> {
    let flags = FlagChanges {
        zero_data_retention: change.zero_data_retention,
        enterprise: change.enterprise,
        catalog: change.catalog,
    };
    let model_limits =
        ModelLimitChanges { tokens_per_day: change.model_tokens_per_day, cost_per_day: change.model_cost_per_day };
    let alert_emails = change.alert_emails.map(|emails| if emails == ["none"] { Vec::new() } else { emails });
    let TeamChange { id, name, unlimited, add_credits, concurrency, rate_limit, addresses, max_monitors, .. } = change;
    let request = UpdateTeam {
        name,
        unlimited,
        add_credits,
        concurrency,
        rate_limit,
        flags: Some(flags),
        addresses: rule(addresses),
        model_limits: Some(model_limits),
        max_monitors,
        partner_grant: None,
        alert_emails,
        chat_channels: None,
    };
    let request = wire::decode_update_team(serde_json::to_value(request)?)?;
    print(&line(&teams::update(app, id, request).await?))
}

async fn list_teams(app: &App) -> anyhow::Result<()> {
    let mut after = None;
    loop {
        let page = teams::list(app, after, PAGE).await?;
        for team in &page.data {
            print(&line(team))?;
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

fn line(team: &TeamView) -> String {
    let credits = team.available.map_or("unlimited".to_owned(), |credits| credits.to_string());
    let flags = [
        (team.flags.zero_data_retention, " zero-data-retention"),
        (team.flags.enterprise, " enterprise"),
        (team.flags.catalog, " catalog"),
    ];
    let flags: String = flags.into_iter().filter_map(|(on, word)| on.then_some(word)).collect();
    let ModelLimits { tokens_per_day, cost_per_day } = team.model_limits;
    let model = [
        tokens_per_day.map(|tokens| format!(", model tokens per day {tokens}")),
        cost_per_day.map(|cost| format!(", model cost per day {cost}")),
    ];
    let model: String = model.into_iter().flatten().collect();
    let monitors = team.max_monitors.map(|limit| format!(", monitors {limit}")).unwrap_or_default();
    format!(
        "{}  {}  credits {credits}, spent {}, concurrency {}, per minute {}{model}{monitors}{flags}{}{}\n",
        team.id,
        team.name,
        team.spent,
        team.concurrency,
        team.rate_limit,
        limits("addresses", &team.addresses),
        limits("alert-emails", &team.alert_emails),
    )
}

fn team_or_default(team: Option<Uuid>) -> anyhow::Result<Uuid> {
    team.map_or_else(|| DEFAULT_TEAM.parse().context("the id of the default team"), Ok)
}
