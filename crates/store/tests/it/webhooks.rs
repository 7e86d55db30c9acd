//! Webhooks: secrets, deliveries, their log.

use base::Secret;
use store::webhooks::{self, Attempt, NewDelivery, State};
use store::{Conn, Store, StoreError, runs, teams};

use crate::{at, suite};

suite!(
    a_secret_is_made_once_and_rotated,
    a_delivery_from_birth_to_end,
    many_attempts_are_recorded_at_once,
    failed_ones_are_reopened,
    what_may_not_be_kept_goes_with_the_end,
    the_log_is_paged_newest_first,
    old_ones_are_forgotten,
    bodies_go_when_delivered_and_with_their_job,
    a_rolled_back_transaction_leaves_none
);

async fn team(store: &Store, id: &str) {
    teams::create(&mut store.conn().await.unwrap(), &teams::Team::new(id, id, at(0))).await.unwrap();
}

fn delivery(id: &str, team: &str, minute: i64) -> NewDelivery {
    NewDelivery {
        id: id.to_owned(),
        team_id: team.to_owned(),
        job_id: "job".to_owned(),
        event: "crawl.page".to_owned(),
        url: "https://hook.test/x".to_owned(),
        headers: r#"{"X-Own":"1"}"#.to_owned(),
        body: vec![0, 255, b'{', 10],
        digest: "d1".to_owned(),
        keep: true,
        created_at: at(minute),
    }
}

fn attempt(id: &str, number: i32, state: State) -> Attempt<'_> {
    let error = (state != State::Delivered).then_some("status 500");
    let status = Some(if error.is_some() { 500 } else { 204 });
    let next_at = (state == State::Pending).then(|| at(9));
    Attempt { id, state, attempts: number, status, error, duration_ms: 12, at: at(8), next_at }
}

async fn recorded(conn: &mut Conn, attempt: Attempt<'_>) -> bool {
    webhooks::record(conn, &[attempt]).await.unwrap().len() == 1
}

async fn a_secret_is_made_once_and_rotated(store: Store) {
    team(&store, "red").await;
    let mut conn = store.conn().await.unwrap();
    let [one, two, three] = ["one", "two", "three"].map(Secret::new);
    assert_eq!(webhooks::secrets(&mut conn, "red", at(0)).await.unwrap(), None);
    webhooks::add_secret(&mut conn, "red", &one, at(0)).await.unwrap();
    webhooks::add_secret(&mut conn, "red", &two, at(1)).await.unwrap();
    let found = webhooks::secrets(&mut conn, "red", at(1)).await.unwrap().unwrap();
    assert_eq!((found.current, found.previous, found.created_at), (one.clone(), None, at(0)));

    webhooks::rotate(&mut conn, "red", &two, at(10), at(5)).await.unwrap();
    let found = webhooks::secrets(&mut conn, "red", at(9)).await.unwrap().unwrap();
    assert_eq!((found.current, found.previous), (two.clone(), Some((one, at(10)))));
    let found = webhooks::secrets(&mut conn, "red", at(10)).await.unwrap().unwrap();
    assert_eq!((found.current, found.previous), (two.clone(), None));
    webhooks::rotate(&mut conn, "red", &three, at(20), at(6)).await.unwrap();
    let found = webhooks::secrets(&mut conn, "red", at(7)).await.unwrap().unwrap();
    assert_eq!((found.current, found.previous), (three.clone(), Some((two, at(20)))));

    team(&store, "blue").await;
    webhooks::rotate(&mut conn, "blue", &three, at(20), at(6)).await.unwrap();
    let found = webhooks::secrets(&mut conn, "blue", at(7)).await.unwrap().unwrap();
    assert_eq!((found.current, found.previous), (three.clone(), None));
    assert!(webhooks::rotate(&mut conn, "nobody", &three, at(20), at(6)).await.is_err());
}

