//! `cargo xtask chaos monitor`: kill -9 at random moments of the checks of a monitor, first of one process on SQLite, then
//! of a server and a worker on PostgreSQL. Each page is in its check once, charged once and told once, and each check
//! tells its end once.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use lab::{Installation, Node};
use serde_json::{Value, json};
use testkit::{Reply, Site};
use uuid::Uuid;
use wire::{BillingStatus, CheckStatus, MonitorCheckDetail};
use xtask::db::Cluster;
use xtask::say;

use crate::made_site::MadeSite;
use crate::monitor::{Monitor, pages_target};
use crate::random::Random;
use crate::smtp::Smtp;
use crate::team::Team;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of kills, half of them with each database.
    #[arg(long, default_value_t = 100)]
    times: usize,
    /// Number of pages of a check.
    #[arg(long, default_value_t = 200)]
    pages: usize,
    /// Lease of jobs in seconds, after which those of a killed process are retried.
    #[arg(long, default_value_t = 3)]
    lease: u64,
    /// Run only with this database: sqlite or postgres.
    #[arg(long)]
    only: Option<String>,
    /// Send mails through aiosmtpd too, and count them: one for each check.
    #[arg(long)]
    mail: bool,
}

const CREDITS: u64 = 1_000_000;
/// Response time of a page, so that a check lasts for several kills.
const PAGE: Duration = Duration::from_millis(60);
/// Maximum number of pages of a target.
const PER_TARGET: usize = 100;
/// Timeout of a check after its last kill.
const MAX_CHECK: Duration = Duration::from_secs(600);
/// Timeout until a check gets further after a kill.
const MAX_RESUME: Duration = Duration::from_secs(90);
/// Recipient of the mails.
const RECIPIENT: &str = "ops@example.com";
/// Timeout until all events of a check have arrived, and its mail.
const MAX_TOLD: Duration = Duration::from_secs(120);

pub(crate) async fn run(args: Args) -> Result<()> {
    let wanted = |name: &str| args.only.as_deref().is_none_or(|only| only == name);
    let both = args.only.is_none();
    if wanted("sqlite") {
        let times = if both { args.times.div_ceil(2) } else { args.times };
        Experiment::new("SQLite", &args, None).await?.run(times).await?;
    }
    if wanted("postgres") {
        let times = if both { args.times / 2 } else { args.times };
        let cluster = Cluster::start()?;
        Experiment::new("PostgreSQL, server and worker", &args, Some(cluster.url())).await?.run(times).await?;
    }
    Ok(())
}

struct Experiment {
    name: &'static str,
    site: MadeSite,
    hook: Site,
    /// Mail server, if mails are sent.
    smtp: Option<Smtp>,
    installation: Installation,
    server: Option<Node>,
    /// Separate worker, if the server does not run jobs.
    worker: Option<Node>,
    apart: bool,
    random: Random,
    longest: Duration,
    /// Ids of all messages that have arrived.
    messages: BTreeSet<String>,
    /// Messages that have arrived again.
    repeated: usize,
}

impl Experiment {
    async fn new(name: &'static str, args: &Args, database: Option<String>) -> Result<Self> {
        let (site, hook) = (MadeSite::changing(args.pages, PAGE).await, Site::start().await);
        hook.respond("/hook", Reply::default());
        let allow = format!("{},{}", site.addr(), hook.addr());
        let installation = super::installation(site.addr())?.set("egress.allow", allow);
        let mut installation = installation.set("worker.lease_s", args.lease.to_string());
        let smtp = if args.mail { Some(Smtp::start()?) } else { None };
        if let Some(smtp) = &smtp {
            installation = installation.set_all([
                ("mail.url", smtp.url()),
                ("mail.from", "Quarry <quarry@example.com>".to_owned()),
                ("mail.ca_file", smtp.certificate().display().to_string()),
            ]);
        }
        let apart = database.is_some();
        if let Some(url) = database {
            installation = installation.set("store.url", url).set("worker.embedded", "false");
        }
        let random = Random::new(u64::from(std::process::id()));
        Ok(Self {
            name,
            site,
            hook,
            smtp,
            installation,
            server: None,
            worker: None,
            apart,
            random,
            longest: Duration::ZERO,
            messages: BTreeSet::new(),
            repeated: 0,
        })
    }

