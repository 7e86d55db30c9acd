//! `cargo xtask mail`: letters of monitors through aiosmtpd with STARTTLS and a login, read by Python's email; with
//! `--service` those of the running service too.

mod service;

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base::{Clock, SystemClock};
use mail::letters::{ChangedPage, Counts, Summary, confirmation, summary};
use mail::{Letter, Mailer, SendError, Settings};
use url::Url;

use crate::say;
use crate::smtp::{Smtp, Stored};

const HOSTILE: &str =
    "Prices\r\nBcc: all@example.com\r\n\r\n<script>alert(1)</script> =?utf-8?q?=0D=0ACc:x@example.com?=";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder for the HTML and plain text of each letter, to look at.
    #[arg(long)]
    keep: Option<std::path::PathBuf>,
    /// Also play the life of a recipient against the running service.
    #[arg(long)]
    service: bool,
}

/// Sends a confirmation, a summary with hostile texts and letters that are refused, and checks what has arrived.
pub(crate) async fn run(args: Args) -> Result<()> {
    let server = Smtp::start()?;
    let mailer = mailer(&server, &server.url())?;
    let link = Url::parse("https://quarry.example.com/v2/monitor/email/confirm?token=abc.def")?;
    send(&mailer, "ops@example.com", confirmation("Prices of tea", &link)).await?;
    send(&mailer, "ops@example.com", hostile_summary(&link)).await?;
    refusals(&server, &mailer, &link).await?;
    let letters = server.letters()?;
    ensure!(letters.len() == 3, "{} letters have arrived, not 3", letters.len());
    for letter in &letters {
        check(letter)?;
        say!("{}: {}", letter.to.join(", "), letter.header("subject").unwrap_or_default());
    }
    check_hostile(&letters[1])?;
    let mut letters = letters;
    if args.service {
        let more = service::run().await?;
        service::tell(&more);
        letters.extend(more);
    }
    if let Some(folder) = args.keep {
        std::fs::create_dir_all(&folder)?;
        for (number, letter) in letters.iter().enumerate() {
            std::fs::write(folder.join(format!("{number}.html")), &letter.html)?;
            std::fs::write(folder.join(format!("{number}.txt")), &letter.text)?;
        }
    }
    say!("all letters are as expected");
    Ok(())
}

fn mailer(server: &Smtp, url: &str) -> Result<Mailer> {
    let settings = Settings {
        url: Some(url.parse().map_err(anyhow::Error::msg)?),
        from: "Quarry <quarry@example.org>".to_owned(),
        ca_file: Some(server.certificate()),
        timeout: Duration::from_secs(10),
        ..Settings::default()
    };
    Mailer::new(&settings)?.context("a server is set")
}

async fn send(mailer: &Mailer, to: &str, content: mail::Content) -> Result<(), SendError> {
    let to: mail::Address = to.parse().map_err(|_| SendError::Refused("no address".to_owned()))?;
    let unsubscribe = Url::parse("https://quarry.example.com/v2/monitor/email/unsubscribe?token=ghi.jkl").ok();
    let date = SystemClock.now();
    mailer.send(&Letter { key: "check 1", to: &to, content, unsubscribe: unsubscribe.as_ref(), date }).await
}

fn hostile_summary(link: &Url) -> mail::Content {
    let page = ChangedPage {
        url: "https://example.com/prices?a=1&b=\"><script>",
        title: Some(HOSTILE),
        status: "changed",
        note: Some(HOSTILE),
        diff: Some("--- previous\n+++ current\n-Assam  12 €\n+Assam  10 €\n.\n+</pre><script>alert(1)</script>\n"),
    };
    summary(&Summary {
        monitor: HOSTILE,
        goal: Some(HOSTILE),
        when: "2026-03-01 09:00 (Europe/Berlin)",
        counts: Counts { changed: 1, new: 0, removed: 0, error: 2 },
        pages: &[page],
        unsubscribe: link,
    })
}

/// One of three recipients does not exist, one is put off, and a wrong password is no fault of a letter.
async fn refusals(server: &Smtp, good: &Mailer, link: &Url) -> Result<()> {
    let letter = || confirmation("Prices of tea", link);
    let gone = send(good, "gone@example.com", letter()).await;
    ensure!(matches!(&gone, Err(SendError::Refused(_))), "550: {gone:?}");
    let busy = send(good, "busy@example.com", letter()).await;
    ensure!(matches!(&busy, Err(SendError::Later(_))), "451: {busy:?}");
    let stranger = mailer(server, &server.url().replace("secret", "wrong"))?;
    let login = send(&stranger, "ops@example.com", letter()).await;
    ensure!(matches!(&login, Err(SendError::Later(_))), "535: {login:?}");
    send(good, "dev@example.com", letter()).await?;
    Ok(())
}

fn check(letter: &Stored) -> Result<()> {
    ensure!(letter.defects.is_empty(), "defects: {:?}", letter.defects);
    ensure!(letter.tls && letter.from == "quarry@example.org" && letter.to.len() == 1, "{letter:?}");
    ensure!(letter.headers.iter().all(|[_, value]| !value.contains(char::is_control)), "{:?}", letter.headers);
    ensure!(letter.header("to") == letter.to.first().map(String::as_str), "{:?}", letter.headers);
    ensure!(letter.parts == ["multipart/alternative", "text/plain", "text/html"], "{:?}", letter.parts);
    ensure!(letter.header("list-unsubscribe-post") == Some("List-Unsubscribe=One-Click"), "{:?}", letter.headers);
    ensure!(letter.text.contains("https://quarry.example.com/") && letter.html.contains("<html"), "{letter:?}");
    Ok(())
}

fn check_hostile(letter: &Stored) -> Result<()> {
    ensure!(letter.header("bcc").is_none() && letter.header("cc").is_none(), "{:?}", letter.headers);
    ensure!(!letter.html.contains("<script") && letter.text.contains("<script>"), "{}", letter.html);
    ensure!(letter.text.contains("-Assam  12 €\n+Assam  10 €\n.\n"), "the diff is another: {}", letter.text);
    Ok(())
}
