//! Tests of when a page counts as settled: one page for each way to load content.

use std::time::Duration;

use browser::{BrowserError, Visit};
use testkit::{Body, Reply, Script};
use tokio::time::Instant;

use crate::page_world::{Expect, answer_questions, check, compare, expect};
use crate::world::{World, plain};

/// Helpers for scripts: request and show.
const ASK: &str =
    "const ask = async (query) => (await fetch('/api/x?' + query)).text(), show = (text) => root.textContent = text;";

async fn world() -> World {
    let world = World::start().await;
    answer_questions(&world);
    // Starts the browser, so that no tested visit has to wait for it.
    world.page("<p>warm").await.unwrap();
    world
}

fn page(text: &str, script: &str) -> String {
    format!("<!doctype html><title>t</title><div id=root>{text}</div><script>{ASK}{script}</script>")
}

#[tokio::test]
async fn what_is_asked_for_is_waited_for() {
    let world = world().await;
    let html = page("Loading orchard", "ask('d=250&t=Bramley+412+crates').then(show)");
    check(&world, &html, expect(&["Bramley 412 crates"], &["Loading"], 1500)).await;
    let html = page("", "ask('d=250&t=x').then(() => ask('d=300&t=J-77+is+in')).then(show)");
    check(&world, &html, expect(&["J-77 is in"], &[], 1800)).await;
    let html = page(
        "Static text of an island page. <p id=a></p><p id=b></p><p id=c></p>",
        "for (const [id, d, t] of [['a', 200, 'gulls'], ['b', 500, 'terns'], ['c', 900, '71+seals']])
            ask(`d=${d}&t=${t}&id=${id}`).then((text) => document.getElementById(id).textContent = text)",
    );
    check(&world, &html, expect(&["gulls", "terns", "71 seals"], &[], 2200)).await;
    // The first answer is an error; the page retries after a second.
    let html = page(
        "Reservoir",
        "let n = 0; const go = async () => { const a = await fetch('/api/r?d=100&t=Level+63&s=' + (n++ ? 200 : 503));
            a.ok ? show(await a.text()) : setTimeout(go, 1000) }; go()",
    );
    check(&world, &html, expect(&["Level 63"], &[], 3000)).await;
    // A slow answer is waited for if the page says that it is loading.
    let html = page("Please wait", "ask('d=5000&t=Came+late').then(show)");
    check(&world, &html, expect(&["Came late"], &["Please wait"], 7000)).await;
}

#[tokio::test]
async fn what_asks_for_nothing_gets_its_time() {
    let world = world().await;
    let html = page("…", "setTimeout(show, 900, 'Total of 17 lots')");
    check(&world, &html, expect(&["Total of 17 lots"], &[], 3200)).await;
    let html = page(
        "",
        "[['Alder', 'Larch', 'Zelkova'], ['Larch', 'Zelkova', 'Alder'], ['Zelkova', 'Alder', 'Larch']].forEach((list, i) =>
            setTimeout(() => root.innerHTML = list.map((name, j) => `<p>${j + 1}. ${name}</p>`).join(''), 300 * (i + 1)))",
    );
    check(&world, &html, expect(&["1. Zelkova 2. Alder 3. Larch"], &[], 3500)).await;
    let html = page("Members: 10 of the club", "setTimeout(show, 300, 'Members: 11 of the club')");
    check(&world, &html, expect(&["Members: 11"], &["Members: 10"], 2500)).await;
    let html = page(
        "Computing",
        "const source = 'const end = Date.now() + 2200; while (Date.now() < end); postMessage(1)';
        new Worker(URL.createObjectURL(new Blob([source]))).onmessage = () => show('Checksum 0x5f3a')",
    );
    check(&world, &html, expect(&["Checksum 0x5f3a"], &[], 3400)).await;
    let html = page(
        "-",
        "const open = indexedDB.open('a', 1); open.onupgradeneeded = () => open.result.createObjectStore('n');
        open.onsuccess = () => { const write = open.result.transaction('n', 'readwrite');
            write.objectStore('n').put('rope', 1); write.oncomplete = () =>
                open.result.transaction('n').objectStore('n').get(1).onsuccess = (e) => show('Newest: ' + e.target.result) }",
    );
    // Content from IndexedDB.
    check(&world, &html, expect(&["Newest: rope"], &[], 3000)).await;
}

