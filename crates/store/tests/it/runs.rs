//! Runs: pages, limits, documents, traps, removal.

use std::collections::{HashMap, HashSet};

use base::Secret;
use store::runs::{
    self, CANCELLED, COMPLETED, EndedPage, NewDocument, NewPage, OF_THE_RUN, OPEN, PageRow, PageState, Progress, Run,
};
use store::{Conn, Store, teams};

use crate::{at, id, suite};

suite!(
    an_idempotency_key_stands_for_one_run,
    each_page_is_taken_once_and_never_more_than_the_limit,
    spare_pages_take_the_place_of_those_that_failed,
    twenty_workers_do_not_overshoot_the_limit,
    documents_are_read_in_order,
    what_is_left_alone_is_listed,
    known_keys_are_told,
    shorter_ways_are_written_down,
    pages_wait_for_others,
    an_alias_leads_to_its_document,
    families_and_templates_are_counted,
    expired_runs_go_with_all_they_have,
    secrets_stand_apart_and_go,
    pieces_are_taken_in_order_and_once
);

pub(crate) fn run(id: &str) -> Run {
    Run {
        id: id.to_owned(),
        team_id: "red".to_owned(),
        api_key_id: None,
        kind: "crawl".to_owned(),
        subject: Some("https://a.test/".to_owned()),
        spec: "{}".to_owned(),
        private: false,
        status: OPEN.to_owned(),
        warning: None,
        error: None,
        idempotency_key: None,
        fingerprint: "f".to_owned(),
        created_at: at(0),
        finished_at: None,
        expires_at: at(60),
        address: Some("https://quarry.test".to_owned()),
    }
}

/// Adds a run with a limit of items.
pub(crate) async fn create(conn: &mut Conn, run: &Run, max_items: i64) -> bool {
    runs::create(conn, run, &Progress::new(&run.id, max_items)).await.unwrap()
}

fn pages(names: impl IntoIterator<Item = u32>) -> Vec<NewPage> {
    let page = |name: u32| NewPage {
        id: id(),
        key: name.to_be_bytes().repeat(4),
        url: format!("https://a.test/{name}"),
        depth: 1,
        parent: None,
    };
    names.into_iter().map(page).collect()
}

/// Creates a store with a team and one run.
async fn begin(store: &Store, limit: i64) -> Conn {
    let mut conn = store.conn().await.unwrap();
    teams::create(&mut conn, &teams::Team::new("red", "red", at(0))).await.unwrap();
    assert!(create(&mut conn, &run("one"), limit).await);
    conn
}

/// Changes the run as operations do: locks its progress, then saves it.
async fn add(conn: &mut Conn, found: Vec<NewPage>) -> (Vec<NewPage>, Progress) {
    let changed: store::Result<_> = conn
        .tx(async |conn: &mut Conn| {
            let mut row = runs::lock(conn, "one").await?.unwrap();
            let fresh = runs::add_pages(conn, &mut row, found).await?;
            runs::save(conn, &row).await?;
            Ok((fresh, row))
        })
        .await;
    changed.unwrap()
}

fn urls(pages: &[NewPage]) -> Vec<&str> {
    pages.iter().map(|page| page.url.rsplit('/').next().unwrap()).collect()
}

async fn an_idempotency_key_stands_for_one_run(store: Store) {
    let mut conn = begin(&store, 1).await;
    let keyed = |id: &str| Run { idempotency_key: Some("k".to_owned()), ..run(id) };
    assert!(create(&mut conn, &keyed("two"), 1).await);
    assert!(!create(&mut conn, &keyed("three"), 1).await);
    assert_eq!(runs::lock(&mut conn, "three").await.unwrap(), None);
    let found = runs::find_by_key(&mut conn, "red", "crawl", "k").await.unwrap().unwrap();
    assert_eq!(found, keyed("two"));
    assert_eq!(runs::find_by_key(&mut conn, "red", "batch", "k").await.unwrap(), None);
    let active = runs::active(&mut conn, "red", "crawl", 10).await.unwrap();
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
    let failed = EndedPage { id: &fresh[0].id, state: PageState::Failed, reason: Some(("X", "broken")), content: None };
    let done = EndedPage { id: &fresh[1].id, state: PageState::Done, reason: None, content: Some(u64::MAX) };
    runs::end_pages(&mut conn, &[failed, done], Vec::new(), at(1)).await.unwrap();
    assert!(!runs::is_queued(&mut conn, &fresh[1].id).await.unwrap());
    (row.pending, row.failed) = (1, 1);
    let promoted = runs::promote_spare(&mut conn, &mut row).await.unwrap();
    assert_eq!((urls(&promoted), row.pending, row.spare), (vec!["3"], 2, 2));
    assert!(runs::promote_spare(&mut conn, &mut row).await.unwrap().is_empty());
    let failed = runs::listed(&mut conn, "one", PageState::Failed, "", 10).await.unwrap();
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
                // Half of the pages that each worker finds are found by others too.
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
    let (_, progress) = runs::read(&mut store.conn().await.unwrap(), "one").await.unwrap().unwrap();
    assert_eq!((taken, progress.pending), (50, 50));
}

