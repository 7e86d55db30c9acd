//! The commands `backup`, `restore` and `migrate`.

use std::path::Path;
use std::process::Output;

use diesel::{Connection, RunQueryDsl, SqliteConnection, sql_query};

use crate::process::{installation, run, terminate};

fn done(ended: &Output) -> String {
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

fn refused(ended: &Output) -> String {
    assert!(!ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    String::from_utf8_lossy(&ended.stderr).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[tokio::test]
async fn a_backup_of_a_running_server_comes_back() {
    let (installation, place) = (installation(), tempfile::tempdir().unwrap());
    let data = installation.data();
    let server = installation.server().unwrap();
    done(&run(&data, &["teams", "create", "research", "--credits", "7"], &[]));
    std::fs::create_dir_all(data.join("blobs/pages")).unwrap();
    std::fs::write(data.join("blobs/pages/one"), "body").unwrap();
    let backup = place.path().join("monday");
    done(&run(&data, &["backup", text(&backup)], &[]));
    assert!(refused(&run(&data, &["backup", text(&backup)], &[])).contains("already exists"));
    assert!(refused(&run(&data, &["restore", text(&backup)], &[])).contains("stop the server"));
    terminate(server).await;

    let other = tempfile::tempdir().unwrap();
    assert!(refused(&run(other.path(), &["restore", text(place.path())], &[])).contains("is not a backup"));
    done(&run(other.path(), &["restore", text(&backup)], &[]));
    assert!(done(&run(other.path(), &["teams", "list"], &[])).contains("research"));
    assert_eq!(std::fs::read(other.path().join("blobs/pages/one")).unwrap(), b"body");
}

#[test]
fn a_schema_that_is_behind_is_told() {
    let data = tempfile::tempdir().unwrap();
    let check = || run(data.path(), &["migrate", "--check"], &[]);
    assert!(refused(&check()).contains("there is no data"));
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0, "nothing was made");
    done(&run(data.path(), &["migrate"], &[]));
    assert!(done(&check()).contains("up to date"));
    let newest = "(SELECT max(version) FROM __diesel_schema_migrations)";
    let forget = format!("DELETE FROM __diesel_schema_migrations WHERE version = {newest}");
    let mut database = SqliteConnection::establish(data.path().join("quarry.db").to_str().unwrap()).unwrap();
    assert_eq!(sql_query(forget).execute(&mut database).unwrap(), 1);
    let behind = check();
    assert_eq!(behind.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&behind.stdout).contains("missing"));
}

#[test]
fn postgresql_is_left_to_its_own_tools() {
    let data = tempfile::tempdir().unwrap();
    let url = [("QUARRY__STORE__URL", "postgres://u:hush@127.0.0.1:1/d")];
    let said = refused(&run(data.path(), &["backup", "x"], &url));
    assert!(said.contains("pg_dump") && !said.contains("hush"), "{said}");
}
