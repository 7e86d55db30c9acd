//! Monitors: fires that make one check, pages that are recorded once, retention and removal.

use base::{Secret, Timestamp};
use chrono::TimeDelta;
use store::cache::{self, BodyPlace};
use store::monitors::{
    self, ACTIVE, Check, CheckTarget, ChecksWanted, Known, MANUAL, Monitor, MonitorSecret, NewMonitor, NewPage,
    OF_THE_WEBHOOK, PAUSED, Page, PagesWanted, QUEUED, RUNNING, SCHEDULED, Target,
};
use store::teams::{self, Team};
use store::versions::{self, Claim, Series, StoredBody, Version};
use store::webhooks::{self, NewDelivery};
use store::{Conn, Store, StoreError, jobs};

use crate::jobs::{jobs_named, lane};
use crate::{at, id, suite};

suite!(
    monitors_are_found_by_their_team_only,
    a_team_has_no_more_than_its_limit,
    a_saved_monitor_comes_back,
    targets_keep_their_history_by_their_ids,
    a_fire_is_claimed_once,
    of_many_servers_one_makes_the_check,
    monitors_are_added_while_others_fire,
    what_is_due_is_told_longest_waiting_first,
    a_check_is_open_until_it_ends,
    a_check_ends_with_its_last_target,
    checks_are_listed_newest_first,
    a_page_is_recorded_once,
    pages_are_read_in_their_order,
    a_judgment_is_written_once,
    a_target_knows_its_pages,
    a_target_remembers_the_content_of_its_pages,
    old_checks_go_with_their_pages,
    a_removed_monitor_leaves_nothing,
    a_removed_target_leaves_its_history,
    versions_of_targets_outlive_those_of_requests,
    deliveries_of_a_check_keep_their_bodies
);

const DAY: i64 = 24 * 60;

fn monitor(id: &str, team: &str) -> Monitor {
    Monitor {
        id: id.to_owned(),
        team_id: team.to_owned(),
        api_key_id: Some("key".to_owned()),
        name: "Größe".to_owned(),
        status: ACTIVE.to_owned(),
        cron: "*/30 * * * *".to_owned(),
        timezone: "UTC".to_owned(),
        next_run_at: Some(at(30)),
        last_run_at: None,
        current_check_id: None,
        goal: None,
        judge_enabled: None,
        webhook: None,
        notification: None,
        retention_days: 2,
        fires_per_month: 1440,
        fires_counted_at: at(0),
        last_summary: None,
        withdrawals: 0,
        address: None,
        created_at: at(0),
        updated_at: at(0),
        revision: 0,
    }
}

fn target(id: &str, monitor: &str, position: i32) -> Target {
    let (kind, spec) = ("scrape".to_owned(), r#"{"type":"scrape"}"#.to_owned());
    Target { id: id.to_owned(), monitor_id: monitor.to_owned(), position, kind, spec }
}

fn check(id: &str, monitor: &str, minute: i64) -> Check {
    Check {
        id: id.to_owned(),
        monitor_id: monitor.to_owned(),
        team_id: "red".to_owned(),
        api_key_id: None,
        status: QUEUED.to_owned(),
        cause: SCHEDULED.to_owned(),
        scheduled_for: Some(at(minute)),
        started_at: None,
        finished_at: None,
        progress_at: None,
        estimated_credits: Some(2),
        reserved_credits: Some(2),
        actual_credits: None,
        billing_status: "reserved".to_owned(),
        reservation: Some(format!("monitor:{id}")),
        same_pages: 0,
        changed_pages: 0,
        new_pages: 0,
        removed_pages: 0,
        error_pages: 0,
        open_judgments: 0,
        notification: None,
        warning: None,
        error: None,
        created_at: at(minute),
        updated_at: at(minute),
    }
}

pub(crate) fn page(id: &str, check: &str, key: &str, seq: i64) -> Page {
    Page {
        id: id.to_owned(),
        check_id: check.to_owned(),
        target_id: "t1".to_owned(),
        key: key.to_owned(),
        seq,
        url: format!("https://a.test/{key}"),
        status: "new".to_owned(),
        previous_scrape_id: None,
        current_scrape_id: Some(id.to_owned()),
        status_code: Some(200),
        error: None,
        metadata: Some("{}".to_owned()),
        judgment: None,
        bytes: 0,
        created_at: at(0),
    }
}

fn known(target: &str, key: &str, check: &str) -> Known {
    Known {
        target_id: target.to_owned(),
        key: key.to_owned(),
        monitor_id: "m1".to_owned(),
        url: format!("https://a.test/{key}"),
        state: "present".to_owned(),
        scrape_id: None,
        check_id: check.to_owned(),
        seen_at: at(1),
    }
}

async fn two_teams(store: &Store) -> Conn {
    let mut conn = store.conn().await.unwrap();
    for id in ["red", "blue"] {
        teams::create(&mut conn, &Team::new(id, id, at(0))).await.unwrap();
    }
    conn
}

async fn add(conn: &mut Conn, row: &Monitor, targets: &[Target]) {
    let new = NewMonitor { row, targets, secrets: &[] };
    assert!(monitors::create(conn, &new, 99).await.unwrap());
}

/// Adds a check, as the transaction of a fire does.
async fn begin(conn: &mut Conn, new: &Check, targets: &[CheckTarget]) -> bool {
    conn.tx(async |conn: &mut Conn| monitors::add_check(conn, new, targets).await).await.unwrap()
}

pub(crate) async fn record(conn: &mut Conn, rows: &[Page], content: Option<&[u8]>) -> Vec<String> {
    let new: Vec<NewPage<'_>> = rows.iter().map(|row| NewPage { row, content }).collect();
    conn.tx(async |conn: &mut Conn| monitors::add_pages(conn, &new).await).await.unwrap()
}

/// Returns a connection to a database in which the monitor `m1` of the team `red` has the check `c1`.
pub(crate) async fn with_check(store: &Store) -> Conn {
    let mut conn = two_teams(store).await;
    add(&mut conn, &monitor("m1", "red"), &[target("t1", "m1", 0)]).await;
    assert!(begin(&mut conn, &check("c1", "m1", 0), &[]).await);
    conn
}

fn ids(checks: Vec<Check>) -> Vec<String> {
    checks.into_iter().map(|check| check.id).collect()
}

fn all_checks() -> ChecksWanted<'static> {
    ChecksWanted { status: None, skip: 0, limit: 99, since: at(-99 * DAY) }
}

