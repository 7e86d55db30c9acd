//! Scenarios of monitors, played by the tests of `app` on a virtual clock.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;
use xtask::db::Cluster;
use xtask::{say, sh};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// File of scenarios.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases/monitor_scenarios.json"))]
    cases: PathBuf,
    /// Play only the scenario with this id.
    #[arg(long)]
    id: Option<String>,
    /// Run only with this database: sqlite or postgres.
    #[arg(long)]
    only: Option<String>,
}

/// Plays the scenarios on each database; fails with everything that differs.
pub(super) fn run(args: &Args) -> Result<()> {
    let wanted = |name: &str| args.only.as_deref().is_none_or(|only| only == name);
    if wanted("sqlite") {
        say!("SQLite:");
        play(args, None)?;
    }
    if wanted("postgres") {
        say!("PostgreSQL:");
        let cluster = Cluster::start()?;
        play(args, Some(&databases(args, &cluster.url())?))?;
    }
    Ok(())
}

/// Creates a database for each scenario, named as its id, and returns the URL of their server.
fn databases(args: &Args, url: &str) -> Result<String> {
    let cases: Value = serde_json::from_slice(&std::fs::read(&args.cases)?)?;
    let mut create = Command::new("psql");
    create.args(["-q", "-v", "ON_ERROR_STOP=1", url]);
    for scenario in cases["scenarios"].as_array().context("no scenarios")? {
        let id = scenario["id"].as_str().context("a scenario without an id")?;
        create.arg("-c").arg(format!("CREATE DATABASE \"{id}\" TEMPLATE template0"));
    }
    sh::output(&mut create)?;
    let (server, _) = url.rsplit_once('/').context("the URL names a database")?;
    Ok(server.to_owned())
}

fn play(args: &Args, postgres: Option<&str>) -> Result<()> {
    let cases = args.cases.canonicalize().with_context(|| format!("no file at {}", args.cases.display()))?;
    let mut tests = sh::cargo();
    tests.args(["test", "--quiet", "--package", "app", "--test", "it", "monitors::scenarios", "--", "--nocapture"]);
    tests.env("MONITOR_SCENARIOS", cases);
    tests.envs(args.id.as_ref().map(|id| ("SCENARIO", id)));
    tests.envs(postgres.map(|url| ("MONITOR_SCENARIOS_POSTGRES", url)));
    sh::run(&mut tests)
}
