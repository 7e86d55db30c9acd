//! Webhooks from the event to the receiver: order, bytes, signatures, retry schedule, administration.

use std::sync::Arc;
use std::time::Duration;

use ::webhooks::{Event, Received, SIGNATURE, SigningSecret, standard_verify, verify};
use app::webhooks::{self, Deliver, Hook, Source, emit, emit_all};
use app::{AppError, RunsError, auth::Caller};
use base::Clock;
use net::{Allow, Client, Config, Egress, Limits};
use queue::{Settings, Worker};
use serde_json::{Value, json};
use store::{Conn, StoreError};
use testkit::{Reply, Seen};
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;
use uuid::Uuid;
use wire::event::{COMPLETED, CRAWL, FAILED, PAGE, STARTED};
use wire::{DeliveryState, DeliveryView, RotateSecret, WebhookConfig, event};

use crate::world::World;

/// World with one team, and a worker that delivers while this value lives.
struct Sending {
    world: World,
    caller: Caller,
    _stop: DropGuard,
}

impl Sending {
    async fn start() -> Self {
        let world = World::start().await;
        let caller = world.team(None).await;
        let egress = Egress { allow: vec![Allow::Address(world.site.addr())], ..Egress::default() };
        let client = Client::new(Config { egress, limits: Limits::default() }).unwrap();
        let clock: Arc<dyn Clock> = Arc::new(world.clock.clone());
        let settings = Settings { poll: Duration::from_millis(5), ..Settings::default() };
        let deliver = Deliver::new(world.parts.store.clone(), Arc::clone(&clock), client);
        let stop = CancellationToken::new();
        tokio::spawn(Worker::new(world.parts.store.clone(), clock, settings).with(deliver).run(stop.clone()));
        Self { world, caller, _stop: stop.drop_guard() }
    }

    fn team(&self) -> Uuid {
        self.caller.team.id.parse().unwrap()
    }

    fn hook(&self, path: &str) -> WebhookConfig {
        WebhookConfig::new(&CRAWL, self.world.site.url(path))
    }

