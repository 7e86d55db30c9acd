//! Scenarios of monitors on a manual clock: every check, page, charge, event and mail that they expect.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use app::auth::Caller;
use app::monitors::{self as monitor, Monitors, WebSearch};
use app::{MonitorSettings, Operations, WorkerSettings};
use base::{Clock, Timestamp};
use bytes::Bytes;
use kernel::Refusal as _;
use parking_lot::Mutex;
use serde_json::{Value, json};
use store::ledger::{self, Booking};
use store::teams::TeamChange;
use store::{List, monitors as rows, teams};
use testkit::{MailServer, ModelServer, Reply, Script};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wire::{CheckQuery, ChecksQuery};

use self::doubles::Scripted;
pub(crate) use self::doubles::mail_parts;
use self::faults::{second, shown_mail};
use crate::world::World;

mod doubles;
mod faults;

/// Scenarios, with what they expect.
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/monitor_scenarios.json");
/// Real time that a step may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Scenario that is being played.
struct Player {
    world: World,
    operations: Operations,
    caller: Caller,
    monitor: Option<Uuid>,
    scheduler: Option<CancellationToken>,
    worker: Option<CancellationToken>,
    is_held: bool,
    /// Checks by their ids, in the order of time, with their pages.
    checks: BTreeMap<String, Value>,
    looks: Vec<Value>,
    mail: MailServer,
    _model: Option<ModelServer>,
}

fn at(text: &Value) -> Timestamp {
    text.as_str().unwrap().parse().unwrap()
}

impl Player {
    async fn start(scenario: &Value) -> Self {
        let world = World::on(database(scenario)).await;
        world.clock.set(at(&scenario["steps"][0]["at"]));
        let model = doubles::model(&scenario["model"]).await;
        let answers = model.as_ref().map(|model| {
            let settings = llm::Settings {
                url: Some(model.url("/v1")),
                model: "small".to_owned(),
                attempts: 1,
                ..llm::Settings::default()
            };
            Arc::new(answers::Answers::new(&settings, Arc::new(world.clock.clone())).unwrap())
        });
        let mut operations = world.judging(answers).await;
        let mail = MailServer::start().await;
        let lists = serde_json::from_value(scenario["search"].clone()).unwrap_or_default();
        let search: Arc<dyn WebSearch> = Arc::new(Scripted { lists, asked: Mutex::default() });
        operations.monitors = Monitors::new(monitor::Parts {
            runs: operations.runs.clone(),
            search: Some(search),
            mail: Some(mail_parts(&mail)),
            settings: MonitorSettings::default(),
        });
        let caller = world.team(scenario["team"]["credits"].as_i64()).await;
        let player = Self {
            world,
            operations,
            caller,
            monitor: None,
            scheduler: None,
            worker: None,
            is_held: false,
            checks: BTreeMap::new(),
            looks: Vec::new(),
            mail,
            _model: model,
        };
        player.set_team(&scenario["team"]).await;
        for (path, page) in scenario["site"].as_object().unwrap() {
            player.serve(path, page);
        }
        player.world.site.respond("/hook", Reply::default());
        player
    }

    /// Runs the jobs of these queues until the token is cancelled.
    fn work(&self, queues: &[&str]) -> CancellationToken {
        let stop = CancellationToken::new();
        let slots = app::QUEUES.iter().filter(|queue| !queues.contains(&queue.name));
        let slots = slots.map(|queue| (queue.name.to_owned(), 0)).collect();
        let settings =
            WorkerSettings { slots, per_host: 4, lease: Duration::from_secs(3600), drain: Duration::from_secs(1) };
        tokio::spawn(app::worker(&self.operations, settings).run(stop.clone()));
        stop
    }

