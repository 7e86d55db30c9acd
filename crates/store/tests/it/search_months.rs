//! Requests to search engines per month.

use store::Store;
use store::search_months::take;

use crate::suite;

suite!(a_month_has_its_limit, many_at_once_do_not_exceed_it);

async fn a_month_has_its_limit(store: Store) {
    let mut conn = store.conn().await.unwrap();
    for (engine, month, most, expect) in [
        ("brave", "2026-11", 2, true),
        ("brave", "2026-11", 2, true),
        ("brave", "2026-11", 2, false),
        ("serper", "2026-11", 1, true),
        ("brave", "2026-11", 3, true),
        ("brave", "2026-12", 1, true),
        ("brave", "2026-12", 1, false),
        ("tavily", "2026-12", 0, false),
    ] {
        let is_taken = take(&mut conn, engine, month, most).await.unwrap();
        assert_eq!(is_taken, expect, "{engine} {month} {most}");
    }
}

async fn many_at_once_do_not_exceed_it(store: Store) {
    let takes = (0..20).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { take(&mut store.conn().await.unwrap(), "brave", "2026-11", 7).await.unwrap() })
    });
    let mut taken = 0;
    for task in takes.collect::<Vec<_>>() {
        taken += usize::from(task.await.unwrap());
    }
    assert_eq!(taken, 7);
}
