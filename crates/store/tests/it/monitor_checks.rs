//! Checks of monitors: fires that make one check, pages that are recorded once, retention.

use base::Timestamp;
use chrono::TimeDelta;
use store::monitors::{
    self, Check, CheckTarget, ChecksWanted, Known, MANUAL, Monitor, NewMonitor, PAUSED, Page, PagesWanted, RUNNING,
};
use store::{Conn, Store, StoreError, jobs};

use crate::jobs::{jobs_named, lane};
use crate::monitors::{DAY, add, begin, check, known, monitor, page, record, target, two_teams};
use crate::{at, id, suite};

suite!(
    a_fire_is_claimed_once,
    of_many_servers_one_makes_the_check,
    monitors_are_added_while_others_fire,
    what_is_due_is_told_longest_waiting_first,
    a_check_starts_once,
    a_check_is_open_until_it_ends,
    a_check_ends_with_its_last_target,
    checks_are_listed_newest_first,
    a_page_is_recorded_once,
    pages_are_read_in_their_order,
    a_judgment_is_written_once,
    a_target_knows_its_pages,
    a_target_remembers_the_content_of_its_pages,
    old_checks_go_with_their_pages
);

fn ids(checks: Vec<Check>) -> Vec<String> {
    checks.into_iter().map(|check| check.id).collect()
}

fn all_checks() -> ChecksWanted<'static> {
    ChecksWanted { status: None, skip: 0, limit: 99, since: at(-99 * DAY) }
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

async fn a_check_starts_once(store: Store) {
    let mut conn = two_teams(&store).await;
    add(&mut conn, &monitor("m1", "red"), &[]).await;
    let queued = check("c1", "m1", 30);
    assert!(begin(&mut conn, &queued, &[]).await);
    for minute in [31, 32] {
        monitors::start_check(&mut conn, "c1", at(minute)).await.unwrap();
    }
    let started = Some(at(31));
    let running = Check { status: RUNNING.to_owned(), started_at: started, progress_at: started, ..queued };
    let found = monitors::check(&mut conn, "m1", "c1").await.unwrap();
    assert_eq!(found, Some(Check { updated_at: at(31), ..running }));
    monitors::start_check(&mut conn, "c2", at(33)).await.unwrap();
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
