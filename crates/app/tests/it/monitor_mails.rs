//! Mails of monitors on a manual clock: a mail server that is gone or hangs, and limits on mails that ask for confirmation.

use std::time::Duration;

use app::auth::Caller;
use app::monitors::{self as monitor, MAILS, Monitors};
use app::{MonitorSettings, Operations, WorkerSettings};
use base::Clock as _;
use serde_json::{Value, json};
use store::teams::{self, TeamChange};
use store::{List, mails};
use testkit::MailServer;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;
use wire::CheckQuery;

use crate::monitors::mail_parts;
use crate::world::World;

const MINUTE: Duration = Duration::from_secs(60);

/// Service with a mail server.
struct Mailed {
    world: World,
    operations: Operations,
    caller: Caller,
    server: MailServer,
    _worker: DropGuard,
}

impl Mailed {
    /// Starts a service whose team has these alert addresses.
    async fn start(alerts: &[&str]) -> Self {
        let (world, server) = (World::start().await, MailServer::start().await);
        world.leaves_jobs();
        world.site.html("/a", "<p>A page.</p>");
        let mut operations = world.operations.clone();
        operations.monitors = Monitors::new(monitor::Parts {
            runs: operations.runs.clone(),
            search: None,
            mail: Some(mail_parts(&server)),
            settings: MonitorSettings::default(),
        });
        let caller = world.team(None).await;
        let alerts = Some(List(alerts.iter().map(|alert| (*alert).to_owned()).collect()));
        let change = TeamChange { alert_emails: Some(alerts), ..TeamChange::default() };
        teams::update(&mut world.parts.store.conn().await.unwrap(), &caller.team.id, &change).await.unwrap();
        let settings = WorkerSettings {
            slots: app::QUEUES.iter().map(|queue| (queue.name.to_owned(), 4)).collect(),
            per_host: 4,
            lease: Duration::from_secs(3600),
            drain: Duration::from_secs(1),
        };
        let stop = CancellationToken::new();
        tokio::spawn(app::worker(&operations, settings).run(stop.clone()));
        Self { world, operations, caller, server, _worker: stop.drop_guard() }
    }

    async fn create(&self, caller: &Caller, recipients: &[String]) -> wire::MonitorView {
        let body = json!({
            "name": "m", "schedule": { "cron": "0 9 1 1 *" },
            "targets": [{ "type": "scrape", "urls": [self.world.site.url("/a")] }],
            "notification": { "email": { "recipients": recipients } },
        });
        let request = wire::decode_create_monitor(body).unwrap();
        monitor::create(&self.operations.monitors, caller, request).await.unwrap()
    }

    /// Runs a check to its end, and returns its id.
    async fn check(&self, id: Uuid) -> Uuid {
        let begun = monitor::run(&self.operations.monitors, &self.caller, id).await.unwrap();
        self.until("the check ends", async || self.state(id, begun.id).await.is_some()).await;
        begun.id
    }

    /// Returns the state of a check's mails; `None` before its end.
    async fn state(&self, id: Uuid, check: Uuid) -> Option<Value> {
        let query = CheckQuery { limit: 1, skip: 0, status: None };
        let part = monitor::check(&self.operations.monitors, &self.caller, id, check, &query).await.unwrap();
        part.check.notification_status.map(|state| state["email"].clone())
    }

