//! Queue functions, one call at a time.

use std::time::Duration;

use base::Timestamp;
use chrono::TimeDelta;
use store::jobs::{self, Claim, Claimed, ClaimedNext, Filter, Finishing, Lane, NewJob, Retry};
use store::{Conn, Store, StoreError};

use crate::bank::rich_team;
use crate::{at, id, suite};

suite!(
    jobs_come_in_order_once,
    a_rolled_back_enqueue_leaves_nothing,
    keys_and_ids_are_unique_while_a_job_lives,
    caps_of_lane_and_team_hold,
    a_phase_waits_for_the_lower_ones,
    teams_and_lanes_take_turns,
    retries_come_back_and_dead_letters_stay,
    a_lost_lease_writes_nothing,
    the_last_attempt_is_not_started_again,
    cancelling_frees_everything,
    queues_do_not_share_counters,
    all_queues_say_when_they_are_due,
    caps_can_be_changed,
    looking_tells_what_is_there,
    a_connection_tells_which_queues_got_jobs,
    what_ends_jobs_claims_others,
    what_ends_jobs_leaves_nobody_behind,
    what_is_rolled_back_has_claimed_nothing,
);

/// Returns a lane of team `team` with a cap of 100 jobs.
pub(crate) fn lane<'a>(id: &'a str, team: &'a str) -> Lane<'a> {
    Lane { queue: "pages", id, team_id: team, cap: 100, team_cap: 100, delay: Duration::ZERO }
}

pub(crate) fn job(id: &str) -> NewJob {
    NewJob {
        id: id.to_owned(),
        kind: "test",
        phase: 0,
        priority: 0,
        run_at: at(0),
        max_attempts: 3,
        host: None,
        payload: r#"{"url":"https://example.com/ä"}"#.to_owned(),
        unique_key: None,
    }
}

pub(crate) fn jobs_named(prefix: &str, count: usize) -> Vec<NewJob> {
    (0..count).map(|n| job(&format!("{prefix}{n:05}"))).collect()
}

pub(crate) fn want(token: &str, most: usize, now: Timestamp) -> Claim<'_> {
    Claim { queue: "pages", most, token, now, lease_until: now + TimeDelta::minutes(1), per_host: 4, worker: None }
}

pub(crate) async fn claim(conn: &mut Conn, most: usize, now: Timestamp) -> Vec<Claimed> {
    jobs::claim(conn, &want(&id(), most, now)).await.unwrap()
}

pub(crate) async fn finish(conn: &mut Conn, claimed: &[Claimed], now: Timestamp) -> usize {
    let held: Vec<_> = claimed.iter().map(|job| job.held(None)).collect();
    jobs::finish(conn, &held, now).await.unwrap().len()
}

/// Returns the next due time of the queue of [`lane`].
pub(crate) async fn next_due(conn: &mut Conn) -> Option<Timestamp> {
    jobs::next_due(conn).await.unwrap().get("pages").copied()
}

pub(crate) async fn sound(conn: &mut Conn) {
    assert_eq!(jobs::inconsistencies(conn).await.unwrap(), Vec::<String>::new());
}

fn ids(claimed: &[Claimed]) -> Vec<&str> {
    claimed.iter().map(|job| job.id.as_str()).collect()
}

async fn opened(store: &Store) -> Conn {
    rich_team(store, "a", 0).await;
    rich_team(store, "b", 0).await;
    store.conn().await.unwrap()
}

async fn jobs_come_in_order_once(store: Store) {
    let mut conn = opened(&store).await;
    let mut later = job("2");
    later.run_at = at(1);
    let mut late = job("late");
    late.run_at = at(5);
    let mut urgent = job("urgent");
    urgent.priority = -1;
    let new = jobs::enqueue(&mut conn, &lane("l", "a"), &[later, late, job("1"), urgent], at(0)).await.unwrap();
    assert_eq!(new, 4);
    let first = claim(&mut conn, 2, at(1)).await;
    assert_eq!(ids(&first), ["urgent", "1"]);
    let job = &first[1];
    assert_eq!((job.kind.as_str(), job.team_id.as_str(), job.lane.as_str()), ("test", "a", "l"));
    assert_eq!((job.attempt, job.max_attempts, job.start_at, job.created_at), (1, 3, at(1), at(0)));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&job.payload).unwrap()["url"], "https://example.com/ä");
    assert_eq!(ids(&claim(&mut conn, 9, at(1)).await), ["2"]);
    assert_eq!(claim(&mut conn, 9, at(4)).await, []);
    assert_eq!(next_due(&mut conn).await, Some(at(5)));
    sound(&mut conn).await;
    assert_eq!(finish(&mut conn, &first, at(4)).await, 2);
    assert_eq!(finish(&mut conn, &first, at(4)).await, 0, "it is done");
    assert_eq!(ids(&claim(&mut conn, 9, at(5)).await), ["late"]);
    sound(&mut conn).await;
}

