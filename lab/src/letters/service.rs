//! Mails of monitors from the running service: confirmation, page with a button, summary with diffs, one click.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::{Method, header};
use lab::{Installation, Node, programs};
use serde_json::{Value, json};
use testkit::Site;
use url::Url;

use super::check;
use crate::say;
use crate::smtp::{Smtp, Stored};
use crate::team::{OPERATOR, Team};

/// Address at which the links begin.
const PUBLIC: &str = "https://quarry.example.com";
const OPS: &str = "ops@example.com";
const GUEST: &str = "guest@example.net";
/// Time that a mail or a check may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The service with a mail server, and a team with a monitor.
struct Stage {
    server: Smtp,
    node: Node,
    site: Site,
    team: Team,
    monitor: String,
}

/// Plays the life of a recipient, and returns the letters that have arrived.
pub(super) async fn run() -> Result<Vec<Stored>> {
    let stage = Stage::set().await?;
    stage.letters(GUEST, 1).await?;
    stage.checked("10").await?;
    ensure!(stage.letters(OPS, 1).await?.len() == 1 && stage.letters(GUEST, 1).await?.len() == 1, "too many letters");
    stage.confirm().await?;
    stage.checked("12").await?;
    let told = stage.letters(GUEST, 2).await?.remove(1);
    ensure!(told.text.contains("+The price is 12 EUR."), "no diff: {}", told.text);
    stage.unsubscribe(&told).await?;
    let state = stage.checked("13").await?;
    let sent = state["recipients"].as_array().map_or(0, Vec::len);
    ensure!(state["status"] == "partial" && sent == 2, "{state}");
    stage.letters(OPS, 3).await?;
    let letters = stage.server.letters()?;
    ensure!(letters.iter().filter(|letter| letter.to == [GUEST]).count() == 2, "a letter after it has unsubscribed");
    for letter in &letters {
        check(letter)?;
    }
    Ok(letters)
}

impl Stage {
    async fn set() -> Result<Self> {
        let (server, site) = (Smtp::start()?, Site::start().await);
        let installation = Installation::new(programs::release()?)?.set_all([
            ("auth.mode", "keys".to_owned()),
            ("admin.token", OPERATOR.to_owned()),
            ("egress.allow", site.addr().to_string()),
            ("server.public_url", PUBLIC.to_owned()),
            ("mail.url", server.url()),
            ("mail.from", "Quarry <quarry@example.org>".to_owned()),
            ("mail.ca_file", server.certificate().display().to_string()),
        ]);
        let node = installation.server()?;
        let team = json!({ "name": "mailed", "credits": 100, "alertEmails": [OPS, "gone@example.com"] });
        let team = Team::with(node.addr(), &team).await?;
        page(&site, "9");
        let body = json!({
            "name": "Prices of <tea>", "schedule": { "cron": "0 9 1 1 *" },
            "targets": [{ "type": "scrape", "urls": [site.url("/").to_string()] }],
            "notification": { "email": { "recipients": [OPS, GUEST, "gone@example.com"], "includeDiffs": true } },
        });
        let made: Value = serde_json::from_slice(&team.post(node.addr(), "/v2/monitor", &body).await?.body)?;
        let monitor = made["data"]["id"].as_str().with_context(|| format!("no monitor: {made}"))?.to_owned();
        Ok(Self { server, node, site, team, monitor })
    }

