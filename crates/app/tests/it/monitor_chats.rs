//! Chat messages of monitors on a manual clock: a chat server that fails, channels and monitors that are removed meanwhile,
//! and addresses that no server may reach.

use std::time::Duration;

use app::auth::Caller;
use app::monitors::{self as monitor, CHATS};
use app::{AppError, Operations, WorkerSettings, teams};
use base::Clock as _;
use serde_json::{Value, json};
use testkit::{Reply, Seen};
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;
use wire::{ChatChannel, CheckQuery, TeamView};

use crate::log;
use crate::world::World;

const MINUTE: Duration = Duration::from_secs(60);

/// Service whose team has chat channels.
struct Chatting {
    world: World,
    operations: Operations,
    caller: Caller,
    _worker: DropGuard,
}

impl Chatting {
    async fn start() -> Self {
        let world = World::start().await;
        world.leaves_jobs();
        world.site.html("/a", "<p>A page.</p>");
        let operations = world.operations.clone();
        let caller = world.team(None).await;
        let settings = WorkerSettings {
            slots: app::QUEUES.iter().map(|queue| (queue.name.to_owned(), 4)).collect(),
            per_host: 4,
            lease: Duration::from_secs(3600),
            drain: Duration::from_secs(1),
        };
        let stop = CancellationToken::new();
        tokio::spawn(app::worker(&operations, settings).run(stop.clone()));
        Self { world, operations, caller, _worker: stop.drop_guard() }
    }

    fn team(&self) -> Uuid {
        self.caller.team.id.parse().unwrap()
    }

    /// Sets the channels of the team, as `[kind, url]`.
    async fn set(&self, channels: &[[&str; 2]]) -> Result<TeamView, AppError> {
        let channel = |[kind, url]: &[&str; 2]| json!({ "kind": kind, "url": url });
        let body = json!({ "chatChannels": channels.iter().map(channel).collect::<Vec<_>>() });
        teams::update(&self.operations.app, self.team(), wire::decode_update_team(body).unwrap()).await
    }

    /// Returns the URL of a channel on the site.
    fn url(&self, path: &str) -> String {
        self.world.site.url(path).into()
    }

    async fn create(&self) -> Uuid {
        let body = json!({
            "name": "m", "schedule": { "cron": "0 9 1 1 *" },
            "targets": [{ "type": "scrape", "urls": [self.world.site.url("/a")] }],
        });
        let request = wire::decode_create_monitor(body).unwrap();
        monitor::create(&self.operations.monitors, &self.caller, request).await.unwrap().id
    }

