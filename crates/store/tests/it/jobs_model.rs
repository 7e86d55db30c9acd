//! Model test of the queue: random commands must leave the same jobs in the same states as a small model.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use store::jobs::{self, Claimed, Filter, Lane, NewJob, Retry};
use store::{Conn, Store};
use tokio::runtime::Handle;

use crate::bank::rich_team;
use crate::jobs::{job, lane, want};
use crate::{at, id, suite};

suite!(random_commands_keep_the_rules);

const CASES: u32 = 24;
const LANES: [(&str, usize, i32); 4] = [("p", 0, 2), ("q", 0, 3), ("r", 1, 1), ("s", 1, 9)];
const TEAM_CAP: i32 = 4;
const LEASE: i64 = 10;

#[derive(Debug, Clone)]
enum Command {
    /// Lane, name, phase, priority, minutes to wait, attempts, number of a unique key.
    Enqueue(usize, u8, i32, i32, i64, i32, Option<u8>),
    Claim(usize),
    /// Claim number n, of a living or a dead holder.
    Finish(usize),
    Retry(usize, i64, bool),
    Bury(usize),
    Renew(usize),
    Cancel(usize),
    Pass(i64),
    Reap,
    Redrive(u8),
}

fn command() -> impl Strategy<Value = Command> {
    let key = prop::option::weighted(0.3, 0..4_u8);
    prop_oneof![
        10 => (0..4_usize, any::<u8>(), 0..3, -1..2, prop_oneof![4 => Just(0_i64), 1 => 1..9_i64], 1..4, key)
            .prop_map(|(lane, name, phase, priority, wait, attempts, key)| {
                Command::Enqueue(lane, name, phase, priority, wait, attempts, key)
            }),
        8 => (0..8_usize).prop_map(Command::Claim),
        6 => (0..99_usize).prop_map(Command::Finish),
        3 => (0..99_usize, 0..9_i64, any::<bool>()).prop_map(|(n, wait, counted)| Command::Retry(n, wait, counted)),
        1 => (0..99_usize).prop_map(Command::Bury),
        1 => (0..99_usize).prop_map(Command::Renew),
        1 => (0..4_usize).prop_map(Command::Cancel),
        2 => (1..12_i64).prop_map(Command::Pass),
        2 => Just(Command::Reap),
        1 => any::<u8>().prop_map(Command::Redrive),
    ]
}

/// Job in the model.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    lane: usize,
    phase: i32,
    priority: i32,
    run_at: i64,
    attempt: i32,
    max_attempts: i32,
    key: Option<u8>,
    /// Token and expiry of the lease.
    lease: Option<(String, i64)>,
}

#[derive(Default)]
struct Model {
    now: i64,
    jobs: BTreeMap<String, Known>,
    dead: BTreeMap<String, Known>,
    claims: Vec<Claimed>,
}

async fn random_commands_keep_the_rules(store: Store) {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let strategy = prop::collection::vec(command(), 1..80);
    let handle = Handle::current();
    let result = tokio::task::block_in_place(|| {
        TestRunner::new(config).run(&strategy, |commands| handle.block_on(play(&store, commands)))
    });
    result.unwrap();
}

async fn play(store: &Store, commands: Vec<Command>) -> Result<(), TestCaseError> {
    let case = id();
    let teams = [0, 1].map(|n| format!("{case}/{n}"));
    for team in &teams {
        rich_team(store, team, 0).await;
    }
    let mut conn = store.conn().await.unwrap();
    // Jobs of the previous case must not be claimed by this one.
    for job in jobs::list(&mut conn, Filter::default(), None, 9999).await.unwrap() {
        jobs::cancel(&mut conn, "pages", &job.lane, at(0)).await.unwrap();
    }
    let names: Vec<String> = LANES.iter().map(|(name, ..)| format!("{case}/{name}")).collect();
    let mut play = Play { case, teams, names, model: Model::default() };
    for command in commands {
        play.step(&mut conn, &command).await.map_err(|error| TestCaseError::fail(format!("{command:?}: {error}")))?;
        play.compare(&mut conn).await?;
        prop_assert_eq!(jobs::inconsistencies(&mut conn).await.unwrap(), Vec::<String>::new());
    }
    Ok(())
}

struct Play {
    case: String,
    teams: [String; 2],
    names: Vec<String>,
    model: Model,
}

