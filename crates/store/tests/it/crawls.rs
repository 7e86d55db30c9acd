//! Crawls: their pages, limits, documents, traps, and their end.

use std::collections::HashSet;

use base::Secret;
use store::crawls::{self, CANCELLED, COMPLETED, Crawl, NewDocument, NewPage, OF_THE_JOB, PageState, SCRAPING};
use store::{Conn, Store, teams};

use crate::{at, id, suite};

suite!(
    an_idempotency_key_stands_for_one_crawl,
    each_page_is_taken_once_and_never_more_than_the_limit,
    spare_pages_take_the_place_of_those_that_failed,
    twenty_workers_do_not_overshoot_the_limit,
    documents_are_read_in_order,
    what_is_left_alone_is_listed_once,
    another_address_of_a_known_page_is_found_out,
    families_and_runs_are_counted,
    expired_crawls_go_with_all_they_have,
    secrets_stand_apart_and_go,
    pieces_are_taken_in_order_and_once
);

pub(crate) fn crawl(id: &str, limit: i64) -> Crawl {
    Crawl {
        id: id.to_owned(),
        team_id: "red".to_owned(),
        api_key_id: None,
        kind: "crawl".to_owned(),
        url: Some("https://a.test/".to_owned()),
        request: "{}".to_owned(),
        status: SCRAPING.to_owned(),
        page_limit: limit,
        pending: 0,
        completed: 0,
        failed: 0,
        spare: 0,
        credits: 0,
        reservation: None,
        preparing: false,
        landed_url: None,
        warning: None,
        error: None,
        idempotency_key: None,
        fingerprint: "f".to_owned(),
        created_at: at(0),
        finished_at: None,
        expires_at: at(60),
    }
}

fn pages(names: impl IntoIterator<Item = u32>) -> Vec<NewPage> {
    let page = |name: u32| NewPage {
        id: id(),
        key: name.to_be_bytes().repeat(4),
        url: format!("https://a.test/{name}"),
        depth: 1,
    };
    names.into_iter().map(page).collect()
}

/// A store with a team and one crawl.
async fn begin(store: &Store, limit: i64) -> Conn {
    let mut conn = store.conn().await.unwrap();
    teams::create(&mut conn, &teams::Team::new("red", "red", at(0))).await.unwrap();
    assert!(crawls::create(&mut conn, &crawl("one", limit)).await.unwrap());
    conn
}

/// Changes the crawl as operations do: locked, then saved.
async fn add(conn: &mut Conn, found: Vec<NewPage>) -> (Vec<NewPage>, Crawl) {
    let changed: store::Result<_> = conn
        .tx(async |conn: &mut Conn| {
            let mut row = crawls::lock(conn, "one").await?.unwrap();
            let fresh = crawls::add_pages(conn, &mut row, found).await?;
            crawls::save(conn, &row).await?;
            Ok((fresh, row))
        })
        .await;
    changed.unwrap()
}

fn urls(pages: &[NewPage]) -> Vec<&str> {
    pages.iter().map(|page| page.url.rsplit('/').next().unwrap()).collect()
}

async fn an_idempotency_key_stands_for_one_crawl(store: Store) {
    let mut conn = begin(&store, 1).await;
    let keyed = |id: &str| Crawl { idempotency_key: Some("k".to_owned()), ..crawl(id, 1) };
    assert!(crawls::create(&mut conn, &keyed("two")).await.unwrap());
    assert!(!crawls::create(&mut conn, &keyed("three")).await.unwrap());
    let found = crawls::find_by_key(&mut conn, "red", "crawl", "k").await.unwrap().unwrap();
    assert_eq!(found, keyed("two"));
    assert_eq!(crawls::find_by_key(&mut conn, "red", "batch", "k").await.unwrap(), None);
    let active = crawls::active(&mut conn, "red", "crawl", 10).await.unwrap();
    assert_eq!(active, ["one", "two"]);
}