async fn monitors_are_found_by_their_team_only(store: Store) {
    let mut conn = two_teams(&store).await;
    let row = monitor("m1", "red");
    let secret = |part: &str| MonitorSecret { part: part.to_owned(), body: Secret::new("hush") };
    let secrets = [secret("t1"), secret(OF_THE_WEBHOOK)];
    let targets = [target("t2", "m1", 1), target("t1", "m1", 0)];
    let new = NewMonitor { row: &row, targets: &targets, secrets: &secrets };
    assert!(monitors::create(&mut conn, &new, 1).await.unwrap());
    add(&mut conn, &monitor("m2", "red"), &[]).await;
    add(&mut conn, &monitor("m3", "blue"), &[]).await;

    assert_eq!(monitors::find(&mut conn, "red", "m1").await.unwrap(), Some(row));
    assert_eq!(monitors::find(&mut conn, "blue", "m1").await.unwrap(), None);
    let list = async |conn: &mut Conn, skip, limit| -> Vec<String> {
        monitors::list(conn, "red", skip, limit).await.unwrap().into_iter().map(|row| row.id).collect()
    };
    assert_eq!(list(&mut conn, 0, 9).await, ["m2", "m1"], "newest first");
    assert_eq!(list(&mut conn, 1, 9).await, ["m1"]);
    assert_eq!(list(&mut conn, 0, 1).await, ["m2"]);
    let every = monitors::every(&mut conn, None, "m1", 9).await.unwrap();
    assert_eq!(every.into_iter().map(|row| row.id).collect::<Vec<_>>(), ["m2", "m3"]);
    assert_eq!(monitors::every(&mut conn, Some("blue"), "", 9).await.unwrap().len(), 1);
    let found = monitors::targets(&mut conn, &["m1", "m2"]).await.unwrap();
    assert_eq!(found.iter().map(|target| target.id.as_str()).collect::<Vec<_>>(), ["t1", "t2"], "by position");
    let found = monitors::secrets(&mut conn, "m1").await.unwrap();
    assert!(found.iter().all(|secret| secret.body.expose() == "hush") && found.len() == 2);
    monitors::replace_secrets(&mut conn, "m1", &[]).await.unwrap();
    assert!(monitors::secrets(&mut conn, "m1").await.unwrap().is_empty());
}

async fn a_team_has_no_more_than_its_limit(store: Store) {
    drop(two_teams(&store).await);
    let create = async |id: &str| {
        let row = monitor(id, "red");
        let new = NewMonitor { row: &row, targets: &[], secrets: &[] };
        monitors::create(&mut store.conn().await.unwrap(), &new, 2).await.unwrap()
    };
    let (a, b, c) = tokio::join!(create("m1"), create("m2"), create("m3"));
    assert_eq!([a, b, c].into_iter().filter(|added| *added).count(), 2);
    let mut conn = store.conn().await.unwrap();
    assert_eq!(monitors::count(&mut conn, "red").await.unwrap(), 2);
    let first = monitors::list(&mut conn, "red", 0, 1).await.unwrap().remove(0);
    assert!(monitors::remove(&mut conn, "red", &first.id, at(1)).await.unwrap());
    assert!(create("m4").await, "a removed monitor does not count");
}