impl Play {
    async fn step(&mut self, conn: &mut Conn, command: &Command) -> Result<(), TestCaseError> {
        let now = self.model.now;
        match *command {
            Command::Enqueue(..) => self.enqueue(conn, command).await?,
            Command::Claim(most) => self.claim(conn, most).await?,
            Command::Pass(minutes) => self.model.now += minutes,
            Command::Reap => self.reap(conn).await?,
            Command::Redrive(name) => {
                let id = format!("{}/{name}", self.case);
                let dead = self.model.dead.get(&id).cloned();
                let clash = dead.as_ref().is_some_and(|dead| self.taken(dead.key));
                let expect = dead.is_some() && !clash;
                prop_assert_eq!(jobs::redrive(conn, &id, at(now)).await.unwrap(), expect);
                if let (true, Some(dead)) = (expect, self.model.dead.remove(&id)) {
                    self.model.jobs.insert(id, Known { run_at: now, attempt: 0, lease: None, ..dead });
                }
            }
            Command::Cancel(lane) => {
                let count = jobs::cancel(conn, "pages", &self.names[lane], at(now)).await.unwrap();
                let before = self.model.jobs.len();
                self.model.jobs.retain(|_, job| job.lane != lane);
                prop_assert_eq!(count, before - self.model.jobs.len());
            }
            Command::Finish(n) | Command::Retry(n, ..) | Command::Bury(n) | Command::Renew(n) => {
                if !self.model.claims.is_empty() {
                    let claim = self.model.claims[n % self.model.claims.len()].clone();
                    self.end(conn, command, &claim).await?;
                }
            }
        }
        Ok(())
    }

    fn taken(&self, key: Option<u8>) -> bool {
        key.is_some() && self.model.jobs.values().any(|job| job.key == key)
    }

    async fn enqueue(&mut self, conn: &mut Conn, command: &Command) -> Result<(), TestCaseError> {
        let Command::Enqueue(lane_index, name, phase, priority, wait, max_attempts, key) = *command else {
            return Ok(());
        };
        let id = format!("{}/{name}", self.case);
        if self.model.dead.contains_key(&id) || self.model.jobs.contains_key(&id) {
            return Ok(()); // the application never uses an id again
        }
        let (_, team, cap) = LANES[lane_index];
        let run_at = self.model.now + wait;
        let new = NewJob {
            phase,
            priority,
            run_at: at(run_at),
            max_attempts,
            unique_key: key.map(|key| format!("{}/{key}", self.case)),
            ..job(&id)
        };
        let lane = Lane { cap, team_cap: TEAM_CAP, ..lane(&self.names[lane_index], &self.teams[team]) };
        let count = jobs::enqueue(conn, &lane, &[new], at(self.model.now)).await.unwrap();
        prop_assert_eq!(count, usize::from(!self.taken(key)));
        if count == 1 {
            let known = Known { lane: lane_index, phase, priority, run_at, attempt: 0, max_attempts, key, lease: None };
            self.model.jobs.insert(id, known);
        }
        Ok(())
    }

    /// Claims until nothing is returned: then the model must have no candidate either.
    async fn claim(&mut self, conn: &mut Conn, most: usize) -> Result<(), TestCaseError> {
        let now = self.model.now;
        let mut left = most;
        loop {
            let token = id();
            let want = want(&token, left, at(now));
            let want = jobs::Claim { lease_until: at(now + LEASE), ..want };
            let got = jobs::claim(conn, &want).await.unwrap();
            prop_assert!(got.len() <= left);
            for job in &got {
                let eligible = self.eligible();
                prop_assert!(eligible.iter().any(|(id, _)| *id == job.id), "{} of {:?}", job.id, eligible);
                let known = self.model.jobs.get_mut(&job.id).unwrap();
                known.lease = Some((token.clone(), now + LEASE));
                known.attempt += 1;
                prop_assert_eq!(known.attempt, job.attempt);
            }
            left -= got.len();
            let empty = got.is_empty();
            self.model.claims.extend(got);
            if empty || left == 0 {
                break;
            }
        }
        if left > 0 {
            prop_assert_eq!(self.eligible(), vec![]);
        }
        Ok(())
    }