    async fn run(mut self, times: usize) -> Result<()> {
        self.start()?;
        let mut team = json!({ "name": "monitor", "credits": CREDITS });
        if self.smtp.is_some() {
            team["alertEmails"] = json!([RECIPIENT]);
        }
        let team = Team::with(self.addr()?, &team).await?;
        let monitor = Monitor::create(&team, self.addr()?, &self.body()).await?;
        let (mut killed, mut checks) = (0, 0_usize);
        while killed < times {
            killed += self.check(&monitor, checks == 0, times - killed).await?;
            checks += 1;
            self.mailed(checks).await?;
            let left = team.credits(self.addr()?).await?;
            let spent = i64::try_from(checks * self.site.pages())?;
            ensure!(left == CREDITS as i64 - spent, "{left} credits are left, {spent} should be spent");
            self.site.publish();
        }
        say!(
            "{}: killed {killed} times in {checks} checks of {} pages: each page once, charged once and told once, one end \
             told of each check{}; {} messages arrived again, resumed after {:.1} s at most",
            self.name,
            self.site.pages(),
            if self.smtp.is_some() { " and one mail sent" } else { "" },
            self.repeated,
            self.longest.as_secs_f64()
        );
        Ok(())
    }

    /// Returns the monitor of all pages. Its schedule is never due meanwhile.
    fn body(&self) -> Value {
        let urls: Vec<String> = (0..self.site.pages()).map(|number| self.site.url(number)).collect();
        let targets: Vec<Value> = urls.chunks(PER_TARGET).map(pages_target).collect();
        let hook = self.hook.url("/hook");
        let mut body = json!({
            "name": "chaos", "schedule": { "cron": "0 0 29 2 *" }, "targets": targets, "webhook": { "url": hook.as_str() },
        });
        if self.smtp.is_some() {
            body["notification"] = json!({ "email": { "enabled": true } });
        }
        body
    }

    /// Runs one check with up to `max` kills, and returns their number.
    async fn check(&mut self, monitor: &Monitor, is_first: bool, max: usize) -> Result<usize> {
        let check = monitor.run(self.addr()?).await?;
        let mut killed = 0;
        loop {
            tokio::time::sleep(Duration::from_millis(100 + self.random.high() % 1200)).await;
            let seen = monitor.check(self.addr()?, check).await?;
            if seen.check.status.is_over() || killed == max {
                break;
            }
            killed += 1;
            self.kill()?;
            let resumed = self.resumed(monitor, check, seen.check.summary.total_pages).await?;
            self.longest = self.longest.max(resumed);
        }
        let end = monitor.ended(self.addr()?, check, MAX_CHECK).await?;
        self.look(monitor, &end, is_first).await?;
        self.told(check).await?;
        Ok(killed)
    }

    /// Checks the pages of a check and what they cost.
    async fn look(&self, monitor: &Monitor, end: &MonitorCheckDetail, is_first: bool) -> Result<()> {
        let (check, pages) = (&end.check, self.site.pages());
        ensure!(check.status == CheckStatus::Completed, "ended as {}: {:?}", check.status.as_str(), check.error);
        ensure!(check.billing_status == BillingStatus::Confirmed, "billed as {}", check.billing_status.as_str());
        let charged = check.actual_credits.context("no credits")?;
        ensure!(charged == i64::try_from(pages)?, "{charged} credits for {pages} pages");
        let (mut seen, mut credits) = (BTreeSet::new(), 0);
        for page in monitor.pages(self.addr()?, check.id).await? {
            let number: usize =
                page.url.rsplit('/').next().unwrap_or_default().parse().context("no number of a page")?;
            ensure!(seen.insert(number), "{} is there twice", page.url);
            credits += page.metadata.get("creditsUsed").and_then(Value::as_i64).context("a page without credits")?;
            let expect = match (is_first, MadeSite::changes(number)) {
                (true, _) => "new",
                (false, true) => "changed",
                (false, false) => "same",
            };
            let status = page.status.as_str();
            ensure!(status == expect, "{} is {status}, expected {expect}: {:?}", page.url, page.metadata);
        }
        ensure!(seen.len() == pages, "{} of {pages} pages", seen.len());
        ensure!(credits == charged, "the pages cost {credits} credits, the check {charged}");
        Ok(())
    }