async fn a_saved_monitor_comes_back(store: Store) {
    let mut conn = two_teams(&store).await;
    let row = monitor("m1", "red");
    add(&mut conn, &row, &[]).await;
    let changed = Monitor {
        api_key_id: None,
        name: "other".to_owned(),
        status: PAUSED.to_owned(),
        next_run_at: None,
        last_run_at: Some(at(5)),
        current_check_id: Some("c1".to_owned()),
        goal: Some("g".to_owned()),
        judge_enabled: Some(false),
        webhook: Some("{}".to_owned()),
        notification: Some("{}".to_owned()),
        retention_days: 7,
        last_summary: Some("{}".to_owned()),
        withdrawals: 2,
        updated_at: at(6),
        revision: 1,
        ..row.clone()
    };
    for state in [&changed, &row] {
        conn.tx(async |conn: &mut Conn| -> Result<(), StoreError> {
            monitors::lock(conn, "m1").await?.unwrap();
            monitors::save(conn, state).await
        })
        .await
        .unwrap();
        assert_eq!(monitors::find(&mut conn, "red", "m1").await.unwrap().as_ref(), Some(state));
    }
}

async fn targets_keep_their_history_by_their_ids(store: Store) {
    let mut conn = two_teams(&store).await;
    add(&mut conn, &monitor("m1", "red"), &[target("t1", "m1", 0), target("t2", "m1", 1)]).await;
    add(&mut conn, &monitor("m2", "blue"), &[target("t9", "m2", 0)]).await;
    monitors::set_known(&mut conn, &known("t1", "a", "c1")).await.unwrap();
    monitors::set_known(&mut conn, &known("t2", "a", "c1")).await.unwrap();
    let kept = Target { spec: "{}".to_owned(), ..target("t2", "m1", 0) };
    let new = [kept.clone(), target("t3", "m1", 1)];
    let replace = async |conn: &mut Conn, targets: &[Target]| {
        conn.tx(async |conn: &mut Conn| monitors::replace_targets(conn, "m1", targets).await).await
    };
    replace(&mut conn, &new).await.unwrap();
    assert_eq!(monitors::targets(&mut conn, &["m1"]).await.unwrap(), new);
    while monitors::erase(&mut conn, 1).await.unwrap() > 0 {}
    assert!(monitors::known(&mut conn, "t1", &["a"]).await.unwrap().is_empty());
    assert_eq!(monitors::known(&mut conn, "t2", &["a"]).await.unwrap().len(), 1);
    assert!(replace(&mut conn, &[target("t9", "m1", 0)]).await.unwrap_err().is_duplicate(), "that of another monitor");
    assert_eq!(monitors::targets(&mut conn, &["m1"]).await.unwrap(), new);
}

/// Claims a fire and makes its check, as a server does.
async fn fire(conn: &mut Conn, fire: Timestamp) -> Result<bool, StoreError> {
    conn.tx(async |conn: &mut Conn| {
        let Some(mut row) = monitors::claim(conn, "m1", fire).await? else { return Ok(false) };
        let new = check(&id(), "m1", (fire - at(0)).num_minutes());
        row.next_run_at = Some(fire + TimeDelta::minutes(30));
        row.current_check_id = Some(new.id.clone());
        assert!(monitors::add_check(conn, &new, &[]).await?);
        monitors::save(conn, &row).await?;
        Ok(true)
    })
    .await
}

async fn a_fire_is_claimed_once(store: Store) {
    let mut conn = two_teams(&store).await;
    let row = monitor("m1", "red");
    add(&mut conn, &row, &[]).await;
    assert!(!fire(&mut conn, at(0)).await.unwrap(), "not the next fire");
    assert!(fire(&mut conn, at(30)).await.unwrap());
    assert!(!fire(&mut conn, at(30)).await.unwrap(), "a second time");
    assert!(fire(&mut conn, at(60)).await.unwrap());
    let saved = async |conn: &mut Conn, state: Monitor| {
        conn.tx(async |conn: &mut Conn| monitors::save(conn, &state).await).await.unwrap();
    };
    // Back to a fire that has made its check, as after a restored backup: the second fence holds.
    saved(&mut conn, row.clone()).await;
    let again = begin(&mut conn, &check("again", "m1", 30), &[]).await;
    assert!(!again && monitors::checks(&mut conn, "m1", &all_checks()).await.unwrap().len() == 2);
    let paused = Monitor { status: PAUSED.to_owned(), next_run_at: Some(at(90)), ..row.clone() };
    saved(&mut conn, paused).await;
    assert!(!fire(&mut conn, at(90)).await.unwrap(), "paused");
    saved(&mut conn, Monitor { next_run_at: Some(at(90)), ..row }).await;
    monitors::remove(&mut conn, "red", "m1", at(80)).await.unwrap();
    assert!(!fire(&mut conn, at(90)).await.unwrap(), "removed");
}

