//! `cargo xtask bench documents FOLDER`: reading of the PDF files of a folder by the child processes of the service, with
//! sandbox and transport, compared with programs that print the text of a file.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use documents::Kind;
use lab::Tree;
use reader::{Job, Options, Pool, Settings};
use wire::PdfMode;
use xtask::{say, setup};

/// Timeout of one file.
const PATIENCE: Duration = Duration::from_secs(600);

/// Arguments of `bench documents`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of PDF files, searched recursively.
    folder: PathBuf,
    /// Use OCR for every page.
    #[arg(long)]
    ocr: bool,
    /// Command to compare with, where `{}` is the file, such as `pdf2md {}` [default: pdftotext, with and without
    /// -layout].
    #[arg(long = "beside", value_name = "COMMAND")]
    beside: Vec<String>,
    /// Number of times each file is read; the fastest counts.
    #[arg(long, default_value_t = 3)]
    times: usize,
    /// Path of a built quarry-reader, instead of building one.
    #[arg(long)]
    reader: Option<PathBuf>,
}

/// Cost of one file.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    cpu: Duration,
    elapsed: Duration,
    /// Peak resident memory in KiB.
    peak: u64,
}

/// Results of a program over all files.
struct Row {
    name: String,
    costs: Vec<Option<Cost>>,
}

/// Prints the table.
pub(crate) async fn run(args: Args) -> Result<()> {
    ensure!(args.times > 0, "--times must be at least 1");
    let mut files = Vec::new();
    pdfs(&args.folder, &mut files)?;
    ensure!(!files.is_empty(), "there is no PDF file in {}", args.folder.display());
    let (ours, pages) = ours(&args, &files).await?;
    let beside = match args.beside.as_slice() {
        [] if args.ocr => Vec::new(),
        [] => {
            setup::for_documents()?;
            vec!["pdftotext {} -".to_owned(), "pdftotext -layout {} -".to_owned()]
        }
        given => given.to_vec(),
    };
    let mut rows = vec![ours];
    for command in beside {
        let costs = files.iter().map(|file| least(args.times, || other(&command, file))).collect();
        rows.push(Row { name: command, costs });
    }
    report(&rows, &files, &pages);
    Ok(())
}

fn pdfs(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            pdfs(&path, found)?;
        } else if path.extension() == Some(OsStr::new("pdf")) {
            found.push(path);
        }
    }
    Ok(())
}

/// Reads all files with one warm child process, and returns the page count of each.
async fn ours(args: &Args, files: &[PathBuf]) -> Result<(Row, Vec<u32>)> {
    let program = match &args.reader {
        Some(program) => program.clone(),
        None => super::server(None)?.with_file_name("quarry-reader"),
    };
    let settings = Settings { reader: Some(program), children: 1, ..Settings::default() };
    let pool = Pool::new(settings)?;
    let (mut costs, mut pages) = (Vec::new(), Vec::new());
    for file in files {
        let mut best: Option<Cost> = None;
        let mut count = 0;
        for _ in 0..args.times {
            if let Ok((cost, read)) = by_child(&pool, file, args.ocr).await {
                count = read;
                best = Some(best.map_or(cost, |best| best.and(cost)));
            }
        }
        costs.push(best);
        pages.push(count);
    }
    Ok((Row { name: "quarry-reader".to_owned(), costs }, pages))
}

async fn by_child(pool: &Pool, file: &Path, ocr: bool) -> Result<(Cost, u32)> {
    let mode = if ocr { PdfMode::Ocr } else { PdfMode::Fast };
    let options = Options { mode, ..Options::default() };
    let job = Job { bytes: fs::read(file)?.into(), kind: Kind::Pdf, owner: base::Owner::default(), options };
    // A running service has its child process before the file arrives.
    warm(pool).await?;
    let before = used()?;
    for id in children()? {
        // Resets the high-water mark to the current value.
        fs::write(format!("/proc/{id}/clear_refs"), "5")?;
    }
    let started = Instant::now();
    let answer = pool.read(job, (started + PATIENCE).into(), async |_| Ok::<(), ()>(())).await;
    let elapsed = started.elapsed();
    let cpu = used()?.saturating_sub(before);
    let peak = children()?.into_iter().map(peak).max().unwrap_or(0);
    match answer {
        Ok(answer) => Ok((Cost { cpu, elapsed, peak }, answer.pages_read)),
        Err(error) => bail!("{}: {error}", file.display()),
    }
}