fn document(seq: i64, site: Option<&str>) -> NewDocument {
    NewDocument {
        run_id: "one".to_owned(),
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
    runs::end_pages(&mut conn, &[], rows, at(1)).await.unwrap();
    let found = runs::documents(&mut conn, "one", 1, 3).await.unwrap();
    assert_eq!(found.iter().map(|row| row.seq).collect::<Vec<_>>(), [2, 3, 4]);
    assert_eq!((found[0].blob.as_deref(), found[1].body.as_deref()), (Some("documents/2"), Some(&[0, 255][..])));
    assert!(runs::documents(&mut conn, "one", 250, 3).await.unwrap().is_empty());
    let known = runs::known_urls(&mut conn, "red", "a.test", 10).await.unwrap();
    let titles: HashSet<_> = known.iter().filter_map(|known| known.title.as_deref()).collect();
    assert_eq!(titles, HashSet::from(["Page 1", "Page 2"]));
    assert!(runs::known_urls(&mut conn, "blue", "a.test", 10).await.unwrap().is_empty());
}

async fn what_is_left_alone_is_listed(store: Store) {
    let mut conn = begin(&store, 10).await;
    let row = |page| PageRow::new("one", page, PageState::Blocked).listed("ROBOTS", "no", at(3));
    runs::insert_pages(&mut conn, pages([1, 2]).into_iter().map(row).collect()).await.unwrap();
    for (state, left) in [(PageState::Blocked, 9_998), (PageState::External, 10_000)] {
        assert_eq!(runs::list_room(&mut conn, "one", state).await.unwrap(), left);
    }
    let listed = runs::listed(&mut conn, "one", PageState::Blocked, "", 10).await.unwrap();
    assert_eq!(listed.iter().map(|row| row.url.as_str()).collect::<Vec<_>>(), ["https://a.test/1", "https://a.test/2"]);
    let behind = runs::listed(&mut conn, "one", PageState::Blocked, &listed[0].id, 10).await.unwrap();
    assert_eq!(behind, listed[1..]);
    assert_eq!(runs::listed(&mut conn, "one", PageState::Blocked, "", 1).await.unwrap(), listed[..1]);
    assert!(runs::listed(&mut conn, "one", PageState::External, "", 10).await.unwrap().is_empty());
    // Listed pages are known, so they are not taken on later.
    assert!(add(&mut conn, pages([1])).await.0.is_empty());
}

async fn known_keys_are_told(store: Store) {
    let mut conn = begin(&store, 10).await;
    assert!(create(&mut conn, &run("two"), 10).await);
    add(&mut conn, pages([1, 2])).await;
    // More keys than fit into one statement.
    let asked = pages(2..=1100);
    let keys = || asked.iter().map(|page| page.key.as_slice()).collect();
    let known = runs::known_keys(&mut conn, "one", keys()).await.unwrap();
    assert_eq!(known, HashMap::from([(asked[0].key.clone(), asked[0].depth)]));
    assert_eq!(runs::known_keys(&mut conn, "two", keys()).await.unwrap(), HashMap::new());
    let again = PageRow::new("one", pages([2]).remove(0), PageState::Alias);
    assert!(runs::insert_pages(&mut conn, vec![again]).await.unwrap_err().is_duplicate());
}

async fn shorter_ways_are_written_down(store: Store) {
    let mut conn = begin(&store, 10).await;
    let taken = add(&mut conn, pages([1, 2, 3])).await.0;
    let done = EndedPage { id: &taken[1].id, state: PageState::Done, reason: None, content: Some(u64::MAX) };
    runs::end_pages(&mut conn, &[done], Vec::new(), at(1)).await.unwrap();
    let read = runs::standings(&mut conn, "one", &[&taken[0].key, &taken[1].key]).await.unwrap();
    let standing =
        |page: &NewPage, state, content| runs::Standing { id: page.id.clone(), state, content, has_waited: false };
    assert_eq!(read[&taken[0].key], standing(&taken[0], PageState::Queued, None));
    assert_eq!(read[&taken[1].key], standing(&taken[1], PageState::Done, Some(u64::MAX)));
    let way = |depth| runs::Way { depth, parent: Some("https://a.test/".to_owned()) };
    let ways = taken.iter().zip([1, 0, 0]).map(|(page, depth)| (page.key.clone(), way(depth))).collect();
    let mut found = runs::shorten(&mut conn, "one", &ways).await.unwrap();
    found.sort_by_key(|way| way.page != taken[1].id);
    assert_eq!(found.iter().map(|way| (way.depth, way.is_read)).collect::<Vec<_>>(), [(0, true), (0, false)]);
    assert_eq!(runs::shorten(&mut conn, "one", &ways).await.unwrap(), []);
    assert_eq!(runs::shorten(&mut conn, "two", &ways).await.unwrap(), []);
    let depths = runs::depths(&mut conn, &[&taken[0].id, &taken[2].id]).await.unwrap();
    assert_eq!(depths, HashMap::from([(taken[0].id.clone(), 1), (taken[2].id.clone(), 0)]));
    assert_eq!(runs::way_to(&mut conn, &taken[2].id).await.unwrap(), Some(way(0)));
    for links in [b"first", b"again"] {
        runs::keep_links(&mut conn, "one", &taken[1].id, links).await.unwrap();
    }
    assert_eq!(runs::kept_links(&mut conn, "one", &taken[1].id).await.unwrap().as_deref(), Some(&b"first"[..]));
    assert_eq!(runs::kept_links(&mut conn, "one", &taken[0].id).await.unwrap(), None);
}

async fn pages_wait_for_others(store: Store) {
    let mut conn = begin(&store, 10).await;
    let taken = add(&mut conn, pages([1, 2, 3, 4])).await.0;
    let [one, two, three, four] = [0, 1, 2, 3].map(|n| taken[n].id.as_str());
    let far = runs::Way { depth: 1, parent: Some("https://a.test/p".to_owned()) };
    // Page 1 waits for 2, and 2 for 3; page 4 has waited without a path other than that of its row.
    for (page, other, content, way) in
        [(one, two, None, Some(&far)), (two, three, Some(u64::MAX), None), (four, three, Some(8), None)]
    {
        runs::wait(&mut conn, page, &runs::Wait { other, content, way }).await.unwrap();
        assert!(!runs::is_queued(&mut conn, page).await.unwrap());
    }
    for page in [one, two, three] {
        assert_eq!(runs::end_of_wait(&mut conn, page).await.unwrap().as_deref(), Some(three));
    }
    assert_eq!(runs::waiting_for(&mut conn, &[one, four]).await.unwrap(), []);
    assert_eq!(runs::awaited(&mut conn, 9).await.unwrap(), []);
    let done = EndedPage { id: three, state: PageState::Done, reason: None, content: Some(u64::MAX) };
    runs::end_pages(&mut conn, &[done], Vec::new(), at(1)).await.unwrap();
    let awaited = runs::Awaited { run: "one".to_owned(), page: three.to_owned() };
    assert_eq!(runs::awaited(&mut conn, 9).await.unwrap(), [awaited]);
    let waiting = runs::waiting_for(&mut conn, &[three, one]).await.unwrap();
    let copies: Vec<_> = waiting.iter().map(|waiting| (waiting.page.id.as_str(), waiting.is_copy())).collect();
    assert_eq!(copies, [(two, true), (four, false)]);
    let failed = EndedPage { id: two, state: PageState::Failed, reason: None, content: None };
    runs::end_pages(&mut conn, &[failed], Vec::new(), at(1)).await.unwrap();
    let waiting = runs::waiting_for(&mut conn, &[two]).await.unwrap();
    assert_eq!((waiting.len(), waiting[0].is_copy(), waiting[0].page.parent.clone()), (1, false, far.parent));
    runs::read_again(&mut conn, &[one, four]).await.unwrap();
    assert_eq!(runs::waiting_for(&mut conn, &[two, three]).await.unwrap(), []);
    let read = runs::standings(&mut conn, "one", &[&taken[3].key]).await.unwrap();
    let again = &read[&taken[3].key];
    assert_eq!((again.state, again.content, again.has_waited), (PageState::Queued, None, true));
    // A cycle of waiting pages has no end.
    for (page, other) in [(one, four), (four, one)] {
        runs::wait(&mut conn, page, &runs::Wait { other, content: None, way: None }).await.unwrap();
    }
    assert_eq!(runs::end_of_wait(&mut conn, one).await.unwrap(), None);
}

async fn an_alias_leads_to_its_document(store: Store) {
    let mut conn = begin(&store, 2).await;
    let (taken, _) = add(&mut conn, pages([1, 2, 3])).await;
    let done = EndedPage { id: &taken[0].id, state: PageState::Done, reason: None, content: Some(7) };
    runs::end_pages(&mut conn, &[done], Vec::new(), at(1)).await.unwrap();
    let alias = pages([4]).remove(0);
    let row = PageRow::alias("one", alias.clone(), &taken[0].id, Some(7));
    runs::insert_pages(&mut conn, vec![row]).await.unwrap();
    let spare = pages([3]).remove(0);
    let keys = [alias.key.as_slice(), spare.key.as_slice(), taken[1].key.as_slice()];
    let before = runs::standings(&mut conn, "one", &keys).await.unwrap();
    assert_eq!((before[&alias.key].content, before[&alias.key].is_read()), (Some(7), true));
    assert_eq!(before[&spare.key].state, PageState::Spare);
    let failed = EndedPage { id: &taken[1].id, state: PageState::Failed, reason: None, content: None };
    runs::end_pages(&mut conn, &[failed], Vec::new(), at(1)).await.unwrap();
    let before = runs::standings(&mut conn, "one", &keys).await.unwrap();
    for key in &keys[1..] {
        assert!(!before[*key].is_read());
        runs::set_read(&mut conn, &before[*key], &taken[0].id, 9).await.unwrap();
    }
    let after = runs::standings(&mut conn, "one", &keys).await.unwrap();
    for (key, state) in keys[1..].iter().zip([PageState::Alias, PageState::Failed]) {
        assert_eq!((after[*key].state, after[*key].content, after[*key].is_read()), (state, Some(9), true));
    }
    // The alias is nearer, so the links of its document are followed again.
    let way = runs::Way { depth: 0, parent: None };
    let found = runs::shorten(&mut conn, "one", &HashMap::from([(alias.key.clone(), way)])).await.unwrap();
    let expect = runs::ShorterWay { page: taken[0].id.clone(), url: alias.url, depth: 0, is_read: true };
    assert_eq!(found, [expect]);
}

async fn families_and_templates_are_counted(store: Store) {
    let mut conn = begin(&store, 10).await;
    let mut enter = async |families: &[(u64, u32)]| runs::enter_families(&mut conn, "one", families).await.unwrap();
    assert_eq!(enter(&[(u64::MAX, 3), (7, 3), (u64::MAX, 3)]).await, [true, true, true]);
    assert_eq!(enter(&[(u64::MAX, 3), (u64::MAX, 3), (7, 3)]).await, [true, false, true]);
    let step = |(hash, length), content| if hash == content { (hash, length + 1) } else { (content, 1) };
    for (pages, is_trapped) in
        [(vec![(u64::MAX, 9), (5, 8)], false), (vec![(u64::MAX, 9), (u64::MAX, 9), (5, 7), (5, 7)], true)]
    {
        runs::enter_templates(&mut conn, "one", &pages, step).await.unwrap();
        let templates = HashSet::from([u64::MAX, 5]);
        let trapped = runs::trapped_templates(&mut conn, "one", &templates, 3).await.unwrap();
        assert_eq!(trapped, if is_trapped { HashSet::from([u64::MAX]) } else { HashSet::new() });
    }
    runs::enter_templates(&mut conn, "one", &[], step).await.unwrap();
}

async fn expired_runs_go_with_all_they_have(store: Store) {
    let mut conn = begin(&store, 10).await;
    add(&mut conn, pages([1, 2])).await;
    runs::enter_families(&mut conn, "one", &[(1, 3), (2, 3), (3, 3)]).await.unwrap();
    runs::add_pieces(&mut conn, "one", &[vec![1]]).await.unwrap();
    runs::end_pages(&mut conn, &[], (1..=5).map(|seq| document(seq, None)).collect(), at(1)).await.unwrap();
    assert_eq!(runs::expired(&mut conn, at(100)).await.unwrap(), None, "it is at work");
    let mut row = runs::find(&mut conn, "one").await.unwrap().unwrap();
    (row.status, row.finished_at) = (CANCELLED.to_owned(), Some(at(2)));
    runs::expire(&mut conn, "one", at(1)).await.unwrap();
    assert_eq!(runs::expired(&mut conn, at(59)).await.unwrap(), None, "it is still at work");
    runs::close(&mut conn, &row).await.unwrap();
    assert_eq!(runs::find(&mut conn, "one").await.unwrap().unwrap(), row);
    assert_eq!(runs::expired(&mut conn, at(59)).await.unwrap(), None);
    assert_eq!(runs::expired(&mut conn, at(60)).await.unwrap().as_deref(), Some("one"));
    let keys = ["documents/2", "documents/3", "documents/9"];
    assert_eq!(runs::known_blobs(&mut conn, &keys).await.unwrap(), HashSet::from(["documents/2".to_owned()]));
    // Two rows of each table at a time: documents, pages, a piece, families; then the rest.
    let first = runs::first_documents(&mut conn, "one", 2).await.unwrap();
    assert_eq!(first, [(1, None, 10), (2, Some("documents/2".to_owned()), 10)]);
    assert!(runs::erase(&mut conn, "one", 2, 2, true).await.unwrap(), "families are left");
    assert_eq!(runs::first_documents(&mut conn, "one", 9).await.unwrap().len(), 3);
    assert!(!runs::erase(&mut conn, "one", 5, 2, false).await.unwrap(), "only the run itself is left");
    assert!(runs::first_documents(&mut conn, "one", 9).await.unwrap().is_empty());
    runs::remove(&mut conn, "one").await.unwrap();
    assert_eq!(runs::find(&mut conn, "one").await.unwrap(), None);
    assert_eq!(runs::lock(&mut conn, "one").await.unwrap(), None);
    assert!(runs::documents(&mut conn, "one", 0, 10).await.unwrap().is_empty());
    assert_eq!(runs::load_of(&mut conn, "red").await.unwrap(), (0, 0));
    assert_ne!(row.status, COMPLETED);
}

async fn secrets_stand_apart_and_go(store: Store) {
    let mut conn = begin(&store, 1).await;
    assert!(create(&mut conn, &run("two"), 1).await);
    let of_pages = (0..1100).map(|n| (n.to_string(), Secret::new(format!("s{n}"))));
    let all: Vec<_> = of_pages.chain([(OF_THE_RUN.to_owned(), Secret::new("job"))]).collect();
    for id in ["one", "two"] {
        runs::keep_secrets(&mut conn, id, &all).await.unwrap();
    }
    assert!(runs::keep_secrets(&mut conn, "one", &all[..1]).await.is_err(), "one for each page");
    runs::forget_secrets(&mut conn, "one").await.unwrap();
    for (id, page, expect) in
        [("one", "7", None), ("one", OF_THE_RUN, None), ("two", "7", Some("s7")), ("two", "x", None)]
    {
        let found = runs::secret(&mut conn, id, page).await.unwrap();
        assert_eq!(found.as_ref().map(Secret::expose), expect, "{id} {page}");
    }
    assert_eq!(runs::secret(&mut conn, "two", OF_THE_RUN).await.unwrap().unwrap().expose(), "job");
}

async fn pieces_are_taken_in_order_and_once(store: Store) {
    let mut conn = begin(&store, 10).await;
    assert_eq!(runs::first_piece(&mut conn, "one").await.unwrap(), None);
    runs::add_pieces(&mut conn, "one", &[vec![1], vec![2]]).await.unwrap();
    runs::add_pieces(&mut conn, "one", &[vec![3]]).await.unwrap();
    for n in 1..=3_u8 {
        assert!(runs::has_pieces(&mut conn, "one").await.unwrap());
        let (seq, bytes) = runs::first_piece(&mut conn, "one").await.unwrap().unwrap();
        assert_eq!(bytes, [n]);
        assert!(runs::remove_piece(&mut conn, "one", seq).await.unwrap());
        assert!(!runs::remove_piece(&mut conn, "one", seq).await.unwrap());
    }
    assert!(!runs::has_pieces(&mut conn, "one").await.unwrap());
    runs::remember_append(&mut conn, "one", "k", "f").await.unwrap();
    assert!(runs::remember_append(&mut conn, "one", "k", "g").await.unwrap_err().is_duplicate());
    assert_eq!(runs::append_by_key(&mut conn, "one", "k").await.unwrap().as_deref(), Some("f"));
    assert_eq!(runs::append_by_key(&mut conn, "one", "l").await.unwrap(), None);
    runs::remove(&mut conn, "one").await.unwrap();
}