async fn of_many_servers_one_makes_the_check(store: Store) {
    let mut conn = two_teams(&store).await;
    add(&mut conn, &monitor("m1", "red"), &[]).await;
    for round in 1..=5 {
        let due = at(30 * round);
        let server = async || fire(&mut store.conn().await.unwrap(), due).await.unwrap();
        let (a, b, c, d) = tokio::join!(server(), server(), server(), server());
        assert_eq!([a, b, c, d].into_iter().filter(|fired| *fired).count(), 1, "round {round}");
    }
    assert_eq!(monitors::checks(&mut conn, "m1", &all_checks()).await.unwrap().len(), 5);
}

/// On PostgreSQL a fire locks the jobs of the team and then refers to the team, while a new monitor locks the team and then
/// its jobs.
async fn monitors_are_added_while_others_fire(store: Store) {
    let mut conn = two_teams(&store).await;
    add(&mut conn, &monitor("m1", "red"), &[]).await;
    let lane = lane("m1", "red");
    jobs::enqueue(&mut conn, &lane, &jobs_named("first", 1), at(0)).await.unwrap();
    for round in 0..30 {
        let added = async |name: &str| -> Result<(), StoreError> {
            let row = monitor(&format!("{name}{round}"), "red");
            let jobs = jobs_named(&row.id, 1);
            let new = NewMonitor { row: &row, targets: &[], secrets: &[] };
            let write = async |conn: &mut Conn| {
                assert!(monitors::create(conn, &new, 99).await?);
                jobs::enqueue(conn, &lane, &jobs, at(0)).await
            };
            store.conn().await?.tx(write).await.map(drop)
        };
        let fired = async |minute: i64| -> Result<bool, StoreError> {
            let write = async |conn: &mut Conn| {
                jobs::lock_team(conn, lane.queue, "red").await?;
                monitors::add_check(conn, &check(&id(), "m1", minute), &[]).await
            };
            store.conn().await?.tx(write).await
        };
        let (a, b, c, d) = tokio::join!(added("a"), fired(3 * round + 1), added("b"), fired(3 * round + 2));
        a.and(c).unwrap();
        assert!(b.unwrap() && d.unwrap(), "round {round}");
    }
}

async fn what_is_due_is_told_longest_waiting_first(store: Store) {
    let mut conn = two_teams(&store).await;
    assert_eq!(monitors::lateness(&mut conn, at(99)).await.unwrap(), monitors::Late::default());
    for (id, minute) in [("m1", 20), ("m2", 10), ("m3", 40)] {
        add(&mut conn, &Monitor { next_run_at: Some(at(minute)), ..monitor(id, "red") }, &[]).await;
    }
    let paused = Monitor { status: PAUSED.to_owned(), next_run_at: None, ..monitor("m4", "red") };
    add(&mut conn, &paused, &[]).await;
    let due = async |conn: &mut Conn, minute, limit| -> Vec<String> {
        monitors::due(conn, at(minute), limit).await.unwrap().into_iter().map(|row| row.id).collect()
    };
    assert_eq!(due(&mut conn, 20, 9).await, ["m2", "m1"]);
    assert_eq!(due(&mut conn, 99, 1).await, ["m2"]);
    assert!(due(&mut conn, 9, 9).await.is_empty());
    let late = monitors::lateness(&mut conn, at(30)).await.unwrap();
    assert_eq!((late.due, late.since), (2, Some(at(10))));
}

async fn a_check_is_open_until_it_ends(store: Store) {
    let mut conn = two_teams(&store).await;
    add(&mut conn, &monitor("m1", "red"), &[]).await;
    let mut row = check("c1", "m1", 30);
    assert!(begin(&mut conn, &row, &[]).await);
    assert_eq!(monitors::check(&mut conn, "m1", "c1").await.unwrap(), Some(row.clone()));
    assert_eq!(monitors::check(&mut conn, "m2", "c1").await.unwrap(), None);
    let open = async |conn: &mut Conn| {
        let open = monitors::open_checks(conn).await.unwrap();
        (open.queued, open.running)
    };
    assert_eq!(open(&mut conn).await, (1, 0));
    let save = async |conn: &mut Conn, row: &Check| {
        conn.tx(async |conn: &mut Conn| -> Result<bool, StoreError> {
            let is_open = monitors::lock_check(conn, "c1").await?.is_some();
            monitors::save_check(conn, row).await?;
            Ok(is_open)
        })
        .await
        .unwrap()
    };
    row.status = RUNNING.to_owned();
    (row.started_at, row.progress_at, row.open_judgments) = (Some(at(31)), Some(at(31)), 1);
    assert!(save(&mut conn, &row).await);
    assert_eq!(open(&mut conn).await, (0, 1));
    assert!(monitors::stale_checks(&mut conn, at(31), 9).await.unwrap().is_empty());
    assert_eq!(ids(monitors::stale_checks(&mut conn, at(32), 9).await.unwrap()), ["c1"]);
    let ended = Check {
        status: "partial".to_owned(),
        finished_at: Some(at(33)),
        reserved_credits: None,
        actual_credits: Some(1),
        billing_status: "confirmed".to_owned(),
        reservation: None,
        new_pages: 1,
        error_pages: 1,
        open_judgments: 0,
        warning: Some("w".to_owned()),
        error: Some("e".to_owned()),
        notification: Some("{}".to_owned()),
        updated_at: at(33),
        ..row
    };
    assert!(save(&mut conn, &ended).await);
    assert_eq!(monitors::check(&mut conn, "m1", "c1").await.unwrap(), Some(ended.clone()));
    assert!(!save(&mut conn, &ended).await, "not open any more");
    assert!(monitors::stale_checks(&mut conn, at(99), 9).await.unwrap().is_empty());
    assert_eq!(open(&mut conn).await, (0, 0));
}