async fn each_page_is_taken_once_and_never_more_than_the_limit(store: Store) {
    let mut conn = begin(&store, 3).await;
    let (fresh, row) = add(&mut conn, pages([1, 2, 1])).await;
    assert_eq!((urls(&fresh), row.pending, row.spare), (vec!["1", "2"], 2, 0));
    let (fresh, row) = add(&mut conn, pages([2, 3, 4, 5])).await;
    assert_eq!((urls(&fresh), row.pending, row.spare), (vec!["3"], 3, 2));
    let (fresh, row) = add(&mut conn, pages([4, 5, 1])).await;
    assert_eq!((urls(&fresh), row.pending, row.spare), (vec![], 3, 2));
}

async fn spare_pages_take_the_place_of_those_that_failed(store: Store) {
    let mut conn = begin(&store, 2).await;
    let (fresh, mut row) = add(&mut conn, pages(1..=5)).await;
    assert_eq!((row.pending, row.spare), (2, 3));
    crawls::fail_page(&mut conn, &fresh[0].id, PageState::Failed, ("X", "broken"), at(1)).await.unwrap();
    (row.pending, row.failed) = (1, 1);
    let promoted = crawls::promote_spare(&mut conn, &mut row).await.unwrap();
    assert_eq!((urls(&promoted), row.pending, row.spare), (vec!["3"], 2, 2));
    assert!(crawls::promote_spare(&mut conn, &mut row).await.unwrap().is_empty());
    let failed = crawls::listed(&mut conn, "one", PageState::Failed, "", 10).await.unwrap();
    assert_eq!((failed.len(), failed[0].code.as_deref(), failed[0].finished_at), (1, Some("X"), Some(at(1))));
}

async fn twenty_workers_do_not_overshoot_the_limit(store: Store) {
    drop(begin(&store, 50).await);
    let worker = |worker: u32| {
        let store = store.clone();
        async move {
            let mut taken = 0;
            for step in 0..10 {
                let mut conn = store.conn().await.unwrap();
                // Half of what each finds, others find too.
                let found = pages((0..6).map(|n| if n % 2 == 0 { step * 6 + n } else { worker * 1000 + step * 6 + n }));
                taken += add(&mut conn, found).await.0.len();
            }
            taken
        }
    };
    let workers: Vec<_> = (0..20).map(|number| tokio::spawn(worker(number))).collect();
    let mut taken = 0;
    for worker in workers {
        taken += worker.await.unwrap();
    }
    let row = crawls::find(&mut store.conn().await.unwrap(), "one").await.unwrap().unwrap();
    assert_eq!((taken, row.pending), (50, 50));
}

fn document(seq: i64, site: Option<&str>) -> NewDocument {
    NewDocument {
        crawl_id: "one".to_owned(),
        seq,
        page_id: id(),
        team_id: "red".to_owned(),
        site: site.map(str::to_owned),
        url: format!("https://a.test/{seq}"),
        title: Some(format!("Page {seq}")),
        description: None,
        bytes: 10,
        body: (seq % 2 == 1).then(|| vec![0, 255]),
        blob: (seq % 2 == 0).then(|| format!("documents/{seq}")),
    }
}

async fn documents_are_read_in_order(store: Store) {
    let mut conn = begin(&store, 1000).await;
    let rows = (1..=250).rev().map(|seq| document(seq, (seq <= 2).then_some("a.test"))).collect();
    crawls::add_documents(&mut conn, rows).await.unwrap();
    let found = crawls::documents(&mut conn, "one", 1, 3).await.unwrap();
    assert_eq!(found.iter().map(|row| row.seq).collect::<Vec<_>>(), [2, 3, 4]);
    assert_eq!((found[0].blob.as_deref(), found[1].body.as_deref()), (Some("documents/2"), Some(&[0, 255][..])));
    assert!(crawls::documents(&mut conn, "one", 250, 3).await.unwrap().is_empty());
    let known = crawls::known_urls(&mut conn, "red", "a.test", 10).await.unwrap();
    let titles: HashSet<_> = known.iter().filter_map(|known| known.title.as_deref()).collect();
    assert_eq!(titles, HashSet::from(["Page 1", "Page 2"]));
    assert!(crawls::known_urls(&mut conn, "blue", "a.test", 10).await.unwrap().is_empty());
}

