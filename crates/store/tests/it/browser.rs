//! Browser sessions.

use base::Secret;
use store::Store;
use store::browser::{self, Call, Session, Tokens};
use store::teams::{self, Team};

use crate::{at, suite};

suite!(
    a_session_is_found_and_ends_once,
    a_scrape_has_one_session_at_a_time,
    a_call_starts_one_session,
    the_newest_come_first,
    lost_sessions_end,
    old_ones_are_forgotten
);

async fn two_teams(store: &Store) {
    let mut conn = store.conn().await.unwrap();
    for id in ["red", "blue"] {
        teams::create(&mut conn, &Team::new(id, id, at(0))).await.unwrap();
    }
}

pub(crate) fn session(id: &str, team: &str, begin: i64) -> Session {
    let token = |name: &str| Secret::new(format!("{name} of {id}"));
    Session {
        id: id.to_owned(),
        team_id: team.to_owned(),
        scrape_id: None,
        owner: "http://10.0.0.1:3002".to_owned(),
        tokens: Tokens { cdp: token("cdp"), view: token("view"), hand: token("hand") },
        is_watchable: true,
        created_at: at(begin),
        last_used_at: at(begin),
        expires_at: at(begin + 5),
        alive_until: at(begin + 1),
        ended_at: None,
        credits: 0,
        call: None,
    }
}

async fn a_session_is_found_and_ends_once(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    let row = session("s", "red", 0);
    browser::insert(&mut conn, &row).await.unwrap();
    assert!(browser::insert(&mut conn, &session("t", "nobody", 0)).await.is_err());
    let found = browser::find(&mut conn, "s").await.unwrap().unwrap();
    assert_eq!((found.tokens.cdp.expose(), found.tokens.hand.expose()), ("cdp of s", "hand of s"));
    assert_eq!(found, row);
    assert!(found.is_active(at(0)) && !found.is_active(at(1)));
    assert!(browser::renew(&mut conn, "s", at(1), at(3)).await.unwrap());
    let found = browser::find(&mut conn, "s").await.unwrap().unwrap();
    assert_eq!((found.last_used_at, found.alive_until), (at(1), at(3)));
    assert!(browser::end(&mut conn, "s", at(2), 7).await.unwrap());
    assert!(!browser::end(&mut conn, "s", at(3), 9).await.unwrap());
    assert!(!browser::renew(&mut conn, "s", at(3), at(4)).await.unwrap());
    let ended = browser::find(&mut conn, "s").await.unwrap().unwrap();
    assert_eq!((ended.ended_at, ended.credits, ended.tokens.view.expose()), (Some(at(2)), 7, ""));
    assert!(!ended.is_active(at(2)));
}

async fn a_scrape_has_one_session_at_a_time(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    let of = |id: &str, begin| Session { scrape_id: Some("page".to_owned()), ..session(id, "red", begin) };
    browser::insert(&mut conn, &of("a", 0)).await.unwrap();
    assert!(browser::insert(&mut conn, &of("b", 1)).await.unwrap_err().is_duplicate());
    let id = |found: Option<Session>| found.map(|found| found.id);
    assert_eq!(id(browser::of_scrape(&mut conn, "red", "page").await.unwrap()), Some("a".to_owned()));
    assert_eq!(id(browser::of_scrape(&mut conn, "blue", "page").await.unwrap()), None);
    browser::end(&mut conn, "a", at(2), 1).await.unwrap();
    assert_eq!(id(browser::of_scrape(&mut conn, "red", "page").await.unwrap()), None);
    browser::insert(&mut conn, &of("b", 3)).await.unwrap();
    assert_eq!(id(browser::last_of_scrape(&mut conn, "red", "page").await.unwrap()), Some("b".to_owned()));
    assert_eq!(id(browser::last_of_scrape(&mut conn, "blue", "page").await.unwrap()), None);
    // Stand-alone sessions do not conflict with each other.
    browser::insert(&mut conn, &session("c", "red", 0)).await.unwrap();
    browser::insert(&mut conn, &session("d", "red", 0)).await.unwrap();
}

async fn a_call_starts_one_session(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    let call = |key: &str| Some(Call { key: key.to_owned(), fingerprint: "f".to_owned() });
    let row = Session { call: call("k"), ..session("a", "red", 0) };
    browser::insert(&mut conn, &row).await.unwrap();
    let again = Session { call: call("k"), ..session("b", "red", 1) };
    assert!(browser::insert(&mut conn, &again).await.unwrap_err().is_duplicate());
    browser::insert(&mut conn, &Session { call: call("k"), ..session("c", "blue", 1) }).await.unwrap();
    browser::insert(&mut conn, &Session { call: call("l"), ..session("d", "red", 1) }).await.unwrap();
    assert_eq!(browser::find_by_key(&mut conn, "red", "k").await.unwrap(), Some(row));
    assert_eq!(browser::find_by_key(&mut conn, "red", "m").await.unwrap(), None);
    // The end of a session does not free its idempotency key.
    browser::end(&mut conn, "a", at(2), 1).await.unwrap();
    assert!(browser::insert(&mut conn, &again).await.unwrap_err().is_duplicate());
}

async fn the_newest_come_first(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    for (id, team, begin) in [("a", "red", 1), ("b", "red", 3), ("c", "red", 2), ("d", "blue", 4)] {
        browser::insert(&mut conn, &session(id, team, begin)).await.unwrap();
    }
    browser::insert(&mut conn, &Session { scrape_id: Some("page".to_owned()), ..session("e", "red", 9) })
        .await
        .unwrap();
    let ids = |list: Vec<Session>| list.into_iter().map(|one| one.id).collect::<Vec<_>>();
    assert_eq!(ids(browser::list(&mut conn, "red", None, at(0), 9).await.unwrap()), ["b", "c", "a"]);
    assert_eq!(ids(browser::list(&mut conn, "red", None, at(0), 2).await.unwrap()), ["b", "c"]);
    // Older sessions are found however many have ended since; a session whose server is lost counts as ended.
    browser::end(&mut conn, "b", at(3), 1).await.unwrap();
    browser::renew(&mut conn, "a", at(3), at(6)).await.unwrap();
    assert_eq!(ids(browser::list(&mut conn, "red", Some(true), at(3), 1).await.unwrap()), ["a"]);
    assert_eq!(ids(browser::list(&mut conn, "red", Some(false), at(3), 9).await.unwrap()), ["b", "c"]);
}

async fn lost_sessions_end(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    for (id, begin) in [("a", 0), ("b", 1), ("c", 5)] {
        browser::insert(&mut conn, &session(id, "red", begin)).await.unwrap();
    }
    assert_eq!(browser::end_lost(&mut conn, at(3), 9).await.unwrap(), 2);
    assert_eq!(browser::end_lost(&mut conn, at(3), 9).await.unwrap(), 0);
    assert_eq!(browser::find(&mut conn, "a").await.unwrap().unwrap().ended_at, Some(at(3)));
    assert_eq!(browser::find(&mut conn, "c").await.unwrap().unwrap().ended_at, None);
}

async fn old_ones_are_forgotten(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    for (id, begin) in [("a", 0), ("b", 1), ("c", 5)] {
        browser::insert(&mut conn, &session(id, "red", begin)).await.unwrap();
    }
    browser::end(&mut conn, "a", at(2), 1).await.unwrap();
    browser::end(&mut conn, "c", at(6), 1).await.unwrap();
    assert_eq!(browser::forget(&mut conn, at(4), 9).await.unwrap(), 1, "b has not ended, c is young");
    assert!(browser::find(&mut conn, "a").await.unwrap().is_none());
}