async fn a_check_ends_with_its_last_target(store: Store) {
    let mut conn = two_teams(&store).await;
    add(&mut conn, &monitor("m1", "red"), &[]).await;
    let part = |position: i32, run: Option<&str>| CheckTarget {
        check_id: "c1".to_owned(),
        position,
        target_id: format!("t{position}"),
        kind: "scrape".to_owned(),
        run_id: run.map(str::to_owned),
        is_open: true,
        result: None,
    };
    let mut parts = [part(0, Some("r0")), part(1, Some("r1")), part(2, None)];
    assert!(begin(&mut conn, &check("c1", "m1", 30), &parts).await);
    assert_eq!(monitors::check_of_run(&mut conn, "r1").await.unwrap(), Some(parts[1].clone()));
    assert_eq!(monitors::check_of_run(&mut conn, "r2").await.unwrap(), None);
    for (index, left) in [(1, 2), (0, 1), (2, 0)] {
        let row = &mut parts[index];
        (row.is_open, row.result) = (false, Some(format!(r#"{{"n":{index}}}"#)));
        let open = conn.tx(async |conn: &mut Conn| monitors::save_check_target(conn, row).await).await.unwrap();
        assert_eq!(open, left);
    }
    assert_eq!(monitors::check_targets(&mut conn, &["c1", "c2"]).await.unwrap(), parts);
}

async fn checks_are_listed_newest_first(store: Store) {
    let mut conn = two_teams(&store).await;
    add(&mut conn, &monitor("m1", "red"), &[]).await;
    add(&mut conn, &monitor("m2", "red"), &[]).await;
    for (id, minute) in [("c1", 30), ("c2", 60), ("c3", 90)] {
        let finished = Some(at(minute + 1)).filter(|_| id != "c3");
        let status = if id == "c3" { RUNNING } else { "completed" };
        let row = Check { status: status.to_owned(), finished_at: finished, ..check(id, "m1", minute) };
        assert!(begin(&mut conn, &row, &[]).await);
    }
    // Two checks by hand have no fire that could be the same.
    for id in ["c4", "c5"] {
        let row = Check { cause: MANUAL.to_owned(), scheduled_for: None, ..check(id, "m2", 30) };
        assert!(begin(&mut conn, &row, &[]).await);
    }
    let list = async |conn: &mut Conn, wanted: ChecksWanted<'_>| -> Vec<String> {
        ids(monitors::checks(conn, "m1", &wanted).await.unwrap())
    };
    assert_eq!(list(&mut conn, all_checks()).await, ["c3", "c2", "c1"]);
    assert_eq!(list(&mut conn, ChecksWanted { skip: 1, limit: 1, ..all_checks() }).await, ["c2"]);
    assert_eq!(list(&mut conn, ChecksWanted { status: Some("completed"), ..all_checks() }).await, ["c2", "c1"]);
    assert_eq!(list(&mut conn, ChecksWanted { since: at(61), ..all_checks() }).await, ["c3", "c2"], "kept ones");
}

async fn a_page_is_recorded_once(store: Store) {
    let mut conn = two_teams(&store).await;
    add(&mut conn, &monitor("m1", "red"), &[]).await;
    assert!(begin(&mut conn, &check("c1", "m1", 30), &[]).await);
    let row = Page { bytes: 9, ..page("p1", "c1", "a", 1) };
    assert_eq!(record(&mut conn, std::slice::from_ref(&row), Some(b"packed")).await, ["p1"]);
    let repeats = [page("p2", "c1", "a", 2), page("p3", "c1", "b", 3)];
    assert_eq!(record(&mut conn, &repeats, None).await, ["p3"], "one page of a key");
    let other = Page { target_id: "t2".to_owned(), ..page("p4", "c1", "a", 4) };
    assert_eq!(record(&mut conn, &[other], None).await, ["p4"], "another target has its own");
    assert_eq!(monitors::page(&mut conn, "p1").await.unwrap(), Some(row));
    assert_eq!(monitors::page(&mut conn, "p2").await.unwrap(), None);
    let contents = monitors::contents(&mut conn, &["p1", "p3"]).await.unwrap();
    assert_eq!(contents.into_iter().collect::<Vec<_>>(), [("p1".to_owned(), b"packed".to_vec())]);
}

async fn pages_are_read_in_their_order(store: Store) {
    let mut conn = two_teams(&store).await;
    add(&mut conn, &monitor("m1", "red"), &[]).await;
    assert!(begin(&mut conn, &check("c1", "m1", 30), &[]).await);
    let status = |status: &str, row: Page| Page { status: status.to_owned(), ..row };
    let rows = [
        status("same", page("p1", "c1", "a", 3)),
        status("new", page("p2", "c1", "b", 1)),
        status("same", page("p3", "c1", "c", 2)),
    ];
    record(&mut conn, &rows, None).await;
    let read = async |conn: &mut Conn, status, skip, limit| -> Vec<String> {
        let wanted = PagesWanted { status, skip, limit };
        monitors::pages(conn, "c1", &wanted).await.unwrap().into_iter().map(|row| row.id).collect()
    };
    assert_eq!(read(&mut conn, None, 0, 9).await, ["p2", "p3", "p1"]);
    assert_eq!(read(&mut conn, None, 1, 1).await, ["p3"]);
    assert_eq!(read(&mut conn, Some("same"), 0, 9).await, ["p3", "p1"]);
    assert_eq!(read(&mut conn, Some("same"), 1, 9).await, ["p1"]);
}

async fn a_judgment_is_written_once(store: Store) {
    let mut conn = two_teams(&store).await;
    add(&mut conn, &monitor("m1", "red"), &[]).await;
    assert!(begin(&mut conn, &check("c1", "m1", 30), &[]).await);
    record(&mut conn, &[page("p1", "c1", "a", 1)], None).await;
    assert!(monitors::judge(&mut conn, "p1", "{\"n\":1}", Some("{\"c\":2}")).await.unwrap());
    assert!(!monitors::judge(&mut conn, "p1", "{\"n\":2}", None).await.unwrap());
    let row = monitors::page(&mut conn, "p1").await.unwrap().unwrap();
    assert_eq!((row.judgment.as_deref(), row.metadata.as_deref()), (Some("{\"n\":1}"), Some("{\"c\":2}")));
    assert!(!monitors::judge(&mut conn, "p9", "{}", None).await.unwrap());
}

async fn a_target_knows_its_pages(store: Store) {
    let mut conn = two_teams(&store).await;
    add(&mut conn, &monitor("m1", "red"), &[target("t1", "m1", 0)]).await;
    for key in ["a", "b", "c"] {
        monitors::set_known(&mut conn, &known("t1", key, "c1")).await.unwrap();
    }
    monitors::set_known(&mut conn, &known("t2", "a", "c1")).await.unwrap();
    let gone = Known { state: "removed".to_owned(), ..known("t1", "c", "c1") };
    monitors::set_known(&mut conn, &gone).await.unwrap();
    let seen = Known { scrape_id: Some("s2".to_owned()), seen_at: at(9), ..known("t1", "a", "c2") };
    monitors::set_known(&mut conn, &seen).await.unwrap();
    assert_eq!(monitors::known(&mut conn, "t1", &["c", "a", "x"]).await.unwrap(), [seen, gone]);
    let keys = async |conn: &mut Conn, check: &str, after: &str| -> Vec<String> {
        monitors::unmet(conn, "t1", check, after, 9).await.unwrap().into_iter().map(|row| row.key).collect()
    };
    assert_eq!(keys(&mut conn, "c2", "").await, ["b"]);
    assert_eq!(keys(&mut conn, "c3", "").await, ["a", "b"]);
    assert_eq!(keys(&mut conn, "c3", "a").await, ["b"]);
}

async fn a_target_remembers_the_content_of_its_pages(store: Store) {
    let mut conn = two_teams(&store).await;
    add(&mut conn, &monitor("m1", "red"), &[target("t1", "m1", 0)]).await;
    monitors::set_memory(&mut conn, "t1", "a", Some(b"of no page")).await.unwrap();
    for (target, key) in [("t1", "a"), ("t1", "b"), ("t2", "a")] {
        monitors::set_known(&mut conn, &known(target, key, "c1")).await.unwrap();
    }
    let read = async |conn: &mut Conn, target: &str, key: &str| monitors::memory(conn, target, key).await.unwrap();
    assert_eq!(read(&mut conn, "t1", "a").await, None);
    monitors::set_memory(&mut conn, "t1", "a", Some(b"blocks")).await.unwrap();
    monitors::set_known(&mut conn, &known("t1", "a", "c2")).await.unwrap();
    assert_eq!(read(&mut conn, "t1", "a").await.as_deref(), Some(&b"blocks"[..]), "it outlives the next check");
    assert_eq!((read(&mut conn, "t1", "b").await, read(&mut conn, "t2", "a").await), (None, None));
    monitors::set_memory(&mut conn, "t1", "a", None).await.unwrap();
    assert_eq!((read(&mut conn, "t1", "a").await, read(&mut conn, "t1", "x").await), (None, None));
}

async fn old_checks_go_with_their_pages(store: Store) {
    let mut conn = two_teams(&store).await;
    add(&mut conn, &monitor("m1", "red"), &[target("t1", "m1", 0)]).await;
    add(&mut conn, &Monitor { created_at: at(DAY), ..monitor("m2", "red") }, &[]).await;
    for (id, minute) in [("c1", 0), ("c2", DAY), ("c3", 3 * DAY)] {
        let row = Check { finished_at: Some(at(minute)), status: "completed".into(), ..check(id, "m1", minute) };
        assert!(begin(&mut conn, &row, &[]).await);
        record(&mut conn, &[page(&format!("p-{id}"), id, "a", 1), page(&format!("q-{id}"), id, "b", 2)], None).await;
    }
    // A check that runs is never old.
    assert!(begin(&mut conn, &Check { status: RUNNING.into(), ..check("c0", "m1", 1) }, &[]).await);
    monitors::set_known(&mut conn, &known("t1", "a", "c1")).await.unwrap();
    let due = monitors::sweep(&mut conn, at(60), 9).await.unwrap();
    assert_eq!(due.iter().map(|due| (due.id.as_str(), due.retention_days)).collect::<Vec<_>>(), [("m1", 2)]);
    let mut steps = Vec::new();
    loop {
        let removed = monitors::remove_checks(&mut conn, "m1", at(2 * DAY), 3).await.unwrap();
        if removed == 0 {
            break;
        }
        steps.push(removed);
    }
    assert_eq!(steps, [3, 1, 2], "pages first, in steps of the limit");
    assert_eq!(ids(monitors::checks(&mut conn, "m1", &all_checks()).await.unwrap()), ["c3", "c0"]);
    assert_eq!(monitors::page(&mut conn, "p-c1").await.unwrap(), None);
    assert!(monitors::page(&mut conn, "p-c3").await.unwrap().is_some());
    assert_eq!(monitors::known(&mut conn, "t1", &["a"]).await.unwrap().len(), 1, "what the next check needs stays");
    monitors::set_swept(&mut conn, "m1", at(5 * DAY)).await.unwrap();
    assert!(monitors::sweep(&mut conn, at(60), 9).await.unwrap().is_empty());
}

/// Writes a version of a page that uses a body in the database.
async fn write_version(conn: &mut Conn, tag: &str, digest: &str, minute: i64) {
    let series = Series { team: "red", key: "a", tag };
    let (row, now) = (id(), at(minute));
    let claim = Claim { series, url: "https://a.test/a", id: &row, holder: "s", now, until: now };
    let held = versions::claim(conn, &claim).await.unwrap().unwrap();
    let place = BodyPlace { digest: digest.to_owned(), in_row: true };
    let version = Version {
        scraped_at: at(minute),
        status_code: 200,
        final_url: "https://a.test/a".to_owned(),
        content_type: None,
        charset: None,
        rendered: false,
        body: Some(StoredBody { place, bytes: 4 }),
        text: None,
        extraction: None,
        crawl: None,
    };
    conn.tx(async |conn: &mut Conn| -> Result<(), StoreError> {
        versions::write(conn, &held.id, "s", &version).await?.unwrap();
        cache::add_body(conn, digest, b"body").await
    })
    .await
    .unwrap();
}

async fn a_removed_monitor_leaves_nothing(store: Store) {
    let mut conn = two_teams(&store).await;
    let row = Monitor { webhook: Some("{}".to_owned()), ..monitor("m1", "red") };
    let secrets = [MonitorSecret { part: "t1".to_owned(), body: Secret::new("hush") }];
    let targets = [target("t1", "m1", 0), target("t2", "m1", 1)];
    assert!(
        monitors::create(&mut conn, &NewMonitor { row: &row, targets: &targets, secrets: &secrets }, 9).await.unwrap()
    );
    add(&mut conn, &monitor("m2", "red"), &[target("t3", "m2", 0)]).await;
    write_version(&mut conn, &monitors::tag("t1"), "d1", 1).await;
    write_version(&mut conn, &monitors::tag("t3"), "d3", 1).await;
    monitors::set_known(&mut conn, &known("t1", "a", "c1")).await.unwrap();
    monitors::set_known(&mut conn, &Known { monitor_id: "m2".to_owned(), ..known("t3", "a", "c2") }).await.unwrap();
    for (id, monitor) in [("c1", "m1"), ("c2", "m2")] {
        assert!(begin(&mut conn, &check(id, monitor, 30), &[]).await);
        record(&mut conn, &[page(&format!("p-{id}"), id, "a", 1), page(&format!("q-{id}"), id, "b", 2)], None).await;
    }
    assert!(!monitors::remove(&mut conn, "blue", "m1", at(1)).await.unwrap());
    assert!(monitors::remove(&mut conn, "red", "m1", at(1)).await.unwrap());
    assert!(!monitors::remove(&mut conn, "red", "m1", at(1)).await.unwrap(), "a second time");
    assert_eq!(monitors::find(&mut conn, "red", "m1").await.unwrap(), None);
    assert!(monitors::secrets(&mut conn, "m1").await.unwrap().is_empty(), "secrets go at once");
    assert_eq!(monitors::list(&mut conn, "red", 0, 9).await.unwrap().len(), 1);
    let mut steps = 0;
    while monitors::erase(&mut conn, 1).await.unwrap() > 0 {
        steps += 1;
    }
    assert!((5..20).contains(&steps), "{steps}");
    assert_eq!(monitors::check(&mut conn, "m1", "c1").await.unwrap(), None);
    assert_eq!(monitors::page(&mut conn, "q-c1").await.unwrap(), None);
    assert!(monitors::known(&mut conn, "t1", &["a"]).await.unwrap().is_empty());
    assert_eq!(version_of(&mut conn, "t1").await, None);
    // The other monitor has everything.
    assert!(monitors::page(&mut conn, "q-c2").await.unwrap().is_some());
    assert_eq!(version_of(&mut conn, "t3").await.as_deref(), Some("d3"));
}

/// Returns the digest of the body that a target's version of the page `a` has.
async fn version_of(conn: &mut Conn, target: &str) -> Option<String> {
    let (tag, row, now) = (monitors::tag(target), id(), at(2));
    let series = Series { team: "red", key: "a", tag: &tag };
    let claim = Claim { series, url: "https://a.test/a", id: &row, holder: "look", now, until: now };
    let held = versions::claim(conn, &claim).await.unwrap().unwrap();
    versions::release(conn, &held.id, "look").await.unwrap();
    held.version.and_then(|version| version.body).map(|body| body.place.digest)
}

async fn a_removed_target_leaves_its_history(store: Store) {
    let mut conn = two_teams(&store).await;
    add(&mut conn, &monitor("m1", "red"), &[target("t1", "m1", 0), target("t2", "m1", 1)]).await;
    for (target, digest) in [("t1", "d1"), ("t2", "d2")] {
        write_version(&mut conn, &monitors::tag(target), digest, 1).await;
        monitors::set_known(&mut conn, &known(target, "a", "c1")).await.unwrap();
    }
    let left = [target("t2", "m1", 0)];
    conn.tx(async |conn: &mut Conn| monitors::replace_targets(conn, "m1", &left).await).await.unwrap();
    while monitors::erase(&mut conn, 9).await.unwrap() > 0 {}
    assert_eq!(version_of(&mut conn, "t1").await, None);
    assert_eq!(version_of(&mut conn, "t2").await.as_deref(), Some("d2"));
    assert_eq!(monitors::targets(&mut conn, &["m1"]).await.unwrap(), left);
}

async fn versions_of_targets_outlive_those_of_requests(store: Store) {
    let mut conn = two_teams(&store).await;
    add(&mut conn, &monitor("m1", "red"), &[target("t1", "m1", 0)]).await;
    write_version(&mut conn, &monitors::tag("t1"), "d1", 1).await;
    write_version(&mut conn, &monitors::tag("gone"), "d2", 1).await;
    write_version(&mut conn, "t1", "d3", 1).await;
    write_version(&mut conn, "", "d4", 1).await;
    assert_eq!(versions::forget(&mut conn, at(2), 9).await.unwrap(), 3, "no target, a request, a request");
    assert_eq!(version_of(&mut conn, "t1").await.as_deref(), Some("d1"));
}

async fn deliveries_of_a_check_keep_their_bodies(store: Store) {
    let mut conn = two_teams(&store).await;
    add(&mut conn, &monitor("m1", "red"), &[]).await;
    let row = Check { finished_at: Some(at(1)), status: "completed".to_owned(), ..check("c1", "m1", 0) };
    assert!(begin(&mut conn, &row, &[]).await);
    let delivery = |id: &str, job: &str| NewDelivery {
        id: id.to_owned(),
        team_id: "red".to_owned(),
        job_id: job.to_owned(),
        event: "monitor.page".to_owned(),
        url: "https://hook.test/".to_owned(),
        headers: "{}".to_owned(),
        body: b"body".to_vec(),
        digest: "d".to_owned(),
        keep: true,
        created_at: at(1),
    };
    webhooks::insert(&mut conn, &[delivery("w1", "c1"), delivery("w2", "c2")]).await.unwrap();
    assert_eq!(webhooks::drop_bodies(&mut conn, at(DAY), 9).await.unwrap(), 1);
    let has_body = async |conn: &mut Conn, id: &str| webhooks::find(conn, id).await.unwrap().unwrap().has_body;
    assert!(has_body(&mut conn, "w1").await && !has_body(&mut conn, "w2").await);
    while monitors::remove_checks(&mut conn, "m1", at(2), 9).await.unwrap() > 0 {}
    assert_eq!(webhooks::drop_bodies(&mut conn, at(DAY), 9).await.unwrap(), 1);
}