    /// Waits for the events of a check, and checks that each has arrived. A message may arrive again, with its id.
    async fn told(&mut self, check: Uuid) -> Result<()> {
        let (started, pages) = (Instant::now(), self.site.pages());
        let (mut urls, mut ends) = (BTreeSet::new(), 0);
        while urls.len() < pages || ends == 0 {
            for seen in self.hook.take_requests() {
                let body: Value = serde_json::from_slice(&seen.body).context("a message is no JSON")?;
                if !self.messages.insert(body["webhookId"].as_str().context("a message without an id")?.to_owned()) {
                    self.repeated += 1;
                    continue;
                }
                ensure!(body["id"] == check.to_string().as_str(), "a message of another check: {body}");
                if body["type"] == "monitor.check.completed" {
                    ensure!(body["success"] == true, "the end is {body}");
                    ensure!(urls.len() == pages, "the end was told after {} of {pages} pages", urls.len());
                    ends += 1;
                } else {
                    let url = body["data"][0]["url"].as_str().context("a page without a URL")?.to_owned();
                    ensure!(urls.insert(url), "a page was told twice: {body}");
                }
            }
            ensure!(started.elapsed() < MAX_TOLD, "{} of {pages} pages and {ends} ends were told", urls.len());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        ensure!(ends == 1, "{ends} ends of the check were told");
        Ok(())
    }

    /// Waits for the mails of all checks so far. One may arrive again, with its Message-ID.
    async fn mailed(&self, checks: usize) -> Result<()> {
        let Some(smtp) = &self.smtp else { return Ok(()) };
        let started = Instant::now();
        loop {
            let letters = smtp.letters()?;
            let ids: BTreeSet<&str> = letters.iter().filter_map(|letter| letter.header("message-id")).collect();
            ensure!(ids.len() <= checks, "{} different mails of {checks} checks", ids.len());
            if ids.len() == checks {
                return Ok(());
            }
            ensure!(started.elapsed() < MAX_TOLD, "{} mails of {checks} checks", ids.len());
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    /// Returns the time until another page, or the check, is done.
    async fn resumed(&self, monitor: &Monitor, check: Uuid, before: i64) -> Result<Duration> {
        let started = Instant::now();
        loop {
            let seen = monitor.check(self.addr()?, check).await?.check;
            if seen.summary.total_pages > before || seen.status.is_over() {
                return Ok(started.elapsed());
            }
            ensure!(started.elapsed() < MAX_RESUME, "not resumed within {} s", MAX_RESUME.as_secs());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn start(&mut self) -> Result<()> {
        if self.server.is_none() {
            self.server = Some(self.installation.server()?);
        }
        if self.apart && self.worker.is_none() {
            self.worker = Some(self.installation.worker()?);
        }
        Ok(())
    }

    /// Kills a process, mostly the one that runs jobs, and starts it again.
    fn kill(&mut self) -> Result<()> {
        let victim =
            if self.apart && !self.random.high().is_multiple_of(4) { self.worker.take() } else { self.server.take() };
        victim.map_or(Ok(()), Node::kill)?;
        self.start()
    }

    fn addr(&self) -> Result<SocketAddr> {
        self.server.as_ref().map(Node::addr).context("no server runs")
    }
}
