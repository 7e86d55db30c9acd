//! `cargo xtask bench rivals`: the same crawls and scrapes by Quarry and by other programs with the same API. In each round
//! every program runs alone on a new data folder; medians and spreads are over the rounds.

mod contender;
mod install;
mod measure;
mod process;
mod table;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::available_parallelism;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use xtask::{say, sh};

use self::contender::Contender;
use self::measure::LoadProfile;
use self::table::Row;
use crate::made_site::MadeSite;

/// Arguments of `bench rivals`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of pages of each crawl, and of scrapes after it.
    #[arg(long, default_value_t = 3_000)]
    pages: usize,
    /// Number of pages of the site, 20 KB and 30 links each.
    #[arg(long, default_value_t = 10_000)]
    site: usize,
    /// Number of connections for the scrapes.
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// Number of rounds of each program.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Enable the caches of the programs.
    #[arg(long)]
    cache: bool,
    /// Run only these programs.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Contender>,
    /// PostgreSQL database for Quarry, instead of a new private one in each round.
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    /// Folder for building the other programs [default: target/rivals].
    #[arg(long, value_name = "FOLDER")]
    programs: Option<PathBuf>,
    /// Path of a built server of Quarry, instead of building one.
    #[arg(long)]
    server: Option<PathBuf>,
}

/// A program of the comparison, with its figures or its error.
struct Entry {
    contender: Contender,
    /// Path of the program, or the error of its build.
    program: Result<PathBuf>,
    row: Row,
}

/// Prints the tables; fails after all measurements if a program could not be built, started or measured.
pub(crate) async fn run(args: Args) -> Result<()> {
    ensure!(
        args.pages > 0 && args.rounds > 0 && args.connections > 0,
        "--pages, --rounds and --connections are at least 1"
    );
    ensure!(args.pages <= args.site, "the site has {} pages only", args.site);
    let mut entries = prepare(&args)?;
    let site = MadeSite::start(args.site).await;
    let load = LoadProfile { site: &site, connections: args.connections, cache: args.cache };
    for round in 1..=args.rounds {
        for entry in &mut entries {
            let Ok(program) = &entry.program else { continue };
            let title = entry.row.title.clone();
            let figures = turn(&args, &load, entry.contender, program).await;
            match figures {
                Ok(figures) => {
                    say!("round {round}, {title}: {}", table::line(&figures));
                    entry.row.rounds.push(figures);
                }
                Err(error) => {
                    say!("round {round}, {title}: FAILED, it is left out from here on: {error:#}");
                    entry.program = Err(error);
                }
            }
        }
    }
    report(&args, &site, entries)
}

/// Builds the programs; one that cannot be built stays in the list with its error.
fn prepare(args: &Args) -> Result<Vec<Entry>> {
    let wanted = |contender: &Contender| args.only.is_empty() || args.only.contains(contender);
    let wanted: Vec<Contender> = Contender::value_variants().iter().copied().filter(wanted).collect();
    let server = if wanted.iter().any(|contender| contender.rival().is_none()) { Some(quarry(args)?) } else { None };
    let folder = args.programs.clone().unwrap_or_else(|| sh::root().join("target").join("rivals"));
    let folder = std::path::absolute(folder)?;
    let mut entries = Vec::new();
    for contender in wanted {
        let (name, program) = match (contender.rival(), &server) {
            (Some(rival), _) => (rival.title(), rival.program(&folder)),
            (None, Some((version, server))) => (version.clone(), Ok(server.clone())),
            (None, None) => bail!("no server of Quarry"),
        };
        if let Err(error) = &program {
            say!("{name} cannot be built, the others are measured without it: {error:#}");
        }
        let row = Row { title: contender.title(&name, args.pages), rounds: Vec::new() };
        entries.push(Entry { contender, program, row });
    }
    Ok(entries)
}

/// Returns the name and version that the server reports, and its path.
fn quarry(args: &Args) -> Result<(String, PathBuf)> {
    let program = super::server(args.server.as_ref())?;
    let program = program.canonicalize().with_context(|| format!("no {}", program.display()))?;
    let said = sh::output(Command::new(&program).arg("--version"))?;
    let version = said.split_whitespace().last().unwrap_or_default();
    Ok((format!("Quarry {version}"), program))
}

async fn turn(args: &Args, load: &LoadProfile<'_>, contender: Contender, program: &Path) -> Result<measure::Figures> {
    let running = contender.start(program, load.site, args.postgres.as_deref()).await?;
    load.measure(&running, contender.pages(args.pages)).await
}

fn report(args: &Args, site: &MadeSite, entries: Vec<Entry>) -> Result<()> {
    say!(
        "\nMedian (lowest..highest) of {} rounds; a made site of {} pages of {} KB with {} links each; {}; the site, the load \
         and the program share {} processors.\n",
        args.rounds,
        site.pages(),
        site.page(1).len() / 1000,
        MadeSite::LINKS,
        if args.cache { "pages are kept in the cache" } else { "maxAge 0, storeInCache false" },
        available_parallelism()?,
    );
    let rival = entries.iter().position(|entry| entry.contender == Contender::Pagesift);
    let (rows, faults): (Vec<Row>, Vec<Option<String>>) = entries.into_iter().map(row_of).unzip();
    say!("{}", table::figures(&rows, args.connections));
    if let Some(base) = rival.and_then(|at| rows.get(at)).filter(|base| !base.rounds.is_empty()) {
        say!("Ratios of the medians to {}; above 1 is faster, or cheaper, than it.\n", base.title);
        say!("{}", table::ratios(&rows, base, args.connections));
    }
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    if !faults.is_empty() {
        bail!("not everything was measured:\n{}", faults.join("\n"));
    }
    Ok(())
}

/// Returns the row of a program, and its error.
fn row_of(entry: Entry) -> (Row, Option<String>) {
    let fault = entry.program.err().map(|error| format!("{}: {error:#}", entry.row.title));
    (entry.row, fault)
}
