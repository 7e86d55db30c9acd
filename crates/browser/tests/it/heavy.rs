//! Tests of large messages, and of messages with many values: from pages, from clients, and beside those of others.

use std::sync::Arc;
use std::time::Duration;

use browser::{BrowserError, Client, OwnHeaders, RelayEnd, Session, Visit};
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;

use crate::page_world::{act, actions};
use crate::world::{World, dom, plain};

const MIB: usize = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(30);
/// Serializes the tests, because they measure the memory of the process.
static ALONE: Mutex<()> = Mutex::const_new(());

/// Peak memory of this process since [`forget_highest`], in bytes.
fn highest() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

fn forget_highest() -> usize {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    highest()
}

/// A client of the protocol.
struct Protocol {
    to: mpsc::Sender<String>,
    from: mpsc::Receiver<String>,
    last: u64,
}

impl Protocol {
    /// Connects to a session; its relay runs in the background.
    fn connect(session: &Arc<Session>) -> (Self, tokio::task::JoinHandle<RelayEnd>) {
        let ((to, their_from), (their_to, from)) = (mpsc::channel(8), mpsc::channel(8));
        let session = Arc::clone(session);
        let relay = tokio::spawn(async move { session.relay(Client { from: their_from, to: their_to }).await });
        (Self { to, from, last: 0 }, relay)
    }

