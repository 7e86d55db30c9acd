//! Tests of pages that poll, tick or stream endlessly: they are captured as soon as their text is stable.

use std::time::Duration;

use browser::Visit;
use serde_json::json;
use testkit::{Body, Reply, Script};
use tokio::time::Instant;

use crate::page_world::{actions, answer_questions, check, compare, expect};
use crate::world::{World, plain};

const TOOLS: &str = "const ask = async (query) => (await fetch('/api/x?' + query)).text(),
    show = (text) => root.innerHTML = '<h1>Ready</h1><p>' + text, later = (ms) => new Promise((done) => setTimeout(done, ms));";
/// Text that is shown at once.
const READY: &str =
    "show('The list of the tools of the workshop has arrived from the store and can be read now by everybody.');";
/// Deadline, far longer than a page needs to settle.
const LONG: Duration = Duration::from_secs(25);

/// Endless activities by name.
const ENDLESS: &[(&str, &str)] = &[
    ("200 ms", "setInterval(() => fetch('/api/poll?d=5'), 200)"),
    ("1 s", "setInterval(() => fetch('/api/poll?d=5'), 1000)"),
    ("200 ms, by lot", "setInterval(() => fetch('/api/poll?d=5&r=' + Math.random()), 200)"),
    ("1 s, by lot", "setInterval(() => fetch('/api/poll?d=5&r=' + Math.random().toString(36)), 1000)"),
    ("1 s, time in the path", "setInterval(() => fetch('/api/poll/' + Date.now() + '?d=5'), 1000)"),
    ("1 s, slow answers", "setInterval(() => fetch('/api/poll?d=700&t=' + Date.now()), 1000)"),
    ("1 s, errors", "setInterval(() => fetch('/api/poll?d=5&s=503&t=' + Date.now()), 1000)"),
    (
        "XHR",
        "setInterval(() => { const x = new XMLHttpRequest(); x.open('POST', '/api/poll?d=5'); x.send('{\"id\":' + Math.random() + '}') }, 300)",
    ),
    (
        "scripts",
        "setInterval(() => { const s = document.createElement('script'); s.src = '/jsonp?callback=cb' + Date.now(); document.head.append(s) }, 400)",
    ),
    ("long polls", "(async () => { for (let n = 0;;) await ask('d=1000&since=' + n++) })()"),
    ("a long poll", "fetch('/hang')"),
    (
        "polls, a question and a stream",
        "setInterval(() => fetch('/api/poll?r=' + Math.random()), 200); fetch('/hang'); new EventSource('/events')",
    ),
    ("an event stream", "new EventSource('/events').onmessage = () => {}"),
    ("a stream that is read", "fetch('/drops').then(async (a) => { for await (const part of a.body); })"),
    ("a clock", "setInterval(() => clock.textContent = new Date().toISOString(), 100)"),
    (
        "a clock and polls",
        "setInterval(() => { clock.textContent = new Date().toLocaleTimeString(); fetch('/api/poll?t=' + Date.now()) }, 1000)",
    ),
    (
        "a ticker",
        "const all = ['Oak rises', 'Ash falls', 'Elm stays']; let n = 0; setInterval(() => clock.textContent = all[n++ % 3], 400)",
    ),
    (
        "a ticker by polls",
        "let n = 0; setInterval(() => ask('d=5&t=' + (n++ % 2 ? 'Oak+rises' : 'Ash+falls')).then((t) => clock.textContent = t), 300)",
    ),
];

fn page(script: &str) -> String {
    format!("<!doctype html><title>t</title><p id=clock></p><div id=root></div><script>{TOOLS}{script}</script>")
}

