//! Schema: up, down, up; several processes at once; equal columns on both backends.

use diesel::connection::Connection as _;
use diesel::sql_types::Text;
use diesel::{QueryableByName, SqliteConnection};
use diesel_async::{AsyncConnection as _, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection as _};
use futures_util::future::join_all;
use store::runs::{self, PageState};
use store::teams;

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

/// Returns every column with its type, and every index.
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

/// Several processes start together, each with its own pool.
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

/// Loads a database from before runs, as it was when its process was killed.
async fn load_old(db: &Db) {
    match db.url().strip_prefix("sqlite://") {
        Some(path) => {
            let mut conn = SqliteConnection::establish(path).unwrap();
            diesel::connection::SimpleConnection::batch_execute(&mut conn, include_str!("old/sqlite.sql")).unwrap();
        }
        None => {
            let mut conn = AsyncPgConnection::establish(db.url()).await.unwrap();
            conn.batch_execute(include_str!("old/postgres.sql")).await.unwrap();
        }
    }
}

/// Rebuilding tables that others refer to must not delete rows, not even by cascade.
async fn old_data_stays(db: &Db) {
    load_old(db).await;
    let store = db.store();
    assert!(!store.migrate().await.unwrap().is_empty());
    let mut conn = store.conn().await.unwrap();
    let teams = teams::list(&mut conn, None, 10).await.unwrap();
    let team = teams.iter().find(|team| team.name == "old").unwrap();
    let mut found = Vec::new();
    for kind in ["crawl", "batch"] {
        for id in runs::active(&mut conn, &team.id, kind, 10).await.unwrap() {
            let (run, progress) = runs::read(&mut conn, &id).await.unwrap().unwrap();
            let documents = runs::documents(&mut conn, &id, 0, 10).await.unwrap().len();
            let failed = runs::listed(&mut conn, &id, PageState::Failed, "", 10).await.unwrap().len();
            assert!(progress.is_open && !run.private && run.spec.starts_with('{'), "{run:?}");
            assert_eq!(runs::lock(&mut conn, &id).await.unwrap().as_ref(), Some(&progress));
            found.push((
                kind,
                run.subject.is_some(),
                progress.pending,
                progress.done,
                documents,
                failed,
                progress.spare,
            ));
        }
    }
    let expect = [("crawl", true, 4, 3, 3, 0, 2), ("batch", false, 1, 0, 0, 0, 0), ("batch", false, 5, 2, 2, 1, 0)];
    assert_eq!(found, expect);
    let blocked = runs::active(&mut conn, &team.id, "crawl", 1).await.unwrap().remove(0);
    assert_eq!(runs::listed(&mut conn, &blocked, PageState::Blocked, "", 10).await.unwrap().len(), 1);
    // Documents are removed with their run, so the foreign keys are right.
    runs::remove(&mut conn, &blocked).await.unwrap();
    assert!(runs::documents(&mut conn, &blocked, 0, 10).await.unwrap().is_empty());
    drop(conn);
    store.unmigrate().await.unwrap();
    assert_eq!(lines(db).await, Vec::<String>::new(), "and all the way back, with data in it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_old_data_stays() {
    old_data_stays(&Db::empty_sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_old_data_stays() {
    let Some(db) = Db::empty_postgres().await else { return };
    old_data_stays(&db).await;
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
