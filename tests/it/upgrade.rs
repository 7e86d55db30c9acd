//! Migration of a database from before the table of runs, with unfinished work, which then continues.

use std::time::{Duration, Instant};

use base::{Clock, SystemClock};
use chrono::{NaiveDateTime, TimeDelta};
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use diesel_async::{AsyncConnection, AsyncPgConnection, SimpleAsyncConnection};
use e2e::{Client, TestApp};
use regex::{Captures, Regex};
use serde_json::{Value, json};
use store::{Options, Store};
use testkit::{Reply, Site};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

use crate::crawl::page;

/// Contents of `crates/store/tests/it/old`: a crawl and a batch whose process was killed, and a batch whose only job is
/// dead.
struct Old {
    sql: &'static str,
    key: &'static str,
    crawl: &'static str,
    batch: &'static str,
    lost: &'static str,
}

const SQLITE: Old = Old {
    sql: include_str!("../../crates/store/tests/it/old/sqlite.sql"),
    key: "fc-00168c9c9312cf47e975505fabee906cc4d8ecee23ad627b86fa0a0180b81943",
    crawl: "01a20544-8195-736b-9df0-a5c415feafbb",
    batch: "01a20544-81b5-759a-968b-a5cba427d250",
    lost: "01a20544-74ed-7560-ba45-6d53715a9983",
};

const POSTGRES: Old = Old {
    sql: include_str!("../../crates/store/tests/it/old/postgres.sql"),
    key: "fc-e47d6ff0b32a3d20af1ba7916485fc424d1ee018010b49e1e21cc95d094c6097",
    crawl: "01a20548-9bdf-74f9-9a17-bea1e89f9849",
    batch: "01a20548-9c36-7029-90b3-f96699433002",
    lost: "01a20548-8f4f-70e5-adeb-7222230676fe",
};

/// Shifts all times of the dump, so that its processes were killed an hour ago, and replaces the address of its
/// receiver.
fn as_of_an_hour_ago(sql: &str, receiver: &Site) -> String {
    let parsed = |time: &str| NaiveDateTime::parse_from_str(&time.replace('T', " "), "%Y-%m-%d %H:%M:%S").unwrap();
    let killed = parsed(sql.split_once("-- Killed at ").unwrap().1.get(..19).unwrap());
    let to = SystemClock.now().naive_utc() - TimeDelta::hours(1);
    let times = Regex::new(r"\d{4}-\d\d-\d\d([ T])\d\d:\d\d:\d\d").unwrap();
    let sql = times.replace_all(sql, |found: &Captures<'_>| {
        (parsed(&found[0]) + (to - killed)).format(&format!("%Y-%m-%d{}%H:%M:%S", &found[1])).to_string()
    });
    // The day of a usage row.
    let sql = sql.replace(&format!("'{}'", killed.date()), &format!("'{}'", to.date()));
    sql.replace("127.0.0.1:39117", &receiver.addr().to_string())
}

/// Returns a proxy that connects every address to `site`.
async fn proxy(site: &Site) -> net::Proxy {
    let (listener, to) = (TcpListener::bind("127.0.0.1:0").await.unwrap(), site.addr());
    let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                assert!(head.starts_with(b"CONNECT 93.184.216."), "{}", String::from_utf8_lossy(&head));
                let mut upstream = TcpStream::connect(to).await.unwrap();
                tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut upstream).await;
            });
        }
    });
    net::Proxy { url, resolves: false }
}

/// Serves the pages that were not read yet, and a webhook receiver.
async fn sites() -> (Site, Site) {
    let (pages, receiver) = (Site::start().await, Site::start().await);
    pages.others(|seen| match seen.path.as_str() {
        "/robots.txt" => Some(Reply::default()),
        path if path.starts_with("/sitemap") || path.starts_with("/wp-sitemap") => None,
        path => Some(page(&format!("<h1>New words of {path}</h1>"))),
    });
    receiver.respond("/hook", Reply::default());
    (pages, receiver)
}

fn told(receiver: &Site) -> Vec<String> {
    let body = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
    receiver.requests().iter().map(|seen| body(&seen.body)["type"].as_str().unwrap().to_owned()).collect()
}

/// Returns every page of a job as source URL and markdown.
async fn documents(client: &Client, path: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let documents = client.documents(path).await;
    documents.iter().map(|one| (text(&one["metadata"]["sourceURL"]), text(&one["markdown"]))).collect()
}

