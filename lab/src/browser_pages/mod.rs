//! `cargo xtask browser-pages`: pages built with common web libraries, served on loopback and scraped through the real
//! server. Pages that need a browser must be complete, and the others must not use one.

mod behaviour;
pub(crate) mod book;
pub(crate) mod build;
mod child;
mod chosen;
mod connect;
mod judge;
mod picture;
mod scrape;
pub(crate) mod site;
mod steps;
mod summary;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use lab::{Installation, Node, Tree, adopt_orphans, programs};
use xtask::say;

use crate::team::{OPERATOR, Team};
use book::{Book, Page, Plain};
use scrape::Scraper;
use site::Pages;
use summary::Summary;
pub(crate) use summary::percentile;

/// Arguments of `browser-pages`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Scrape only the page with this id; can be repeated.
    #[arg(long)]
    only: Vec<String>,
    /// Afterwards scrape every page again with rawHtml, links, images and a screenshot.
    #[arg(long)]
    formats: bool,
    /// Afterwards scrape the pages with unusual behaviour.
    #[arg(long)]
    behaviour: bool,
    /// Only serve the pages and wait.
    #[arg(long)]
    serve: bool,
    /// Path of a built server, instead of building one.
    #[arg(long)]
    server: Option<PathBuf>,
    /// Folder of built pages, instead of building them.
    #[arg(long)]
    built: Option<PathBuf>,
    /// Print the markdown of every failed page.
    #[arg(long)]
    verbose: bool,
}

/// Name of the browser's processes, as truncated by the kernel.
pub(crate) const CHROMIUM: &str = "chrom";
/// Timeout of the server's shutdown.
const MAX_END: Duration = Duration::from_secs(30);
/// Timeout of `chromium --version`.
const MAX_PROBE: Duration = Duration::from_secs(10);
/// Minimum number of correct pages among those that need a browser.
const MIN_RIGHT: usize = 44;

