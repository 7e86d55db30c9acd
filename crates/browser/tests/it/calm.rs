//! Tests of noisy pages, and of ordinary pages of others beside them.

use base::Owner;
use browser::{BrowserError, Settings, Visit, Visited};
use futures_util::future::{join, join_all};
use testkit::{Reply, Script};
use tokio::time::{Duration, Instant};

use crate::world::{World, dom, group, kill, plain, within};

/// Script that allocates memory outside of the heap, as fast as it can.
const BUFFERS: &str = "<p>x<script>const all = []; for (;;) all.push(new Uint8Array(16 << 20).fill(1))</script>";
/// Script that allocates memory step by step, with pauses.
const STEPS: &str =
    "<p>x<script>const all = []; setInterval(() => all.push(new Uint8Array(32 << 20).fill(1)), 40)</script>";
/// Script that allocates memory in the heap.
const OBJECTS: &str = "<p>x<script>const all = []; for (;;) all.push(Array.from({length: 1e5}, () => ({})))</script>";
const SOCKETS: &str = "<p>x<script>for (let i = 0; i < 5000; i++) { try { new WebSocket('ws://' + location.host + '/hang?' + i) } catch {} }
    setInterval(() => { for (let i = 0; i < 500; i++) fetch('/hang?' + Math.random()).catch(() => {}) }, 100)</script>";
const REQUESTS: &str = "<p>x<script>const ask = () => fetch('/small?' + Math.random()).finally(ask); for (let i = 0; i < 300; i++) ask()</script>";
const ADDRESSES: &str = "<p>x<script>const long = 'x'.repeat(1500000);
    setInterval(() => { for (let i = 0; i < 20; i++) history.pushState(null, '', '?' + i + long) }, 50)</script>";
const HEADERS: &str = "<p>x<script>const ask = () => fetch('/heads?' + Math.random()).finally(ask); for (let i = 0; i < 30; i++) ask()</script>";
const WORK: &str = "<p>x<script>const code = URL.createObjectURL(new Blob(['for (;;);']));
    for (let i = 0; i < 8; i++) new Worker(code)
    setInterval(() => { const end = performance.now() + 90; while (performance.now() < end); }, 100)</script>";

const ATTACKS: [(&str, &str); 8] = [
    ("buffers", BUFFERS),
    ("steps", STEPS),
    ("objects", OBJECTS),
    ("sockets", SOCKETS),
    ("requests", REQUESTS),
    ("addresses", ADDRESSES),
    ("headers", HEADERS),
    ("work", WORK),
];

/// World with a low memory limit per page, which spares the machine.
fn settings() -> Settings {
    Settings { max_page_memory: 300 << 20, ..Settings::default() }
}

fn set_up(world: &World) {
    for (name, html) in ATTACKS {
        world.site.html(&format!("/{name}"), html);
    }
    world.site.script("/hang", vec![Script::Hang(Duration::from_secs(120))]);
    world.site.respond("/small", Reply { body: "x".into(), ..Reply::default() });
    let mut heads = Reply { body: "x".into(), ..Reply::default() };
    for at in 0..20 {
        heads = heads.header(&format!("x-{at}"), &"h".repeat(2500));
    }
    world.site.respond("/heads", heads);
    world.site.html(
        "/calm",
        "<p id=p>loading<script>setTimeout(async () => { const text = await (await fetch('/small')).text()
        p.textContent = 'calm '.repeat(2000) + text }, 50)</script>",
    );
}

async fn visit(world: &World, path: &str, owner: &str, seconds: u64) -> Result<Visited, BrowserError> {
    let (url, deadline) = (world.url(path), Instant::now() + Duration::from_secs(seconds));
    // The other team's site has another name.
    world.visit(&Visit { owner: Owner::of_team(owner), deadline, ..plain(&url) }).await
}

