//! Browser sessions with a real browser: calls, DevTools protocol, live view, end.

use std::time::Duration;

use boot::config::AuthMode;
use bytes::Bytes;
use e2e::{Answer, Client, TestApp};
use futures_util::{SinkExt, StreamExt};
use http::Method;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

const PATIENCE: Duration = Duration::from_secs(30);
const PAGE: &str = r#"<!doctype html><title>Counter</title><style>button{position:absolute;left:0;top:0;width:400px;height:400px}</style>
<button onclick="document.title = 'Clicked ' + ++n">Count</button><script>var n = 0;</script>"#;

/// A client of the DevTools protocol.
pub(crate) struct Cdp {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    last: u64,
    pub(crate) events: Vec<Value>,
}

impl Cdp {
    pub(crate) async fn connect(url: &str) -> Self {
        Self { socket: connect(url).await.unwrap(), last: 0, events: Vec::new() }
    }

    /// Sends a call and returns the whole answer.
    pub(crate) async fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.socket.send(Message::text(message.to_string())).await.unwrap();
        loop {
            let message = self.next().await.unwrap_or_else(|| panic!("closed after {method}"));
            if message["id"] == self.last {
                return message;
            }
            self.events.push(message);
        }
    }

    pub(crate) async fn result(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        let mut answer = self.call(session, method, params).await;
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }

    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            match timeout(PATIENCE, self.socket.next()).await.unwrap_or_else(|_| panic!("a message in time"))? {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Creates a page and attaches a session to it.
    pub(crate) async fn page(&mut self) -> String {
        let target = self.result(None, "Target.createTarget", json!({ "url": "about:blank" })).await;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        self.result(None, "Target.attachToTarget", attach).await["sessionId"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn evaluate(&mut self, page: &str, expression: &str) -> Value {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        self.result(Some(page), "Runtime.evaluate", params).await["result"]["value"].take()
    }

    /// Navigates to a page and waits until it is loaded.
    pub(crate) async fn goto(&mut self, page: &str, url: &str) {
        self.result(Some(page), "Page.enable", json!({})).await;
        let went = self.result(Some(page), "Page.navigate", json!({ "url": url })).await;
        assert!(went["errorText"].is_null(), "{went}");
        let ready = "new Promise(done => document.readyState === 'complete' ? done(1) : addEventListener('load', () => done(1)))";
        self.evaluate(page, ready).await;
    }
}

/// Starts a service with a browser in mode `keys`.
pub(crate) async fn with_keys() -> TestApp {
    TestApp::with(|config| {
        config.browser.enabled = true;
        config.auth.mode = AuthMode::Keys;
    })
    .await
}

pub(crate) async fn connect(url: &str) -> Result<WebSocketStream<MaybeTlsStream<TcpStream>>, Error> {
    timeout(PATIENCE, connect_async(url))
        .await
        .unwrap_or_else(|_| panic!("a handshake in time"))
        .map(|(socket, _)| socket)
}

/// Returns the status of a refused handshake.
async fn refused(url: &str) -> u16 {
    match connect(url).await {
        Err(Error::Http(answer)) => answer.status().as_u16(),
        other => panic!("{url}: {other:?}"),
    }
}

pub(crate) async fn session(client: &Client, body: Value) -> Value {
    let answer = client.post("/v2/browser", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no {key}: {value}"))
}

fn refusal(answer: &Answer) -> (u16, &str) {
    (answer.status, answer.code())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_started_used_listed_and_ended() {
    let app = with_keys().await;
    app.site.html("/", PAGE);
    let (team, others) = (app.team(Some(100), json!({})).await, app.team(Some(100), json!({})).await);
    let started = session(&team, json!({ "ttl": 60, "activityTtl": 30, "origin": "test" })).await;
    let (id, cdp_url) = (text(&started, "id").to_owned(), text(&started, "cdpUrl").to_owned());
    assert!(cdp_url.starts_with(&format!("ws://{}/sessions/{id}/cdp/", app.address())), "{cdp_url}");

    let mut cdp = Cdp::connect(&cdp_url).await;
    let page = cdp.page().await;
    cdp.goto(&page, &app.page("/")).await;
    assert_eq!(cdp.evaluate(&page, "document.title").await, "Counter");
    let agent = cdp.evaluate(&page, "navigator.userAgent").await;
    assert!(agent.as_str().is_some_and(|agent| !agent.contains("Headless")), "{agent}");

    // Other teams cannot see it.
    let path = format!("/v2/browser/{id}");
    assert_eq!(refusal(&others.delete(&path).await), (404, "SESSION_NOT_FOUND"));
    assert_eq!(others.get("/v2/browser").await.body["sessions"], json!([]));
    let execute = others.post(&format!("{path}/execute"), &json!({ "code": "1", "language": "node" })).await;
    assert_eq!(refusal(&execute), (404, "SESSION_NOT_FOUND"));
    let listed = team.get("/v2/browser?status=active").await.body["sessions"][0].take();
    assert_eq!((text(&listed, "id"), text(&listed, "status"), text(&listed, "cdpUrl")), (&*id, "active", &*cdp_url));

    let ended = team.delete(&path).await;
    assert_eq!((ended.status, text(&ended.body, "status")), (200, "destroyed"));
    assert!(ended.body["creditsBilled"].as_i64().is_some_and(|credits| (1..=2).contains(&credits)), "{}", ended.body);
    assert!(ended.body["sessionDurationMs"].as_i64().is_some_and(|ms| ms > 0));
    let usage = team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"].as_i64();
    assert_eq!(usage, Some(100 - ended.body["creditsBilled"].as_i64().unwrap()));
    assert!(cdp.next().await.is_none(), "its socket is closed");
    assert_eq!(refusal(&team.delete(&path).await), (410, "SESSION_ENDED"));
    assert_eq!(refused(&cdp_url).await, 404, "its token is gone");
    let listed = team.get("/v2/browser").await.body["sessions"][0].take();
    assert_eq!((text(&listed, "status"), text(&listed, "cdpUrl")), ("destroyed", ""));
    assert_eq!(team.get("/v2/browser?status=active").await.body["sessions"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_protocol_leads_nowhere_else() {
    let app = TestApp::with_browser().await;
    app.site.html("/", PAGE);
    let client = app.anonymous();
    let started = session(&client, json!({})).await;
    let mut cdp = Cdp::connect(text(&started, "cdpUrl")).await;
    let page = cdp.page().await;
    let on = Some(page.as_str());
    for (session, method, params) in [
        (on, "Page.navigate", json!({ "url": "file:///etc/passwd" })),
        (on, "Page.navigate", json!({ "url": "chrome://version" })),
        (None, "Target.createTarget", json!({ "url": "file:///etc/passwd" })),
        (None, "Target.exposeDevToolsProtocol", json!({ "targetId": "x" })),
        (None, "Target.sendMessageToTarget", json!({ "message": "{}" })),
        (None, "Browser.close", json!({})),
        (None, "SystemInfo.getInfo", json!({})),
        (None, "Tethering.bind", json!({ "port": 9999 })),
        (None, "Tracing.start", json!({})),
        (None, "IO.read", json!({ "handle": "1" })),
        (on, "DOM.setFileInputFiles", json!({ "files": ["/etc/passwd"] })),
        (on, "Network.loadNetworkResource", json!({ "url": "file:///etc/passwd" })),
        (Some("not-mine"), "Runtime.evaluate", json!({ "expression": "1" })),
    ] {
        let answer = cdp.call(session, method, params).await;
        assert!(answer["error"]["message"].is_string(), "{method}: {answer}");
    }
    cdp.goto(&page, &app.page("/")).await;
    // Neither the page nor an isolated world with full privileges can read files or addresses that the guard refuses.
    let tree = cdp.result(on, "Page.getFrameTree", json!({})).await;
    let world = json!({ "frameId": tree["frameTree"]["frame"]["id"], "grantUniveralAccess": true });
    let world = cdp.result(on, "Page.createIsolatedWorld", world).await["executionContextId"].take();
    let inner = format!("http://{}/health/live", app.address());
    for url in ["file:///etc/passwd", &inner, "http://169.254.169.254/latest"] {
        let fetch = format!(
            "fetch('{url}').then(answer => answer.status === 200 ? answer.text() : 'kept out', () => 'kept out')"
        );
        let params = json!({ "expression": fetch, "contextId": world, "awaitPromise": true, "returnByValue": true });
        let found = cdp.result(on, "Runtime.evaluate", params).await["result"]["value"].take();
        assert_eq!(found, "kept out", "{url}");
    }
    // A browser context created by the client has the same single way out.
    let own = json!({ "proxyServer": format!("http://{}", app.site.addr()), "disposeOnDetach": true });
    let context = cdp.result(None, "Target.createBrowserContext", own).await;
    let new = json!({ "url": "about:blank", "browserContextId": context["browserContextId"] });
    let target = cdp.result(None, "Target.createTarget", new).await["targetId"].take();
    let attached = cdp.result(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true })).await;
    let other = text(&attached, "sessionId").to_owned();
    cdp.goto(&other, &app.page("/")).await;
    assert_eq!(cdp.evaluate(&other, "document.title").await, "Counter");
    // The number of DevTools sessions is limited.
    let (mut count, attach) = (0, json!({ "targetId": target, "flatten": true }));
    while cdp.call(None, "Target.attachToTarget", attach.clone()).await["error"].is_null() {
        count += 1;
        assert!(count < 256, "there is no bound");
    }
    assert!(count > 200, "{count}");
    for method in ["Target.attachToBrowserTarget", "Target.setAutoAttach"] {
        let answer = cdp.call(on, method, json!({ "autoAttach": true, "waitForDebuggerOnStart": false })).await;
        assert!(answer["error"]["message"].as_str().is_some_and(|why| why.contains("too many sessions")), "{answer}");
    }
    assert_eq!(cdp.evaluate(&other, "document.title").await, "Counter");
    assert_eq!(client.delete(&format!("/v2/browser/{}", text(&started, "id"))).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_open_their_own_door_only() {
    let app = TestApp::with_browser().await;
    let client = app.anonymous();
    let (one, two) = (session(&client, json!({})).await, session(&client, json!({ "streamWebView": false })).await);
    let cdp_url = text(&one, "cdpUrl").to_owned();
    let (place, token) = cdp_url.rsplit_once('/').unwrap();
    let view = text(&one, "liveViewUrl").replacen("http", "ws", 1);
    let view_token = view.rsplit_once('/').unwrap().1;
    assert!(token.len() == 32 && view_token.len() == 32 && token != view_token);
    let place_of_two = text(&two, "cdpUrl").rsplit_once('/').unwrap().0;
    for wrong in [
        format!("{place}/{view_token}"),
        format!("{place_of_two}/{token}"),
        format!("{place}/{}", "0".repeat(32)),
        format!("{}/{token}", place.replace("/cdp", "/view")),
        format!("{}/{view_token}", place.replace("/cdp", "/control")),
        format!("{}/{token}", place.replace("/cdp", "/other")),
    ] {
        assert_eq!(refused(&wrong).await, 404, "{wrong}");
    }
    assert_eq!((text(&two, "liveViewUrl"), text(&two, "interactiveLiveViewUrl")), ("", ""));
    let path = cdp_url.replacen("ws", "http", 1).replace(&format!("http://{}", app.address()), "");
    for end in ["/json/version", "/json/version/"] {
        let version = client.get(&format!("{path}{end}")).await;
        assert_eq!((version.status, text(&version.body, "webSocketDebuggerUrl")), (200, &*cdp_url), "{end}");
    }
    assert_eq!(client.get(&path).await.status, 400, "it takes WebSockets");
    for started in [&one, &two] {
        assert_eq!(client.delete(&format!("/v2/browser/{}", text(started, "id"))).await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_viewer_sees_the_page_and_one_of_them_may_click() {
    let app = TestApp::with_browser().await;
    app.site.html("/", PAGE);
    let client = app.anonymous();
    let started = session(&client, json!({})).await;
    let mut cdp = Cdp::connect(text(&started, "cdpUrl")).await;
    let targets = cdp.result(None, "Target.getTargets", json!({ "filter": [{ "type": "page" }] })).await;
    let attach = json!({ "targetId": targets["targetInfos"][0]["targetId"], "flatten": true });
    let page = text(&cdp.result(None, "Target.attachToTarget", attach).await, "sessionId").to_owned();
    cdp.goto(&page, &app.page("/")).await;
    let click = |event: &str| {
        Message::text(json!({"type": "mouse", "event": event, "x": 0.02, "y": 0.02, "button": "left", "buttons": 1, "clickCount": 1}).to_string())
    };
    for (url, title) in [("liveViewUrl", "Counter"), ("interactiveLiveViewUrl", "Clicked 1")] {
        let address = text(&started, url);
        let shown = client.get(&address.replace(&format!("http://{}", app.address()), "")).await;
        assert!(shown.status == 200 && shown.header("content-type").starts_with("text/html"), "{url}");
        assert_eq!(shown.header("referrer-policy"), "no-referrer");
        let mut socket = connect(&address.replacen("http", "ws", 1)).await.unwrap();
        let (mut frame, mut told) = (None, Vec::<Value>::new());
        while frame.is_none() || told.len() < 2 {
            match timeout(PATIENCE, socket.next()).await.unwrap().unwrap().unwrap() {
                Message::Binary(seen) => frame = Some(seen),
                Message::Text(text) => told.push(serde_json::from_str(&text).unwrap()),
                Message::Close(why) => panic!("{why:?}"),
                _ => {}
            }
        }
        let frame = frame.unwrap();
        let left = told[0]["leftMs"].as_u64().unwrap();
        let steers = url == "interactiveLiveViewUrl";
        assert_eq!((&told[0]["type"], &told[0]["steers"]), (&json!("session"), &json!(steers)), "{told:?}");
        assert!((1..=300_000).contains(&left), "{left}");
        assert_eq!(told[1], json!({ "type": "page", "url": app.page("/"), "title": "Counter" }));
        assert!(frame.starts_with(b"\xff\xd8\xff") && frame.len() > 1000, "{} bytes", frame.len());
        for event in ["down", "up"] {
            socket.send(click(event)).await.unwrap();
        }
        let mut seen = Value::Null;
        for tried in 0..300 {
            // After a second, a click that must not count would have been seen; one that counts may take longer.
            if tried >= 20 && (!steers || seen == title) {
                break;
            }
            sleep(Duration::from_millis(50)).await;
            seen = cdp.evaluate(&page, "document.title").await;
        }
        assert_eq!(seen, title, "{url}");
    }
    assert_eq!(client.delete(&format!("/v2/browser/{}", text(&started, "id"))).await.status, 200);
    // A browser gets a page that says so, a program a machine-readable error.
    let view = text(&started, "liveViewUrl").replace(&format!("http://{}", app.address()), "");
    let request = client.request(Method::GET, &view).header("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    let ended = client.typed().execute(request, Bytes::new()).await.unwrap();
    let header = |name: &str| ended.headers.get(name).unwrap().to_str().unwrap().to_owned();
    assert!(ended.status == 404 && header("content-type").starts_with("text/html"), "{}", ended.text());
    assert!(header("content-security-policy").starts_with("default-src 'none'"));
    assert!(ended.text().contains("The session has ended"), "{}", ended.text());
    assert_eq!(refusal(&client.get(&view).await), (404, "SESSION_NOT_FOUND"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_few_and_end_by_themselves() {
    let mut app = TestApp::with(|config| {
        config.browser.enabled = true;
        (config.sessions.max, config.sessions.max_of_team) = (2, 1);
    })
    .await;
    let (one, two) = (app.team(Some(100), json!({})).await, app.team(Some(3), json!({})).await);
    let first = session(&one, json!({ "ttl": 30, "activityTtl": 10 })).await;
    assert_eq!(refusal(&one.post("/v2/browser", &json!({})).await), (429, "CONCURRENCY_LIMITED"));
    assert_eq!(refusal(&two.post("/v2/browser", &json!({ "ttl": 120 })).await), (402, "insufficient_credits"));
    let second = session(&two, json!({ "ttl": 90 })).await;
    assert_eq!(refusal(&app.anonymous().post("/v2/browser", &json!({})).await), (429, "CONCURRENCY_LIMITED"));
    for bad in [json!({ "ttl": 10 }), json!({ "activityTtl": 1 }), json!({ "x": 1 })] {
        assert_eq!(refusal(&one.post("/v2/browser", &bad).await), (400, "BAD_REQUEST"), "{bad}");
    }
    // It is idle, so it ends; the other one is in use all the time.
    let mut cdp = Cdp::connect(text(&second, "cdpUrl")).await;
    let mut ended = false;
    for _ in 0..20 {
        sleep(Duration::from_secs(1)).await;
        cdp.result(None, "Browser.getVersion", json!({})).await;
        ended = one.get("/v2/browser?status=active").await.body["sessions"] == json!([]);
        if ended {
            break;
        }
    }
    assert!(ended);
    assert_eq!(refusal(&one.delete(&format!("/v2/browser/{}", text(&first, "id"))).await), (410, "SESSION_ENDED"));
    session(&one, json!({})).await;
    // A server that stops ends all of them, and charges.
    let remaining = two.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"].as_i64();
    assert_eq!(remaining, Some(0), "three credits are set aside");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_a_browser_says_so() {
    let app = TestApp::start().await;
    let client = app.anonymous();
    let answer = client.post("/v2/browser", &json!({})).await;
    assert_eq!(refusal(&answer), (503, "BROWSER_UNAVAILABLE"), "{}", answer.body);
    assert_eq!(answer.header("retry-after"), "", "it will have none then either");
    let unknown = client.delete("/v2/browser/01900000-0000-7000-8000-000000000001").await;
    assert_eq!(refusal(&unknown), (404, "SESSION_NOT_FOUND"));
}

/// A client that lost the answer repeats the call, and gets the same session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeated_start_is_the_same_session() {
    let app = with_keys().await;
    let (team, others) = (app.team(Some(100), json!({})).await, app.team(Some(100), json!({})).await);
    let start = async |client: &Client, key: &str, body: Value| {
        let request = client.request(Method::POST, "/v2/browser").header("x-idempotency-key", key);
        let request = request.header("content-type", "application/json");
        client.send(request, body.to_string().into()).await
    };
    let body = json!({ "ttl": 60 });
    // The same for a repeated call before the first is answered.
    let (first, twin) = tokio::join!(start(&team, "k", body.clone()), start(&team, "k", body.clone()));
    assert_eq!((first.status, twin.status), (200, 200), "{} {}", first.body, twin.body);
    assert_eq!(first.body, twin.body);
    let again = start(&team, "k", body.clone()).await;
    assert_eq!(again.body, first.body);
    assert_eq!(refusal(&start(&team, "k", json!({ "ttl": 61 })).await), (409, "duplicate_request"));
    let other = start(&others, "k", body.clone()).await;
    assert_ne!(text(&other.body, "id"), text(&first.body, "id"));
    let listed = team.get("/v2/browser?status=active").await.body["sessions"].as_array().unwrap().len();
    assert_eq!(listed, 1);
    for (client, started) in [(&team, &first), (&others, &other)] {
        assert_eq!(client.delete(&format!("/v2/browser/{}", text(&started.body, "id"))).await.status, 200);
    }
    // The key of an ended session does not start another one.
    let ended = start(&team, "k", body).await;
    assert_eq!((text(&ended.body, "id"), text(&ended.body, "cdpUrl")), (text(&first.body, "id"), ""));
    let bad = start(&team, "", json!({})).await;
    assert_eq!(refusal(&bad), (400, "BAD_REQUEST"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_have_two_names() {
    let app = TestApp::with_browser().await;
    let client = app.anonymous();
    let started = client.post("/v2/interact", &json!({})).await;
    assert_eq!(started.status, 200, "{}", started.body);
    let path = format!("/v2/interact/{}", text(&started.body, "id"));
    let listed = client.get("/v2/interact?status=active").await.body;
    assert_eq!(listed, client.get("/v2/browser?status=active").await.body);
    assert_eq!(listed["sessions"][0]["id"], started.body["id"]);
    let ran = client.post(&format!("{path}/execute"), &json!({ "code": "40 + 2", "language": "node" })).await;
    assert_eq!((ran.status, &ran.body["result"]), (200, &json!("42")), "{}", ran.body);
    assert_eq!(client.delete(&path).await.status, 200);
    assert_eq!(refusal(&client.delete(&path.replace("interact", "browser")).await), (410, "SESSION_ENDED"));
    let told = client.get("/v2/team/activity?endpoint=browser").await.body;
    assert_eq!(told["data"][0]["id"], started.body["id"]);
}

/// Looking up a token costs a database read: guesses get 429 before that, valid tokens are still accepted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guessed_tokens_are_counted() {
    let app = TestApp::with(|config| {
        config.browser.enabled = true;
        config.auth.mode = AuthMode::Keys;
        config.limits.refused_per_minute = 5;
    })
    .await;
    let client = app.team(Some(100), json!({})).await;
    let started = session(&client, json!({})).await;
    let view = text(&started, "liveViewUrl").replace(&format!("http://{}", app.address()), "");
    let mut seen = Vec::new();
    for number in 0..9 {
        let door = format!("/sessions/00000000-0000-7000-8000-{number:012}/view/{}", "0".repeat(32));
        seen.push(client.get(&door).await.status);
    }
    assert_eq!((seen[0], seen[4], seen[8]), (404, 404, 429), "{seen:?}");
    assert_eq!(client.get(&view).await.status, 200, "a good token of this server goes on");
    let wrong = format!("{}/{}", view.rsplit_once('/').unwrap().0, "0".repeat(32));
    assert_eq!(client.get(&wrong).await.status, 429);
    assert_eq!(client.delete(&format!("/v2/browser/{}", text(&started, "id"))).await.status, 200);
}
