//! Several real servers on one database: forwarding of calls for a session on another server. Skipped without
//! PostgreSQL. Also the fate of a session whose browser dies.

use std::time::{Duration, Instant};

use ::client::Raw;
use http::Method;
use lab::{Installation, Node};
use serde_json::{Value, json};
use testkit::Site;

use crate::postgres::database;
use crate::process::{installation, terminate};
use crate::sessions::Cdp;

const PAGE: &str =
    "<!doctype html><title>Shop</title><h1>Granite</h1><p>Slabs of granite, cut to the size that you need.</p>
<button onclick=\"document.title = 'Bought'\">Buy</button>";
const OPERATOR: &str = "operator-of-several-servers-0123456789";

/// Returns a site, and an installation whose servers may fetch it.
async fn world() -> (Site, Installation) {
    let site = Site::start().await;
    site.html("/", PAGE);
    let installation = installation().set("egress.allow", site.addr().to_string());
    (site, installation.set("auth.mode", "keys").set("admin.token", OPERATOR))
}

/// Starts two servers with a data folder each.
async fn pair(url: &str) -> (Site, Node, Node) {
    let (site, first) = world().await;
    let second = installation().set("egress.allow", site.addr().to_string());
    let second = second.set("auth.mode", "keys").set("admin.token", OPERATOR);
    let start = |installation: Installation| installation.set("store.url", url).one_of_several().unwrap();
    (site, start(first), start(second))
}

async fn ask(server: &Node, key: &str, method: Method, path: &str, body: Value) -> (u16, Value, Raw) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let raw = server.client(Some(key)).unwrap().send(method, path, body).await.unwrap();
    (raw.status, raw.json(), raw)
}

async fn post(server: &Node, key: &str, path: &str, body: Value) -> (u16, Value) {
    let (status, answer, _) = ask(server, key, Method::POST, path, body).await;
    (status, answer)
}

async fn delete(server: &Node, key: &str, path: &str) -> (u16, Value) {
    let (status, answer, _) = ask(server, key, Method::DELETE, path, Value::Null).await;
    (status, answer)
}

/// Returns status and code of a refusal.
fn refusal(answer: &(u16, Value)) -> (u16, &str) {
    (answer.0, answer.1["code"].as_str().unwrap_or_default())
}

async fn team(server: &Node) -> String {
    let (status, made) = post(server, OPERATOR, "/admin/teams", json!({ "name": "t", "credits": 100 })).await;
    assert_eq!(status, 200, "{made}");
    made["apiKey"].as_str().unwrap().to_owned()
}

async fn session(server: &Node, key: &str) -> Value {
    let (status, started) = post(server, key, "/v2/browser", json!({ "ttl": 120 })).await;
    assert_eq!(status, 200, "{started}");
    started
}

fn path_of(session: &Value) -> String {
    format!("/v2/browser/{}", session["id"].as_str().unwrap())
}

/// Scrapes the site, and returns the `interact` path of the scrape.
async fn scraped(server: &Node, key: &str, site: &Site) -> String {
    let (status, answer) = post(server, key, "/v2/scrape", json!({ "url": site.url("/") })).await;
    assert_eq!(status, 200, "{answer}");
    format!("/v2/scrape/{}/interact", answer["data"]["metadata"]["scrapeId"].as_str().unwrap())
}

async fn credits(server: &Node, key: &str) -> i64 {
    let (_, usage, _) = ask(server, key, Method::GET, "/v2/team/credit-usage", Value::Null).await;
    usage["data"]["remainingCredits"].as_i64().unwrap()
}

