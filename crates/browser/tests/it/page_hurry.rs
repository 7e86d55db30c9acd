//! Tests of pages with a hurried clock: timers fire early, and work that needs real time is not missed.

use std::time::Duration;

use browser::Visit;
use tokio::time::Instant;

use crate::page_world::{Expect, TRIES, answer_questions, check, compare, expect};
use crate::world::{World, plain};

/// Helpers for scripts: request, show and wait.
const TOOLS: &str = "const ask = async (query) => (await fetch('/api/x?' + query)).text(),
    show = (text) => root.textContent = text, later = (ms) => new Promise((done) => setTimeout(done, ms));";

async fn world() -> World {
    let world = World::start().await;
    answer_questions(&world);
    // Starts the browser, so that no tested visit has to wait for it.
    world.page("<p>warm").await.unwrap();
    world
}

fn page(script: &str) -> String {
    format!("<!doctype html><title>t</title><div id=root>…</div><script>{TOOLS}{script}</script>")
}

/// Script without requests that shows something after 1.4 s.
const SLOW: &str = "later(1400).then(() => show('Total of 17 lots'))";

#[tokio::test]
async fn timers_ring_early() {
    let world = world().await;
    check(&world, &page(SLOW), expect(&["Total of 17 lots"], &[], 1350)).await;
    // Consecutive timers, 2.4 s in total, with an answer in between.
    let chain = "(async () => { for (let i = 0; i < 4; i++) { await later(300); show('Step ' + 'abcd'[i]) }
        await ask('d=100'); await later(400); show('Step e'); await later(400); show('Step f'); await later(400); show('The end') })()";
    check(&world, &page(chain), expect(&["The end"], &[], 2300)).await;
}

#[tokio::test]
async fn a_page_that_is_wanted_afterwards_keeps_its_clock() {
    let world = world().await;
    world.site.html("/page", page(SLOW));
    let url = world.url("/page");
    let began = Instant::now();
    let visit = Visit { wait_for: Duration::from_millis(1), ..plain(&url) };
    let visited = world.visit(&visit).await.unwrap();
    compare(&visited, &expect(&["Total of 17 lots"], &[], 0), "wait_for");
    assert!(began.elapsed() >= Duration::from_millis(1400), "{:?}", began.elapsed());
}

#[tokio::test]
async fn what_needs_real_time_comes_all_the_same() {
    let world = world().await;
    let all = |script: &str| page(&format!("later(300).then(async () => {{ {script} }})"));
    for script in [
        // Drawing.
        "let n = 0; const draw = () => ++n < 5 ? requestAnimationFrame(draw) : show('It came'); draw()",
        "new IntersectionObserver(([entry], observer) => { observer.disconnect(); ask('d=200&t=It+came').then(show) }).observe(root)",
        "new ResizeObserver(() => later(200).then(() => show('It came'))).observe(root)",
        "root.animate([{ opacity: 0.5 }, { opacity: 1 }], 700).finished.then(() => show('It came'))",
        "root.style.transition = 'opacity .4s'; root.addEventListener('transitionend', () => show('It came')); root.style.opacity = 0.5",
        // IndexedDB.
        "const open = indexedDB.open('a', 1); open.onupgradeneeded = () => open.result.createObjectStore('n');
            open.onsuccess = () => { const write = open.result.transaction('n', 'readwrite'); write.objectStore('n').put('came', 1);
            write.oncomplete = () => open.result.transaction('n').objectStore('n').get(1).onsuccess = async (e) => {
            await later(100); show('It ' + e.target.result) } }",
        // Work of other threads, and other task queues.
        "await crypto.subtle?.digest('SHA-256', new Uint8Array(1e7)); show('It ' + await new Blob(['came']).text())",
        "const source = 'setTimeout(() => postMessage(\"came\"), 300)';
            new Worker(URL.createObjectURL(new Blob([source]))).onmessage = (e) => show('It ' + e.data)",
        "const c = new MessageChannel(); let n = 0; c.port1.onmessage = () => ++n < 500 ? c.port2.postMessage(0) : show('It came');
            c.port2.postMessage(0)",
        "requestIdleCallback(() => show('It came'))",
        // A timer that would abort an answer if it fired too early.
        "const signal = AbortSignal.timeout(900); show(await (await fetch('/api/x?d=400&t=It+came', { signal })).text())",
        "const frame = document.createElement('iframe'); frame.srcdoc = `<script>setTimeout(() => parent.root.textContent = 'It came', 200)</scr` +
            'ipt>'; document.body.append(frame)",
    ] {
        check(&world, &all(script), expect(&["It came"], &["…"], 4000)).await;
    }
}

/// Virtual time stands while a script runs, so this script would never end. On a loaded machine the timer may fire
/// before the page is hurried; then one visit is enough.
#[tokio::test]
async fn a_script_that_waits_for_the_clock_gets_its_own_back() {
    let world = world().await;
    let html = page(
        "later(1000).then(() => { const end = Date.now() + 100; while (Date.now() < end); later(200).then(() => show('After it')) })",
    );
    world.site.html("/loop", &html);
    let asked = || world.asked().iter().filter(|path| *path == "/loop").count();
    for _ in 0..TRIES {
        let before = asked();
        let visited = world.path("/loop").await.unwrap();
        compare(&visited, &Expect { seen: &["After it"], unseen: &["…"], within: Duration::ZERO }, &html);
        match asked() - before {
            1 => {}
            2 => return,
            more => panic!("asked for {more} times"),
        }
    }
    panic!("no visit began again");
}

#[tokio::test]
async fn polls_do_not_come_more_often_than_their_page_gets_time() {
    let world = world().await;
    let html = page("setInterval(() => ask('d=5&t=Polled').then(show), 100)");
    compare(&world.page(&html).await.unwrap(), &expect(&["Polled"], &[], 0), &html);
    let polls = world.asked().iter().filter(|path| path.starts_with("/api/")).count();
    assert!(polls < 40, "{polls}");
}

#[tokio::test]
async fn a_timer_may_lead_to_another_site() {
    let world = world().await;
    world
        .other
        .html("/next", page("later(300).then(() => ask('d=100')).then(() => later(300)).then(() => show('Arrived'))"));
    let html = page(&format!("later(700).then(() => location = '{}')", world.other_url("/next")));
    let visited = check(&world, &html, expect(&["Arrived"], &["…"], 4000)).await;
    assert_eq!(visited.url, world.other_url("/next"));
}
