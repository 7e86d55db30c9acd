//! Outages of the database, blob store or disk with the real server: answers, log and `/health/ready`, without loss of
//! accepted work.

use std::time::{Duration, Instant};

use ::client::Raw;
use http::Method;
use lab::{Installation, Node, service};
use serde_json::{Value, json};
use testkit::{Bucket, Site, SmallDisk, StoreOutage};
use xtask::db;

use crate::process::{installation, terminate};

const OPERATOR: &str = "operator-of-outages-0123456789";
/// Timeout until a caller gets an outage error: two seconds, plus the delay of a busy machine.
const SOON: Duration = Duration::from_secs(5);
/// Timeout of the server's work that is not measured here.
const PATIENCE: Duration = Duration::from_secs(120);
const PAGES: usize = 40;

async fn site() -> Site {
    let site = Site::start().await;
    let links: String = (1..PAGES).map(|number| format!("<a href=\"/{number}\">{number}</a> ")).collect();
    site.html("/", format!("<h1>Start</h1><p>{links}"));
    for number in 1..PAGES {
        // Too large and too varied for a row of the database, even compressed.
        let words: String =
            (0..30_000u32).map(|word| format!("{:x} ", word.wrapping_mul(2_654_435_761) ^ number as u32)).collect();
        site.html(&format!("/{number}"), format!("<h1>{number}</h1><p>{words}"));
    }
    site
}

fn of(site: &Site) -> Installation {
    let installation = installation().set("egress.allow", site.addr().to_string()).set("auth.mode", "keys");
    installation.set("admin.token", OPERATOR).set("log.format", "json").set("worker.lease_s", "5")
}

/// An API call.
struct Call<'a> {
    method: Method,
    path: &'a str,
    body: String,
}

fn get(path: &str) -> Call<'_> {
    Call { method: Method::GET, path, body: String::new() }
}

#[expect(clippy::needless_pass_by_value, reason = "calls write it in place")]
fn post(path: &str, body: Value) -> Call<'_> {
    Call { method: Method::POST, path, body: body.to_string() }
}

async fn ask(server: &Node, key: &str, Call { method, path, body }: Call<'_>) -> Raw {
    server.client(Some(key)).unwrap().send(method, path, body).await.unwrap()
}

async fn team(server: &Node) -> String {
    let made = ask(server, OPERATOR, post("/admin/teams", json!({ "name": "t", "credits": 1000 }))).await;
    made.json()["apiKey"].as_str().unwrap().to_owned()
}

/// Starts a crawl of the whole site, which takes a few seconds.
async fn crawl(server: &Node, key: &str, site: &Site) -> String {
    let request = json!({ "url": site.url("/"), "limit": PAGES, "delay": 0.1, "ignoreSitemap": true });
    let started = ask(server, key, post("/v2/crawl", request)).await;
    assert_eq!(started.status, 200, "{}", started.json());
    format!("/v2/crawl/{}", started.json()["id"].as_str().unwrap())
}