async fn a_delivery_from_birth_to_end(store: Store) {
    team(&store, "red").await;
    let mut conn = store.conn().await.unwrap();
    let new = delivery("d1", "red", 0);
    webhooks::insert(&mut conn, std::slice::from_ref(&new)).await.unwrap();
    let (outgoing, secrets) = webhooks::for_attempt(&mut conn, "d1", at(0)).await.unwrap().unwrap();
    assert_eq!((&outgoing.body, outgoing.headers.as_str()), (&new.body, r#"{"X-Own":"1"}"#));
    assert_eq!((outgoing.state, outgoing.attempts, outgoing.team_id.as_str()), (State::Pending, 0, "red"));
    assert_eq!(secrets, None);
    webhooks::add_secret(&mut conn, "red", &Secret::new("one"), at(0)).await.unwrap();
    let (_, secrets) = webhooks::for_attempt(&mut conn, "d1", at(0)).await.unwrap().unwrap();
    assert_eq!(secrets, webhooks::secrets(&mut conn, "red", at(0)).await.unwrap());
    assert!(webhooks::for_attempt(&mut conn, "d2", at(0)).await.unwrap().is_none());

    assert!(recorded(&mut conn, attempt("d1", 1, State::Pending)).await);
    let logged = webhooks::find(&mut conn, "d1").await.unwrap().unwrap();
    assert_eq!((logged.state, logged.attempts, logged.status), (State::Pending, 1, Some(500)));
    assert_eq!((logged.error.as_deref(), logged.next_at), (Some("status 500"), Some(at(9))));
    assert!(recorded(&mut conn, attempt("d1", 2, State::Delivered)).await);
    let logged = webhooks::find(&mut conn, "d1").await.unwrap().unwrap();
    assert_eq!((logged.state, logged.attempts, logged.status), (State::Delivered, 2, Some(204)));
    assert_eq!((logged.error, logged.next_at, logged.delivered_at), (None, None, Some(at(8))));
    assert_eq!((logged.created_at, logged.duration_ms), (at(0), Some(12)));
    assert!(!recorded(&mut conn, attempt("d1", 3, State::Failed)).await, "it has ended");
    assert!(!recorded(&mut conn, attempt("d2", 1, State::Failed)).await, "there is none");
    let twice = webhooks::insert(&mut conn, &[delivery("d3", "red", 0), new]).await.unwrap_err();
    assert!(twice.is_duplicate());
    assert_eq!(webhooks::find(&mut conn, "d3").await.unwrap(), None);
}

async fn many_attempts_are_recorded_at_once(store: Store) {
    team(&store, "red").await;
    let mut conn = store.conn().await.unwrap();
    let new = [("d1", true), ("d2", true), ("d3", false), ("d4", false)];
    let new = new.map(|(id, keep)| NewDelivery { keep, ..delivery(id, "red", 0) });
    webhooks::insert(&mut conn, &new).await.unwrap();
    let ends = [("d1", State::Delivered), ("d2", State::Pending), ("d3", State::Pending), ("d4", State::Failed)];
    let attempts = [ends.as_slice(), &[("d5", State::Failed)]].concat();
    let attempts: Vec<Attempt<'_>> = attempts.iter().map(|(id, state)| attempt(id, 1, *state)).collect();
    let mut pending: Vec<String> = webhooks::record(&mut conn, &attempts).await.unwrap().into_iter().collect();
    pending.sort();
    assert_eq!(pending, ["d1", "d2", "d3", "d4"]);
    let log = webhooks::list(&mut conn, "red", None, None, 10).await.unwrap();
    let left: Vec<(&str, State)> = log.iter().map(|logged| (logged.id.as_str(), logged.state)).collect();
    assert_eq!(left, [("d3", State::Pending), ("d2", State::Pending), ("d1", State::Delivered)]);
    assert!(webhooks::record(&mut conn, &[]).await.unwrap().is_empty());
}

async fn failed_ones_are_reopened(store: Store) {
    team(&store, "red").await;
    let mut conn = store.conn().await.unwrap();
    webhooks::insert(&mut conn, &[delivery("d1", "red", 0)]).await.unwrap();
    assert!(!webhooks::reopen(&mut conn, "d1", at(9)).await.unwrap(), "pending already");
    recorded(&mut conn, attempt("d1", 4, State::Failed)).await;
    assert!(webhooks::reopen(&mut conn, "d1", at(9)).await.unwrap());
    let logged = webhooks::find(&mut conn, "d1").await.unwrap().unwrap();
    assert_eq!((logged.state, logged.attempts, logged.next_at), (State::Pending, 0, Some(at(9))));
    assert!(!webhooks::reopen(&mut conn, "d2", at(9)).await.unwrap());
}

async fn what_may_not_be_kept_goes_with_the_end(store: Store) {
    team(&store, "red").await;
    let mut conn = store.conn().await.unwrap();
    for state in [State::Delivered, State::Failed] {
        webhooks::insert(&mut conn, &[NewDelivery { keep: false, ..delivery("d1", "red", 0) }]).await.unwrap();
        assert!(recorded(&mut conn, attempt("d1", 1, State::Pending)).await);
        assert!(webhooks::find(&mut conn, "d1").await.unwrap().is_some());
        assert!(recorded(&mut conn, attempt("d1", 2, state)).await);
        assert_eq!(webhooks::find(&mut conn, "d1").await.unwrap(), None);
    }
}

async fn the_log_is_paged_newest_first(store: Store) {
    team(&store, "red").await;
    team(&store, "blue").await;
    let mut conn = store.conn().await.unwrap();
    let many: Vec<NewDelivery> = (0..1200).map(|n| delivery(&format!("r{n:04}"), "red", 0)).collect();
    webhooks::insert(&mut conn, &many).await.unwrap();
    webhooks::insert(&mut conn, &[delivery("b1", "blue", 0)]).await.unwrap();
    for id in ["r0003", "r0500", "r0001"] {
        recorded(&mut conn, attempt(id, 4, State::Failed)).await;
    }
    let page = |state, before| {
        let store = store.clone();
        async move {
            let found = webhooks::list(&mut store.conn().await.unwrap(), "red", state, before, 2).await.unwrap();
            found.into_iter().map(|logged| logged.id).collect::<Vec<_>>()
        }
    };
    assert_eq!(page(None, None).await, ["r1199", "r1198"]);
    assert_eq!(page(None, Some("r0002")).await, ["r0001", "r0000"]);
    assert_eq!(page(Some(State::Failed), None).await, ["r0500", "r0003"]);
    assert_eq!(page(Some(State::Failed), Some("r0003")).await, ["r0001"]);
    assert_eq!(page(Some(State::Delivered), None).await, [""; 0]);
}

async fn old_ones_are_forgotten(store: Store) {
    team(&store, "red").await;
    let mut conn = store.conn().await.unwrap();
    let new: Vec<NewDelivery> = (0..5).map(|n| delivery(&format!("d{n}"), "red", n)).collect();
    webhooks::insert(&mut conn, &new).await.unwrap();
    assert_eq!(webhooks::forget(&mut conn, at(3), 2).await.unwrap(), 2);
    assert_eq!(webhooks::forget(&mut conn, at(3), 2).await.unwrap(), 1);
    assert_eq!(webhooks::forget(&mut conn, at(3), 2).await.unwrap(), 0);
    let left = webhooks::list(&mut conn, "red", None, None, 10).await.unwrap();
    assert_eq!(left.iter().map(|logged| logged.id.as_str()).collect::<Vec<_>>(), ["d4", "d3"]);
}

/// Returns whether body and headers are stored, and the delivery state.
async fn contents(conn: &mut Conn, id: &str) -> (bool, State) {
    let (outgoing, _) = webhooks::for_attempt(conn, id, at(0)).await.unwrap().unwrap();
    let logged = webhooks::find(conn, id).await.unwrap().unwrap();
    assert_eq!((logged.body_bytes, logged.body_digest.as_str()), (4, "d1"), "what was sent can still be told");
    assert_eq!(outgoing.body.is_empty(), outgoing.headers == "{}");
    assert_eq!(outgoing.body.is_empty(), !logged.has_body);
    (logged.has_body, logged.state)
}

async fn bodies_go_when_delivered_and_with_their_job(store: Store) {
    team(&store, "red").await;
    let mut conn = store.conn().await.unwrap();
    let mut job = crate::runs::run("one");
    assert!(crate::runs::create(&mut conn, &job, 1).await);
    let of_job = |id: &str| NewDelivery { job_id: "one".to_owned(), ..delivery(id, "red", 0) };
    let private = NewDelivery { keep: false, ..of_job("d4") };
    webhooks::insert(&mut conn, &[of_job("d1"), of_job("d2"), of_job("d3"), private]).await.unwrap();
    recorded(&mut conn, attempt("d1", 1, State::Delivered)).await;
    recorded(&mut conn, attempt("d2", 4, State::Failed)).await;
    recorded(&mut conn, attempt("d3", 1, State::Pending)).await;
    assert_eq!(contents(&mut conn, "d1").await, (false, State::Delivered));
    assert!(!webhooks::reopen(&mut conn, "d1", at(9)).await.unwrap(), "there is nothing to send");
    assert_eq!(webhooks::drop_bodies(&mut conn, at(999), 9).await.unwrap(), 0, "the job is at work");
    (job.status, job.finished_at) = (runs::COMPLETED.to_owned(), Some(at(2)));
    runs::close(&mut conn, &job).await.unwrap();
    assert_eq!(webhooks::drop_bodies(&mut conn, at(59), 9).await.unwrap(), 0, "its results can be read");
    assert_eq!(contents(&mut conn, "d2").await, (true, State::Failed));
    assert_eq!(webhooks::drop_bodies(&mut conn, at(60), 2).await.unwrap(), 2);
    assert_eq!(webhooks::drop_bodies(&mut conn, at(60), 2).await.unwrap(), 1);
    assert_eq!(webhooks::drop_bodies(&mut conn, at(60), 2).await.unwrap(), 0);
    assert_eq!(contents(&mut conn, "d2").await, (false, State::Failed));
    assert_eq!(contents(&mut conn, "d3").await, (false, State::Failed));
    assert_eq!(webhooks::find(&mut conn, "d4").await.unwrap(), None, "of a private job nothing stays");
    webhooks::insert(&mut conn, &[NewDelivery { job_id: "gone".to_owned(), ..delivery("d5", "red", 0) }])
        .await
        .unwrap();
    assert_eq!(webhooks::drop_bodies(&mut conn, at(0), 2).await.unwrap(), 1);
}

async fn a_rolled_back_transaction_leaves_none(store: Store) {
    team(&store, "red").await;
    let mut conn = store.conn().await.unwrap();
    let end: Result<(), StoreError> = conn
        .tx(async |conn: &mut Conn| {
            webhooks::insert(conn, &[delivery("d1", "red", 0)]).await?;
            Err(StoreError::UnknownTeam)
        })
        .await;
    assert!(end.is_err());
    assert_eq!(webhooks::find(&mut conn, "d1").await.unwrap(), None);
}