/// Scrapes the pages; fails when too few are correct.
pub(crate) fn run(args: &Args) -> Result<()> {
    if !build::has_node() {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(scrape_all(args))
}

async fn scrape_all(args: &Args) -> Result<()> {
    let mut book = book::read_book()?;
    let wanted = |id: &String| args.only.is_empty() || args.only.contains(id);
    let dynamic: Vec<String> = book.pages.iter().map(|page| page.id.clone()).filter(wanted).collect();
    let built = match &args.built {
        Some(folder) => folder.clone(),
        None => build::build(if args.only.is_empty() { &[] } else { &dynamic })?,
    };
    book.pages.retain(|page| wanted(&page.id));
    book.plain.retain(|page| wanted(&page.id));
    let pages = Pages::start(&built, &book, Duration::MAX).await?;
    if args.serve {
        say!("{} … Ctrl-C ends it", pages.url("/ID/"));
        return Ok(tokio::signal::ctrl_c().await?);
    }
    let server = args.server.clone().map_or_else(programs::release, Ok)?;
    adopt_orphans()?;
    let installation = installation(server, &pages)?;
    let mut node = installation.server()?;
    let team = Team::new(node.addr(), "pages", 1_000_000).await?;
    let scraper = Scraper { pages: &pages, node: &node, team: &team };
    let mut summary = Summary::default();
    plain(&book, &scraper, &mut summary).await?;
    dynamic_pages(&book.pages, &scraper, args, &mut summary).await?;
    if args.only.is_empty() {
        let rate = scraper.together(&book.pages, 4).await?;
        say!("{} pages with 4 at a time: {rate:.2} pages/s", book.pages.len());
    }
    if args.behaviour {
        behaviour::run(&scraper, &args.only, &mut summary).await?;
    }
    end(&mut node, &mut summary).await?;
    finish(&book, args, &summary)
}

/// Returns an installation that may reach the pages.
pub(crate) fn installation(server: PathBuf, pages: &Pages) -> Result<Installation> {
    let installation = Installation::new(server)?.set("egress.allow", pages.allow()).set("auth.mode", "keys");
    Ok(installation.set("admin.token", OPERATOR).set("log.level", "debug"))
}

async fn plain(book: &Book, scraper: &Scraper<'_>, summary: &mut Summary) -> Result<()> {
    probe_ended(scraper).await?;
    for page in &book.plain {
        let mut failures = plain_page(page, scraper).await?;
        let started = scraper.node.tree()?.count(CHROMIUM);
        if started > 0 {
            failures.push(format!("{started} processes of Chromium were started"));
        }
        say!(
            "{} {}",
            if failures.is_empty() { "right" } else { "WRONG" },
            [vec![page.id.clone()], failures.clone()].concat().join("; ")
        );
        summary.plain += usize::from(failures.is_empty());
    }
    Ok(())
}

/// Waits until the server has queried Chromium's version, which it does once at startup.
async fn probe_ended(scraper: &Scraper<'_>) -> Result<()> {
    let deadline = Instant::now() + MAX_PROBE;
    while scraper.node.tree()?.count(CHROMIUM) > 0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

async fn plain_page(page: &Plain, scraper: &Scraper<'_>) -> Result<Vec<String>> {
    let files = if page.files.is_empty() { vec![(String::new(), page.seen.clone())] } else { page.files.clone() };
    let mut failures = Vec::new();
    for (file, seen) in files {
        let done = scraper.scrape(&page.id, &file, &scrape::markdown_request()).await?;
        let is_page = file.is_empty() || !seen.is_empty();
        let markdown = done.answer["data"]["markdown"].as_str().map(judge::folded);
        match markdown {
            Some(text) => failures.extend(
                seen.iter().filter(|one| !text.contains(&judge::folded(one))).map(|one| format!("{file} no {one:?}")),
            ),
            None if is_page => failures.push(format!("{file} {}", judge::refused(done.status, &done.answer))),
            None => {}
        }
        if done.chosen.iter().any(chosen::EngineChoice::is_browser) {
            failures.push(format!("{file} went to {}", chosen::shown(&done.chosen)));
        }
        let status = done.answer["data"]["metadata"]["statusCode"].as_u64();
        if is_page && status.is_some_and(|status| status != u64::from(page.status)) {
            failures.push(format!("statusCode is {status:?}"));
        }
    }
    Ok(failures)
}

async fn dynamic_pages(all: &[Page], scraper: &Scraper<'_>, args: &Args, summary: &mut Summary) -> Result<()> {
    for page in all {
        let mut failures = shell(page, scraper.pages);
        let done = if page.id == "steps" {
            let done = scraper.scrape(&page.id, "", &steps::request()).await?;
            failures.extend(steps::judge(&done, scraper.node).await);
            failures.extend(steps::broken(scraper).await?);
            done
        } else {
            scraper.scrape(&page.id, "", &scrape::markdown_request()).await?
        };
        failures.extend(judge::markdown(page, done.status, &done.answer));
        let after = done.after(page.own_ms);
        let limit = Duration::from_millis(if page.endless { 5000 } else { 2500 });
        // The actions of the page `steps` take their own time.
        if after > limit && page.id != "steps" {
            failures.push(format!("{} ms after it was ready", after.as_millis()));
        }
        summary.add(page, &done, after, &failures);
        if args.verbose && !failures.is_empty() {
            say!("{}", done.answer["data"]["markdown"].as_str().unwrap_or("no markdown"));
        }
        if args.formats && page.id != "steps" {
            let failures = scraper.formats(page).await?;
            let verdict = if failures.is_empty() { "right" } else { "WRONG" };
            say!("      {verdict} with all formats {}", failures.join("; "));
            summary.formats += usize::from(failures.is_empty());
        }
    }
    Ok(())
}

/// Checks that the HTML of the page does not contain texts that its scripts produce.
fn shell(page: &Page, pages: &Pages) -> Vec<String> {
    let Some(html) = pages.html(&page.id) else { return Vec::new() };
    let html = String::from_utf8_lossy(&html).into_owned();
    let body = html.split_once("<body").map_or(html.as_str(), |(_, body)| body);
    let words = judge::text_of_html(&format!("<body{body}")).split_whitespace().count();
    let is_shell = words <= page.shell_words && page.seen.iter().any(|seen| !html.contains(seen));
    if is_shell { Vec::new() } else { vec![format!("its HTML has {words} words and is no shell")] }
}

/// Stops the server and counts its leftovers.
async fn end(node: &mut Node, summary: &mut Summary) -> Result<()> {
    let tree = node.tree()?;
    say!("at the end {:.0} MiB (PSS) in {} processes", tree.pss_mib, tree.processes.len());
    node.terminate()?;
    node.ended(MAX_END).await?;
    // Killed processes may take a moment to disappear.
    for _ in 0..20 {
        let rest = Tree::below(std::process::id())?;
        summary.left =
            rest.processes.iter().filter(|process| process.name.starts_with(CHROMIUM) && !process.ended).count();
        if summary.left == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    say!("{} processes of Chromium left", summary.left);
    Ok(())
}

fn finish(book: &Book, args: &Args, summary: &Summary) -> Result<()> {
    summary.print(book, args.formats);
    let least = book.pages.len().min(MIN_RIGHT);
    ensure!(summary.right >= least, "{} of {} pages are right, {least} should be", summary.right, book.pages.len());
    ensure!(summary.plain == book.plain.len(), "{} of {} pages without a browser", summary.plain, book.plain.len());
    ensure!(summary.left == 0, "{} processes of Chromium are left", summary.left);
    Ok(())
}