async fn a_rolled_back_enqueue_leaves_nothing(store: Store) {
    let mut conn = opened(&store).await;
    let result: Result<(), store::StoreError> = conn
        .tx(async |conn: &mut Conn| {
            jobs::enqueue(conn, &lane("l", "a"), &jobs_named("j", 5), at(0)).await?;
            Err(store::StoreError::UnknownTeam)
        })
        .await;
    assert!(result.is_err());
    assert_eq!(claim(&mut conn, 9, at(0)).await, []);
    assert!(jobs::enqueue(&mut conn, &lane("l", "nobody"), &[job("j")], at(0)).await.is_err());
}

async fn a_connection_tells_which_queues_got_jobs(store: Store) {
    opened(&store).await;
    let mut conn = store.writing().await.unwrap();
    assert_eq!(conn.added(), Vec::<String>::new());
    let hooks = Lane { queue: "hooks", ..lane("h", "a") };
    for _ in 0..2 {
        jobs::enqueue(&mut conn, &lane("l", "a"), &[job(&id())], at(0)).await.unwrap();
        jobs::enqueue(&mut conn, &hooks, &[job(&id())], at(0)).await.unwrap();
    }
    assert_eq!(conn.added(), ["hooks", "pages"]);
    assert_eq!(conn.added(), Vec::<String>::new(), "once");
}

async fn keys_and_ids_are_unique_while_a_job_lives(store: Store) {
    let mut conn = opened(&store).await;
    let keyed = |id: &str| NewJob { unique_key: Some("k".into()), ..job(id) };
    let lane = lane("l", "a");
    let two = [keyed("1"), keyed("2"), job("3")];
    assert_eq!(jobs::enqueue(&mut conn, &lane, &two, at(0)).await.unwrap(), 2);
    assert!(jobs::enqueue(&mut conn, &lane, &[job("9"), job("3")], at(0)).await.is_err(), "none of both is added");
    assert_eq!(jobs::enqueue(&mut conn, &lane, &[keyed("4")], at(0)).await.unwrap(), 0);
    let all = claim(&mut conn, 9, at(0)).await;
    assert_eq!(ids(&all), ["1", "3"]);
    assert_eq!(jobs::enqueue(&mut conn, &lane, &[keyed("5")], at(0)).await.unwrap(), 0, "it runs");
    finish(&mut conn, &all, at(0)).await;
    assert_eq!(jobs::enqueue(&mut conn, &lane, &[keyed("6")], at(0)).await.unwrap(), 1);
    sound(&mut conn).await;
}

async fn caps_of_lane_and_team_hold(store: Store) {
    let mut conn = opened(&store).await;
    let narrow = |id| Lane { cap: 2, team_cap: 3, ..lane(id, "a") };
    jobs::enqueue(&mut conn, &narrow("x"), &jobs_named("x", 9), at(0)).await.unwrap();
    let x = claim(&mut conn, 9, at(0)).await;
    assert_eq!(x.len(), 2);
    assert_eq!(next_due(&mut conn).await, None, "the lane is full");
    jobs::enqueue(&mut conn, &narrow("y"), &jobs_named("y", 9), at(0)).await.unwrap();
    let y = claim(&mut conn, 9, at(0)).await;
    assert_eq!(ids(&y), ["y00000"], "the team is full");
    assert_eq!(claim(&mut conn, 9, at(0)).await, []);
    sound(&mut conn).await;
    finish(&mut conn, &x, at(0)).await;
    let next = claim(&mut conn, 9, at(0)).await;
    assert_eq!(ids(&next).len(), 2);
    sound(&mut conn).await;
}