/// Returns the results of an ordinary page while the noisy one is in progress, and of the noisy one.
async fn beside(world: &World, attack: &str, seconds: u64) -> (BrowserError, Vec<Result<Visited, BrowserError>>) {
    let calm = async {
        let mut told = Vec::new();
        for _ in 0..6 {
            let url = world.other_url("/calm");
            let deadline = Instant::now() + Duration::from_secs(20);
            told.push(world.visit(&Visit { owner: Owner::of_team("calm"), deadline, ..plain(&url) }).await);
        }
        told
    };
    let (hostile, told) = join(visit(world, attack, "hostile", seconds), calm).await;
    (hostile.err().unwrap(), told)
}

fn assert_calm(told: &[Result<Visited, BrowserError>]) {
    for result in told {
        match result {
            Ok(visited) => assert!(dom(visited).contains("calm calm")),
            Err(error) => panic!("a calm page: {error}"),
        }
    }
}

async fn world() -> World {
    let world = World::with(settings()).await;
    set_up(&world);
    world.other.respond("/small", Reply { body: "x".into(), ..Reply::default() });
    let calm = "<p id=p>loading<script>setTimeout(() => { p.textContent = 'calm '.repeat(2000) }, 50)</script>";
    world.other.html("/calm", calm);
    world
}

#[tokio::test]
async fn a_page_that_takes_memory_ends_alone_and_is_told_why() {
    let world = world().await;
    for attack in ["/buffers", "/steps", "/objects"] {
        let (error, told) = beside(&world, attack, 30).await;
        let words = "bytes of memory in the browser (browser.max_page_memory_mib)";
        assert!(
            matches!(&error, BrowserError::TooLarge { what, limit } if *what == words && *limit == 300 << 20),
            "{attack}: {error}"
        );
        assert_calm(&told);
    }
    // The first browser is still running, and a separate one for later visits to that site.
    assert!(world.browser.counts().launched <= 2);
}

#[tokio::test]
async fn a_page_that_floods_its_browser_ends_alone_and_is_told_why() {
    let world = world().await;
    for (attack, words) in [
        ("/sockets", "requests of the page over the limit of 10000"),
        ("/addresses", "bytes of an address of the page over the limit of 262144"),
    ] {
        let (error, told) = beside(&world, attack, 40).await;
        assert!(matches!(error, BrowserError::TooLarge { .. }) && error.to_string().contains(words), "{error}");
        assert_calm(&told);
    }
}

#[tokio::test]
async fn noisy_sites_are_visited_in_a_browser_aside() {
    let world = world().await;
    let first = visit(&world, "/calm", "one", 20).await.unwrap();
    assert!(dom(&first).contains("calm"));
    let shared = world.browser.pids();
    assert!(visit(&world, "/addresses", "one", 20).await.is_err());
    assert_eq!(world.browser.pids(), shared);
    assert!(visit(&world, "/calm", "two", 20).await.is_ok());
    let aside: Vec<_> = world.browser.pids().into_iter().filter(|pid| !shared.contains(pid)).collect();
    assert_eq!(aside.len(), 1);
    // Ending the noisy page leaves the others unharmed.
    let other = world.other_url("/calm");
    let slow = Visit { wait_for: Duration::from_secs(2), ..plain(&other) };
    let (visited, ()) = join(world.visit(&slow), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        kill(aside[0]);
    })
    .await;
    assert!(visited.is_ok() && world.browser.pids().contains(&shared[0]));
}

#[tokio::test]
async fn a_visit_whose_browser_ends_again_and_again_is_told_to_come_back() {
    let world = World::start().await;
    world.site.script("/page", vec![Script::Hang(Duration::from_secs(60))]);
    let url = world.url("/page");
    let visit = plain(&url);
    let killer = async {
        for times in 1..=2 {
            within(15, || world.asked().len() == times).await;
            world.browser.pids().into_iter().for_each(kill);
        }
    };
    let (result, ()) = tokio::join!(world.visit(&visit), killer);
    let error = result.err().unwrap();
    assert!(matches!(&error, BrowserError::Unavailable { reason } if reason.contains("try again")), "{error}");
}