fn node(code: &str) -> Value {
    json!({ "code": code, "language": "node", "timeout": 60 })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_used_through_another_server() {
    let Some(url) = database() else { return };
    let (site, one, two) = pair(&url).await;
    let (key, others) = (team(&one).await, team(&two).await);
    let started = session(&one, &key).await;
    let path = path_of(&started);
    let execute = format!("{path}/execute");
    let (status, worked) =
        post(&two, &key, &execute, node(&format!("await page.goto('{}'); await page.title()", site.url("/")))).await;
    assert_eq!((status, &worked["result"]), (200, &json!("Shop")), "{worked}");
    assert_eq!(post(&one, &key, &execute, node("await page.title()")).await.1["result"], "Shop");
    // Only the session's team can use it.
    assert_eq!(refusal(&post(&two, &others, &execute, node("1")).await), (404, "SESSION_NOT_FOUND"));
    assert_eq!(refusal(&delete(&two, &others, &path).await), (404, "SESSION_NOT_FOUND"));
    assert_eq!(delete(&two, "fc-nobody", &path).await.0, 401);
    let listed = ask(&two, &key, Method::GET, "/v2/browser?status=active", Value::Null).await.1;
    assert_eq!(listed["sessions"][0]["cdpUrl"], started["cdpUrl"], "it is reached where it runs");
    // Its URLs contain the address of the server that runs it, and are invalid on another one.
    let view = started["liveViewUrl"].as_str().unwrap();
    let own = format!("http://{}", one.addr());
    assert!(view.starts_with(&own), "{view}");
    let door = view.strip_prefix(&own).unwrap();
    let seen = async |server: &Node, door: &str| ask(server, "x", Method::GET, door, Value::Null).await.0;
    assert_eq!((seen(&one, door).await, seen(&two, door).await), (200, 503));
    let told = ask(&two, "x", Method::GET, door, Value::Null).await.1.to_string();
    assert!(!told.contains(&one.addr().to_string()), "no address of ours: {told}");
    let wrong = format!("{}/{}", door.rsplit_once('/').unwrap().0, "0".repeat(32));
    assert_eq!((seen(&one, &wrong).await, seen(&two, &wrong).await), (404, 404));
    assert_eq!(delete(&two, &key, &path).await.1["status"], "destroyed");
    assert_eq!(refusal(&delete(&two, &key, &path).await), (410, "SESSION_ENDED"));

    let page = scraped(&one, &key, &site).await;
    let (status, clicked) = post(&one, &key, &page, node("await page.click('button'); await page.title()")).await;
    assert_eq!((status, &clicked["result"]), (200, &json!("Bought")), "{clicked}");
    assert_eq!(post(&two, &key, &page, node("await page.title()")).await.1["result"], "Bought", "it is the same page");
    assert_eq!(refusal(&post(&two, &others, &page, node("1")).await), (404, "NOT_FOUND"));
    assert_eq!(refusal(&delete(&two, &others, &page).await), (404, "SESSION_NOT_FOUND"));
    assert_eq!(delete(&two, &key, &page).await.1["status"], "destroyed");
    // A server that stops ends its sessions.
    let last = path_of(&session(&one, &key).await);
    terminate(one).await;
    assert_eq!(refusal(&delete(&two, &key, &last).await), (410, "SESSION_ENDED"));
    terminate(two).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_hangs_or_is_dead_is_not_waited_for() {
    let Some(url) = database() else { return };
    let (_site, one, two) = pair(&url).await;
    let (key, others) = (team(&one).await, team(&two).await);
    let path = path_of(&session(&one, &key).await);
    let execute = format!("{path}/execute");
    one.pause().unwrap();
    let began = Instant::now();
    let hung = post(&two, &key, &execute, json!({ "code": "1", "language": "node", "timeout": 1 })).await;
    assert_eq!(refusal(&hung), (503, "BROWSER_UNAVAILABLE"), "{}", hung.1);
    let inside = one.addr().to_string();
    assert!(!hung.1.to_string().contains(&inside), "no address of ours: {}", hung.1);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    one.resume().unwrap();
    one.kill().unwrap();
    let began = Instant::now();
    let (status, _, dead) = ask(&two, &key, Method::POST, &execute, node("1")).await;
    assert!(status == 503 && dead.headers.contains_key("retry-after"), "{}", dead.text());
    assert_eq!(refusal(&delete(&two, &key, &path).await), (503, "BROWSER_UNAVAILABLE"));
    assert_eq!(refusal(&post(&two, &others, &execute, node("1")).await), (404, "SESSION_NOT_FOUND"));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    terminate(two).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_another_server_revokes_ends_its_session() {
    let Some(url) = database() else { return };
    let (_site, one, two) = pair(&url).await;
    let (_, made) = post(&one, OPERATOR, "/admin/teams", json!({ "name": "t", "credits": 100 })).await;
    let (key, team) = (made["apiKey"].as_str().unwrap(), made["teamId"].as_str().unwrap());
    let mut cdp = Cdp::connect(session(&one, key).await["cdpUrl"].as_str().unwrap()).await;
    cdp.result(None, "Browser.getVersion", json!({})).await;
    let keys = ask(&two, OPERATOR, Method::GET, &format!("/admin/teams/{team}/keys"), Value::Null).await.1;
    let revoked = delete(&two, OPERATOR, &format!("/admin/keys/{}", keys["data"][0]["id"].as_str().unwrap())).await;
    assert_eq!(revoked.0, 200, "{}", revoked.1);
    assert!(cdp.next().await.is_none(), "its socket is closed");
    terminate(one).await;
    terminate(two).await;
}

/// The browser dies during the first prompt: its reservation is returned.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_that_loses_its_browser_costs_nothing() {
    let (site, installation) = world().await;
    let server = installation.server().unwrap();
    let key = team(&server).await;
    let page = scraped(&server, &key, &site).await;
    // Prompts of less than nine seconds round to zero credits.
    let old = node("await page.waitForTimeout(9500); await page.title()");
    assert_eq!(post(&server, &key, &page, old).await.1["result"], "Shop");
    let caller = server.client(Some(&key)).unwrap();
    let order = json!({ "prompt": "wait 30 seconds", "timeout": 60 }).to_string();
    let path = page.clone();
    let obeying = tokio::spawn(async move { caller.send(Method::POST, &path, order).await.unwrap().status });
    // Reserved: ten minutes of a session, and of prompts on top.
    let mut looks = 0;
    while credits(&server, &key).await != 100 - 1 - 20 - 50 {
        looks += 1;
        assert!(looks < 100, "nothing was set aside for the order");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for process in server.tree().unwrap().processes.iter().filter(|process| process.name.starts_with("chrom")) {
        process.kill().unwrap();
    }
    assert_ne!(obeying.await.unwrap(), 200);
    let mut looks = 0;
    while refusal(&delete(&server, &key, &page).await) != (410, "SESSION_ENDED") {
        looks += 1;
        assert!(looks < 100, "it goes on without its browser");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(credits(&server, &key).await, 100 - 1 - 1, "a session of less than half a minute, without orders");
    terminate(server).await;
}