async fn a_phase_waits_for_the_lower_ones(store: Store) {
    let mut conn = opened(&store).await;
    let of = |id: &str, phase| NewJob { phase, ..job(id) };
    let all = [of("end", 2), of("page1", 1), of("page2", 1), of("start", 0)];
    jobs::enqueue(&mut conn, &lane("l", "a"), &all, at(0)).await.unwrap();
    let start = claim(&mut conn, 9, at(0)).await;
    assert_eq!(ids(&start), ["start"]);
    assert_eq!(claim(&mut conn, 9, at(0)).await, []);
    sound(&mut conn).await;
    finish(&mut conn, &start, at(0)).await;
    let pages = claim(&mut conn, 9, at(0)).await;
    assert_eq!(ids(&pages), ["page1", "page2"]);
    finish(&mut conn, &pages[..1], at(0)).await;
    assert_eq!(claim(&mut conn, 9, at(0)).await, [], "one of two is done");
    let later = Retry { run_at: at(5), error: "", counted: true };
    jobs::retry(&mut conn, &pages[1].held(None), &later, at(0)).await.unwrap();
    assert_eq!(claim(&mut conn, 9, at(4)).await, [], "the other one waits");
    sound(&mut conn).await;
    let last = claim(&mut conn, 9, at(5)).await;
    finish(&mut conn, &last, at(5)).await;
    assert_eq!(ids(&claim(&mut conn, 9, at(5)).await), ["end"]);
    sound(&mut conn).await;
}

async fn teams_and_lanes_take_turns(store: Store) {
    let mut conn = opened(&store).await;
    jobs::enqueue(&mut conn, &lane("big", "a"), &jobs_named("big", 50), at(0)).await.unwrap();
    jobs::enqueue(&mut conn, &lane("also", "a"), &jobs_named("also", 2), at(0)).await.unwrap();
    jobs::enqueue(&mut conn, &lane("small", "b"), &jobs_named("small", 2), at(0)).await.unwrap();
    let mut order = Vec::new();
    for _ in 0..8 {
        let one = claim(&mut conn, 1, at(0)).await;
        order.push(one[0].lane.clone());
    }
    assert_eq!(order, ["also", "small", "big", "small", "also", "big", "big", "big"]);
    sound(&mut conn).await;
    jobs::enqueue(&mut conn, &lane("small", "b"), &jobs_named("again", 20), at(0)).await.unwrap();
    let many = claim(&mut conn, 16, at(0)).await;
    assert_eq!(many.iter().filter(|job| job.team_id == "b").count(), 8, "an even share");
}

async fn retries_come_back_and_dead_letters_stay(store: Store) {
    let mut conn = opened(&store).await;
    let keyed = NewJob { unique_key: Some("k".into()), ..job("j") };
    jobs::enqueue(&mut conn, &Lane { cap: 7, ..lane("l", "a") }, &[keyed], at(0)).await.unwrap();
    let first = claim(&mut conn, 1, at(0)).await;
    let again = Retry { run_at: at(5), error: "no answer", counted: true };
    assert!(jobs::retry(&mut conn, &first[0].held(None), &again, at(0)).await.unwrap());
    assert!(!jobs::retry(&mut conn, &first[0].held(None), &again, at(0)).await.unwrap(), "not ours any more");
    assert_eq!(claim(&mut conn, 1, at(4)).await, []);
    let second = claim(&mut conn, 1, at(5)).await;
    assert_eq!(second[0].attempt, 2);
    assert!(jobs::release(&mut conn, &second[0].held(None), at(5)).await.unwrap());
    let third = claim(&mut conn, 1, at(5)).await;
    assert_eq!(third[0].attempt, 2, "a release does not count");
    sound(&mut conn).await;
    assert!(jobs::bury(&mut conn, &third[0].held(None), "gone", at(6)).await.unwrap());
    assert!(!jobs::bury(&mut conn, &third[0].held(None), "gone", at(6)).await.unwrap());
    let dead = jobs::dead(&mut conn, None, 9).await.unwrap();
    assert_eq!((dead.len(), dead[0].error.as_str(), dead[0].attempt, dead[0].died_at), (1, "gone", 2, at(6)));
    assert_eq!(jobs::sweep_lanes(&mut conn, 9).await.unwrap(), 0, "nobody looked whether it is empty");
    assert_eq!(claim(&mut conn, 9, at(6)).await, []);
    assert_eq!(jobs::sweep_lanes(&mut conn, 9).await.unwrap(), 1);
    assert!(jobs::redrive(&mut conn, "j", at(7)).await.unwrap());
    assert!(!jobs::redrive(&mut conn, "j", at(7)).await.unwrap());
    let back = claim(&mut conn, 1, at(7)).await;
    assert_eq!((back[0].attempt, back[0].payload.clone()), (1, first[0].payload.clone()));
    jobs::bury(&mut conn, &back[0].held(None), "gone", at(8)).await.unwrap();
    assert_eq!(jobs::forget_dead(&mut conn, at(8), 9).await.unwrap(), 0);
    assert_eq!(jobs::forget_dead(&mut conn, at(9), 9).await.unwrap(), 1);
    sound(&mut conn).await;
}

