//! Queue and politeness: claims request turns at hosts.

use std::time::Duration;

use base::Timestamp;
use chrono::TimeDelta;
use politeness::HostAnswer;
use store::jobs::{self, Claim, Claimed, Lane, NewJob};
use store::{Conn, Store, hosts};

use crate::bank::rich_team;
use crate::jobs::{claim, finish, jobs_named, lane, next_due, sound, want};
use crate::{at, id, suite};

suite!(
    four_of_a_host_run_at_a_time,
    a_crawl_delay_spreads_starts,
    other_hosts_of_a_lane_come_forward,
    teams_share_a_host,
    a_refusal_pauses_the_host,
    a_thousand_jobs_of_one_host_all_end,
    a_worker_gets_jobs_of_its_host_ahead,
    nobody_gets_jobs_of_a_shared_host_ahead,
);

fn of_host(prefix: &str, count: usize, host: &str) -> Vec<NewJob> {
    jobs_named(prefix, count).into_iter().map(|job| NewJob { host: Some(host.to_owned()), ..job }).collect()
}

fn after(millis: i64) -> Timestamp {
    at(0) + TimeDelta::milliseconds(millis)
}

async fn ended(conn: &mut Conn, claimed: &[Claimed], how: HostAnswer, now: Timestamp) {
    let held: Vec<_> = claimed.iter().map(|job| job.held(Some(how))).collect();
    assert_eq!(jobs::finish(conn, &held, now).await.unwrap().len(), claimed.len());
}

async fn opened(store: &Store) -> Conn {
    rich_team(store, "a", 0).await;
    rich_team(store, "b", 0).await;
    store.conn().await.unwrap()
}

async fn four_of_a_host_run_at_a_time(store: Store) {
    let mut conn = opened(&store).await;
    jobs::enqueue(&mut conn, &lane("l", "a"), &of_host("j", 20, "h"), at(0)).await.unwrap();
    let four = claim(&mut conn, 20, at(0)).await;
    assert_eq!(four.len(), 4);
    assert_eq!(hosts::in_flight(&mut conn, "h").await.unwrap(), 4);
    assert_eq!(claim(&mut conn, 20, at(0)).await, []);
    sound(&mut conn).await;
    ended(&mut conn, &four[..1], HostAnswer::Answered(Duration::from_millis(80)), after(80)).await;
    let next = claim(&mut conn, 20, after(80)).await;
    assert_eq!(next.iter().map(|job| job.id.as_str()).collect::<Vec<_>>(), ["j00004"], "nobody lost its place");
    assert_eq!(hosts::in_flight(&mut conn, "h").await.unwrap(), 4);
    sound(&mut conn).await;
}

async fn a_crawl_delay_spreads_starts(store: Store) {
    let mut conn = opened(&store).await;
    hosts::set_crawl_delay(&mut conn, "h", Some(Duration::from_millis(800)), at(0)).await.unwrap();
    jobs::enqueue(&mut conn, &lane("l", "a"), &of_host("j", 3, "h"), at(0)).await.unwrap();
    let first = claim(&mut conn, 9, at(0)).await;
    assert_eq!((first.len(), first[0].start_at), (1, at(0)));
    ended(&mut conn, &first, HostAnswer::Answered(Duration::from_millis(100)), after(100)).await;
    let second = claim(&mut conn, 9, after(100)).await;
    assert_eq!((second.len(), second[0].start_at), (1, after(800)), "promised ahead");
    ended(&mut conn, &second, HostAnswer::Answered(Duration::from_millis(100)), after(900)).await;
    hosts::set_crawl_delay(&mut conn, "h", Some(Duration::from_secs(5)), at(0)).await.unwrap();
    assert_eq!(claim(&mut conn, 9, after(900)).await, []);
    let next = next_due(&mut conn).await.unwrap();
    assert!(next > after(900) && next <= after(10_900), "{next}");
    let third = claim(&mut conn, 9, after(5800)).await;
    assert_eq!(third.len(), if next <= after(5800) { 1 } else { 0 });
    sound(&mut conn).await;
}

async fn other_hosts_of_a_lane_come_forward(store: Store) {
    let mut conn = opened(&store).await;
    let mut both = of_host("a", 60, "slow.example");
    both.extend(of_host("b", 10, "quick.example"));
    jobs::enqueue(&mut conn, &lane("l", "a"), &both, at(0)).await.unwrap();
    let mut got = Vec::new();
    for _ in 0..20 {
        got.extend(claim(&mut conn, 10, at(0)).await);
    }
    let quick = got.iter().filter(|job| job.host.as_deref() == Some("quick.example")).count();
    assert_eq!((got.len(), quick), (8, 4));
    assert!(got.iter().all(|job| job.attempt == 1));
    sound(&mut conn).await;
}

async fn teams_share_a_host(store: Store) {
    let mut conn = opened(&store).await;
    for team in ["a", "b"] {
        jobs::enqueue(&mut conn, &lane(team, team), &of_host(team, 10, "h"), at(0)).await.unwrap();
    }
    let four = claim(&mut conn, 20, at(0)).await;
    assert_eq!(four.len(), 4, "in all");
    ended(&mut conn, &four, HostAnswer::Answered(Duration::from_millis(1)), after(10)).await;
    // A postponed job becomes ready again after a short delay.
    let next = claim(&mut conn, 20, after(2000)).await;
    assert_eq!(next.len(), 4);
    assert_eq!(
        next.iter().filter(|job| job.team_id == "b").count() + four.iter().filter(|j| j.team_id == "b").count(),
        4
    );
    sound(&mut conn).await;
}

