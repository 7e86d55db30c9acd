//! Activity list of a team.

use store::activity::{self, Entry, Kind, Place, Wanted};
use store::browser::{self, Session};
use store::runs::Run;
use store::scrapes::{self, Scrape};
use store::teams::{self, Team};
use store::{Conn, Store};

use crate::browser::session;
use crate::runs::{create, run};
use crate::scrapes::scrape;
use crate::{at, suite};

suite!(everything_is_listed_newest_first, a_list_goes_on_where_it_ended, one_kind_is_listed);

async fn two_teams(store: &Store) {
    let mut conn = store.conn().await.unwrap();
    for id in ["red", "blue"] {
        teams::create(&mut conn, &Team::new(id, id, at(0))).await.unwrap();
    }
}

/// Adds one entry of each kind, by minute, and one of another team.
async fn fill(conn: &mut Conn) {
    scrapes::insert(conn, &scrape("page", 1, None)).await.unwrap();
    scrapes::insert(conn, &scrape("failed", 2, Some("SCRAPE_TIMEOUT"))).await.unwrap();
    scrapes::insert(conn, &Scrape { url: None, ..scrape("file", 3, None) }).await.unwrap();
    scrapes::insert(conn, &Scrape { team_id: "blue".to_owned(), ..scrape("theirs", 4, None) }).await.unwrap();
    assert!(create(conn, &Run { created_at: at(5), ..run("crawl") }, 9).await);
    let secret = Run { private: true, kind: "batch".to_owned(), created_at: at(6), ..run("secret") };
    assert!(create(conn, &secret, 9).await);
    browser::insert(conn, &session("session", "red", 7)).await.unwrap();
    let of_page = Session { scrape_id: Some("page".to_owned()), ..session("opened", "red", 8) };
    browser::insert(conn, &of_page).await.unwrap();
    browser::insert(conn, &session("their session", "blue", 9)).await.unwrap();
}

async fn list(conn: &mut Conn, kind: Option<Kind>, after: Option<Place<'_>>, limit: i64) -> Vec<Entry> {
    activity::list(conn, "red", &Wanted { kind, after }, limit).await.unwrap()
}

fn ids(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.id.as_str()).collect()
}

async fn everything_is_listed_newest_first(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    assert_eq!(list(&mut conn, None, None, 10).await, []);
    fill(&mut conn).await;
    let all = list(&mut conn, None, None, 10).await;
    assert_eq!(ids(&all), ["opened", "session", "secret", "crawl", "file", "failed", "page"]);
    let told: Vec<_> = all.iter().map(|entry| (entry.kind.clone(), entry.target.as_deref())).collect();
    let run = |kind: &str| Kind::Run(kind.to_owned());
    let expect = [
        (Kind::PageSession, None),
        (Kind::Session, None),
        (run("batch"), None),
        (run("crawl"), Some("https://a.test/")),
        (Kind::File, None),
        (Kind::Scrape, Some("https://example.com/")),
        (Kind::Scrape, Some("https://example.com/")),
    ];
    assert_eq!(told, expect);
    assert_eq!(all[6].created_at, at(1));
    assert_eq!(ids(&list(&mut conn, None, None, 2).await), ["opened", "session"]);
}

async fn a_list_goes_on_where_it_ended(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    fill(&mut conn).await;
    // Entries with equal times are ordered by id, across tables.
    for id in ["x1", "x3", "x5"] {
        scrapes::insert(&mut conn, &scrape(id, 5, None)).await.unwrap();
    }
    assert!(create(&mut conn, &Run { created_at: at(5), ..run("x4") }, 9).await);
    browser::insert(&mut conn, &session("x2", "red", 5)).await.unwrap();
    let whole = list(&mut conn, None, None, 100).await;
    assert_eq!(ids(&whole)[2..9], ["secret", "x5", "x4", "x3", "x2", "x1", "crawl"]);
    for step in [1, 2, 5] {
        let mut seen: Vec<Entry> = Vec::new();
        loop {
            let after = seen.last().map(|last| Place { created_at: last.created_at, id: &last.id });
            let next = list(&mut conn, None, after, step).await;
            if next.is_empty() {
                break;
            }
            seen.extend(next);
            // New entries come before all of these.
            let new = format!("new {} {step}", seen.len());
            scrapes::insert(&mut conn, &scrape(&new, 50, None)).await.unwrap();
        }
        let old: Vec<_> = seen.iter().filter(|entry| !entry.id.starts_with("new")).collect();
        assert_eq!(old, whole.iter().collect::<Vec<_>>(), "{step}");
    }
}

async fn one_kind_is_listed(store: Store) {
    two_teams(&store).await;
    let mut conn = store.conn().await.unwrap();
    fill(&mut conn).await;
    let run = |kind: &str| Kind::Run(kind.to_owned());
    for (kind, expect) in [
        (Kind::Scrape, &["failed", "page"][..]),
        (Kind::File, &["file"]),
        (run("crawl"), &["crawl"]),
        (run("batch"), &["secret"]),
        (run("other"), &[]),
        (Kind::Session, &["session"]),
        (Kind::PageSession, &["opened"]),
    ] {
        assert_eq!(ids(&list(&mut conn, Some(kind.clone()), None, 10).await), expect, "{kind:?}");
    }
    let after = Some(Place { created_at: at(2), id: "failed" });
    assert_eq!(ids(&list(&mut conn, Some(Kind::Scrape), after, 10).await), ["page"]);
}