async fn what_is_left_alone_is_listed_once(store: Store) {
    let mut conn = begin(&store, 10).await;
    for _ in 0..2 {
        let found = (pages([1, 2]), at(3));
        crawls::list_pages(&mut conn, "one", PageState::Blocked, ("ROBOTS", "no"), found).await.unwrap();
    }
    let listed = crawls::listed(&mut conn, "one", PageState::Blocked, "", 10).await.unwrap();
    assert_eq!(listed.iter().map(|row| row.url.as_str()).collect::<Vec<_>>(), ["https://a.test/1", "https://a.test/2"]);
    let behind = crawls::listed(&mut conn, "one", PageState::Blocked, &listed[0].id, 10).await.unwrap();
    assert_eq!(behind, listed[1..]);
    assert_eq!(crawls::listed(&mut conn, "one", PageState::Blocked, "", 1).await.unwrap(), listed[..1]);
    assert!(crawls::listed(&mut conn, "one", PageState::External, "", 10).await.unwrap().is_empty());
    // What is listed is known: it is not taken on later.
    assert!(add(&mut conn, pages([1])).await.0.is_empty());
}

async fn another_address_of_a_known_page_is_found_out(store: Store) {
    let mut conn = begin(&store, 10).await;
    add(&mut conn, pages([1])).await;
    let alias = |name| pages([name]).remove(0);
    assert!(!crawls::claim_key(&mut conn, "one", alias(1)).await.unwrap());
    assert!(crawls::claim_key(&mut conn, "one", alias(2)).await.unwrap());
    assert!(!crawls::claim_key(&mut conn, "one", alias(2)).await.unwrap());
}

async fn families_and_runs_are_counted(store: Store) {
    let mut conn = begin(&store, 10).await;
    let mut enter = async |families: &[(u64, u32)]| crawls::enter_families(&mut conn, "one", families).await.unwrap();
    assert_eq!(enter(&[(u64::MAX, 3), (7, 3), (u64::MAX, 3)]).await, [true, true, true]);
    assert_eq!(enter(&[(u64::MAX, 3), (u64::MAX, 3), (7, 3)]).await, [true, false, true]);
    let step = |(hash, length), content| if hash == content { (hash, length + 1) } else { (content, 1) };
    for (pages, is_trapped) in
        [(vec![(u64::MAX, 9), (5, 8)], false), (vec![(u64::MAX, 9), (u64::MAX, 9), (5, 7), (5, 7)], true)]
    {
        crawls::enter_runs(&mut conn, "one", &pages, step).await.unwrap();
        let templates = HashSet::from([u64::MAX, 5]);
        let trapped = crawls::trapped_templates(&mut conn, "one", &templates, 3).await.unwrap();
        assert_eq!(trapped, if is_trapped { HashSet::from([u64::MAX]) } else { HashSet::new() });
    }
    crawls::enter_runs(&mut conn, "one", &[], step).await.unwrap();
}