    async fn say(&mut self, session: Option<&str>, method: &str, params: &str) -> u64 {
        self.last += 1;
        let session = session.map(|id| format!(r#","sessionId":"{id}""#)).unwrap_or_default();
        let text = format!(r#"{{"id":{},"method":"{method}","params":{params}{session}}}"#, self.last);
        self.to.send(text).await.unwrap();
        self.last
    }

    /// Waits for the answer to a call; earlier messages are discarded.
    async fn answer(&mut self, id: u64) -> Value {
        loop {
            let text = timeout(PATIENCE, self.from.recv()).await.unwrap().unwrap();
            let message: Value = serde_json::from_str(&text).unwrap();
            if message["id"] == id {
                return message;
            }
        }
    }

    async fn call(&mut self, session: Option<&str>, method: &str, params: &str) -> Value {
        let id = self.say(session, method, params).await;
        self.answer(id).await
    }

    /// Returns the session of the existing page.
    async fn page(&mut self) -> String {
        let targets = self.call(None, "Target.getTargets", r#"{"filter":[{"type":"page"}]}"#).await;
        let target =
            json!({ "targetId": targets["result"]["targetInfos"][0]["targetId"], "flatten": true }).to_string();
        let attached = self.call(None, "Target.attachToTarget", &target).await;
        attached["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{attached}")).to_owned()
    }

    /// Returns the parameters of a call that sets the content of the page.
    async fn content(&mut self, page: &str, html: &str, rest: &str) -> String {
        let tree = self.call(Some(page), "Page.getFrameTree", "{}").await;
        let frame = &tree["result"]["frameTree"]["frame"]["id"];
        format!(r#"{{"frameId":{frame},"html":{}{rest}}}"#, Value::from(html))
    }

    async fn evaluate(&mut self, page: &str, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true }).to_string();
        self.call(Some(page), "Runtime.evaluate", &params).await["result"]["result"]["value"].take()
    }
}

fn later() -> tokio::time::Instant {
    tokio::time::Instant::now() + Duration::from_secs(60)
}

/// A session on a page that a visit has left open, in the shared browser.
async fn shared(world: &World) -> Arc<Session> {
    world.site.html("/held", "<title>Held</title><p>A page that is held.</p>");
    let (url, headers): (_, OwnHeaders) = (world.url("/held"), Arc::new(|_| Vec::new()));
    world.browser.visit_and_keep(&plain(&url), headers, "held").await.unwrap();
    Arc::new(world.browser.resume("held", later()).unwrap())
}

/// A session with its own browser.
async fn alone(world: &World) -> Arc<Session> {
    let (url, headers): (_, OwnHeaders) = ("about:blank".parse().unwrap(), Arc::new(|_| Vec::new()));
    Arc::new(world.browser.session(&plain(&url), headers, later()).await.unwrap())
}

#[tokio::test]
async fn what_a_script_returns_is_measured_first() {
    let _alone = ALONE.lock().await;
    let world = World::start().await;
    let run = async |script: &str| {
        act(&world, "<p>x", &actions(json!([{ "type": "executeJavascript", "script": script }]))).await
    };
    let object =
        |count: usize| format!("Object.fromEntries(Array.from({{ length: {count} }}, (_, n) => ['k' + n, n]))");
    run("1").await.unwrap();
    let before = forget_highest();
    for script in [
        object(2_000_000),
        "Array.from({ length: 1000 }, () => Array(1000).fill(0))".to_owned(),
        "new Uint8Array(3e6)".to_owned(),
        "Array(5e8)".to_owned(),
    ] {
        let error = run(&script).await.err().unwrap().to_string();
        assert!(error.contains("more than 120000 values"), "{script}: {error}");
    }
    assert!(matches!(run("'x'.repeat(30e6)").await, Err(BrowserError::TooLarge { .. } | BrowserError::Action(_))));
    // The page fakes the size of a value, so the service has to measure it again.
    let lies = "Object.hasOwn = () => false; Array.isArray = () => false; ({ all: Array.from({ length: 1000 }, () => Array(1000).fill(0)) })";
    let error = run(lies).await.err().unwrap().to_string();
    assert!(error.contains("too large"), "{error}");
    let grown = highest().saturating_sub(before) / MIB;
    assert!(grown < 150, "{grown} MiB more");
    let visited = run(&object(50_000)).await.unwrap();
    assert_eq!(visited.rendered.acted.returns[0].value["k49999"], 49_999);
    let visited = run("const a = { n: [1] }; [a, a, 'x', null]").await.unwrap();
    assert_eq!(visited.rendered.acted.returns[0].value, json!([{ "n": [1] }, { "n": [1] }, "x", null]));
}

#[tokio::test]
async fn a_large_message_to_a_session_of_ones_own_is_passed_as_it_is() {
    let _alone = ALONE.lock().await;
    let world = World::start().await;
    let session = alone(&world).await;
    let (mut client, _relay) = Protocol::connect(&session);
    let page = client.page().await;
    let many = format!(r#","more":[{}0]"#, "0,".repeat(10 * MIB));
    let params = client.content(&page, "<title>Set</title>", &many).await;
    drop(many);
    let before = forget_highest();
    let set = client.call(Some(&page), "Page.setDocumentContent", &params).await;
    let grown = highest().saturating_sub(before) / MIB;
    assert!(grown < 150, "{grown} MiB more");
    assert!(set["error"].is_null() || set["error"]["message"].is_string(), "{set}");
    assert_eq!(client.evaluate(&page, "1 + 1").await, 2, "the session goes on");
    // Parameters that must be checked are limited in size.
    let many = format!(r#"{{"url":"about:blank","more":[{}0]}}"#, "0,".repeat(200_000));
    let refused = client.call(Some(&page), "Page.navigate", &many).await;
    let message = "the parameters of this call hold more than 120000 JSON values";
    assert_eq!(refused["error"]["message"], message, "{refused}");
    let content = client.content(&page, &format!("<title>{}</title>", "x".repeat(5 * MIB)), "").await;
    let set = client.call(Some(&page), "Page.setDocumentContent", &content).await;
    assert!(set["error"].is_null(), "{set}");
    assert_eq!(client.evaluate(&page, "document.title.length").await, 5 * MIB);
}

/// Makes calls on an unrelated page, one after the other, each with a short deadline.
async fn calm_calls(world: &World, count: usize) {
    world.site.html("/calm", "<title>Calm</title><p>Of another team.");
    let (url, headers) = (world.url("/calm"), |_: &url::Url| Vec::new());
    let (_, held) = world.browser.visit_and_hold(&plain(&url), headers, later()).await.unwrap();
    for _ in 0..count {
        let soon = tokio::time::Instant::now() + Duration::from_secs(3);
        assert_eq!(held.hands().call("title", &json!({}), soon).await.unwrap(), "Calm");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_messages_of_one_team_do_not_delay_another() {
    let _alone = ALONE.lock().await;
    let world = World::start().await;
    let session = shared(&world).await;
    let (mut client, relay) = Protocol::connect(&session);
    let page = client.page().await;
    let large = client.content(&page, &"x".repeat(20 * MIB), "").await;
    let allowed = client.content(&page, &"x".repeat(900 << 10), "").await;
    let hostile = tokio::spawn(async move {
        let mut refused = 0;
        for _ in 0..84 {
            let answer = client.call(Some(&page), "Page.setDocumentContent", &large).await;
            let why = answer["error"]["message"].as_str().unwrap_or_default();
            refused +=
                usize::from(why.contains("more than 1048576 bytes in one message to a page of a shared browser"));
        }
        for _ in 0..8 {
            let answer = client.call(Some(&page), "Page.setDocumentContent", &allowed).await;
            assert!(answer["error"].is_null(), "{answer}");
        }
        (refused, client)
    });
    calm_calls(&world, 60).await;
    let (refused, _client) = timeout(PATIENCE * 4, hostile).await.unwrap().unwrap();
    assert_eq!(refused, 84);
    assert!(!relay.is_finished());
    // Scripts on such a page have the same limits as its client.
    let hands = session.hands().await.unwrap();
    let failure = hands.call("set_content", &json!({ "html": "x".repeat(2 * MIB) }), later()).await.unwrap_err();
    assert!(failure.message.contains("more than 1048576 bytes"), "{failure}");
    hands.call("set_content", &json!({ "html": "<title>Small</title>" }), later()).await.unwrap();
    assert_eq!(hands.call("title", &json!({}), later()).await.unwrap(), "Small");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_answers_to_one_team_are_bounded() {
    let _alone = ALONE.lock().await;
    let world = World::start().await;
    let session = shared(&world).await;
    let (mut client, relay) = Protocol::connect(&session);
    let page = client.page().await;
    assert_eq!(client.evaluate(&page, "'x'.repeat(10e6).length").await, 10_000_000);
    let large = json!({ "expression": "'x'.repeat(20e6)", "returnByValue": true }).to_string();
    let answer = client.call(Some(&page), "Runtime.evaluate", &large).await;
    assert_eq!(answer["error"]["message"], "Runtime.evaluate: the answer is larger than 16 MiB", "{answer}");
    assert_eq!(client.evaluate(&page, "1 + 1").await, 2);
    // A client with too many large answers is disconnected.
    let Protocol { to, mut from, .. } = client;
    tokio::spawn(async move { while from.recv().await.is_some() {} });
    for id in 100..140 {
        let call = format!(r#"{{"id":{id},"method":"Runtime.evaluate","params":{large},"sessionId":"{page}"}}"#);
        if to.send(call).await.is_err() {
            break;
        }
    }
    assert_eq!(relay.await.unwrap(), RelayEnd::Slow);
    let visited = world.page("<p>The browser goes on.").await.unwrap();
    assert!(dom(&visited).contains("goes on"));
}

#[tokio::test]
async fn a_page_of_very_many_nodes_is_read_within_bounds() {
    let _alone = ALONE.lock().await;
    let world = World::start().await;
    let html = "<p>begin<script>for (let n = 0; n < 100000; n++) document.body.append(Object.assign(document.createElement('i'), { textContent: n }))</script>";
    world.page("<p>x").await.unwrap();
    world.site.html("/page", html);
    let (url, before) = (world.url("/page"), forget_highest());
    let visit = Visit { deadline: tokio::time::Instant::now() + Duration::from_secs(60), ..plain(&url) };
    let visited = world.visit(&visit).await.unwrap();
    assert!(dom(&visited).contains("<i>99999</i>"));
    let grown = highest().saturating_sub(before) / MIB;
    assert!(grown < 300, "{grown} MiB more");
}