async fn a_lost_lease_writes_nothing(store: Store) {
    let mut conn = opened(&store).await;
    jobs::enqueue(&mut conn, &lane("l", "a"), &jobs_named("j", 2), at(0)).await.unwrap();
    let old = claim(&mut conn, 2, at(0)).await;
    let kept = [old[0].lease()];
    assert_eq!(jobs::renew(&mut conn, &kept, at(9)).await.unwrap().len(), 1);
    let reaped = jobs::reap(&mut conn, at(5), "reaper", at(6), 99).await.unwrap();
    assert_eq!((reaped.back, reaped.lost.len()), (1, 0), "one was renewed");
    sound(&mut conn).await;
    let new = claim(&mut conn, 2, at(5)).await;
    assert_eq!((ids(&new), new[0].attempt), (vec!["j00001"], 2));
    let both: Vec<_> = old.iter().map(Claimed::lease).collect();
    assert_eq!(jobs::still_leased(&mut conn, &both).await.unwrap().len(), 1);
    assert_eq!(finish(&mut conn, &old, at(5)).await, 1);
    assert!(!jobs::bury(&mut conn, &old[1].held(None), "", at(5)).await.unwrap());
    // The same worker holds both tokens: only the newer one counts, and once.
    let mixed = [old[1].clone(), new[0].clone(), new[0].clone()];
    assert_eq!(finish(&mut conn, &mixed, at(5)).await, 1);
    sound(&mut conn).await;
}

async fn the_last_attempt_is_not_started_again(store: Store) {
    let mut conn = opened(&store).await;
    jobs::enqueue(&mut conn, &lane("l", "a"), &[NewJob { max_attempts: 1, ..job("j") }], at(0)).await.unwrap();
    claim(&mut conn, 1, at(0)).await;
    let reaped = jobs::reap(&mut conn, at(2), "reaper", at(9), 99).await.unwrap();
    assert_eq!((reaped.back, ids(&reaped.lost)), (0, vec!["j"]));
    assert_eq!(jobs::reap(&mut conn, at(2), "other", at(9), 99).await.unwrap().lost, [], "it is leased");
    sound(&mut conn).await;
    assert!(jobs::bury(&mut conn, &reaped.lost[0].held(None), "lost", at(2)).await.unwrap());
    sound(&mut conn).await;
}

async fn cancelling_frees_everything(store: Store) {
    let mut conn = opened(&store).await;
    let hosted: Vec<NewJob> =
        jobs_named("j", 9).into_iter().map(|job| NewJob { host: Some("h".into()), ..job }).collect();
    jobs::enqueue(&mut conn, &lane("l", "a"), &hosted, at(0)).await.unwrap();
    jobs::enqueue(&mut conn, &lane("m", "a"), &jobs_named("m", 1), at(0)).await.unwrap();
    let running = claim(&mut conn, 9, at(0)).await;
    assert_eq!(running.len(), 5, "four of one host");
    assert_eq!(jobs::cancel(&mut conn, "pages", "l", at(0)).await.unwrap(), 9);
    assert_eq!(jobs::cancel(&mut conn, "pages", "l", at(0)).await.unwrap(), 0);
    sound(&mut conn).await;
    assert_eq!(store::hosts::in_flight(&mut conn, "h").await.unwrap(), 0);
    assert_eq!(finish(&mut conn, &running, at(0)).await, 1, "the other lane's");
    assert_eq!(store::hosts::forget(&mut conn, at(9), 9).await.unwrap(), 1);
    sound(&mut conn).await;
}

