//! `cargo xtask up`: from a fresh clone to a running service with one command.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{say, setup, sh};

/// Address of the local sample page, so that the first scrape works without a network.
const SAMPLE: &str = "127.0.0.1:3003";
const SAMPLE_PAGE: &str = include_str!("up/sample.html");

/// Arguments of `cargo xtask up`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder for the database and stored pages.
    #[arg(long, default_value = "data")]
    data: PathBuf,
    /// Listening address of the service.
    #[arg(long, default_value = "127.0.0.1:3002")]
    listen: String,
    /// Build without quarry-reader: no OCR, and half the build time.
    #[arg(long)]
    without_ocr: bool,
    /// Run without Chromium: pages are returned without running their scripts.
    #[arg(long)]
    without_browser: bool,
    /// Build without optimisation: faster to build, slower to run.
    #[arg(long)]
    debug: bool,
}

/// Builds the server, starts it with SQLite and a local blob folder, and waits until it ends.
pub(crate) fn run(args: &Args) -> Result<()> {
    let profile = if args.debug { "dev" } else { "up" };
    announce(args, profile)?;
    sh::step("setup", setup::for_build)?;
    if !args.without_browser && !sh::step("setup of the browser", setup::for_browser)? {
        say!("note: Chromium is not available, so the scripts of pages do not run; install it, or set browser.path");
    }
    let mut packages = vec!["--package", "quarry-server"];
    if !args.without_ocr && sh::step("setup of text recognition", setup::for_ocr)? {
        packages.extend(["--package", "quarry-reader"]);
    }
    let program = sh::step("build", || sh::build(profile, &packages))?;
    serve_sample().with_context(|| format!("cannot serve the sample page on {SAMPLE}"))?;
    let mut child = start(&program, args)?;
    wait_ready(&mut child, &args.listen)?;
    say!("\nQuarry listens on http://{}, its data is in {}. Try it:\n", args.listen, args.data.display());
    say!("{}\n", curl_line(&args.listen));
    say!("Any public page works the same way; Ctrl-C stops the service.");
    let status = child.wait()?;
    if !status.success() {
        bail!("quarry-server ended with {status}");
    }
    Ok(())
}

/// Announces what will be installed and built, before it happens.
fn announce(args: &Args, profile: &str) -> Result<()> {
    let missing = setup::missing_for_up(!args.without_browser, !args.without_ocr);
    match missing.is_empty() {
        true => say!("Nothing has to be installed."),
        false => {
            say!("These packages will be installed with apt-get (some 100 to 400 MB, a minute or two):");
            missing.iter().for_each(|(name, why)| say!("  {name}: {why}"));
        }
    }
    let folder = if profile == "dev" { "debug" } else { profile };
    if sh::target()?.join(folder).join("quarry-server").is_file() {
        say!("Then the server is built; what is built already is kept. It takes from seconds to a few minutes.");
    } else {
        say!(
            "Then all of it is built, which takes 5 to 20 minutes the first time, by the machine, and some 3 GB in target/; \
             the next time it takes seconds. --without-ocr halves it."
        );
    }
    say!("In the end the service runs in the foreground, with its data in {}.\n", args.data.display());
    Ok(())
}

/// Returns the command that the README shows.
fn curl_line(listen: &str) -> String {
    format!(
        "curl -s http://{listen}/v2/scrape -H 'Content-Type: application/json' -d '{{\"url\": \"http://{SAMPLE}/\"}}'"
    )
}

fn start(program: &PathBuf, args: &Args) -> Result<Child> {
    Command::new(program)
        .current_dir(sh::root())
        .env("QUARRY__SERVER__LISTEN", &args.listen)
        .env("QUARRY__DATA__DIR", &args.data)
        .env("QUARRY__EGRESS__ALLOW", SAMPLE)
        .env("QUARRY__LOG__FORMAT", "text")
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))
}

/// Waits until the service is ready.
pub fn wait_ready(child: &mut Child, address: &str) -> Result<Duration> {
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(30) {
        if let Some(status) = child.try_wait()? {
            bail!("the server ended with {status} before it was ready");
        }
        if ready(address) {
            return Ok(started.elapsed());
        }
        thread::sleep(Duration::from_millis(5));
    }
    bail!("the server was not ready after 30 s")
}

fn ready(address: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect(address) else {
        return false;
    };
    let request = format!("GET /health/ready HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let mut answer = String::new();
    stream.write_all(request.as_bytes()).is_ok()
        && stream.read_to_string(&mut answer).is_ok()
        && answer.starts_with("HTTP/1.1 200")
}

fn serve_sample() -> Result<()> {
    let listener = TcpListener::bind(SAMPLE)?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = answer(stream);
        }
    });
    Ok(())
}

fn answer(mut stream: TcpStream) -> Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    let mut head = [0; 4096];
    let _ = stream.read(&mut head)?;
    let length = SAMPLE_PAGE.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(SAMPLE_PAGE.as_bytes())?;
    Ok(())
}