/// Reads a small document, so that a child process exists.
async fn warm(pool: &Pool) -> Result<()> {
    let (bytes, options) = (documents::sample("x").into(), Options::default());
    let job = Job { bytes, kind: Kind::Pdf, owner: base::Owner::default(), options };
    let read = pool.read(job, (Instant::now() + PATIENCE).into(), async |_| Ok::<(), ()>(())).await;
    read.map(drop).map_err(|error| anyhow::anyhow!("the reader reads nothing: {error}"))
}

fn children() -> Result<Vec<u32>> {
    let tree = Tree::below(std::process::id())?;
    Ok(tree.processes.iter().skip(1).filter(|process| !process.ended).map(|process| process.id).collect())
}

fn used() -> Result<Duration> {
    Ok(children()?.into_iter().filter_map(|id| lab::cpu(id).ok()).sum())
}

/// Returns the peak resident memory of a process in KiB; 0 when it has ended.
fn peak(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Reads one file with another program, started for it.
fn other(command: &str, file: &Path) -> Result<Cost> {
    let mut words = command.split_whitespace().map(|word| if word == "{}" { file.as_os_str() } else { word.as_ref() });
    let mut child = Command::new(words.next().context("--beside is empty")?);
    let started = Instant::now();
    let mut child = child.args(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let mut cost = Cost::default();
    // The counters of an ended process are readable until it is reaped.
    while !Tree::below(child.id())?.processes.first().is_none_or(|process| process.ended) {
        cost.peak = cost.peak.max(peak(child.id()));
        if started.elapsed() > PATIENCE {
            child.kill()?;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    (cost.cpu, cost.elapsed) = (lab::cpu(child.id())?, started.elapsed());
    ensure!(child.wait()?.success(), "it failed");
    Ok(cost)
}

fn least(times: usize, measure: impl Fn() -> Result<Cost>) -> Option<Cost> {
    (0..times).filter_map(|_| measure().ok()).reduce(Cost::and)
}

impl Cost {
    /// Combines two readings: the lower times and the higher memory.
    fn and(self, other: Self) -> Self {
        Self { cpu: self.cpu.min(other.cpu), elapsed: self.elapsed.min(other.elapsed), peak: self.peak.max(other.peak) }
    }
}

fn report(rows: &[Row], files: &[PathBuf], pages: &[u32]) {
    let all: u32 = pages.iter().sum();
    say!("{} files, {all} pages; processor time of the program alone, at its least\n", files.len());
    say!("| program | read | pages | CPU ms a page | pages a CPU second | longest file ms | peak MiB |");
    say!("|---|---|---|---|---|---|---|");
    for row in rows {
        let done = || row.costs.iter().zip(pages).filter_map(|(cost, pages)| Some((cost.as_ref()?, *pages)));
        let (read, pages) = (done().count(), done().map(|(_, pages)| pages).sum::<u32>());
        let cpu: f64 = done().map(|(cost, _)| cost.cpu.as_secs_f64()).sum();
        let longest = done().map(|(cost, _)| cost.elapsed).max().unwrap_or_default().as_millis();
        let peak = done().map(|(cost, _)| cost.peak).max().unwrap_or(0) / 1024;
        let (each, rate) = (cpu * 1e3 / f64::from(pages.max(1)), f64::from(pages) / cpu.max(1e-3));
        say!("| {} | {read} | {pages} | {each:.2} | {rate:.0} | {longest} | {peak} |", row.name);
    }
    let failed = rows.iter().flat_map(|row| {
        let named = row.costs.iter().zip(files).filter(|(cost, _)| cost.is_none());
        named.map(|(_, file)| format!("{}: {} was not read", row.name, file.display()))
    });
    failed.for_each(|line| say!("{line}"));
}
