//! Mails of monitors: recipients are asked once, and unsubscribed ones stay so.

use store::mails::{self, CONFIRMED, CheckMail, FAILED, PENDING, QUEUED, SENT, UNSUBSCRIBED};
use store::monitors::{self, Weight};
use store::teams::{self, Team};
use store::{Conn, Store};

use crate::monitors::{page, record, with_check};
use crate::{at, suite};

suite!(
    a_recipient_is_asked_once,
    asking_is_counted,
    unsubscribing_wins,
    one_of_many_asks,
    mails_of_a_check_go_with_it,
    what_matters_is_told_first
);

async fn teams(store: &Store) -> Conn {
    let mut conn = store.conn().await.unwrap();
    for id in ["red", "blue"] {
        teams::create(&mut conn, &Team::new(id, id, at(0))).await.unwrap();
    }
    conn
}

async fn status(conn: &mut Conn, team: &str, address: &str) -> Option<String> {
    mails::subscriptions(conn, team, &[address]).await.unwrap().pop().map(|known| known.status)
}

async fn a_recipient_is_asked_once(store: Store) {
    let mut conn = teams(&store).await;
    assert!(mails::ask(&mut conn, "red", "a@x.test", None, at(1)).await.unwrap());
    assert!(!mails::ask(&mut conn, "red", "a@x.test", None, at(2)).await.unwrap());
    assert!(!mails::ask(&mut conn, "red", "a@x.test", Some(at(1)), at(2)).await.unwrap(), "asked at that time");
    let known = mails::subscriptions(&mut conn, "red", &["a@x.test", "b@x.test"]).await.unwrap();
    assert_eq!((known.len(), known[0].status.as_str(), known[0].asked_at), (1, PENDING, Some(at(1))));
    // The link has expired.
    assert!(mails::ask(&mut conn, "red", "a@x.test", Some(at(2)), at(3)).await.unwrap());
    assert!(mails::ask(&mut conn, "blue", "a@x.test", None, at(3)).await.unwrap(), "teams are apart");
    assert!(mails::confirm(&mut conn, "red", "a@x.test", at(4)).await.unwrap());
    assert!(!mails::ask(&mut conn, "red", "a@x.test", Some(at(9)), at(10)).await.unwrap(), "it has answered");
    mails::forget(&mut conn, "red", "a@x.test").await.unwrap();
    assert_eq!(status(&mut conn, "red", "a@x.test").await.as_deref(), Some(CONFIRMED));
    mails::forget(&mut conn, "blue", "a@x.test").await.unwrap();
    assert_eq!(status(&mut conn, "blue", "a@x.test").await, None);
    assert!(!mails::confirm(&mut conn, "blue", "a@x.test", at(4)).await.unwrap());
    assert!(mails::ask(&mut conn, "green", "a@x.test", None, at(1)).await.is_err(), "no such team");
}

async fn asking_is_counted(store: Store) {
    let mut conn = teams(&store).await;
    for (minute, team, address) in [(1, "red", "a@x.test"), (5, "red", "b@x.test"), (6, "blue", "b@x.test")] {
        assert!(mails::ask(&mut conn, team, address, None, at(minute)).await.unwrap());
    }
    mails::unsubscribe(&mut conn, "red", "c@x.test", at(7)).await.unwrap();
    assert_eq!(mails::asked_by_team(&mut conn, "red", at(0)).await.unwrap(), 2);
    assert_eq!(mails::asked_by_team(&mut conn, "red", at(5)).await.unwrap(), 1);
    assert_eq!(mails::asked_of(&mut conn, "b@x.test", at(0)).await.unwrap(), 2);
    assert_eq!(mails::asked_of(&mut conn, "b@x.test", at(6)).await.unwrap(), 1);
    assert_eq!(mails::asked_of(&mut conn, "c@x.test", at(0)).await.unwrap(), 0);
}

