//! Handler that follows the script in the payload, and logs what happens.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::{Clock, SystemClock};
use politeness::HostAnswer;
use queue::{Failure, Finished, Handler, Payload, Polite, Queue, Running, Settings, Waker, Worker};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::jobs::{self, Claimed, Filter, Lane, NewJob};
use store::scrapes::{self, Scrape};
use store::{Conn, Store, StoreError};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// Log, in order: `run x`, `asked x`, `drop x`, `commit x y`, `after x y`, `gave up x: why`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

/// Scripted handler.
pub(crate) struct Act(pub(crate) Log);

pub(crate) const PAGES: Queue = Queue { name: "pages", slots: 8 };
pub(crate) const HOOKS: Queue = Queue { name: "hooks", slots: 4 };

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Orders {
    /// Behaviour: `well`, `fail`, `dead`, `panic`, `hang`, `spoil` (its commit can never succeed), `jam` (its commit
    /// fails), `lose` (its commit loses the connection), `refused` (by its host), `held` (until the log has `go on`).
    act: String,
    /// Delay before that, in milliseconds.
    wait: Option<u64>,
    /// Delay after that, in milliseconds, in which its host has answered and is not asked any more.
    pack: Option<u64>,
    /// Number of attempts with this behaviour, after which it succeeds.
    times: Option<i32>,
}

impl Payload for Orders {
    const KIND: &'static str = "act";
    const QUEUE: Queue = PAGES;
    const ATTEMPTS: i32 = 3;
}

/// Payload of another queue, whose jobs only hang.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Hanging {}

impl Payload for Hanging {
    const KIND: &'static str = "hang";
    const QUEUE: Queue = HOOKS;
}

/// Behaviour of the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Well,
    /// Whether the job releases its host slot after the first delay.
    Asked(Duration),
    Refused,
    Spoilt,
    Jammed,
    Lost,
}

impl Log {
    pub(crate) fn add(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn count(&self, start: &str) -> usize {
        self.lines().iter().filter(|line| line.starts_with(start)).count()
    }

    /// Waits until `count` log lines have this prefix.
    pub(crate) async fn reach(&self, start: &str, count: usize) {
        for _ in 0..1000 {
            if self.count(start) >= count {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
        panic!("no {count} lines with {start}: {:?}", self.lines());
    }
}

struct Dropped<'a>(&'a Log, &'a str);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.add(format!("drop {}", self.1));
    }
}

impl Handler for Act {
    type Payload = Orders;
    type Done = Effect;

    async fn run(&self, job: &Running<Orders>) -> Result<Effect, Failure> {
        self.0.add(format!("run {}", job.id));
        let _dropped = Dropped(&self.0, &job.id);
        let wait = Duration::from_millis(job.payload.wait.unwrap_or(0));
        sleep(wait).await;
        if let Some(pack) = job.payload.pack {
            self.0.add(format!("asked {}", job.id));
            job.asking.over(HostAnswer::Answered(wait));
            sleep(Duration::from_millis(pack)).await;
            return Ok(Effect::Asked(wait));
        }
        let over = job.payload.times.is_some_and(|times| job.attempt > times);
        match job.payload.act.as_str() {
            _ if over => Ok(Effect::Well),
            "fail" => Err(Failure::Retry {
                at: Some(SystemClock.now()),
                error: "failed".to_owned(),
                answer: None,
                counted: true,
            }),
            "dead" => Err(Failure::Dead { error: "hopeless".to_owned() }),
            "panic" => panic!("as ordered"),
            "hang" => pending().await,
            "spoil" => Ok(Effect::Spoilt),
            "refused" => Ok(Effect::Refused),
            "jam" => Ok(Effect::Jammed),
            "lose" => Ok(Effect::Lost),
            "held" => {
                self.0.reach("go on", 1).await;
                Ok(Effect::Well)
            }
            _ => Ok(Effect::Well),
        }
    }

    /// Inserts one row for each job; a second one would violate its key.
    async fn commit(&self, conn: &mut Conn, done: &[&Finished<Orders, Effect>]) -> Result<(), StoreError> {
        for finished in done {
            scrapes::insert(conn, &row(&finished.job.id)).await?;
            match finished.done {
                Effect::Well | Effect::Asked(_) | Effect::Refused => {}
                Effect::Spoilt => return Err(StoreError::UnknownTeam),
                Effect::Jammed => return Err(StoreError::transient()),
                Effect::Lost => return Err(StoreError::lost()),
            }
        }
        self.0.add(format!("commit {}", names(done)));
        Ok(())
    }