    async fn emit(&self, config: &WebhookConfig, events: &[Event<'_>]) {
        let hook = Hook::check(Some(config), false).unwrap().unwrap();
        self.emit_to(&hook, events).await;
    }

    async fn emit_to(&self, hook: &Hook, events: &[Event<'_>]) {
        let (team, now) = (self.caller.team.id.as_str(), self.world.clock.now());
        let mut conn = self.world.parts.store.conn().await.unwrap();
        let write = async |conn: &mut Conn| -> Result<(), StoreError> {
            emit_all(conn, hook, Source { team, job: "job" }, events, now).await
        };
        conn.tx(write).await.unwrap();
    }

    async fn log(&self) -> Vec<DeliveryView> {
        webhooks::deliveries(&self.world.app, self.team(), None, None, 100).await.unwrap().data
    }

    /// Waits until `what` holds for the log and the receiver.
    async fn until(&self, what: impl Fn(&[DeliveryView], &[Seen]) -> bool) -> (Vec<DeliveryView>, Vec<Seen>) {
        for _ in 0..1000 {
            let (log, seen) = (self.log().await, self.world.site.requests());
            if what(&log, &seen) {
                return (log, seen);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("it did not happen: {:?}", self.log().await);
    }

    async fn secret(&self) -> SigningSecret {
        let view = webhooks::secret(&self.world.app, self.team()).await.unwrap();
        SigningSecret::parse(&view.secret).unwrap()
    }
}

fn ended(log: &[DeliveryView]) -> bool {
    log.iter().all(|delivery| delivery.state != DeliveryState::Pending)
}

fn body(seen: &Seen) -> Value {
    serde_json::from_slice(&seen.body).unwrap()
}

fn fits(seen: &Seen, secret: &SigningSecret, now: i64) -> bool {
    let (id, timestamp) = (seen.header("webhook-id"), seen.header("webhook-timestamp"));
    let received = Received { id, timestamp, signatures: seen.header("webhook-signature"), body: &seen.body };
    standard_verify(secret.key(), &received, now, Duration::from_secs(60))
}

#[tokio::test(flavor = "multi_thread")]
async fn events_arrive_in_order_signed_and_whole() {
    let sending = Sending::start().await;
    sending.world.site.respond("/hook", Reply { status: 204, ..Reply::default() });
    let document = serde_json::value::to_raw_value(&json!({ "markdown": "# café" })).unwrap();
    let mut events = vec![Event::new(CRAWL.event(COMPLETED).unwrap())];
    events.extend((0..6).map(|_| Event::new(CRAWL.event(PAGE).unwrap()).with_json(&document)));
    events.push(Event::new(CRAWL.event(STARTED).unwrap()));
    let mut config = sending.hook("/hook");
    config.metadata = json!({ "who": "me" }).as_object().unwrap().clone();
    // The order of insertion within one transaction does not matter.
    sending.emit(&config, &events).await;
    let (log, seen) = sending.until(|log, _| log.len() == 8 && ended(log)).await;
    let kinds: Vec<Value> = seen.iter().map(|seen| body(seen)["type"].clone()).collect();
    assert_eq!((&kinds[0], &kinds[7]), (&json!("crawl.started"), &json!("crawl.completed")));
    assert!(kinds[1..7].iter().all(|kind| kind == "crawl.page"), "{kinds:?}");
    let secret = sending.secret().await;
    let now = sending.world.clock.now().timestamp();
    for seen in &seen {
        assert!(verify(secret.text(), &seen.body, seen.header(SIGNATURE)) && fits(seen, &secret, now));
        assert_eq!((body(seen)["id"].as_str(), &body(seen)["metadata"]["who"]), (Some("job"), &json!("me")));
        assert_eq!(body(seen)["webhookId"], seen.header("webhook-id"));
        assert_eq!((seen.method.as_str(), seen.header("content-type")), ("POST", "application/json"));
    }
    assert_eq!(body(&seen[1])["data"], json!([{ "markdown": "# café" }]));
    assert!(log.iter().all(|delivery| delivery.attempts == 1 && delivery.status == Some(204)));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_wanted_events_are_sent() {
    let sending = Sending::start().await;
    sending.world.site.respond("/hook", Reply::default());
    let mut config = sending.hook("/hook");
    config.events = [COMPLETED, FAILED].into_iter().filter_map(|word| event::BATCH_SCRAPE.event(word)).collect();
    let events = [STARTED, PAGE, COMPLETED].map(|word| Event::new(event::BATCH_SCRAPE.event(word).unwrap()));
    sending.emit(&config, &events).await;
    let (log, _) = sending.until(|log, _| !log.is_empty() && ended(log)).await;
    let names: Vec<&str> = log.iter().map(|delivery| delivery.event.as_str()).collect();
    assert_eq!(names, ["batch_scrape.completed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_tried_again_and_then_by_hand() {
    let sending = Sending::start().await;
    sending.world.site.respond("/hook", Reply { status: 500, body: "no\nthanks".into(), ..Reply::default() });
    sending.emit(&sending.hook("/hook"), &[Event::new(CRAWL.event(PAGE).unwrap())]).await;
    for (attempt, pause) in [(1, 60), (2, 300), (3, 900)] {
        let (log, _) = sending.until(|log, _| log[0].attempts == attempt).await;
        let left = log[0].next_at.unwrap() - sending.world.clock.now();
        assert_eq!((log[0].state, left.num_seconds()), (DeliveryState::Pending, pause));
        assert_eq!((log[0].status, log[0].error.as_deref()), (Some(500), Some("status 500: no thanks")));
        sending.world.clock.advance(Duration::from_secs(pause.unsigned_abs()));
    }
    let (log, seen) = sending.until(|log, _| ended(log)).await;
    assert_eq!((log[0].state, log[0].attempts, log[0].next_at), (DeliveryState::Failed, 4, None));
    assert_eq!(seen.len(), 4);

    sending.world.site.respond("/hook", Reply::default());
    let again = webhooks::redeliver(&sending.world.app, log[0].id).await.unwrap();
    assert_eq!((again.state, again.attempts), (DeliveryState::Pending, 0));
    let (log, seen) = sending.until(|log, _| ended(log)).await;
    assert_eq!((log[0].state, log[0].attempts, log[0].error.as_ref()), (DeliveryState::Delivered, 1, None));
    let first = &seen[0];
    for seen in &seen {
        assert_eq!((&seen.body, seen.header("webhook-id")), (&first.body, first.header("webhook-id")));
        assert_eq!(seen.header(SIGNATURE), first.header(SIGNATURE));
    }
    assert_eq!(seen.len(), 5);
    let gone = webhooks::redeliver(&sending.world.app, Uuid::nil()).await;
    assert!(matches!(gone, Err(RunsError::App(AppError::NotFound("webhook delivery")))));
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_not_followed_and_gone_is_the_end() {
    let sending = Sending::start().await;
    // Retries are due later.
    sending.world.leaves_jobs();
    let elsewhere = sending.world.site.url("/elsewhere").to_string();
    let moved = Reply { status: 302, ..Reply::default() }.header("location", &elsewhere);
    sending.world.site.respond("/moved", moved);
    sending.world.site.respond("/gone", Reply { status: 410, ..Reply::default() });
    sending.world.site.respond("/busy", Reply { status: 429, ..Reply::default() }.header("retry-after", "120"));
    for path in ["/moved", "/gone", "/busy"] {
        sending.emit(&sending.hook(path), &[Event::new(CRAWL.event(PAGE).unwrap())]).await;
    }
    let (log, seen) = sending.until(|log, _| log.iter().all(|delivery| delivery.attempts == 1)).await;
    let found = |path: &str| log.iter().find(|delivery| delivery.url.ends_with(path)).unwrap();
    assert_eq!((found("/moved").state, found("/moved").status), (DeliveryState::Pending, Some(302)));
    assert_eq!((found("/gone").state, found("/gone").next_at), (DeliveryState::Failed, None));
    assert_eq!((found("/busy").next_at.unwrap() - sending.world.clock.now()).num_seconds(), 120);
    assert!(seen.iter().all(|seen| seen.path != "/elsewhere"));
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_receivers_are_failures_without_a_connection() {
    let sending = Sending::start().await;
    // Retries are due later.
    sending.world.leaves_jobs();
    let canary = testkit::Canary::start().await;
    let config = WebhookConfig::new(&CRAWL, Url::parse(&format!("http://{}/hook", canary.addr())).unwrap());
    sending.emit(&config, &[Event::new(CRAWL.event(PAGE).unwrap())]).await;
    let (log, _) = sending.until(|log, _| log[0].attempts == 1).await;
    assert_eq!((log[0].state, log[0].status), (DeliveryState::Pending, None));
    assert!(log[0].error.as_ref().is_some_and(|error| error.contains("refused")), "{:?}", log[0].error);
    assert_eq!(canary.connects(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_set_their_headers_and_not_ours() {
    let sending = Sending::start().await;
    sending.world.site.respond("/hook", Reply::default());
    let mut config = sending.hook("/hook");
    config.url.set_username("me").unwrap();
    config.url.set_password(Some("hush")).unwrap();
    let given = [("X-Service-Signature", "sha256=00"), ("Content-Type", "text/plain"), ("X-Own", "1")];
    config.headers = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    sending.emit(&config, &[Event::new(CRAWL.event(PAGE).unwrap())]).await;
    let (log, seen) = sending.until(|log, _| ended(log)).await;
    assert_eq!((seen[0].header("x-own"), seen[0].header("content-type")), ("1", "application/json"));
    assert_eq!(seen[0].header("authorization"), "Basic bWU6aHVzaA==");
    assert!(verify(sending.secret().await.text(), &seen[0].body, seen[0].header(SIGNATURE)));
    assert!(!log[0].url.contains("hush"), "{}", log[0].url);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_signs_with_both_for_a_time() {
    let sending = Sending::start().await;
    sending.world.site.respond("/hook", Reply::default());
    let old = sending.secret().await;
    let own = SigningSecret::generate([9; 32]);
    let request = RotateSecret { overlap_seconds: 100, secret: Some(own.text().to_owned()) };
    let view = webhooks::rotate_secret(&sending.world.app, sending.team(), request).await.unwrap();
    assert_eq!((view.secret.as_str(), view.previous_secret.as_deref()), (own.text(), Some(old.text())));
    for (advance, old_fits) in [(0, true), (100, false)] {
        sending.world.clock.advance(Duration::from_secs(advance));
        let before = sending.world.site.requests().len();
        sending.emit(&sending.hook("/hook"), &[Event::new(CRAWL.event(PAGE).unwrap())]).await;
        let (_, seen) = sending.until(|log, seen| seen.len() > before && ended(log)).await;
        let (last, now) = (seen.last().unwrap(), sending.world.clock.now().timestamp());
        assert_eq!((fits(last, &own, now), fits(last, &old, now)), (true, old_fits));
        assert!(verify(own.text(), &last.body, last.header(SIGNATURE)));
    }
    let bad = RotateSecret { overlap_seconds: 0, secret: Some("whsec_short".into()) };
    let refused = webhooks::rotate_secret(&sending.world.app, sending.team(), bad).await;
    assert!(matches!(refused, Err(AppError::Invalid(_))));
    let fresh = RotateSecret { overlap_seconds: 0, secret: None };
    let view = webhooks::rotate_secret(&sending.world.app, sending.team(), fresh).await.unwrap();
    assert!(view.secret != own.text() && view.previous_secret.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn private_deliveries_leave_with_their_end() {
    let sending = Sending::start().await;
    sending.world.site.respond("/hook", Reply::default());
    let hook = Hook::check(Some(&sending.hook("/hook")), true).unwrap().unwrap();
    let document = serde_json::value::to_raw_value(&json!({ "markdown": "HUSH" })).unwrap();
    sending.emit_to(&hook, &[Event::new(CRAWL.event(PAGE).unwrap()).with_json(&document)]).await;
    let (_, seen) = sending.until(|log, seen| log.is_empty() && !seen.is_empty()).await;
    assert_eq!(body(&seen[0])["data"][0]["markdown"], "HUSH");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_rolled_back_is_not_sent() {
    let sending = Sending::start().await;
    let hook = Hook::check(Some(&sending.hook("/hook")), false).unwrap().unwrap();
    let (team, now) = (sending.caller.team.id.as_str(), sending.world.clock.now());
    let mut conn = sending.world.parts.store.conn().await.unwrap();
    let end: Result<(), StoreError> = conn
        .tx(async |conn: &mut Conn| {
            emit(conn, &hook, team, "job", &Event::new(CRAWL.event(PAGE).unwrap()), now).await?;
            Err(StoreError::UnknownTeam)
        })
        .await;
    assert!(end.is_err());
    drop(conn);
    // A later event arrives, and the one given up does not.
    sending.world.site.respond("/hook", Reply::default());
    sending.emit(&sending.hook("/hook"), &[Event::new(CRAWL.event(STARTED).unwrap())]).await;
    let (log, seen) = sending.until(|log, seen| ended(log) && !seen.is_empty()).await;
    assert_eq!((log.len(), seen.len(), &body(&seen[0])["type"]), (1, 1, &json!("crawl.started")));
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_are_checked_when_a_job_is_submitted() {
    let check = |url: &str| Hook::check(Some(&WebhookConfig::new(&CRAWL, Url::parse(url).unwrap())), false);
    assert!(Hook::check(None, false).unwrap().is_none());
    assert!(check("https://hook.test/x").unwrap().is_some());
    for url in ["ftp://hook.test/", "file:///etc/passwd", "http://hook.test:0/", "http://a..b/"] {
        assert!(matches!(check(url), Err(AppError::Invalid(_))), "{url}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_is_the_teams_own_and_does_not_last() {
    let sending = Sending::start().await;
    sending.world.site.respond("/hook", Reply::default());
    sending.world.site.respond("/gone", Reply { status: 410, ..Reply::default() });
    sending.emit(&sending.hook("/hook"), &[Event::new(CRAWL.event(PAGE).unwrap())]).await;
    sending.emit(&sending.hook("/gone"), &[Event::new(CRAWL.event(PAGE).unwrap())]).await;
    sending.until(|log, _| log.len() == 2 && ended(log)).await;
    let (app, team) = (&sending.world.app, sending.team());
    let failed = webhooks::deliveries(app, team, Some(DeliveryState::Failed), None, 100).await.unwrap();
    assert_eq!(failed.data.len(), 1);
    let first = webhooks::deliveries(app, team, None, None, 1).await.unwrap();
    let rest = webhooks::deliveries(app, team, None, first.next, 2).await.unwrap();
    assert_eq!((rest.data.len(), rest.next), (1, None));
    assert!(rest.data[0].id < first.data[0].id, "newest first");
    let other = sending.world.team(None).await.team.id.parse().unwrap();
    assert!(webhooks::deliveries(app, other, None, None, 100).await.unwrap().data.is_empty());
    let nobody = webhooks::deliveries(app, Uuid::nil(), None, None, 100).await;
    assert!(matches!(nobody, Err(AppError::NotFound("team"))));
    assert!(matches!(webhooks::secret(app, Uuid::nil()).await, Err(AppError::NotFound("team"))));

    sending.world.clock.advance(Duration::from_secs(3 * 86_400 + 1));
    assert_eq!(app::maintain_once(&sending.world.operations).await.unwrap()["webhooks"], 2);
    assert!(sending.log().await.is_empty());
}

#[tokio::test]
#[should_panic(expected = "a webhook is left")]
async fn a_test_that_leaves_a_job_fails() {
    let world = World::start().await;
    let caller = world.team(None).await;
    let hook = Hook::check(Some(&WebhookConfig::new(&CRAWL, world.site.url("/hook"))), false).unwrap().unwrap();
    let mut conn = world.parts.store.conn().await.unwrap();
    let now = world.clock.now();
    let write = async |conn: &mut Conn| -> Result<(), StoreError> {
        emit(conn, &hook, &caller.team.id, "job", &Event::new(CRAWL.event(STARTED).unwrap()), now).await
    };
    conn.tx(write).await.unwrap();
}