    /// Runs a check to its end.
    async fn check(&self, id: Uuid) -> Uuid {
        let begun = monitor::run(&self.operations.monitors, &self.caller, id).await.unwrap();
        let query = CheckQuery { limit: 1, skip: 0, status: None };
        let part =
            async || monitor::check(&self.operations.monitors, &self.caller, id, begun.id, &query).await.unwrap();
        self.until("the check ends", async || part().await.check.finished_at.is_some()).await;
        begun.id
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

    /// Returns the messages that have arrived.
    fn messages(&self) -> Vec<Seen> {
        let mut seen = self.world.site.requests();
        seen.retain(|seen| seen.method == "POST");
        seen
    }

    /// Returns for each message that waits whether its next attempt is later than now.
    async fn waiting(&self) -> Vec<bool> {
        let mut conn = self.world.parts.store.conn().await.unwrap();
        let jobs = store::jobs::list(&mut conn, store::jobs::Filter::default(), None, 100).await.unwrap();
        let chats = jobs.iter().filter(|job| job.kind == "monitor.chat");
        chats.map(|job| job.run_at > self.world.clock.now()).collect()
    }

    /// Sets the clock forward, and lets due messages be sent.
    fn advance(&self, by: Duration) {
        self.world.clock.advance(by);
        self.operations.app.waker().wake(CHATS);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chat_server_that_fails_is_asked_again_and_the_others_once() {
    let chatting = Chatting::start().await;
    let site = &chatting.world.site;
    site.respond("/hush-b", Reply { status: 500, ..Reply::default() });
    let [a, b] = ["/hush-a", "/hush-b"].map(|path| chatting.url(path));
    site.html("/hush-a", "ok");
    let view = chatting.set(&[["slack", &a], ["json", &b]]).await.unwrap();
    assert!(view.chat_channels.iter().all(|channel| !channel.url.contains("hush")), "{view:?}");
    let check = chatting.check(chatting.create().await).await;
    chatting.until("the second attempt waits", async || chatting.waiting().await == [true]).await;
    site.html("/hush-b", "ok");
    chatting.advance(MINUTE);
    chatting.until("it is sent", async || chatting.waiting().await.is_empty()).await;
    chatting.advance(MINUTE * 60);
    tokio::time::sleep(Duration::from_millis(200)).await;
    let seen = chatting.messages();
    let to = |path: &str| seen.iter().filter(|seen| seen.path == path).map(|seen| &seen.body).collect::<Vec<_>>();
    let (a, b) = (to("/hush-a"), to("/hush-b"));
    assert_eq!((a.len(), b.len(), seen.len()), (1, 2, 3));
    assert_eq!(b[0], b[1], "an attempt says what the one before said");
    let object: Value = serde_json::from_slice(b[1]).unwrap();
    assert_eq!(object["checkId"], check.to_string());
    assert!(!log::contains("hush-b"), "the URL of a channel is in no log");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_removed_meanwhile_is_not_told() {
    let chatting = Chatting::start().await;
    let site = &chatting.world.site;
    for path in ["/kept", "/gone"] {
        site.respond(path, Reply { status: 503, ..Reply::default() });
    }
    let [kept, gone] = ["/kept", "/gone"].map(|path| chatting.url(path));
    let view = chatting.set(&[["slack", &gone], ["slack", &kept]]).await.unwrap();
    let id = chatting.create().await;
    chatting.check(id).await;
    chatting.until("both wait", async || chatting.waiting().await == [true, true]).await;
    // The mask of the second keeps it, and with it the message that waits.
    chatting.set(&[["json", &view.chat_channels[1].url]]).await.unwrap();
    chatting.advance(MINUTE);
    chatting.until("one waits", async || chatting.waiting().await == [true]).await;
    monitor::remove(&chatting.operations.monitors, &chatting.caller, id).await.unwrap();
    chatting.advance(MINUTE * 5);
    chatting.until("none waits", async || chatting.waiting().await.is_empty()).await;
    let seen = chatting.messages();
    let targets: Vec<&str> = seen.iter().skip(2).map(|seen| seen.path.as_str()).collect();
    assert_eq!((seen.len(), targets), (3, vec!["/kept"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_message_goes_to_an_address_that_is_refused() {
    let chatting = Chatting::start().await;
    // The service may reach its site on loopback, and nothing else there.
    let listener = tokio::net::TcpListener::bind("127.0.0.2:0").await.unwrap();
    let inside = format!("http://{}/hush", listener.local_addr().unwrap());
    chatting.set(&[["slack", &inside], ["json", "http://169.254.169.254/hush"]]).await.unwrap();
    chatting.check(chatting.create().await).await;
    chatting.until("both wait", async || chatting.waiting().await == [true, true]).await;
    let accepted = tokio::time::timeout(Duration::from_millis(100), listener.accept()).await;
    assert!(accepted.is_err(), "no connection was made");
    assert!(log::contains("127.0.0.2 is refused") && log::contains("169.254.169.254 is refused"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_with_a_fault_changes_nothing() {
    let chatting = Chatting::start().await;
    let before = chatting.set(&[["slack", "https://chat.test/hush"]]).await.unwrap();
    let fault = chatting.set(&[["slack", "https://chat.test/***00000000"]]).await.unwrap_err();
    assert!(matches!(fault, AppError::Invalid(_)), "{fault:?}");
    let body = json!({ "name": "other", "chatChannels": [{ "kind": "json", "url": "https://chat.test/***1" }] });
    let request = wire::decode_update_team(body).unwrap();
    assert!(teams::update(&chatting.operations.app, chatting.team(), request).await.is_err());
    let after = teams::read(&chatting.operations.app, chatting.team()).await.unwrap();
    assert_eq!((after.name, &after.chat_channels), ("team".to_owned(), &before.chat_channels));
    let unknown = wire::decode_update_team(json!({ "chatChannels": [] })).unwrap();
    assert!(matches!(teams::update(&chatting.operations.app, Uuid::nil(), unknown).await, Err(AppError::NotFound(_))));
    let created = wire::decode_create_team(json!({
        "name": "b", "chatChannels": [{ "kind": "json", "url": "https://chat.test/hush" }],
    }));
    let id = teams::create(&chatting.operations.app, created.unwrap()).await.unwrap().team_id;
    let shown: Vec<ChatChannel> = teams::read(&chatting.operations.app, id).await.unwrap().chat_channels;
    assert!(shown.len() == 1 && shown[0].url.starts_with("https://chat.test/***"), "{}", shown[0].url);
    assert_ne!(shown[0].url, before.chat_channels[0].url);
}
