//! Monitors: their targets and limits, removal, and what outlives them.

use base::Secret;
use store::cache::{self, BodyPlace};
use store::monitors::{
    self, ACTIVE, Check, CheckTarget, Known, Monitor, MonitorSecret, NewMonitor, NewPage, OF_THE_WEBHOOK, PAUSED, Page,
    QUEUED, SCHEDULED, Target,
};
use store::teams::{self, Team};
use store::versions::{self, Claim, Series, StoredBody, Version};
use store::webhooks::{self, NewDelivery};
use store::{Conn, Store, StoreError};

use crate::{at, id, suite};

suite!(
    monitors_are_found_by_their_team_only,
    a_team_has_no_more_than_its_limit,
    a_saved_monitor_comes_back,
    targets_keep_their_history_by_their_ids,
    a_removed_monitor_leaves_nothing,
    a_removed_target_leaves_its_history,
    versions_of_targets_outlive_those_of_requests,
    deliveries_of_a_check_keep_their_bodies
);

pub(crate) const DAY: i64 = 24 * 60;

pub(crate) fn monitor(id: &str, team: &str) -> Monitor {
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

pub(crate) fn target(id: &str, monitor: &str, position: i32) -> Target {
    let (kind, spec) = ("scrape".to_owned(), r#"{"type":"scrape"}"#.to_owned());
    Target { id: id.to_owned(), monitor_id: monitor.to_owned(), position, kind, spec }
}

pub(crate) fn check(id: &str, monitor: &str, minute: i64) -> Check {
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

pub(crate) fn known(target: &str, key: &str, check: &str) -> Known {
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

pub(crate) async fn two_teams(store: &Store) -> Conn {
    let mut conn = store.conn().await.unwrap();
    for id in ["red", "blue"] {
        teams::create(&mut conn, &Team::new(id, id, at(0))).await.unwrap();
    }
    conn
}

pub(crate) async fn add(conn: &mut Conn, row: &Monitor, targets: &[Target]) {
    let new = NewMonitor { row, targets, secrets: &[] };
    assert!(monitors::create(conn, &new, 99).await.unwrap());
}

/// Adds a check, as the transaction of a fire does.
pub(crate) async fn begin(conn: &mut Conn, new: &Check, targets: &[CheckTarget]) -> bool {
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
    assert_eq!(
        versions::forget(&mut conn, at(2) + versions::USE_PRECISION, 9).await.unwrap(),
        3,
        "no target, a request, a request"
    );
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
