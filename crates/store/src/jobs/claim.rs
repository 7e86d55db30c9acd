//! Claiming: the least recently served teams first, in each team the least recently served lanes, in each lane the
//! first jobs of the lowest phase, as far as caps and hosts allow.

use std::collections::{BTreeSet, HashMap};

use base::Timestamp;

use crate::conn::{Conn, Link};
use crate::error::Result;
use crate::hosts::{HostTurn, Hosts, TurnRequest};
use crate::jobs::due::{self, Job, LANES, Lane, Team};
use crate::jobs::release::{self, Freed};
use crate::jobs::start::{self, ClaimChanges, LaneDue};
use crate::jobs::{Claim, Claimed, HeldJob, from_millis};

/// Claims up to [`Claim::most`] jobs that may run now, in a transaction of its own. Fewer than `most` does not mean
/// that there are no more: repeat until nothing is returned.
///
/// Each team gets an even share of `most`; one claim visits at most 16 teams, and one team for every 8 jobs. When a
/// host must wait, the jobs of a lane that has only this host wait untouched; in other lanes its jobs get a later
/// `run_at`, so that jobs of other hosts come forward. Neither counts as an attempt.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn claim(conn: &mut Conn, want: &Claim<'_>) -> Result<Vec<Claimed>> {
    if want.most == 0 {
        return Ok(Vec::new());
    }
    // SQLite has one writer: an idle worker's check must not wait for it or block it.
    if matches!(conn.link, Link::Sqlite(_)) && !due::any(conn, want.queue, want.now).await? {
        return Ok(Vec::new());
    }
    // A due team may have nothing to run because its hosts must wait; then the next round visits the teams behind it. A
    // team that is found for the third time has nothing until time passes.
    let mut visits: HashMap<String, u32> = HashMap::new();
    for _ in 0..MAX_ROUNDS {
        let (claimed, teams, is_last) = conn.atomic(async |conn: &mut Conn| round(conn, want).await).await?;
        let mut is_new = false;
        for team in teams {
            let visits = visits.entry(team.id).or_default();
            *visits += 1;
            is_new |= *visits <= MAX_VISITS;
        }
        if is_last || !is_new || !claimed.is_empty() {
            return Ok(claimed);
        }
    }
    Ok(Vec::new())
}

/// Visits the first due teams once. Returns the claimed jobs, the teams, and whether no other team is due.
async fn round(conn: &mut Conn, want: &Claim<'_>) -> Result<(Vec<Claimed>, Vec<Team>, bool)> {
    // A claim of few jobs is not worth the locks of many teams.
    let limit = (most(want) / 8).clamp(1, MAX_TEAMS);
    let teams = due::teams(conn, want.queue, want.now, i64::from(limit)).await?;
    if teams.is_empty() {
        return Ok((Vec::new(), teams, true));
    }
    let is_last = is_less(teams.len(), limit);
    let more = visit(conn, want, &teams, &[], &[]).await?;
    Ok((more.jobs, teams, is_last))
}

/// Result of a claim at the end of another transaction.
#[derive(Debug, Default)]
pub struct ClaimedNext {
    /// Claimed jobs.
    pub jobs: Vec<Claimed>,
    /// Whether nothing else could run now, even with more free slots.
    pub is_all: bool,
}