async fn a_refusal_pauses_the_host(store: Store) {
    let mut conn = opened(&store).await;
    jobs::enqueue(&mut conn, &lane("l", "a"), &of_host("j", 3, "h"), at(0)).await.unwrap();
    let one = claim(&mut conn, 1, at(0)).await;
    ended(&mut conn, &one, HostAnswer::Refused(Some(Duration::from_secs(120))), at(0)).await;
    assert_eq!(claim(&mut conn, 9, after(60_000)).await, []);
    sound(&mut conn).await;
    let next = next_due(&mut conn).await.unwrap();
    assert!(next >= after(119_000) && next <= after(120_000), "{next}");
    assert!(!claim(&mut conn, 9, after(120_100)).await.is_empty());
}

/// A batch of two hosts, one with nearly all URLs: its jobs are postponed and come back, and few claims return nothing.
async fn a_thousand_jobs_of_one_host_all_end(store: Store) {
    let mut conn = opened(&store).await;
    let mut all = of_host("j", 300, "big.example");
    all.extend(of_host("k", 3, "small.example"));
    jobs::enqueue(&mut conn, &Lane { cap: 20, ..lane("l", "a") }, &all, at(0)).await.unwrap();
    let (mut now, mut running, mut done, mut rounds) = (0, Vec::<(i64, Claimed)>::new(), 0, 0);
    while done < all.len() {
        rounds += 1;
        assert!(rounds < 4000, "{done} done at {now} ms");
        for job in claim(&mut conn, 20, after(now)).await {
            let end = now.max((job.start_at - at(0)).num_milliseconds()) + 200;
            running.push((end, job));
        }
        now = match running.iter().map(|(end, _)| *end).min() {
            Some(end) => end.min(now + 50),
            None => now + 50,
        };
        let (ends, rest): (Vec<_>, Vec<_>) = running.into_iter().partition(|(end, _)| *end <= now);
        running = rest;
        let ends: Vec<Claimed> = ends.into_iter().map(|(_, job)| job).collect();
        done += ends.len();
        ended(&mut conn, &ends, HostAnswer::Answered(Duration::from_millis(200)), after(now)).await;
    }
    sound(&mut conn).await;
    // 300 requests of 200 ms, four at a time, take 15 s.
    assert!(now < 25_000, "{now} ms in {rounds} rounds");
    assert_eq!(finish(&mut conn, &[], at(0)).await, 0);
}

async fn claim_as(conn: &mut Conn, worker: &str, now: Timestamp) -> Vec<Claimed> {
    let token = id();
    jobs::claim(conn, &Claim { worker: Some(worker), ..want(&token, 40, now) }).await.unwrap()
}

const QUICK: HostAnswer = HostAnswer::Answered(Duration::from_millis(8));

async fn a_worker_gets_jobs_of_its_host_ahead(store: Store) {
    let mut conn = opened(&store).await;
    jobs::enqueue(&mut conn, &lane("l", "a"), &of_host("j", 60, "h"), at(0)).await.unwrap();
    let four = claim_as(&mut conn, "w", at(0)).await;
    assert_eq!(four.len(), 4, "nothing is known of it yet");
    ended(&mut conn, &four, QUICK, after(8)).await;
    // As many as the host answers in 30 ms, and no more than before at a time.
    let ahead = claim_as(&mut conn, "w", after(9)).await;
    assert_eq!((ahead.len(), ahead[0].host_slots, ahead[18].host_slots), (19, 4, 4));
    assert!(ahead.iter().map(|job| job.start_at).is_sorted());
    assert_eq!(ahead[18].start_at, after(9 + 18), "a start each millisecond");
    assert_eq!(claim_as(&mut conn, "w", after(9)).await, []);
    sound(&mut conn).await;
    let refused = HostAnswer::Refused(Some(Duration::from_secs(5)));
    ended(&mut conn, &ahead[..1], refused, after(10)).await;
    ended(&mut conn, &ahead[1..], QUICK, after(11)).await;
    assert_eq!(claim_as(&mut conn, "w", after(12)).await, []);
    let careful = claim_as(&mut conn, "w", after(20_000)).await;
    assert!(careful.len() <= 3, "{} after a refusal", careful.len());
    sound(&mut conn).await;
}

async fn nobody_gets_jobs_of_a_shared_host_ahead(store: Store) {
    let mut conn = opened(&store).await;
    for team in ["a", "b"] {
        jobs::enqueue(&mut conn, &lane(team, team), &of_host(team, 60, "h"), at(0)).await.unwrap();
    }
    let four = claim_as(&mut conn, "w", at(0)).await;
    ended(&mut conn, &four, QUICK, after(8)).await;
    let ahead = claim_as(&mut conn, "w", after(2000)).await;
    assert_eq!(ahead.len(), 19);
    assert!(ahead.iter().all(|job| job.team_id == "b"), "the team whose turn it is");
    // Another worker finds the host in use, and from then on the first one takes no more than its slots.
    assert_eq!(claim_as(&mut conn, "other", after(2001)).await, []);
    ended(&mut conn, &ahead[..17], QUICK, after(2100)).await;
    let one = claim_as(&mut conn, "w", after(2100)).await;
    assert_eq!(one.len(), 2);
    ended(&mut conn, &[&ahead[17..], &one[..1]].concat(), QUICK, after(2200)).await;
    let rest = claim_as(&mut conn, "other", after(2700)).await;
    assert_eq!(rest.len(), 3);
    ended(&mut conn, &rest[..1], QUICK, after(5000)).await;
    assert_eq!(claim_as(&mut conn, "w", after(6000)).await.len(), 1, "two workers share four slots");
    sound(&mut conn).await;
}