    /// Runs a check of the page with this price, and returns the state of its mails when they have ended.
    async fn checked(&self, price: &str) -> Result<Value> {
        page(&self.site, price);
        let path = format!("/v2/monitor/{}", self.monitor);
        let begun = self.team.post(self.node.addr(), &format!("{path}/run"), &json!({})).await?;
        let begun: Value = serde_json::from_slice(&begun.body)?;
        let check = begun["data"]["id"].as_str().with_context(|| format!("no check: {begun}"))?.to_owned();
        let (client, started) = (self.team.at(self.node.addr())?, Instant::now());
        loop {
            let read = client.send(Method::GET, &format!("{path}/checks/{check}"), "").await?;
            let read: Value = serde_json::from_slice(&read.body)?;
            let state = &read["data"]["notificationStatus"]["email"];
            if state.is_object() && state["status"] != "queued" {
                return Ok(state.clone());
            }
            ensure!(started.elapsed() < PATIENCE, "the check has not ended: {read}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Returns the letters to an address, once there are as many as this.
    async fn letters(&self, to: &str, count: usize) -> Result<Vec<Stored>> {
        let started = Instant::now();
        loop {
            let mut letters = self.server.letters()?;
            letters.retain(|letter| letter.to == [to]);
            if letters.len() >= count {
                return Ok(letters);
            }
            ensure!(started.elapsed() < PATIENCE, "{} letters to {to}, not {count}", letters.len());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Opens the link of the confirmation, which changes nothing, and presses its button.
    async fn confirm(&self) -> Result<()> {
        let asked = self.letters(GUEST, 1).await?.remove(0);
        let link = asked.text.split_whitespace().find(|word| word.contains("/confirm?token=")).context("no link")?;
        let link = Url::parse(link)?;
        let client = lab::service::client(self.node.addr(), None)?;
        let path = format!("{}?{}", link.path(), link.query().unwrap_or_default());
        let opened = client.send(Method::GET, &path, "").await?;
        ensure!(opened.status == 200 && opened.text().contains("<button>"), "{}", opened.text());
        ensure!(self.status_of_guest().await? == "pending", "a GET has changed something");
        let token = link.query_pairs().find(|(name, _)| name == "token").context("no token")?.1.into_owned();
        let pressed = client.request(Method::POST, link.path()).header(header::ACCEPT, "text/html");
        let pressed = pressed.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let pressed = client.execute(pressed, Bytes::from(format!("token={token}"))).await?;
        ensure!(pressed.status == 200 && pressed.text().contains("Confirmed"), "{}", pressed.text());
        ensure!(self.status_of_guest().await? == "confirmed", "the button has changed nothing");
        Ok(())
    }

    /// Sends the POST that mail programs send for one click.
    async fn unsubscribe(&self, letter: &Stored) -> Result<()> {
        let link = letter.header("list-unsubscribe").context("no List-Unsubscribe")?;
        let link = Url::parse(link.trim_matches(['<', '>']))?;
        let client = lab::service::client(self.node.addr(), None)?;
        let path = format!("{}?{}", link.path(), link.query().unwrap_or_default());
        let click = client.request(Method::POST, &path);
        let click = click.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let clicked = client.execute(click, Bytes::from_static(b"List-Unsubscribe=One-Click")).await?;
        ensure!(clicked.status == 200, "{}", clicked.text());
        ensure!(self.status_of_guest().await? == "unsubscribed", "one click has changed nothing");
        Ok(())
    }

    async fn status_of_guest(&self) -> Result<String> {
        let client = self.team.at(self.node.addr())?;
        let read = client.send(Method::GET, &format!("/v2/monitor/{}", self.monitor), "").await?;
        let read: Value = serde_json::from_slice(&read.body)?;
        let known = read["data"]["emailRecipientSubscriptions"].as_array().context("no recipients")?;
        let guest = known.iter().find(|known| known["email"] == GUEST).context("no guest")?;
        Ok(guest["status"].as_str().unwrap_or_default().to_owned())
    }
}

fn page(site: &Site, price: &str) {
    site.html("/", format!("<title>Tea &amp; more</title><h1>Tea</h1><p>The price is {price} EUR.</p>"));
}

/// Tells what has arrived.
pub(super) fn tell(letters: &[Stored]) {
    for letter in letters {
        say!("service: {}: {}", letter.to.join(", "), letter.header("subject").unwrap_or_default());
    }
}