    fn serve(&self, path: &str, page: &Value) {
        let status = page["status"].as_u64().unwrap();
        if status == 0 {
            return self.world.site.script(path, vec![Script::Raw(Bytes::new())]);
        }
        let links = page["links"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let links: String = links.map(|link| format!("<a href='{link}'>x</a> ")).collect();
        let body = page["body"].as_str().unwrap();
        let html = format!("<!doctype html><title>t</title><nav>{links}</nav><main><p>{body}</p></main>");
        let reply = Reply { status: u16::try_from(status).unwrap(), body: html.into(), ..Reply::default() };
        self.world.site.respond(path, reply.header("content-type", "text/html"));
    }

    async fn set_team(&self, set: &Value) {
        let grant = set.get("partnerGrant").map(|grant| grant.as_str().map(str::to_owned));
        let alerts = set.get("alertEmails").map(|alerts| serde_json::from_value(alerts.clone()).unwrap());
        let change = TeamChange {
            partner_grant: grant,
            alert_emails: alerts.map(|alerts| Some(List(alerts))),
            ..TeamChange::default()
        };
        let mut conn = self.world.parts.store.conn().await.unwrap();
        teams::update(&mut conn, &self.caller.team.id, &change).await.unwrap();
    }

    /// Puts the address of the site in front of paths.
    fn of_site(&self, value: &Value) -> Value {
        let full = |value: &Value| Value::from(self.world.site.url(value.as_str().unwrap()).to_string());
        let mut value = value.clone();
        for target in value["targets"].as_array_mut().into_iter().flatten() {
            if let Some(urls) = target.get_mut("urls").and_then(Value::as_array_mut) {
                urls.iter_mut().for_each(|url| *url = full(url));
            }
            if target.get("url").is_some() {
                target["url"] = full(&target["url"]);
            }
        }
        if value["webhook"].is_object() {
            value["webhook"]["url"] = full(&value["webhook"]["url"]);
        }
        value
    }

    async fn step(&mut self, step: &Value, scenario: &Value) {
        let monitors = self.operations.monitors.clone();
        match step["do"].as_str().unwrap() {
            "create" => {
                let body = self.of_site(&scenario["monitor"]);
                let request = wire::decode_create_monitor(body).unwrap();
                let made = monitor::create(&monitors, &self.caller, request).await.unwrap();
                self.monitor = Some(made.id);
                self.scheduler = Some(self.work(&["monitors"]));
                self.worker = Some(self.work(&["pages", "judge", "hooks", "mails"]));
            }
            "site" => self.serve(step["path"].as_str().unwrap(), step),
            "run" => drop(monitor::run(&monitors, &self.caller, self.monitor.unwrap()).await.unwrap()),
            "patch" => {
                let mut body = self.of_site(&step["body"]);
                body.as_object_mut().unwrap().retain(|_, value| !value.is_null());
                let request = wire::decode_update_monitor(body).unwrap();
                monitor::update(&monitors, &self.caller, self.monitor.unwrap(), request).await.unwrap();
            }
            "delete" => monitor::remove(&monitors, &self.caller, self.monitor.unwrap()).await.unwrap(),
            "grant" => {
                let mut conn = self.world.parts.store.conn().await.unwrap();
                let booking =
                    Booking { key: "grant", team: &self.caller.team.id, api_key: None, at: self.world.clock.now() };
                ledger::grant(&mut conn, &booking, step["credits"].as_i64().unwrap()).await.unwrap();
            }
            "team" => self.set_team(&step["set"]).await,
            "hold" => {
                self.worker.take().unwrap().cancel();
                self.is_held = true;
            }
            "release" => {
                self.worker = Some(self.work(&["pages", "judge", "hooks", "mails"]));
                self.is_held = false;
            }
            "stop" | "kill" => [&mut self.scheduler, &mut self.worker].into_iter().for_each(|token| {
                token.take().unwrap().cancel();
            }),
            "start" => {
                self.scheduler = Some(self.work(&["monitors"]));
                self.worker = Some(self.work(&["pages", "judge", "hooks", "mails"]));
            }
            "look" => self.look(&step["at"]).await,
            "confirm" => drop(monitor::confirm(&monitors, &self.token(step, "confirm")).await.unwrap()),
            "unsubscribe" => drop(monitor::unsubscribe(&monitors, &self.token(step, "unsubscribe")).await.unwrap()),
            other => panic!("unknown step {other}"),
        }
    }

    /// Returns the token of a link in the last mail to an address that has one.
    fn token(&self, step: &Value, word: &str) -> String {
        let to = step["email"].as_str().unwrap();
        let mails = self.mail.mails();
        mails.iter().rev().filter(|mail| mail.to == [to]).find_map(|mail| mail.token(word)).unwrap()
    }

    /// Returns the mails in the order of time and recipient.
    fn mails(&self) -> Vec<Value> {
        let mut mails: Vec<Value> = self.mail.mails().iter().map(shown_mail).collect();
        mails.sort_by_key(Value::to_string);
        mails
    }

    /// Returns the recipients with their states.
    async fn subscriptions(&self) -> Value {
        let view = monitor::read(&self.operations.monitors, &self.caller, self.monitor.unwrap()).await.unwrap();
        let recipients = view.email_recipient_subscriptions.into_iter();
        recipients.map(|known| (known.email, json!(known.status))).collect::<serde_json::Map<_, _>>().into()
    }

    async fn look(&mut self, at: &Value) {
        let (monitors, id) = (&self.operations.monitors, self.monitor.unwrap());
        monitor::upkeep::sweep(monitors).await.unwrap();
        let look = match monitor::read(monitors, &self.caller, id).await {
            Ok(view) => {
                let listed = self.listed().await.len();
                json!({
                    "at": at, "status": view.status, "nextRunAt": view.next_run_at.map(second),
                    "estimatedCreditsPerMonth": view.estimated_credits_per_month, "listedChecks": listed,
                })
            }
            Err(error) => json!({ "at": at, "http": error.code().status() }),
        };
        self.looks.push(look);
    }

    async fn listed(&self) -> Vec<wire::MonitorCheck> {
        let query = ChecksQuery { limit: 100, skip: 0, status: None };
        let found = monitor::checks(&self.operations.monitors, &self.caller, self.monitor.unwrap(), &query).await;
        found.unwrap_or_default()
    }

    /// Lets everything happen that is due now. A check takes no time but what hosts and retries are waited for.
    async fn settle(&mut self) {
        if self.scheduler.is_none() {
            return;
        }
        let started = tokio::time::Instant::now();
        let mut nudged = started;
        while !self.is_idle().await {
            assert!(started.elapsed() < PATIENCE, "still at work: {:?}", self.listed().await);
            app::QUEUES.iter().for_each(|queue| self.operations.app.waker().wake(*queue));
            tokio::time::sleep(Duration::from_millis(10)).await;
            if nudged.elapsed() > Duration::from_millis(400) {
                self.world.clock.advance(Duration::from_secs(1));
                nudged = tokio::time::Instant::now();
            }
        }
        for check in self.listed().await {
            let known = self.checks.get(&check.id.to_string());
            if known.is_none_or(|known| known["finishedAt"].is_null()) {
                let seen = self.detail(check.id).await;
                self.checks.insert(check.id.to_string(), seen);
            }
        }
    }

    /// Returns whether nothing is due and nothing is at work.
    ///
    /// Reads monitors, fires, checks and deliveries in the order in which one makes the next, so that
    /// work that moves on between two reads is seen by one of them.
    async fn is_idle(&self) -> bool {
        let now = self.world.clock.now();
        let mut conn = self.world.parts.store.conn().await.unwrap();
        if !rows::due(&mut conn, now, 1).await.unwrap().is_empty()
            || is_any_due(&mut conn, &["monitor.fire"], now).await
        {
            return false;
        }
        if self.is_held {
            return true;
        }
        let open = rows::open_checks(&mut conn).await.unwrap();
        open.queued + open.running == 0 && !is_any_due(&mut conn, &["webhook", "crawl.page", "monitor.mail"], now).await
    }

    /// Returns a check with its pages, as far as scenarios expect something of them.
    async fn detail(&self, id: Uuid) -> Value {
        let query = CheckQuery { limit: 100, skip: 0, status: None };
        let monitors = &self.operations.monitors;
        let part = monitor::check(monitors, &self.caller, self.monitor.unwrap(), id, &query).await.unwrap();
        let mut check = serde_json::to_value(&part.check).unwrap();
        let base = self.world.site.url("/").to_string();
        let pages = part.pages.iter().map(|page| {
            let mut seen = json!({
                "url": page.url.strip_prefix(&base).map_or(page.url.clone(), |path| format!("/{path}")),
                "status": page.status, "statusCode": page.status_code, "creditsUsed": page.metadata["creditsUsed"],
            });
            if let Some(visibility) = page.metadata.get("visibility") {
                seen["visibility"] = visibility.clone();
            }
            if let Some(judgment) = &page.judgment {
                seen["judgment"] = serde_json::to_value(judgment).unwrap();
            }
            seen
        });
        check["pages"] = pages.collect();
        check
    }

    /// Returns the time of the next fire.
    async fn next_fire(&self) -> Option<Timestamp> {
        let view = monitor::read(&self.operations.monitors, &self.caller, self.monitor?).await.ok()?;
        view.next_run_at.filter(|_| self.scheduler.is_some())
    }

    /// Plays all steps.
    async fn play(&mut self, scenario: &Value) {
        let until = at(&scenario["until"]);
        let mut steps = scenario["steps"].as_array().unwrap().iter().peekable();
        loop {
            let step = steps.peek().map(|step| at(&step["at"]));
            let fire = self.next_fire().await.filter(|fire| *fire <= until);
            let now = self.world.clock.now();
            match (step, fire) {
                (Some(step), fire) if fire.is_none_or(|fire| step <= fire) => {
                    self.world.clock.set(step.max(now));
                    let step = steps.next().unwrap();
                    self.step(step, scenario).await;
                }
                (_, Some(fire)) => self.world.clock.set(fire.max(now)),
                (_, None) => break,
            }
            self.settle().await;
        }
        self.world.clock.set(until.max(self.world.clock.now()));
        self.settle().await;
    }
}

/// Returns whether a job of one of these kinds is due.
async fn is_any_due(conn: &mut store::Conn, kinds: &[&str], now: Timestamp) -> bool {
    let jobs = store::jobs::list(conn, store::jobs::Filter::default(), None, 100).await.unwrap();
    jobs.iter().any(|job| kinds.contains(&job.kind.as_str()) && job.run_at <= now)
}

/// Returns a setting of `cargo xtask monitor-sim scenarios`.
#[expect(clippy::disallowed_methods, reason = "the command plays other files, on other databases")]
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns the database of a scenario, whose name is its id; `None` for SQLite.
fn database(scenario: &Value) -> Option<String> {
    let server = setting("MONITOR_SCENARIOS_POSTGRES")?;
    Some(format!("{server}/{}", scenario["id"].as_str().unwrap()))
}

/// Plays the scenarios whose numbers leave this remainder, and reports all that fail.
#[expect(clippy::print_stdout, reason = "the figure of `cargo xtask monitor-sim scenarios`")]
async fn play(part: usize) {
    const PARTS: usize = 4;
    let file = setting("MONITOR_SCENARIOS").unwrap_or_else(|| CASES.to_owned());
    let cases: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let only = setting("SCENARIO");
    let (mut played, mut failed) = (0, Vec::new());
    for (number, scenario) in cases["scenarios"].as_array().unwrap().iter().enumerate() {
        let id = scenario["id"].as_str().unwrap();
        if number % PARTS != part || only.as_ref().is_some_and(|only| only != id) {
            continue;
        }
        let mut player = Player::start(scenario).await;
        player.world.leaves_jobs();
        player.play(scenario).await;
        played += 1;
        let faults = player.faults(&scenario["expect"]).await;
        if !faults.is_empty() {
            failed.push(format!("{id}:\n  {}", faults.join("\n  ")));
        }
    }
    println!("{} of {played} scenarios are as expected", played - failed.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenarios_of_the_first_part() {
    play(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenarios_of_the_second_part() {
    play(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenarios_of_the_third_part() {
    play(2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenarios_of_the_fourth_part() {
    play(3).await;
}