/// Waits until this many pages of a crawl are completed.
async fn until_completed(server: &Node, key: &str, crawl: &str, pages: u64) {
    let started = Instant::now();
    while ask(server, key, get(crawl)).await.json()["completed"].as_u64() < Some(pages) {
        assert!(started.elapsed() < PATIENCE, "{crawl} does not go on");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Checks that every page is there once and charged once, besides this number of scrapes.
async fn is_whole(server: &Node, key: &str, crawl: &str, scrapes: usize) {
    let started = Instant::now();
    loop {
        let answer = ask(server, key, get(crawl)).await;
        let status = answer.json();
        if status["status"] == "completed" {
            assert_eq!((&status["completed"], &status["creditsUsed"]), (&json!(PAGES), &json!(PAGES)), "{status:.300}");
            break;
        }
        assert!(started.elapsed() < PATIENCE, "{} {status:.300}", answer.status);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let usage = ask(server, key, get("/v2/team/credit-usage")).await.json();
    assert_eq!(usage["data"]["remainingCredits"], json!(1000 - PAGES - scrapes), "{usage}");
}

/// Checks that the answer is that of an outage, and arrived soon.
async fn refused(server: &Node, key: &str, call: Call<'_>, code: &str) {
    let (started, path) = (Instant::now(), call.path.to_owned());
    let answer = ask(server, key, call).await;
    let (took, told) = (started.elapsed(), answer.json());
    assert_eq!((answer.status, told["code"].as_str()), (503, Some(code)), "{path}: {told}");
    assert!(answer.headers.contains_key("retry-after"), "{path}");
    assert!(took < SOON, "{path}: {took:?}");
}

/// Waits until `/health/ready` answers with this status and word.
async fn until_ready_says(server: &Node, status: u16, word: &str) {
    let started = Instant::now();
    loop {
        let answer = service::get(server.addr(), "/health/ready").await.unwrap();
        if (answer.status, answer.json()["status"].as_str()) == (status, Some(word)) {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(10), "{} {}", answer.status, answer.json());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Returns the log lines about a part of the deployment, by its name in the log.
fn told(installation: &Installation, part: &str) -> Vec<Value> {
    let log = String::from_utf8(installation.log()).unwrap();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["part"] == part).collect()
}

/// Checks that the log has one line about the start of the outage, and one about its end.
fn is_told_once(installation: &Installation, part: &str) {
    let lines = told(installation, part);
    let messages: Vec<&str> = lines.iter().filter_map(|line| line["message"].as_str()).collect();
    let expect = [format!("{part} unavailable: requests that need it get 503"), format!("{part} available again")];
    assert_eq!(messages, expect, "{lines:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_stops_for_a_while() {
    if db::binaries().is_none() {
        println!("left out: PostgreSQL is not installed");
        return;
    }
    let (site, cluster) = (site().await, db::Cluster::start().unwrap());
    let installation = of(&site).set("store.url", cluster.url());
    let server = installation.server().unwrap();
    let key = team(&server).await;
    let crawl = crawl(&server, &key, &site).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    cluster.crash().unwrap();
    let began = Instant::now();
    let page = json!({ "url": site.url("/1"), "maxAge": 0 });
    while began.elapsed() < Duration::from_secs(8) {
        let calls = [
            post("/v2/scrape", page.clone()),
            get("/v2/team/credit-usage"),
            get(&crawl),
            post("/v2/crawl", json!({ "url": site.url("/") })),
        ];
        for call in calls {
            refused(&server, &key, call, "DATABASE_UNAVAILABLE").await;
        }
        refused(&server, "fc-unknown", get("/v2/team/credit-usage"), "DATABASE_UNAVAILABLE").await;
        refused(&server, OPERATOR, get("/admin/teams"), "DATABASE_UNAVAILABLE").await;
    }
    until_ready_says(&server, 503, "database_away").await;
    cluster.restart().unwrap();
    until_ready_says(&server, 200, "ok").await;
    is_whole(&server, &key, &crawl, 0).await;
    is_told_once(&installation, "database");
    terminate(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_of_files_that_goes_away_for_a_while() {
    let (site, bucket) = (site().await, Bucket::start().await);
    let (id, secret) = Bucket::KEY;
    let keys = [("blobs.access_key_id", id.to_owned()), ("blobs.secret_access_key", secret.to_owned())];
    let installation = of(&site).set_all(keys).set("blobs.endpoint", bucket.endpoint()).set("blobs.url", "s3://pages");
    let server = installation.server().unwrap();
    let key = team(&server).await;
    let crawl = crawl(&server, &key, &site).await;
    until_completed(&server, &key, &crawl, 4).await;
    bucket.set_outage(Some(StoreOutage::Closed));
    until_ready_says(&server, 503, "storage_away").await;
    // Some results are in the store; small ones are in the database.
    refused(&server, &key, get(&crawl), "STORAGE_UNAVAILABLE").await;
    let small = ask(&server, &key, post("/v2/scrape", json!({ "url": site.url("/") }))).await;
    assert_eq!(small.status, 200, "{}", small.json());
    tokio::time::sleep(Duration::from_secs(5)).await;
    bucket.set_outage(None);
    until_ready_says(&server, 200, "ok").await;
    is_whole(&server, &key, &crawl, 1).await;
    is_told_once(&installation, "store of files");
    terminate(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_is_full() {
    let Some(disk) = SmallDisk::mount(24 << 20) else { return };
    let site = site().await;
    let data = disk.path().join("data").display().to_string();
    let installation = of(&site).set("data.dir", data).set("data.min_free_mib", "0");
    let server = installation.server().unwrap();
    let key = team(&server).await;
    disk.fill();
    let page = json!({ "url": site.url("/"), "maxAge": 0 });
    // The database's write-ahead log has some room until it has to grow.
    let started = Instant::now();
    while ask(&server, &key, post("/v2/scrape", page.clone())).await.status == 200 {
        assert!(started.elapsed() < Duration::from_secs(60), "the disk does not fill");
    }
    refused(&server, &key, post("/v2/scrape", page.clone()), "STORAGE_FULL").await;
    refused(&server, &key, post("/v2/crawl", json!({ "url": site.url("/") })), "STORAGE_FULL").await;
    refused(&server, OPERATOR, post("/admin/teams", json!({ "name": "u" })), "STORAGE_FULL").await;
    until_ready_says(&server, 503, "storage_full").await;
    let lines = told(&installation, "disk of the database");
    let (cause, folder) = (lines[0]["cause"].as_str().unwrap(), disk.path().to_str().unwrap());
    assert!(cause.contains(folder) && cause.contains("bytes free"), "{cause}");
    disk.empty();
    until_ready_says(&server, 200, "ok").await;
    let again = ask(&server, &key, post("/v2/scrape", page)).await;
    assert_eq!(again.status, 200, "{}", again.json());
    terminate(server).await;

    disk.fill();
    let new = disk.path().join("new");
    let error = sentence(&installation.set("data.dir", new.display().to_string()));
    assert!(error.contains("QUARRY__DATA__DIR: the disk is full") && error.contains("bytes free"), "{error}");
    disk.empty();
}

/// Returns the error of a server that does not start: the last line of its log.
fn sentence(installation: &Installation) -> String {
    let error = format!("{:#}", installation.server().unwrap_err());
    let said: Vec<&str> = error.lines().filter_map(|line| Some(line.split_once("quarry-server: ")?.1)).collect();
    assert_eq!(said.len(), 1, "{error}");
    said[0].to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_that_cannot_be_used_stops_the_start_with_a_sentence() {
    let (site, bucket) = (Site::start().await, Bucket::start().await);
    let (id, secret) = Bucket::KEY;
    let keys = [("blobs.access_key_id", id.to_owned()), ("blobs.secret_access_key", secret.to_owned())];
    let with = |endpoint: String, url: &str| {
        of(&site).set_all(keys.clone()).set("blobs.endpoint", endpoint).set("blobs.url", url)
    };
    let missing = with(bucket.endpoint(), "s3://missing");
    let error = tokio::task::block_in_place(|| sentence(&missing));
    assert!(error.contains("QUARRY__BLOBS__URL") && error.contains("there is no such bucket"), "{error}");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let closed = with(format!("http://{free}"), "s3://pages");
    let error = tokio::task::block_in_place(|| sentence(&closed));
    assert!(error.contains(&free.to_string()) && error.contains("refused"), "{error}");
    for installation in [missing, closed] {
        assert!(installation.strays().is_empty(), "{:?}", installation.strays());
    }
}