async fn unsubscribing_wins(store: Store) {
    let mut conn = teams(&store).await;
    mails::unsubscribe(&mut conn, "red", "a@x.test", at(1)).await.unwrap();
    mails::unsubscribe(&mut conn, "red", "a@x.test", at(2)).await.unwrap();
    assert!(!mails::ask(&mut conn, "red", "a@x.test", Some(at(9)), at(10)).await.unwrap());
    assert_eq!(status(&mut conn, "red", "a@x.test").await.as_deref(), Some(UNSUBSCRIBED));
    assert!(mails::ask(&mut conn, "red", "b@x.test", None, at(3)).await.unwrap());
    mails::unsubscribe(&mut conn, "red", "b@x.test", at(4)).await.unwrap();
    assert_eq!(status(&mut conn, "red", "b@x.test").await.as_deref(), Some(UNSUBSCRIBED));
    // Only the recipient itself takes it back.
    assert!(mails::confirm(&mut conn, "red", "b@x.test", at(5)).await.unwrap());
    assert_eq!(status(&mut conn, "red", "b@x.test").await.as_deref(), Some(CONFIRMED));
    assert!(mails::unsubscribe(&mut conn, "green", "a@x.test", at(1)).await.is_err(), "no such team");
}

async fn one_of_many_asks(store: Store) {
    teams(&store).await;
    let ask = || async {
        let mut conn = store.conn().await.unwrap();
        mails::ask(&mut conn, "red", "a@x.test", None, at(1)).await.unwrap()
    };
    let asked = futures_util::future::join_all((0..8).map(|_| ask())).await;
    assert_eq!(asked.into_iter().filter(|asked| *asked).count(), 1);
}

async fn mails_of_a_check_go_with_it(store: Store) {
    let mut conn = with_check(&store).await;
    let to = ["a@x.test", "b@x.test"];
    let add = async |conn: &mut Conn, to: &[&str]| -> Vec<String> {
        conn.tx(async |conn: &mut Conn| mails::add(conn, "c1", to, at(1)).await).await.unwrap()
    };
    assert_eq!(add(&mut conn, &to).await, to);
    assert_eq!(add(&mut conn, &["b@x.test", "c@x.test"]).await, ["c@x.test"]);
    let end = |address: &str, status: &str, error: Option<&str>| CheckMail {
        check_id: "c1".to_owned(),
        address: address.to_owned(),
        status: status.to_owned(),
        error: error.map(str::to_owned),
        updated_at: at(2),
    };
    mails::end(&mut conn, &end("a@x.test", SENT, None)).await.unwrap();
    mails::end(&mut conn, &end("b@x.test", FAILED, Some("no such user"))).await.unwrap();
    let found = mails::of_checks(&mut conn, &["c1", "c2"]).await.unwrap();
    assert_eq!(found[..2], [end("a@x.test", SENT, None), end("b@x.test", FAILED, Some("no such user"))]);
    assert_eq!((found.len(), found[2].status.as_str()), (3, QUEUED));
    monitors::remove(&mut conn, "red", "m1", at(3)).await.unwrap();
    while monitors::erase(&mut conn, 100).await.unwrap() > 0 {}
    assert!(mails::of_checks(&mut conn, &["c1"]).await.unwrap().is_empty());
}

async fn what_matters_is_told_first(store: Store) {
    let mut conn = with_check(&store).await;
    let judged = |meaningful: bool| {
        // A reason may quote what looks like a judgment.
        let other = !meaningful;
        let reason = format!("it says \"meaningful\":{other}");
        Some(serde_json::json!({ "confidence": "high", "meaningful": meaningful, "reason": reason }).to_string())
    };
    for (number, (status, judgment)) in
        [("changed", judged(false)), ("changed", judged(true)), ("same", None), ("error", None), ("new", judged(true))]
            .into_iter()
            .enumerate()
    {
        let number = i64::try_from(number).unwrap();
        let name = format!("p{number}");
        let row = monitors::Page { status: status.to_owned(), judgment, ..page(&name, "c1", &name, number) };
        record(&mut conn, &[row], None).await;
    }
    let mut told = async |weight, limit| {
        let pages = monitors::told(&mut conn, "c1", weight, limit).await.unwrap();
        pages.into_iter().map(|page| page.id).collect::<Vec<_>>()
    };
    assert_eq!(told(Weight::Meaningful, 9).await, ["p1", "p4"]);
    assert_eq!(told(Weight::Unjudged, 9).await, ["p3"]);
    assert_eq!(told(Weight::Noise, 9).await, ["p0"]);
    assert_eq!(told(Weight::Meaningful, 1).await, ["p1"]);
}