async fn queues_do_not_share_counters(store: Store) {
    let mut conn = opened(&store).await;
    let pages = Lane { cap: 1, team_cap: 1, ..lane("l", "a") };
    let hooks = Lane { queue: "hooks", ..pages };
    jobs::enqueue(&mut conn, &pages, &jobs_named("p", 2), at(0)).await.unwrap();
    jobs::enqueue(&mut conn, &hooks, &jobs_named("h", 2), at(0)).await.unwrap();
    let page = claim(&mut conn, 9, at(0)).await;
    let hook = jobs::claim(&mut conn, &Claim { queue: "hooks", ..want("t", 9, at(0)) }).await.unwrap();
    assert_eq!((ids(&page), ids(&hook)), (vec!["p00000"], vec!["h00000"]));
    let both: Vec<Claimed> = page.into_iter().chain(hook).collect();
    assert_eq!(finish(&mut conn, &both, at(0)).await, 2, "of both queues at once");
    assert_eq!(jobs::cancel(&mut conn, "hooks", "l", at(0)).await.unwrap(), 1);
    assert_eq!(claim(&mut conn, 9, at(0)).await.len(), 1);
    sound(&mut conn).await;
}

async fn all_queues_say_when_they_are_due(store: Store) {
    let mut conn = opened(&store).await;
    assert!(jobs::next_due(&mut conn).await.unwrap().is_empty());
    // Kinds that this version does not know must work too.
    for (n, queue) in [(3, "pages"), (2, "models"), (4, "models")] {
        let new = NewJob { run_at: at(n), ..job(&format!("{queue}{n}")) };
        let team = if n == 4 { "b" } else { "a" };
        jobs::enqueue(&mut conn, &Lane { queue, ..lane(&format!("l{n}"), team) }, &[new], at(0)).await.unwrap();
    }
    let due = jobs::next_due(&mut conn).await.unwrap();
    assert_eq!((due.len(), due["pages"], due["models"]), (2, at(3), at(2)));
}

async fn caps_can_be_changed(store: Store) {
    let mut conn = opened(&store).await;
    jobs::enqueue(&mut conn, &Lane { cap: 1, team_cap: 2, ..lane("l", "a") }, &jobs_named("j", 9), at(0))
        .await
        .unwrap();
    assert_eq!(claim(&mut conn, 9, at(0)).await.len(), 1);
    assert!(jobs::set_cap(&mut conn, "pages", "l", 5, at(0)).await.unwrap());
    assert_eq!(claim(&mut conn, 9, at(0)).await.len(), 1);
    assert!(jobs::set_team_cap(&mut conn, "pages", "a", 4, at(0)).await.unwrap());
    assert_eq!(claim(&mut conn, 9, at(0)).await.len(), 2);
    assert!(jobs::set_cap(&mut conn, "pages", "l", 1, at(0)).await.unwrap(), "below what runs");
    assert_eq!(claim(&mut conn, 9, at(0)).await, []);
    assert!(!jobs::set_cap(&mut conn, "pages", "x", 1, at(0)).await.unwrap());
    assert!(!jobs::set_team_cap(&mut conn, "pages", "b", 1, at(0)).await.unwrap());
    sound(&mut conn).await;
}

async fn looking_tells_what_is_there(store: Store) {
    let mut conn = opened(&store).await;
    jobs::enqueue(&mut conn, &lane("l", "a"), &jobs_named("j", 3), at(0)).await.unwrap();
    jobs::enqueue(&mut conn, &lane("m", "b"), &jobs_named("m", 1), at(0)).await.unwrap();
    claim(&mut conn, 2, at(1)).await;
    let [pages, hooks] = &jobs::depths(&mut conn, &["pages", "hooks"]).await.unwrap()[..] else { panic!("two") };
    assert_eq!((hooks.ready, hooks.running, hooks.oldest), (0, 0, None));
    assert_eq!((pages.ready, pages.running, pages.oldest), (2, 2, Some(at(0))));
    let of_a = Filter { team_id: Some("a"), queue: Some("pages"), lane: None };
    let first = jobs::list(&mut conn, of_a, None, 2).await.unwrap();
    assert_eq!(first.iter().map(|job| job.id.as_str()).collect::<Vec<_>>(), ["j00000", "j00001"]);
    let rest = jobs::list(&mut conn, of_a, Some("j00001"), 2).await.unwrap();
    assert_eq!((rest.len(), rest[0].is_running), (1, false));
    let of_m = Filter { lane: Some("m"), ..Filter::default() };
    assert_eq!(jobs::list(&mut conn, of_m, None, 9).await.unwrap().len(), 1);
}