    async fn give_up(&self, _: &mut Conn, job: &Running<Orders>, error: &str) -> Result<(), StoreError> {
        self.0.add(format!("gave up {}: {error}", job.id));
        Ok(())
    }

    async fn give_up_unread(&self, _: &mut Conn, job: &Claimed, _: &str) -> Result<(), StoreError> {
        self.0.add(format!("unread {} of {}", job.id, job.lane));
        Ok(())
    }

    fn after_commit(&self, done: &[&Finished<Orders, Effect>]) {
        done.iter().for_each(|finished| self.0.add(format!("done {}", finished.job.id)));
    }
}

impl Polite for Act {
    fn answer(done: &Effect) -> Option<HostAnswer> {
        match *done {
            Effect::Asked(time) => Some(HostAnswer::Answered(time)),
            Effect::Refused => Some(HostAnswer::Refused(Some(Duration::from_secs(60)))),
            _ => None,
        }
    }
}

/// Handler that hangs, in [`HOOKS`].
struct Hang(Log);

impl Handler for Hang {
    type Payload = Hanging;
    type Done = ();

    async fn run(&self, job: &Running<Hanging>) -> Result<(), Failure> {
        self.0.add(format!("run {}", job.id));
        pending().await
    }

    async fn commit(&self, _: &mut Conn, _: &[&Finished<Hanging, ()>]) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Worker in a task.
pub(crate) struct Worked {
    pub(crate) task: JoinHandle<()>,
    pub(crate) waker: Waker,
    pub(crate) stop: CancellationToken,
}

impl Worked {
    /// Starts a worker on its own pool.
    pub(crate) fn start(store: Store, log: &Log, settings: Settings) -> Worked {
        let (waker, stop) = (Waker::default(), CancellationToken::new());
        let worker = Worker::new(store, Arc::new(SystemClock), settings).woken_by(waker.clone());
        let worker = worker.with_polite(Act(log.clone())).with(Hang(log.clone()));
        let task = tokio::spawn(worker.run(stop.clone()));
        Worked { task, waker, stop }
    }

    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }
}

/// Settings with short intervals, for fast tests, and a lease that does not expire because the machine is slow.
pub(crate) fn settings() -> Settings {
    let millis = Duration::from_millis;
    Settings {
        lease: Duration::from_secs(20),
        heartbeat: Duration::from_secs(5),
        check: millis(100),
        reap: millis(100),
        poll: millis(100),
        drain: millis(300),
        ..Settings::default()
    }
}

/// Settings with one slot for pages.
pub(crate) fn one_page() -> BTreeMap<String, u32> {
    BTreeMap::from([(PAGES.name.to_owned(), 1)])
}

pub(crate) fn lane<'a>(id: &'a str, team: &'a str) -> Lane<'a> {
    Lane { queue: PAGES.name, id, team_id: team, cap: 100, team_cap: 100, delay: Duration::ZERO }
}

/// Creates a job with any payload, also an unreadable one.
#[expect(clippy::needless_pass_by_value, reason = "written in place")]
pub(crate) fn job(id: &str, payload: Value) -> NewJob {
    let orders = Orders { act: "well".to_owned(), wait: None, pack: None, times: None };
    NewJob { payload: payload.to_string(), ..NewJob::of(id, &orders, SystemClock.now()).unwrap() }
}

pub(crate) fn well(id: &str) -> NewJob {
    job(id, json!({ "act": "well" }))
}

pub(crate) async fn add(store: &Store, lane: &Lane<'_>, new: &[NewJob]) {
    let mut conn = store.conn().await.unwrap();
    assert_eq!(jobs::enqueue(&mut conn, lane, new, SystemClock.now()).await.unwrap(), new.len());
}

/// Checks that the queue is empty and all counters are zero.
pub(crate) async fn assert_empty(store: &Store) {
    let mut conn = store.conn().await.unwrap();
    assert_eq!(jobs::list(&mut conn, Filter::default(), None, 9).await.unwrap(), []);
    assert_eq!(jobs::inconsistencies(&mut conn).await.unwrap(), Vec::<String>::new());
}

fn names(done: &[&Finished<Orders, Effect>]) -> String {
    done.iter().map(|finished| finished.job.id.as_str()).collect::<Vec<_>>().join(" ")
}

fn row(id: &str) -> Scrape {
    Scrape {
        id: id.to_owned(),
        team_id: "a".to_owned(),
        api_key_id: None,
        url: None,
        status_code: None,
        error_code: None,
        cache_state: None,
        credits: 0,
        duration_ms: 0,
        created_at: SystemClock.now(),
        kept: None,
    }
}
