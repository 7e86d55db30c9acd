//! Feedback on calls.

use store::Store;
use store::feedback::{self, DailyLimits, Feedback, Given};
use store::ledger;
use store::teams::{self, Team};

use crate::{at, suite};

suite!(
    feedback_is_stored_once_for_each_call_and_team,
    a_day_has_its_limits,
    credits_come_back_up_to_the_cap,
    two_at_once_are_one,
    old_feedback_is_forgotten
);

const PLENTY: DailyLimits = DailyLimits { most: 100, credits: 100 };
/// Minutes of a day.
const DAY: i64 = 24 * 60;

fn said(id: &str, team: &str, job: Option<&str>, minute: i64) -> Feedback {
    Feedback {
        id: id.to_owned(),
        team_id: team.to_owned(),
        job_id: job.map(str::to_owned),
        endpoint: "search".to_owned(),
        rating: "good".to_owned(),
        content: "{}".to_owned(),
        credits: 0,
        created_at: at(minute),
    }
}

async fn two_teams(store: &Store) {
    let mut conn = store.conn().await.unwrap();
    for id in ["red", "blue"] {
        teams::create(&mut conn, &Team::new(id, id, at(0))).await.unwrap();
    }
}

async fn feedback_is_stored_once_for_each_call_and_team(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    let first = said("f1", "red", Some("job"), 0);
    let mut give = async |new: Feedback| feedback::give(&mut conn, new, PLENTY).await.unwrap().0;
    assert_eq!(give(first.clone()).await, Given::Stored(first.clone()));
    assert_eq!(give(said("f2", "red", Some("job"), 1)).await, Given::Before(first));
    assert!(matches!(give(said("f3", "blue", Some("job"), 1)).await, Given::Stored(_)), "another team");
    assert!(matches!(give(said("f4", "red", None, 1)).await, Given::Stored(_)));
    assert!(matches!(give(said("f5", "red", None, 1)).await, Given::Stored(_)), "no call, no repeat");
}

async fn a_day_has_its_limits(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    let limits = DailyLimits { most: 2, ..PLENTY };
    let mut give = async |id: &str, team: &str, minute| {
        feedback::give(&mut conn, said(id, team, Some(id), minute), limits).await.unwrap().0
    };
    assert!(matches!(give("f1", "red", 0).await, Given::Stored(_)));
    assert!(matches!(give("f2", "red", 1).await, Given::Stored(_)));
    assert_eq!(give("f3", "red", 2).await, Given::TooMany);
    assert!(matches!(give("f1", "red", 2).await, Given::Before(_)), "a repeat is no further one");
    assert!(matches!(give("f4", "blue", 2).await, Given::Stored(_)));
    assert!(matches!(give("f5", "red", DAY).await, Given::Stored(_)), "the next day");
}

async fn credits_come_back_up_to_the_cap(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    let limits = DailyLimits { credits: 3, ..PLENTY };
    let mut give = async |id: &str, credits: i64, minute: i64| {
        let new = Feedback { credits, ..said(id, "red", Some(id), minute) };
        match feedback::give(&mut conn, new, limits).await.unwrap() {
            (Given::Stored(stored), today) => (stored.credits, today),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(give("f1", 2, 0).await, (2, 2));
    assert_eq!(give("f2", 2, 1).await, (1, 3));
    assert_eq!(give("f3", 2, 2).await, (0, 3));
    assert_eq!(give("f4", 2, DAY).await, (2, 2));
    assert_eq!(ledger::balance(&mut conn, "red").await.unwrap().available, 5);
    assert_eq!(ledger::balance(&mut conn, "blue").await.unwrap().available, 0);
}

async fn two_at_once_are_one(store: Store) {
    two_teams(&store).await;
    let give = async |id: &str| {
        let mut conn = store.conn().await.unwrap();
        feedback::give(&mut conn, Feedback { credits: 1, ..said(id, "red", Some("job"), 0) }, PLENTY).await.unwrap().0
    };
    let (one, other) = tokio::join!(give("f1"), give("f2"));
    let stored = [&one, &other].into_iter().filter(|given| matches!(given, Given::Stored(_))).count();
    assert_eq!(stored, 1, "{one:?} {other:?}");
    let mut conn = store.conn().await.unwrap();
    assert_eq!(ledger::balance(&mut conn, "red").await.unwrap().available, 1);
}

async fn old_feedback_is_forgotten(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    for n in 0..3_i64 {
        let id = format!("f{n}");
        feedback::give(&mut conn, said(&id, "red", Some(&id), n), PLENTY).await.unwrap();
    }
    assert_eq!(feedback::forget(&mut conn, at(2), 9).await.unwrap(), 2);
    assert_eq!(feedback::forget(&mut conn, at(2), 9).await.unwrap(), 0);
}