async fn finishes(app: &TestApp, old: &Old, store: Store, receiver: &Site) {
    let client = app.bearer(old.key);
    let (crawl, batch) = (format!("/v2/crawl/{}", old.crawl), format!("/v2/batch/scrape/{}", old.batch));
    let mut page = String::new();
    for (path, failed) in [(&crawl, 0), (&batch, 1)] {
        let ended = client.ended(path).await.body;
        let expect = json!(["completed", 7, 7, 7]);
        assert_eq!(
            json!([ended["status"], ended["total"], ended["completed"], ended["creditsUsed"]]),
            expect,
            "{ended}"
        );
        assert_eq!(client.get(&format!("{path}/errors")).await.body["errors"].as_array().unwrap().len(), failed);
        let all = documents(&client, path).await;
        let (new, kept): (Vec<_>, Vec<_>) = all.iter().partition(|(_, text)| text.contains("New words"));
        assert_eq!((new.len(), kept.len()), if failed == 0 { (4, 3) } else { (5, 2) }, "{all:?}");
        assert!(kept.iter().all(|(_, text)| text.contains("Words of") || text.contains("page 8")), "{kept:?}");
        page.clone_from(&new[0].0);
    }
    assert_eq!(client.get(&format!("{crawl}/errors")).await.body["robotsBlocked"].as_array().unwrap().len(), 1);
    // The dead job keeps its batch open until it is queued again.
    let lost = format!("/v2/batch/scrape/{}", old.lost);
    assert_eq!(client.get(&lost).await.body["status"], "scraping");
    let mut conn = store.conn().await.unwrap();
    let dead = store::jobs::dead(&mut conn, None, 9).await.unwrap();
    assert_eq!(dead.len(), 1, "{dead:?}");
    assert!(store::jobs::redrive(&mut conn, &dead[0].id, SystemClock.now()).await.unwrap());
    drop(conn);
    let ended = client.ended(&lost).await.body;
    assert_eq!(json!([ended["status"], ended["completed"], ended["creditsUsed"]]), json!(["completed", 1, 1]));
    let usage = client.get("/v2/team/credit-usage").await.body;
    assert_eq!(usage["data"]["remainingCredits"], 1000 - 7 - 7 - 1, "{usage}");
    let started = Instant::now();
    while told(receiver).len() < 9 && started.elapsed() < Duration::from_secs(20) {
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    let mut told = told(receiver);
    assert_eq!(told.last().map(String::as_str), Some("crawl.completed"), "{told:?}");
    told.sort();
    assert_eq!(told, [&["crawl.completed"][..], &["crawl.page"; 7], &["crawl.started"]].concat());
    no_job_is_left(&store).await;
    begins_a_monitor(app, &client, &page).await;
}

async fn no_job_is_left(store: &Store) {
    let started = Instant::now();
    loop {
        let mut conn = store.conn().await.unwrap();
        let left = store::jobs::list(&mut conn, store::jobs::Filter::default(), None, 10).await.unwrap();
        if left.is_empty() {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{left:?}");
        drop(conn);
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

/// Checks a page twice with a monitor, which the older version did not have.
async fn begins_a_monitor(app: &TestApp, client: &Client, page: &str) {
    let target = json!({ "type": "scrape", "urls": [page] });
    let body = json!({ "name": "new", "schedule": { "text": "daily" }, "targets": [target] });
    let made = client.post("/v2/monitor", &body).await;
    assert_eq!(made.status, 200, "{}", made.body);
    let path = format!("/v2/monitor/{}", made.body["data"]["id"].as_str().unwrap());
    for status in ["new", "same"] {
        let begun = client.post(&format!("{path}/run"), &json!({})).await;
        assert_eq!(begun.status, 200, "{}", begun.body);
        let check = client.checked(&format!("{path}/checks/{}", begun.body["data"]["id"].as_str().unwrap())).await;
        assert_eq!(json!([check["status"], check["actualCredits"]]), json!(["completed", 1]), "{check}");
        assert_eq!(check["pages"][0]["status"], status, "{check}");
    }
    // Its next check is queued.
    app.leaves_jobs();
}

async fn start(url: Option<&str>, old: &Old) -> (TestApp, Site, Site) {
    let (pages, receiver) = sites().await;
    let (proxy, sql) = (proxy(&pages).await, as_of_an_hour_ago(old.sql, &receiver));
    if let Some(url) = url {
        AsyncPgConnection::establish(url).await.unwrap().batch_execute(&sql).await.unwrap();
    }
    let app = TestApp::with(|config| {
        match url {
            Some(url) => config.store.url = base::Secret::new(url),
            None => {
                let file = config.data.dir.join("quarry.db");
                SqliteConnection::establish(&file.display().to_string()).unwrap().batch_execute(&sql).unwrap();
            }
        }
        config.auth.mode = boot::config::AuthMode::Keys;
        config.fetch.basic_proxies.0 = vec![proxy];
        config.egress.allow.push(receiver.addr().to_string().parse().unwrap());
    })
    .await;
    (app, pages, receiver)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_older_version_began_is_finished() {
    let (app, _pages, receiver) = start(None, &SQLITE).await;
    let url = format!("sqlite://{}", app.data().join("quarry.db").display());
    let store = Store::open(&url, Options::default()).await.unwrap();
    finishes(&app, &SQLITE, store, &receiver).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_older_version_began_is_finished_on_postgresql() {
    let Some(admin) = crate::postgres::database() else { return };
    let name = format!("quarry_upgrade_{}", base::new_id().simple());
    let mut conn = AsyncPgConnection::establish(&admin).await.unwrap();
    conn.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0")).await.unwrap();
    let url = format!("{}/{name}", admin.rsplit_once('/').unwrap().0);
    let (mut app, _pages, receiver) = start(Some(&url), &POSTGRES).await;
    finishes(&app, &POSTGRES, Store::open(&url, Options::default()).await.unwrap(), &receiver).await;
    app.stop().await;
    conn.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
}