    /// Returns the candidates of the next claim: the first ones of the lowest phase of each lane, with the lanes.
    fn eligible(&self) -> Vec<(String, usize)> {
        let running = |team: usize, lane: Option<usize>| {
            let of = |job: &&Known| LANES[job.lane].1 == team && lane.is_none_or(|lane| lane == job.lane);
            self.model.jobs.values().filter(of).filter(|job| job.lease.is_some()).count() as i32
        };
        let mut found = Vec::new();
        for (index, (_, team, cap)) in LANES.into_iter().enumerate() {
            let own = || self.model.jobs.iter().filter(move |(_, job)| job.lane == index);
            let phase = own().map(|(_, job)| job.phase).min();
            if running(team, None) >= TEAM_CAP || running(team, Some(index)) >= cap {
                continue;
            }
            let is_due = |job: &Known| Some(job.phase) == phase && job.run_at <= self.model.now;
            let ready = || own().filter(|(_, job)| job.lease.is_none() && is_due(job));
            let place = |job: &Known| (job.priority, job.run_at);
            let first = ready().map(|(_, job)| place(job)).min();
            found.extend(ready().filter(|(_, job)| Some(place(job)) == first).map(|(id, _)| (id.clone(), index)));
        }
        found
    }

    async fn end(&mut self, conn: &mut Conn, command: &Command, claim: &Claimed) -> Result<(), TestCaseError> {
        let now = self.model.now;
        let held = claim.held(None);
        let is_ours = |job: &Known| job.lease.as_ref().is_some_and(|(token, _)| *token == claim.token);
        let ours = self.model.jobs.get(&claim.id).is_some_and(is_ours);
        let got = match *command {
            Command::Finish(_) => jobs::finish(conn, &[held], at(now)).await.unwrap().len() == 1,
            Command::Renew(_) => jobs::renew(conn, &[held.lease], at(now + LEASE)).await.unwrap().len() == 1,
            Command::Retry(_, wait, counted) => {
                let how = Retry { run_at: at(now + wait), error: "again", counted };
                jobs::retry(conn, &held, &how, at(now)).await.unwrap()
            }
            _ => jobs::bury(conn, &held, "dead", at(now)).await.unwrap(),
        };
        prop_assert_eq!(got, ours);
        if !ours {
            return Ok(());
        }
        let job = self.model.jobs.get_mut(&claim.id).unwrap();
        match *command {
            Command::Renew(_) => job.lease = Some((claim.token.clone(), now + LEASE)),
            Command::Retry(_, wait, counted) => {
                (job.run_at, job.lease) = (now + wait, None);
                job.attempt -= i32::from(!counted);
            }
            _ => {
                let job = self.model.jobs.remove(&claim.id).unwrap();
                if matches!(command, Command::Bury(_)) {
                    self.model.dead.insert(claim.id.clone(), job);
                }
            }
        }
        Ok(())
    }

    async fn reap(&mut self, conn: &mut Conn) -> Result<(), TestCaseError> {
        let now = self.model.now;
        let token = id();
        let reaped = jobs::reap(conn, at(now), &token, at(now + LEASE), 999).await.unwrap();
        let (mut back, mut lost) = (0, Vec::new());
        for (id, job) in &mut self.model.jobs {
            if job.lease.as_ref().is_some_and(|(_, until)| *until <= now) {
                if job.attempt < job.max_attempts {
                    (job.lease, job.run_at) = (None, now);
                    back += 1;
                } else {
                    job.lease = Some((token.clone(), now + LEASE));
                    lost.push(id.clone());
                }
            }
        }
        let mut got: Vec<String> = reaped.lost.iter().map(|job| job.id.clone()).collect();
        got.sort();
        prop_assert_eq!((reaped.back, got), (back, lost));
        self.model.claims.extend(reaped.lost);
        Ok(())
    }

    async fn compare(&self, conn: &mut Conn) -> Result<(), TestCaseError> {
        let rows = jobs::list(conn, Filter::default(), None, 9999).await.unwrap();
        let rows: Vec<_> = rows
            .iter()
            .map(|row| (row.id.as_str(), row.lane.as_str(), row.phase, row.is_running, row.attempt, row.run_at))
            .collect();
        let known: Vec<_> = self
            .model
            .jobs
            .iter()
            .map(|(id, job)| {
                let lane = self.names[job.lane].as_str();
                (id.as_str(), lane, job.phase, job.lease.is_some(), job.attempt, at(job.run_at))
            })
            .collect();
        prop_assert_eq!(rows, known);
        let dead = jobs::dead(conn, None, 9999).await.unwrap();
        let dead = dead.iter().filter(|dead| dead.id.starts_with(&self.case)).map(|dead| dead.id.as_str());
        prop_assert!(dead.eq(self.model.dead.keys().map(String::as_str)));
        Ok(())
    }
}