#[tokio::test]
async fn actions_that_change_nothing_are_done_again_in_another_browser() {
    let world = World::start().await;
    world.site.html("/page", "<p>page<button onclick=\"fetch('/done')\">b</button>");
    let url = world.url("/page");
    for (action, last, again) in
        [(r#"{"type": "scrape"}"#, "/page", true), (r#"{"type": "click", "selector": "button"}"#, "/done", false)]
    {
        let list = format!(r#"[{action}, {{"type": "wait", "milliseconds": 3000}}]"#);
        let actions = crate::page_world::actions(serde_json::from_str::<serde_json::Value>(&list).unwrap());
        let asked = || world.asked().iter().filter(|path| *path == last).count();
        let before = asked();
        let killer = async {
            within(15, || asked() > before).await;
            world.browser.pids().into_iter().for_each(kill);
        };
        let visit = Visit { actions: &actions, ..plain(&url) };
        let (result, ()) = tokio::join!(world.visit(&visit), killer);
        assert_eq!(result.is_ok(), again, "{action}");
        assert!(again || matches!(result, Err(BrowserError::Unavailable { .. })));
    }
}

#[tokio::test]
async fn pages_that_work_without_end_let_others_go_first() {
    let world = world().await;
    let working = visit(&world, "/work", "hostile", 12);
    let look = async {
        within(12, || {
            let leader = world.browser.pids().first().copied().unwrap_or(0);
            let pages = group(leader).into_iter().filter(|(_, line)| line.contains("--type=renderer"));
            pages.into_iter().any(|(pid, _)| nice(pid) >= Some(12))
        })
        .await;
    };
    let (_, ()) = join(working, look).await;
}

/// Reads proc_pid_stat(5).
fn nice(pid: u32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(16)?.parse().ok()
}

/// Not a test: measures an ordinary page alone and beside each of the noisy ones.
#[tokio::test]
#[ignore = "a measurement: run it alone, with --nocapture"]
async fn how_calm_pages_fare() {
    let world = World::start().await;
    set_up(&world);
    let calm = "<p id=p>loading<script>setTimeout(() => { p.textContent = 'calm '.repeat(2000) }, 50)</script>";
    world.other.html("/calm", calm);
    let url = world.other_url("/calm");
    let one = || async {
        let began = Instant::now();
        let deadline = began + Duration::from_secs(30);
        let result = world.visit(&Visit { owner: Owner::of_team("calm"), deadline, ..plain(&url) }).await;
        (began.elapsed().as_millis(), result.err().map(|error| error.to_string()))
    };
    let tell = |name: &str, mut all: Vec<(u128, Option<String>)>, hostile: &str| {
        all.sort();
        let failed: Vec<_> = all.iter().filter_map(|(_, error)| error.clone()).collect();
        let (middle, last) = (all[all.len() / 2].0, all[all.len() - 1].0);
        println!(
            "{name:10} {:3} visits, middle {middle} ms, longest {last} ms, failed {failed:?}; {hostile}",
            all.len()
        );
    };
    one().await;
    let mut alone = Vec::new();
    for _ in 0..15 {
        alone.push(one().await);
    }
    tell("alone", alone, "");
    for (name, _) in ATTACKS {
        let end = Instant::now() + Duration::from_secs(15);
        let attack = async {
            let mut last = String::new();
            while Instant::now() < end {
                let path = format!("/{name}");
                let all = join_all((0..2).map(|_| visit(&world, &path, "hostile", 10))).await;
                last = all.into_iter().next().unwrap().map_or_else(|error| error.to_string(), |_| "a page".to_owned());
            }
            last
        };
        let calm = async {
            let mut all = Vec::new();
            while Instant::now() < end {
                all.push(one().await);
            }
            all
        };
        let (last, all) = join(attack, calm).await;
        tell(name, all, &format!("the other: {last}; started {}", world.browser.counts().launched));
    }
}