async fn world() -> World {
    let world = World::start().await;
    answer_questions(&world);
    let stream = |text: &'static str| {
        let pause = Duration::from_millis(200);
        Body::Steps { steps: vec![(pause, text.into())], then: Some((pause, text.into())) }
    };
    let kind = ("content-type", "text/event-stream");
    let events = Reply { body: stream("data: nothing new\n\n"), ..Reply::default() };
    world.site.respond("/events", events.header(kind.0, kind.1));
    world.site.respond("/drops", Reply { body: stream("{}\n"), ..Reply::default() });
    world.site.script("/hang", vec![Script::Hang(Duration::from_secs(60))]);
    // Starts the browser, so that no tested visit has to wait for it.
    world.page("<p>warm").await.unwrap();
    world
}

/// Some of them, one of each kind.
const SOME: &[&str] =
    &["200 ms", "1 s, by lot", "long polls", "a stream that is read", "a clock and polls", "a ticker by polls"];

/// Visits must end because the page has settled, not because of the deadline. How soon is measured by `cargo xtask
/// browser-pages --behaviour`.
async fn all_settle(names: &[&str], wait_for: Duration, actions: &[wire::Action]) {
    let world = world().await;
    let url = world.url("/page");
    for (name, script) in ENDLESS.iter().filter(|(name, _)| names.contains(name)) {
        let html = page(&format!("{READY}{script}"));
        world.site.html("/page", &html);
        let visit = Visit { deadline: Instant::now() + LONG, wait_for, actions, ..plain(&url) };
        let visited = world.visit(&visit).await.unwrap();
        compare(&visited, &expect(&["by everybody"], &[], 0), &html);
        assert!(visited.warnings.is_empty(), "{name}: {:?}", visited.warnings);
    }
}

#[tokio::test]
async fn what_goes_on_for_ever_is_not_waited_for() {
    let all: Vec<&str> = ENDLESS.iter().map(|(name, _)| *name).collect();
    all_settle(&all, Duration::ZERO, &[]).await;
}

#[tokio::test]
async fn nor_where_the_caller_waits() {
    all_settle(SOME, Duration::from_millis(500), &[]).await;
}

#[tokio::test]
async fn nor_before_and_after_an_action() {
    let scroll = actions(json!([{"type": "scroll", "direction": "down"}]));
    all_settle(SOME, Duration::ZERO, &scroll).await;
}

#[tokio::test]
async fn what_is_still_coming_is_waited_for() {
    let world = world().await;
    let poll = "setInterval(() => fetch('/api/poll?r=' + Math.random()), 200);";
    for (script, seen) in [
        // Results that arrive one after the other.
        (
            "let n = 0; const timer = setInterval(() => { root.insertAdjacentHTML('beforeend', `<p>Result ${'abcdefghij'[n]}`);
                if (++n === 10) clearInterval(timer) }, 200)",
            &["Result j"],
        ),
        ("(async () => { for (const one of 'abcdefghij') root.insertAdjacentHTML('beforeend', await ask('d=200&t=Result+' + one)) })()", &["Result j"]),
        // Slow answers.
        ("ask('d=1500&t=Lazy+content').then(show)", &["Lazy content"]),
        ("later(300).then(() => ask('d=1500&t=Lazy+content')).then(show)", &["Lazy content"]),
        // Several requests to the same endpoint, the last of which brings the text.
        (
            "const query = (text) => fetch('/api/graph?d=700', { method: 'POST', body: JSON.stringify({ query: text }) });
                query('{ user }').then(() => query('{ rights }')).then(() => query('{ page }')).then(() => show('Page of the user'))",
            &["Page of the user"],
        ),
        // A status that is polled until it is "done".
        (
            "show('Preparing the report…'); let n = 0; const timer = setInterval(async () => { await ask('d=10&state=1');
                if (++n === 5) { clearInterval(timer); show('The report is done') } }, 500)",
            &["The report is done"],
        ),
    ] {
        let html = page(&format!("{poll}show('The page of the shop, with a sentence that says more than its labels do, and then some.');{script}"));
        check(&world, &html, expect(seen, &[], 8000)).await;
    }
}