#[tokio::test]
async fn pages_without_scripts_are_not_waited_for() {
    let world = world().await;
    let html = "<!doctype html><title>t</title><p>Nothing can change here.";
    check(&world, html, expect(&["Nothing can change"], &[], 600)).await;
    let words = "word ".repeat(100);
    let html = page(&words, "document.title = 'set'");
    check(&world, &html, expect(&["word word"], &[], 900)).await;
}

#[tokio::test]
async fn changes_that_move_end_first() {
    let world = world().await;
    let old = "<p id=old>Summer programme</p>";
    let change =
        "const fresh = document.createElement('p'); fresh.textContent = 'Autumn programme'; root.append(fresh);";
    let html = page(
        &format!("<style>p {{ transition: opacity .6s }} .out {{ opacity: 0 }}</style>{old}"),
        &format!(
            "ask('d=200').then(() => {{ {change} requestAnimationFrame(() => {{ old.className = 'out';
            old.addEventListener('transitionend', () => old.remove()) }}) }})"
        ),
    );
    check(&world, &html, expect(&["Autumn programme"], &["Summer"], 2500)).await;
    // Fading by a script that sets the opacity.
    let html = page(
        old,
        &format!(
            "ask('d=200').then(() => {{ {change} const start = performance.now(); (function fade() {{
            const part = (performance.now() - start) / 900; if (part >= 1) return old.remove();
            old.style.opacity = 1 - part; requestAnimationFrame(fade) }})() }})"
        ),
    );
    check(&world, &html, expect(&["Autumn programme"], &["Summer"], 3000)).await;
    let html = page(
        "Members 0",
        "ask('d=100').then(() => { let n = 0; const timer = setInterval(() => { show('Members ' + (n += 100));
            if (n >= 4000) clearInterval(timer) }, 40) })",
    );
    check(&world, &html, expect(&["Members 4000"], &[], 4000)).await;
}

#[tokio::test]
async fn what_never_ends_is_not_waited_for() {
    let world = world().await;
    let pause = Duration::from_millis(200);
    let steps = (1..=5).map(|n| (pause, format!("data: Event {n}\n\n").into())).collect();
    let body = Body::Steps { steps, then: Some((pause, ": nothing new\n\n".into())) };
    world.site.respond("/events", Reply { body, ..Reply::default() }.header("content-type", "text/event-stream"));
    world.site.script("/hang", vec![Script::Hang(Duration::from_secs(60))]);
    let html = page("x", "new EventSource('/events').onmessage = (event) => show(event.data)");
    check(&world, &html, expect(&["Event 5"], &[], 5000)).await;
    let html = page("Headline of the page", "fetch('/hang'); ask('d=100&t=Came').then(show)");
    check(&world, &html, expect(&["Came"], &[], 5500)).await;
    let html = page("x", "setInterval(() => ask('d=10&t=Polled').then(show), 150)");
    check(&world, &html, expect(&["Polled"], &[], 4000)).await;
    // A carousel, a clock and a title.
    let html = page(
        "<div style='overflow: hidden; width: 300px'><div id=belt style='display: flex; transition: transform .3s'>
            <p style='min-width: 300px'>Slide 1: slipway</p><p style='min-width: 300px'>Slide 5: sail loft</p></div></div><p id=clock>",
        "let n = 0; setInterval(() => belt.style.transform = `translateX(${-300 * (n++ % 2)}px)`, 700);
        setInterval(() => document.title = clock.textContent = new Date().toISOString(), 1000); ask('d=50')",
    );
    check(&world, &html, expect(&["Slide 1: slipway", "Slide 5: sail loft"], &[], 4000)).await;
    // Text that changes all the time.
    let html = page("x", "setInterval(() => show(Math.random().toString(36) + ' and text'), 100)");
    check(&world, &html, expect(&["and text"], &[], 5000)).await;
    let html = "<!doctype html><title>t</title><p>Text beside a picture<img src=/hang><script>1</script>";
    check(&world, html, expect(&["Text beside"], &[], 5000)).await;
}