async fn expired_crawls_go_with_all_they_have(store: Store) {
    let mut conn = begin(&store, 10).await;
    add(&mut conn, pages([1, 2])).await;
    crawls::enter_families(&mut conn, "one", &[(1, 3), (2, 3), (3, 3)]).await.unwrap();
    crawls::add_pieces(&mut conn, "one", &[vec![1]]).await.unwrap();
    crawls::add_documents(&mut conn, (1..=5).map(|seq| document(seq, None)).collect()).await.unwrap();
    assert_eq!(crawls::expired(&mut conn, at(100)).await.unwrap(), None, "it is at work");
    let mut row = crawls::find(&mut conn, "one").await.unwrap().unwrap();
    (row.status, row.finished_at) = (CANCELLED.to_owned(), Some(at(2)));
    crawls::save(&mut conn, &row).await.unwrap();
    assert_eq!(crawls::expired(&mut conn, at(59)).await.unwrap(), None);
    assert_eq!(crawls::expired(&mut conn, at(60)).await.unwrap().as_deref(), Some("one"));
    let keys = ["documents/2", "documents/3", "documents/9"];
    assert_eq!(crawls::known_blobs(&mut conn, &keys).await.unwrap(), HashSet::from(["documents/2".to_owned()]));
    // Two of each kind at a time: documents, pages, a piece, families; then the rest.
    let first = crawls::first_documents(&mut conn, "one", 2).await.unwrap();
    assert_eq!(first, [(1, None, 10), (2, Some("documents/2".to_owned()), 10)]);
    assert_eq!(crawls::erase(&mut conn, "one", 2, 2, true).await.unwrap(), 2 + 2 + 1 + 2);
    assert_eq!(crawls::erase(&mut conn, "one", 5, 2, false).await.unwrap(), 3 + 1);
    assert_eq!(crawls::erase(&mut conn, "one", 5, 2, false).await.unwrap(), 0);
    crawls::remove(&mut conn, "one").await.unwrap();
    assert_eq!(crawls::find(&mut conn, "one").await.unwrap(), None);
    assert!(crawls::documents(&mut conn, "one", 0, 10).await.unwrap().is_empty());
    assert_eq!(crawls::load_of(&mut conn, "red").await.unwrap(), (0, 0));
    assert_ne!(row.status, COMPLETED);
}

async fn secrets_stand_apart_and_go(store: Store) {
    let mut conn = begin(&store, 1).await;
    assert!(crawls::create(&mut conn, &crawl("two", 1)).await.unwrap());
    let of_pages = (0..1100).map(|n| (n.to_string(), Secret::new(format!("s{n}"))));
    let all: Vec<_> = of_pages.chain([(OF_THE_JOB.to_owned(), Secret::new("job"))]).collect();
    for id in ["one", "two"] {
        crawls::keep_secrets(&mut conn, id, &all).await.unwrap();
    }
    assert!(crawls::keep_secrets(&mut conn, "one", &all[..1]).await.is_err(), "one for each page");
    crawls::forget_secrets(&mut conn, "one").await.unwrap();
    for (id, page, expect) in
        [("one", "7", None), ("one", OF_THE_JOB, None), ("two", "7", Some("s7")), ("two", "x", None)]
    {
        let found = crawls::secret(&mut conn, id, page).await.unwrap();
        assert_eq!(found.as_ref().map(Secret::expose), expect, "{id} {page}");
    }
    assert_eq!(crawls::secret(&mut conn, "two", OF_THE_JOB).await.unwrap().unwrap().expose(), "job");
}

async fn pieces_are_taken_in_order_and_once(store: Store) {
    let mut conn = begin(&store, 10).await;
    assert_eq!(crawls::first_piece(&mut conn, "one").await.unwrap(), None);
    crawls::add_pieces(&mut conn, "one", &[vec![1], vec![2]]).await.unwrap();
    crawls::add_pieces(&mut conn, "one", &[vec![3]]).await.unwrap();
    for n in 1..=3_u8 {
        assert!(crawls::has_pieces(&mut conn, "one").await.unwrap());
        let (seq, bytes) = crawls::first_piece(&mut conn, "one").await.unwrap().unwrap();
        assert_eq!(bytes, [n]);
        assert!(crawls::remove_piece(&mut conn, "one", seq).await.unwrap());
        assert!(!crawls::remove_piece(&mut conn, "one", seq).await.unwrap());
    }
    assert!(!crawls::has_pieces(&mut conn, "one").await.unwrap());
    crawls::remember_append(&mut conn, "one", "k", "f").await.unwrap();
    assert!(crawls::remember_append(&mut conn, "one", "k", "g").await.unwrap_err().is_duplicate());
    assert_eq!(crawls::append_by_key(&mut conn, "one", "k").await.unwrap().as_deref(), Some("f"));
    assert_eq!(crawls::append_by_key(&mut conn, "one", "l").await.unwrap(), None);
    crawls::remove(&mut conn, "one").await.unwrap();
}