/// Ends jobs and claims others in one transaction, as workers do.
async fn end_and_claim(conn: &mut Conn, claimed: &[Claimed], most: usize, now: Timestamp) -> ClaimedNext {
    let (held, token): (Vec<_>, _) = (claimed.iter().map(|job| job.held(None)).collect(), id());
    let done = conn.tx(async |conn: &mut Conn| {
        let finishing = Finishing::begin(conn, &held, now).await?;
        assert_eq!(finishing.leased().len(), claimed.len());
        finishing.end(conn, Some(&want(&token, most, now))).await
    });
    let more = done.await.unwrap();
    sound(conn).await;
    more
}

async fn what_ends_jobs_claims_others(store: Store) {
    let mut conn = opened(&store).await;
    jobs::enqueue(&mut conn, &Lane { cap: 2, ..lane("l", "a") }, &jobs_named("j", 5), at(0)).await.unwrap();
    let first = claim(&mut conn, 9, at(0)).await;
    let second = end_and_claim(&mut conn, &first, 9, at(1)).await;
    assert_eq!((ids(&second.jobs), second.is_all), (vec!["j00002", "j00003"], true));
    assert_eq!(claim(&mut conn, 9, at(1)).await, []);
    let third = end_and_claim(&mut conn, &second.jobs[..1], 9, at(2)).await;
    assert_eq!((ids(&third.jobs), third.is_all), (vec!["j00004"], true));
    let none = end_and_claim(&mut conn, &[&second.jobs[1..], &third.jobs[..]].concat(), 9, at(3)).await;
    assert_eq!((none.jobs, none.is_all), (vec![], true));

    jobs::enqueue(&mut conn, &lane("m", "a"), &jobs_named("m", 9), at(4)).await.unwrap();
    let some = end_and_claim(&mut conn, &[], 3, at(4)).await;
    // No job of this team was ended, so on PostgreSQL its jobs are left to a claim.
    let expect = if store.parallel_writers() { 0 } else { 3 };
    assert_eq!((some.jobs.len(), some.is_all), (expect, false));
    assert_eq!(claim(&mut conn, 9, at(4)).await.len(), 9 - expect);
}

async fn what_ends_jobs_leaves_nobody_behind(store: Store) {
    let mut conn = opened(&store).await;
    jobs::enqueue(&mut conn, &lane("l", "a"), &jobs_named("a", 9), at(0)).await.unwrap();
    let first = claim(&mut conn, 2, at(0)).await;
    jobs::enqueue(&mut conn, &lane("m", "b"), &jobs_named("b", 3), at(1)).await.unwrap();
    // The waiting team must not wait until the other one has no jobs left.
    let more = end_and_claim(&mut conn, &first, 2, at(1)).await;
    let next = if store.parallel_writers() { claim(&mut conn, 2, at(1)).await } else { more.jobs };
    assert!(!more.is_all && next.iter().any(|job| job.team_id == "b"), "{next:?}");
    sound(&mut conn).await;
}

async fn what_is_rolled_back_has_claimed_nothing(store: Store) {
    let mut conn = opened(&store).await;
    jobs::enqueue(&mut conn, &lane("l", "a"), &jobs_named("j", 4), at(0)).await.unwrap();
    let first = claim(&mut conn, 2, at(0)).await;
    let held: Vec<_> = first.iter().map(|job| job.held(None)).collect();
    let failed: Result<(), StoreError> = conn
        .tx(async |conn: &mut Conn| {
            let more = Finishing::begin(conn, &held, at(1)).await?.end(conn, Some(&want("t", 2, at(1)))).await?;
            assert_eq!(more.jobs.len(), 2);
            Err(StoreError::UnknownTeam)
        })
        .await;
    failed.unwrap_err();
    sound(&mut conn).await;
    assert_eq!(ids(&claim(&mut conn, 9, at(1)).await), ["j00002", "j00003"]);
    assert_eq!(finish(&mut conn, &first, at(1)).await, 2);
}