#[tokio::test]
async fn pages_that_move_on_are_followed() {
    let world = world().await;
    world.site.html("/next", page("Old", "ask('d=200&t=Arrived').then(show)"));
    let refresh = |seconds: u32| {
        format!(
            "<!doctype html><title>t</title><meta http-equiv=refresh content='{seconds}; url=/next'><p>Moves on<script>1</script>"
        )
    };
    for html in [refresh(0), refresh(2), page("Redirecting", "setTimeout(() => location = '/next', 300)")] {
        let visited = check(&world, &html, expect(&["Arrived"], &["Moves", "Redirecting"], 5500)).await;
        assert_eq!(visited.url, world.url("/next"));
    }
    let html = page(
        "Redirecting",
        "setTimeout(() => { history.pushState(0, '', '/tour/7'); ask('d=300&t=Tour+7').then(show) }, 50)",
    );
    let visited = check(&world, &html, expect(&["Tour 7"], &["Redirecting"], 2000)).await;
    assert_eq!(visited.url, world.url("/tour/7"));
    let html =
        page("Later", "document.title = 'x'").replace("<div", "<meta http-equiv=refresh content='300; url=/next'><div");
    check(&world, &html, expect(&["Later"], &["Arrived"], 3000)).await;
}

#[tokio::test]
async fn a_page_that_loads_itself_for_ever_is_taken_with_a_warning() {
    let world = world().await;
    for script in
        ["setTimeout(() => location.reload(), 100)", "location.reload()", "setTimeout(() => location.reload(), 700)"]
    {
        let visited = check(&world, &page("Again and again", script), expect(&["Again and again"], &[], 8000)).await;
        assert!(visited.warnings[0].contains("again and again"), "{:?}", visited.warnings);
    }
    let html = "<!doctype html><title>t</title><meta http-equiv=refresh content=0><p>Fresh again and again";
    let visited = check(&world, html, expect(&["Fresh again"], &[], 8000)).await;
    assert!(!visited.warnings.is_empty());
}

/// A service worker that takes control of the page, which then reloads itself.
#[tokio::test]
async fn service_workers_take_over_first() {
    let world = world().await;
    let worker = "addEventListener('install', (e) => e.waitUntil(new Promise((done) => setTimeout(done, 800)).then(() => skipWaiting())));
        addEventListener('activate', (e) => e.waitUntil(clients.claim()));
        addEventListener('fetch', (e) => { if (e.request.url.endsWith('/log')) e.respondWith(new Response('Served by the worker')) })";
    world
        .site
        .respond("/sw.js", Reply { body: worker.into(), ..Reply::default() }.header("content-type", "text/javascript"));
    let html = page(
        "Installing",
        "navigator.serviceWorker.register('/sw.js'); if (navigator.serviceWorker.controller) fetch('/log').then((a) => a.text()).then(show);
        else navigator.serviceWorker.oncontrollerchange = () => location.reload()",
    );
    world.site.html("/page", &html);
    // Loopback is a secure context; host names are not.
    let url = world.site.url("/page");
    let visited = world.visit(&plain(&url)).await.unwrap();
    compare(&visited, &expect(&["Served by the worker"], &["Installing"], 0), &html);
}

