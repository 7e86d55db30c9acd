//! `cargo xtask bench scrape`: POST /v2/scrape of the real server against a site of real pages on loopback.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use lab::{Memory, Node};
use testkit::Site;
use xtask::say;

use super::load::{self, Figures};

mod changes;

/// Arguments of `bench scrape`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of pages (.html or .html.gz) [default: generated pages of 100 KB].
    #[arg(long)]
    pages: Option<PathBuf>,
    /// Number of scrapes in each phase.
    #[arg(long, default_value_t = 400)]
    requests: usize,
    /// Number of concurrent connections in the loaded phases.
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Path of a built server, instead of building one.
    #[arg(long)]
    server: Option<PathBuf>,
    /// Only scrapes of unchanged pages with the format `changeTracking`, beside scrapes without, on SQLite and PostgreSQL.
    #[arg(long)]
    changes: bool,
}

const NO_CACHE: &str = r#""maxAge":0,"storeInCache":false"#;
const STORING: &str = r#""maxAge":0"#;
const CACHED: &str = r#""storeInCache":true"#;

/// Prints one line per phase and the memory of the server.
pub(crate) async fn run(args: Args) -> Result<()> {
    let program = super::server(args.server.as_ref())?;
    let pages = pages(args.pages.as_deref())?;
    let bytes: usize = pages.iter().map(Vec::len).sum();
    say!("{} pages, {} KB on average", pages.len(), bytes / pages.len() / 1000);
    let site = Site::start().await;
    for (number, page) in pages.iter().enumerate() {
        site.html(&format!("/{number}"), page.clone());
    }
    if args.changes {
        return changes::run(&args, &program, &site, pages.len()).await;
    }
    let server = super::installation(&program, &site.addr().to_string())?.server()?;
    let idle = server.memory()?.now;
    let bench = Phases { site: site.addr().to_string(), server: &server, pages: pages.len(), requests: args.requests };

    let direct = bench.direct(1).await?;
    report("fetch alone, 1 connection", &direct, "");
    for (name, options) in [("cache off", NO_CACHE), ("storing", STORING)] {
        let single = bench.scrape(name, options, 1).await?;
        say!("    adds {:.2} ms to the fetch at p50", (single.p50.as_secs_f64() - direct.p50.as_secs_f64()) * 1e3);
        bench.scrape(name, options, args.connections).await?;
    }
    for connections in [1, args.connections] {
        bench.scrape("from the cache", CACHED, connections).await?;
    }
    let Memory { now, peak, .. } = server.memory()?;
    say!("memory: {idle:.1} MiB idle, {now:.1} MiB after, {peak:.1} MiB at its highest");
    Ok(())
}

struct Phases<'a> {
    site: String,
    server: &'a Node,
    pages: usize,
    requests: usize,
}

impl Phases<'_> {
    async fn direct(&self, connections: usize) -> Result<Figures> {
        let requests = (0..self.requests).map(|n| load::get(&self.site, &format!("/{}", n % self.pages))).collect();
        load::run(&self.site, requests, connections).await
    }

    /// Returns the scrape with this number, of the formats in the list.
    fn request(&self, number: usize, formats: &str, options: &str) -> String {
        let url = format!("http://{}/{}", self.site, number % self.pages);
        let body = format!(r#"{{"url":"{url}","formats":[{formats}],{options}}}"#);
        load::post(&self.server.addr().to_string(), "/v2/scrape", &body)
    }

    /// Runs a phase and prints its line.
    async fn scrape(&self, name: &str, options: &str, connections: usize) -> Result<Figures> {
        let address = &self.server.addr().to_string();
        let before = self.server.cpu()?;
        let requests = (0..self.requests).map(|n| self.request(n, r#""markdown""#, options)).collect();
        let figures = load::run(address, requests, connections).await?;
        let each = (self.server.cpu()? - before).as_secs_f64() * 1e3 / self.requests as f64;
        let plural = if connections == 1 { "" } else { "s" };
        report(
            &format!("scrape, {name}, {connections} connection{plural}"),
            &figures,
            &format!(", CPU {each:.2} ms each"),
        );
        Ok(figures)
    }
}

fn report(name: &str, figures: &Figures, more: &str) {
    let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
    say!("{name}: {:.0} requests/s, p50 {:.2} ms, p99 {:.2} ms{more}", figures.rate, ms(figures.p50), ms(figures.p99));
}

fn pages(folder: Option<&Path>) -> Result<Vec<Vec<u8>>> {
    let Some(folder) = folder else {
        return Ok((0..20).map(made_up).collect());
    };
    let mut paths: Vec<_> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    let mut pages = Vec::new();
    for path in paths.iter().take(200) {
        let bytes = fs::read(path)?;
        if path.extension().is_some_and(|extension| extension == "gz") {
            let mut page = Vec::new();
            flate2::read::GzDecoder::new(&bytes[..])
                .read_to_end(&mut page)
                .with_context(|| path.display().to_string())?;
            pages.push(page);
        } else if path.extension().is_some_and(|extension| extension == "html") {
            pages.push(bytes);
        }
    }
    if pages.is_empty() {
        bail!("no .html or .html.gz in {}", folder.display());
    }
    Ok(pages)
}

/// Generates a page of about 100 KB with headings, paragraphs, links, a table and code.
fn made_up(number: usize) -> Vec<u8> {
    let mut page = format!(
        "<!doctype html><html><head><title>Page {number}</title></head><body><nav><a href=/>Home</a></nav><main><article><h1>Page {number}</h1>"
    );
    let mut section = 0;
    while page.len() < 100_000 {
        section += 1;
        page.push_str(&format!(
            "<h2 id=s{section}>Section {section}</h2><p>Some words about <a href=/{section}>subject {section}</a> with <b>weight</b> and a <code>name_{section}</code>, \
             written long enough to look like a paragraph that a person would read to its end.</p><ul><li>first<li>second</ul>\
             <table><tr><th>Key</th><th>Value</th></tr><tr><td>{section}</td><td>{number}</td></tr></table><pre><code class=language-rust>fn f{section}() {{}}</code></pre>"
        ));
    }
    page.push_str("</article></main><footer>end</footer></body></html>");
    page.into_bytes()
}
