//! The schema: up, down, up; several processes at once; the same columns on both backends.

use diesel::connection::Connection as _;
use diesel::sql_types::Text;
use diesel::{QueryableByName, SqliteConnection};
use diesel_async::{AsyncConnection as _, AsyncPgConnection, RunQueryDsl};
use futures_util::future::join_all;

use crate::backend::{Db, open};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    line: String,
}

const SQLITE_LINES: &str = "
    SELECT m.name || '.' || c.name || ' ' || c.type || CASE WHEN c.\"notnull\" THEN '' ELSE ' NULL' END AS line
    FROM sqlite_master m JOIN pragma_table_info(m.name) c
    WHERE m.type = 'table' AND m.name NOT LIKE '\\_\\_%' ESCAPE '\\'
    UNION ALL SELECT 'index ' || name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL";

const POSTGRES_LINES: &str = "
    SELECT table_name || '.' || column_name || ' ' || upper(replace(split_part(data_type, ' without', 1), 'bytea', 'blob'))
        || CASE is_nullable WHEN 'YES' THEN ' NULL' ELSE '' END AS line
    FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE '\\_\\_%'
    UNION ALL SELECT 'index ' || indexname FROM pg_indexes
    WHERE schemaname = 'public' AND indexname NOT LIKE '%\\_pkey' AND indexname NOT LIKE '%\\_key'";

/// Every column with its type, and every index.
async fn lines(db: &Db) -> Vec<String> {
    let lines: Vec<Line> = match db.url().strip_prefix("sqlite://") {
        Some(path) => {
            let mut conn = SqliteConnection::establish(path).unwrap();
            diesel::RunQueryDsl::load(diesel::sql_query(SQLITE_LINES), &mut conn).unwrap()
        }
        None => {
            let mut conn = AsyncPgConnection::establish(db.url()).await.unwrap();
            diesel::sql_query(POSTGRES_LINES).load(&mut conn).await.unwrap()
        }
    };
    let mut lines: Vec<String> = lines.into_iter().map(|line| line.line).collect();
    lines.sort();
    lines
}

async fn up_down_up(db: &Db) {
    let store = db.store();
    let pending = store.pending().await.unwrap();
    assert!(!pending.is_empty());
    assert_eq!(store.migrate().await.unwrap().len(), pending.len());
    assert_eq!(store.pending().await.unwrap(), Vec::<String>::new());
    assert_eq!(store.migrate().await.unwrap(), Vec::<String>::new());
    let first = lines(db).await;
    assert!(first.len() > 60, "{first:?}");
    assert_eq!(store.unmigrate().await.unwrap().len(), pending.len());
    assert_eq!(lines(db).await, Vec::<String>::new());
    store.migrate().await.unwrap();
    assert_eq!(lines(db).await, first);
}

/// As several processes that start together: each with its own pool.
async fn eight_at_once(db: &Db) {
    let starts = (0..8).map(|_| {
        let url = db.url().to_owned();
        tokio::spawn(async move { open(&url).await.migrate().await.unwrap().len() })
    });
    let done: usize = join_all(starts).await.into_iter().map(Result::unwrap).sum();
    assert!(done > 0, "one of them migrates");
    assert_eq!(db.store().pending().await.unwrap(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_up_down_up() {
    up_down_up(&Db::empty_sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_up_down_up() {
    let Some(db) = Db::empty_postgres().await else { return };
    up_down_up(&db).await;
    db.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_eight_starts_at_once() {
    eight_at_once(&Db::empty_sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_eight_starts_at_once() {
    let Some(db) = Db::empty_postgres().await else { return };
    eight_at_once(&db).await;
    db.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_backends_have_the_same_columns_and_indexes() {
    let Some(postgres) = Db::postgres().await else { return };
    assert_eq!(lines(&postgres).await, lines(&Db::sqlite().await).await);
    postgres.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_folder_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a/b/quarry.db");
    open(&format!("sqlite://{}", file.display())).await.migrate().await.unwrap();
    assert!(file.exists());
}