#[tokio::test]
async fn what_stands_there_at_the_deadline_is_taken() {
    let world = world().await;
    let visit = async |html: &str| {
        world.site.html("/page", html);
        let url = world.url("/page");
        let visit = Visit { deadline: Instant::now() + Duration::from_secs(4), ..plain(&url) };
        let result = world.visit(&visit).await;
        assert!(Instant::now() <= visit.deadline + Duration::from_millis(200));
        result
    };
    let busy = "addEventListener('load', () => setTimeout(() => { while (true); }, 50))";
    let visited = visit(&page("Before the loop", busy)).await.unwrap();
    compare(&visited, &Expect { seen: &["Before the loop"], unseen: &[], within: Duration::ZERO }, "a loop");
    world.site.script("/hang", vec![Script::Hang(Duration::from_secs(60))]);
    let late = page("Loading more", "fetch('/hang'); setInterval(() => fetch('/hang?' + Math.random()), 200)");
    let visited = visit(&late).await.unwrap();
    assert!(visited.warnings.iter().any(|warning| warning.contains("not settled")), "{:?}", visited.warnings);
    let nothing = visit(&page("", "fetch('/hang'); while (true);")).await;
    assert!(matches!(nothing, Err(BrowserError::Timeout)));
}

#[tokio::test]
async fn what_comes_into_view_is_loaded() {
    let world = world().await;
    let html = page(
        "<div style='height: 3000px'>Top</div><p id=part>wait",
        "new IntersectionObserver(([entry], observer) => { if (!entry.isIntersecting) return; observer.disconnect();
            ask('d=200&t=Wick+9+mm').then((text) => part.textContent = text) }).observe(part)",
    );
    check(&world, &html, expect(&["Top", "Wick 9 mm"], &[], 4500)).await;
    // A feed that appends items depending on the scroll position.
    let html = page(
        "<div id=list></div><div id=end>Loading more</div>",
        "let n = 0, busy = false; const add = () => { for (let i = 0; i < 10; i++) { const item = document.createElement('p');
            item.style.height = '150px'; item.textContent = `Item ${++n}:`; list.append(item) } }; add();
        addEventListener('scroll', async () => { if (busy || n >= 40 || innerHeight + scrollY < document.body.scrollHeight - 400) return;
            busy = true; await ask('d=250&p=' + n); add(); busy = false; if (n >= 40) end.textContent = 'No more items' })",
    );
    check(&world, &html, expect(&["Item 1:", "Item 36:", "No more items"], &["Loading more"], 6500)).await;
    // A virtual list: rows exist only while they are in view, so the first ones are back at the end.
    let html = page(
        "<div id=box style='height: 80000px; position: relative'></div>",
        "const draw = () => { box.textContent = ''; const first = Math.floor(scrollY / 40); for (let i = first; i < first + 28; i++) {
            const row = document.createElement('p'); row.style = `position: absolute; top: ${i * 40}px`; row.textContent = `Row ${i}: x`;
            box.append(row) } }; addEventListener('scroll', draw); draw()",
    );
    check(&world, &html, expect(&["Row 0:", "Row 24:"], &[], 8000)).await;
    // An endless feed.
    let html = page(
        "<div id=list></div>",
        "const add = () => { for (let i = 0; i < 20; i++) list.insertAdjacentHTML('beforeend', '<p style=height:150px>Post') }; add();
        addEventListener('scroll', () => setTimeout(add, 20))",
    );
    check(&world, &html, expect(&["Post"], &[], 8000)).await;
}

#[tokio::test]
async fn the_caller_may_wait_longer() {
    let world = world().await;
    world.site.html("/page", page(&"word ".repeat(100), "setTimeout(show, 2000, 'After two seconds')"));
    let url = world.url("/page");
    let visit = Visit { wait_for: Duration::from_millis(2500), ..plain(&url) };
    let visited = world.visit(&visit).await.unwrap();
    compare(&visited, &expect(&["After two seconds"], &["word"], 0), "wait_for");
}