/// Claims in a transaction that has ended jobs, without waiting for locks: on PostgreSQL it visits the teams of these
/// jobs, which are locked already, and claims nothing if other teams are due, which [`claim`] then serves.
pub(super) async fn after(
    conn: &mut Conn,
    want: &Claim<'_>,
    freed: &[Freed],
    held: &[HeldJob<'_>],
) -> Result<ClaimedNext> {
    let locked: BTreeSet<&str> = held.iter().filter(|held| held.queue == want.queue).map(|held| held.team_id).collect();
    let teams = due::teams_among(conn, want.queue, want.now, &locked, i64::from(MAX_TEAMS)).await?;
    let is_last = teams.as_ref().is_some_and(|teams| is_less(teams.len(), MAX_TEAMS));
    let more = visit(conn, want, &teams.unwrap_or_default(), freed, held).await?;
    Ok(ClaimedNext { is_all: is_last && more.is_all, ..more })
}

/// Counts ended jobs out at their hosts, and claims jobs from the lanes of the locked `teams`.
/// [`ClaimedNext::is_all`] refers to these teams only.
async fn visit(
    conn: &mut Conn,
    want: &Claim<'_>,
    teams: &[Team],
    freed: &[Freed],
    held: &[HeldJob<'_>],
) -> Result<ClaimedNext> {
    let share = due::even(most(want), teams.len());
    let lanes =
        if teams.is_empty() { Vec::new() } else { due::lanes(conn, want.queue, teams, want.now, share).await? };
    // Lock order: teams, then hosts.
    let mut hosts = lock_hosts(conn, &lanes, release::hosts_of(freed), want.now).await?;
    release::count_out(&mut hosts, freed, held);
    let (claimed, start) = (Vec::new(), ClaimChanges::default());
    let mut round = ClaimRound { want, left: want.most, hosts, claimed, start, is_all: true };
    let mut visits: HashMap<String, Vec<Visit>> = HashMap::new();
    for lane in lanes {
        visits.entry(lane.team.clone()).or_default().push(Visit::of(lane));
    }
    for team in teams {
        round.serve(team, share, visits.remove(&team.id).unwrap_or_default());
    }
    let ClaimRound { hosts, claimed, start, is_all, .. } = round;
    if teams.is_empty() {
        hosts.save(conn).await?;
    } else {
        // The claim is decided in memory and written at once, so the number of statements does not grow with the jobs.
        start::write(conn, want, &start, hosts).await?;
    }
    Ok(ClaimedNext { jobs: claimed, is_all })
}

fn most(want: &Claim<'_>) -> i32 {
    i32::try_from(want.most).unwrap_or(i32::MAX)
}

fn is_less(found: usize, limit: i32) -> bool {
    i32::try_from(found).is_ok_and(|found| found < limit)
}

/// Limit of teams that one claim locks; the others are left to concurrent and later claims.
const MAX_TEAMS: i32 = 16;
/// Limit of rounds in one call while the visited teams have nothing to run.
const MAX_ROUNDS: usize = 100;
/// Limit of visits to a team in these rounds: the first sets when its hosts may be asked again, the second moves it
/// behind all others.
const MAX_VISITS: u32 = 2;

/// State of one claim.
struct ClaimRound<'a> {
    want: &'a Claim<'a>,
    left: usize,
    hosts: Hosts,
    claimed: Vec<Claimed>,
    start: ClaimChanges,
    /// Whether nothing else could run now in the visited teams.
    is_all: bool,
}

/// Visited lane with the candidates that are left.
struct Visit {
    lane: Lane,
    jobs: std::vec::IntoIter<Job>,
    found: usize,
    taken: i32,
    /// Time until which the lane's only host must wait.
    gate: Option<Timestamp>,
}

impl Visit {
    fn of(mut lane: Lane) -> Self {
        let jobs = std::mem::take(&mut lane.jobs);
        Self { found: jobs.len(), jobs: jobs.into_iter(), lane, taken: 0, gate: None }
    }

    /// Returns when the lane is due next.
    fn due(&self) -> LaneDue {
        match self.gate {
            // An early lane keeps the turn that it was promised.
            Some(_) if self.lane.early => LaneDue::Now,
            Some(time) => LaneDue::At(time),
            // Every due job was claimed or postponed.
            None if self.jobs.len() == 0 && self.found < usize::try_from(self.lane.asked).unwrap_or(0) => LaneDue::Next,
            None => LaneDue::Now,
        }
    }
}

impl ClaimRound<'_> {
    /// Claims from the lanes of one team in round-robin order, one job at a time.
    fn serve(&mut self, team: &Team, share: i32, mut lanes: Vec<Visit>) {
        let mut room = usize::try_from(team.room.min(share)).unwrap_or(0).min(self.left);
        if self.left == 0 {
            self.is_all = false;
            return; // it keeps its place
        }
        let mut taken = 0;
        let mut going = true;
        while going && room > 0 {
            going = false;
            for visit in &mut lanes {
                if room > 0 && self.take_one(visit) {
                    going = true;
                    room -= 1;
                    taken += 1;
                }
            }
        }
        self.left -= taken;
        // A lane that can continue at once keeps its team due. So do lanes beyond `LANES`, which were not examined.
        let more = |visit: &Visit| visit.due() == LaneDue::Now && visit.taken < visit.lane.room;
        let unseen = i64::try_from(lanes.len()).is_ok_and(|seen| seen >= LANES);
        let stays = unseen || lanes.iter().any(more);
        self.is_all &= !unseen && !lanes.iter().any(|visit| visit.gate.is_none() && more(visit));
        self.start.team(&team.id, taken, stays);
        for visit in lanes {
            self.start.lane(&visit.lane, visit.taken, visit.jobs.len() < visit.found, visit.due());
        }
    }

    /// Claims the next job of a lane that may start; says whether there was one.
    fn take_one(&mut self, visit: &mut Visit) -> bool {
        while visit.gate.is_none()
            && let Some(job) = visit.jobs.next()
        {
            let delay = from_millis(visit.lane.delay_ms);
            let Claim { now, per_host: most, worker, .. } = *self.want;
            let turn = match &job.host {
                Some(host) => self.hosts.turn(host, delay, TurnRequest { most, worker, early: visit.lane.early }),
                None => HostTurn::Start(now, most),
            };
            match turn {
                HostTurn::Start(start_at, host_slots) => {
                    visit.taken += 1;
                    self.take(&visit.lane, job, start_at, host_slots);
                    return true;
                }
                // All other jobs of the lane have the same host and would wait too.
                HostTurn::Later(time) if visit.lane.host == job.host => visit.gate = Some(time),
                // Jobs of other hosts may come after it: postpone this one and go on.
                HostTurn::Later(time) => self.start.later(job.id, time),
            }
        }
        false
    }

    fn take(&mut self, lane: &Lane, job: Job, start_at: Timestamp, host_slots: u32) {
        self.start.job(&job.id);
        self.claimed.push(Claimed {
            id: job.id,
            queue: self.want.queue.to_owned(),
            kind: job.kind,
            team_id: lane.team.clone(),
            lane: lane.id.clone(),
            payload: job.payload,
            attempt: job.attempt + 1,
            max_attempts: job.max_attempts,
            token: self.want.token.to_owned(),
            host: job.host,
            start_at,
            host_slots,
            created_at: job.created_at.into(),
        });
    }
}

/// Locks the hosts of the candidates and `others`.
async fn lock_hosts<'a>(
    conn: &mut Conn,
    lanes: &'a [Lane],
    others: impl Iterator<Item = &'a str>,
    now: Timestamp,
) -> Result<Hosts> {
    let asking = || lanes.iter().flat_map(|lane| &lane.jobs).filter(|job| job.host.is_some());
    let names = asking().filter_map(|job| job.host.as_deref()).chain(others).collect();
    if asking().any(|job| job.host_is_new) {
        // Inserting costs a write per host and is needed once in the life of a host.
        Hosts::make(conn, names, now).await
    } else {
        Hosts::lock(conn, names, now).await
    }
}