    /// Waits, up to ten seconds, until something is so.
    async fn until(&self, what: &str, is_so: impl AsyncFn() -> bool) {
        for _ in 0..400 {
            if is_so().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("not within ten seconds: {what}");
    }

    /// Sets the clock forward, and lets due mails be sent.
    fn advance(&self, by: Duration) {
        self.world.clock.advance(by);
        self.operations.app.waker().wake(MAILS);
    }

    /// Waits until the next attempt at every mail is at least a minute away.
    async fn attempted(&self, attempt: u32) {
        let is_so = async || {
            let mut conn = self.world.parts.store.conn().await.unwrap();
            let jobs = store::jobs::list(&mut conn, store::jobs::Filter::default(), None, 100).await.unwrap();
            let mut mails = jobs.iter().filter(|job| job.kind == "monitor.mail");
            mails.all(|job| job.run_at > self.world.clock.now()) && jobs.iter().any(|job| job.kind == "monitor.mail")
        };
        self.until(&format!("attempt {attempt}"), is_so).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_gone_for_ten_minutes_loses_no_mail() {
    let mailed = Mailed::start(&["ops@example.com", "dev@example.com"]).await;
    mailed.server.greet(Some("421 4.3.2 busy"));
    let id = mailed.create(&mailed.caller, &[]).await.id;
    let check = mailed.check(id).await;
    mailed.attempted(1).await;
    let state = mailed.state(id, check).await.unwrap();
    assert_eq!(state["status"], "queued");
    assert!(state["recipients"][0]["error"].as_str().unwrap().contains("421"), "{state}");
    mailed.advance(MINUTE);
    mailed.attempted(2).await;
    mailed.advance(MINUTE * 5);
    mailed.attempted(3).await;
    mailed.advance(MINUTE * 4);
    mailed.server.greet(None);
    mailed.advance(MINUTE * 11);
    mailed.until("both are sent", async || mailed.server.mails().len() == 2).await;
    mailed.until("it is noted", async || mailed.state(id, check).await.unwrap()["status"] == "sent").await;
    let mails = mailed.server.mails();
    assert_ne!(mails[0].headers("message-id"), mails[1].headers("message-id"));
    mailed.advance(MINUTE * 60);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(mailed.server.mails().len(), 2, "each once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_is_given_up_after_four_attempts_and_a_stranger_is_asked_again() {
    let mailed = Mailed::start(&["ops@example.com"]).await;
    mailed.server.hang(true);
    let recipients = ["ops@example.com".to_owned(), "guest@example.net".to_owned()];
    let id = mailed.create(&mailed.caller, &recipients).await.id;
    let check = mailed.check(id).await;
    for (attempt, minutes) in [(1, 1), (2, 5), (3, 15)] {
        mailed.attempted(attempt).await;
        mailed.advance(MINUTE * minutes);
    }
    mailed.until("it is given up", async || mailed.state(id, check).await.unwrap()["status"] == "failed").await;
    let known = async || {
        let mut conn = mailed.world.parts.store.conn().await.unwrap();
        mails::subscriptions(&mut conn, &mailed.caller.team.id, &["guest@example.net"]).await.unwrap().len()
    };
    mailed.until("the stranger is forgotten", async || known().await == 0).await;
    mailed.server.hang(false);
    let check = mailed.check(id).await;
    mailed
        .until("it is asked", async || mailed.server.mails().iter().any(|mail| mail.to == ["guest@example.net"]))
        .await;
    assert_eq!(mailed.state(id, check).await.unwrap()["reason"], "nothing has changed");
    assert_eq!(known().await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_mailbox_is_filled_with_confirmations() {
    let mailed = Mailed::start(&[]).await;
    let strangers = |of: u32| (0..25).map(|number| format!("{of}.{number}@example.net")).collect::<Vec<_>>();
    let mut made = Vec::new();
    for of in 0..3 {
        made.push(mailed.create(&mailed.caller, &strangers(of)).await);
    }
    let asked = |view: &wire::MonitorView| {
        let all = view.email_recipient_subscriptions.iter();
        all.filter(|known| known.confirmation_email_sent == Some(true)).count()
    };
    assert_eq!(made.iter().map(asked).collect::<Vec<_>>(), [25, 25, 0], "50 in an hour");
    mailed.until("they are asked", async || mailed.server.mails().len() == 50).await;
    // Those who are named again are not asked again.
    assert_eq!(asked(&mailed.create(&mailed.caller, &strangers(0)).await), 0);
    mailed.advance(MINUTE * 61);
    mailed.check(made[2].id).await;
    mailed.until("the others are asked later", async || mailed.server.mails().len() == 75).await;

    let victim = ["victim@example.net".to_owned()];
    let mut teams = Vec::new();
    for _ in 0..4 {
        let caller = mailed.world.team(None).await;
        teams.push(asked(&mailed.create(&caller, &victim).await));
    }
    assert_eq!(teams, [1, 1, 1, 0], "three teams a day");
}
