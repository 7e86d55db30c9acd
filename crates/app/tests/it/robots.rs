//! robots.txt of a site: fetched once, kept for a day, shared, guarded.

use std::sync::Arc;
use std::time::Duration;

use ::scrape::ScrapeError;
use app::robots::{AGENT, Failure, Manner, SiteRules, rules, rules_at_start};
use app::{App, AppError, Settings};
use futures_util::future::join_all;
use testkit::{Body, Canary, Encoding, Reply, Script, Site};
use tokio::time::Instant;
use url::Url;

use crate::world::{DAY, World};

const FILE: &str = "User-agent: *\nDisallow: /x\nCrawl-delay: 2\nUser-agent: OurBot\nDisallow: /own\nSitemap: /s.xml\n";

pub(crate) fn manner() -> Manner<'static> {
    let deadline = Instant::now() + Duration::from_secs(20);
    Manner { agent: AGENT, deadline, verify_tls: false, private: false }
}

fn text(body: &str) -> Reply {
    Reply { body: body.to_owned().into(), ..Reply::default() }
}

async fn ask(app: &App, url: &Url) -> Arc<SiteRules> {
    rules(app, url, manner()).await.unwrap()
}

async fn check(world: &World, reply: Reply, allowed: bool) {
    let another = world.another(Settings::default()).await;
    world.site.respond("/robots.txt", reply.clone());
    // Kept answers are for the site; each case wants its own.
    world.clock.advance(2 * DAY);
    let site = ask(&another, &world.site.url("/x")).await;
    assert_eq!(site.rules.allows("/x"), allowed, "{} {:?}", reply.status, reply.headers);
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_mean_what_rfc_9309_says() {
    let world = World::start().await;
    for (status, allowed) in [(200, false), (404, true), (403, true), (429, true), (500, false), (503, false)] {
        check(&world, Reply { status, ..text(FILE) }, allowed).await;
    }
    check(&world, text("<!doctype html><p>User-agent: *\nDisallow: /"), true).await;
    world.site.respond("/file", text(FILE));
    check(&world, Reply { status: 301, ..Reply::default() }.header("location", "/file"), false).await;
    check(&world, Reply { status: 302, ..Reply::default() }.header("location", "/robots.txt"), true).await;
    check(&world, Reply { status: 302, ..Reply::default() }.header("location", "http://["), true).await;
    check(&world, Reply { status: 302, ..Reply::default() }, true).await;
    let packed = Body::Zeros { bytes: 1 << 30, encodings: vec![Encoding::Gzip] };
    check(&world, Reply { body: packed, ..Reply::default() }.header("content-encoding", "gzip"), true).await;
    let padded = |bytes: u64| Body::repeat("User-agent: *\n", "#\n", bytes / 2, "Disallow: /x\n");
    check(&world, Reply { body: padded(400 << 10), ..Reply::default() }, false).await;
    let endless = Body::Repeat { prefix: FILE.into(), unit: "#\n".into(), bytes: None, suffix: "".into() };
    check(&world, Reply { body: endless, ..Reply::default() }, false).await;
    check(&world, text(FILE).header("content-length", "1000"), false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_for_answers_and_five_minutes_for_failures() {
    let world = World::start().await;
    world.site.respond("/robots.txt", text(FILE));
    let url = world.site.url("/x");
    for _ in 0..3 {
        let site = ask(&world.app, &url).await;
        assert!(!site.rules.allows_url(&url) && site.rules.allows("/y"));
        assert_eq!(
            (site.crawl_delay, site.sitemaps.as_slice()),
            (Some(Duration::from_secs(2)), &["/s.xml".to_owned()][..])
        );
    }
    // Another robot, another process: the file is there already.
    let own = rules(&world.app, &url, Manner { agent: "OurBot/2 (x)", ..manner() }).await.unwrap();
    assert!(own.rules.allows("/x") && !own.rules.allows("/own"));
    let another = world.another(Settings::default()).await;
    assert!(!ask(&another, &url).await.rules.allows("/x"));
    assert_eq!(world.asked(), 1);
    assert_eq!(world.site.requests()[0].header("user-agent"), AGENT);
    world.clock.advance(DAY - Duration::from_secs(1));
    ask(&another, &url).await;
    assert_eq!(world.asked(), 1);
    world.clock.advance(Duration::from_secs(2));
    world.site.respond("/robots.txt", Reply { status: 503, ..Reply::default() });
    assert!(!ask(&world.app, &url).await.rules.allows("/y"));
    assert!(!ask(&another, &url).await.rules.allows("/y"));
    assert_eq!(world.asked(), 2);
    world.clock.advance(Duration::from_secs(301));
    ask(&another, &url).await;
    assert_eq!(world.asked(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_begins_asks_anew_after_a_failure() {
    let world = World::start().await;
    let another = world.another(Settings::default()).await;
    let url = world.site.url("/y");
    let begun = async |app: &App| rules_at_start(app, &url, manner()).await.unwrap().rules.allows("/y");
    for failure in [Script::Raw("".into()), Script::Reply(Reply { status: 503, ..Reply::default() })] {
        let before = world.asked();
        world.site.script("/robots.txt", vec![failure]);
        assert!(!begun(&world.app).await);
        world.site.respond("/robots.txt", text(FILE));
        world.clock.advance(Duration::from_secs(4));
        assert!(!begun(&world.app).await && !begun(&another).await, "a site that is down is not asked all the time");
        world.clock.advance(Duration::from_secs(2));
        assert!(!ask(&world.app, &url).await.rules.allows("/y"), "pages of a crawl that runs are not a beginning");
        assert_eq!(world.asked(), before + 1);
        assert!(begun(&another).await && begun(&another).await);
        assert_eq!(world.asked(), before + 2);
        // The first process has a failure in its memory, and finds the answer in the database.
        assert!(begun(&world.app).await && ask(&world.app, &url).await.rules.allows("/y"));
        assert_eq!(world.asked(), before + 2);
        world.clock.advance(2 * DAY);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_who_ask_at_once_share_one_request() {
    let world = World::start().await;
    world.site.respond("/robots.txt", Reply { delay: Duration::from_millis(200), ..text(FILE) });
    let url = world.site.url("/x");
    let asked = join_all((0..50).map(|_| ask(&world.app, &url))).await;
    assert!(asked.iter().all(|site| !site.rules.allows("/x")));
    assert_eq!(world.asked(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_early_spoils_nothing() {
    let world = World::start().await;
    world.site.respond("/robots.txt", Reply { delay: Duration::from_millis(400), ..text(FILE) });
    let url = world.site.url("/x");
    let hurried = Manner { deadline: Instant::now() + Duration::from_millis(100), ..manner() };
    let (first, second) = tokio::join!(rules(&world.app, &url, hurried), ask(&world.app, &url));
    assert!(matches!(first, Err(AppError::Scrape(ScrapeError::Timeout))));
    assert!(!second.rules.allows("/x") && second.rules.allows("/y"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_hangs_is_given_up() {
    let world = World::start().await;
    world.site.script("/robots.txt", vec![Script::Hang(Duration::from_secs(60))]);
    let started = Instant::now();
    let site = ask(&world.app, &world.site.url("/x")).await;
    assert!(started.elapsed() < Duration::from_secs(12));
    assert!(site.rules.is_unreachable() && site.failure == Some(Failure::Timeout));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guard_never_means_allowed() {
    let world = World::start().await;
    let canary = Canary::start().await;
    let private = Url::parse(&format!("http://{}/x", canary.addr())).unwrap();
    let site = ask(&world.app, &private).await;
    assert_eq!((site.rules.allows("/x"), site.failure), (false, Some(Failure::Blocked)));
    let away = Reply { status: 302, ..Reply::default() }.header("location", private.as_str());
    world.site.respond("/robots.txt", away);
    let site = ask(&world.app, &world.site.url("/x")).await;
    assert_eq!((site.rules.allows("/x"), site.failure), (false, Some(Failure::Blocked)));
    assert_eq!(canary.connects(), 0);
    let nowhere = Url::parse("http://nowhere.invalid/").unwrap();
    assert_eq!(ask(&world.app, &nowhere).await.failure, Some(Failure::Dns));
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_count_when_they_are_asked_for() {
    let world = World::on(Site::start_tls().await, Settings::default()).await;
    world.site.respond("/robots.txt", text(FILE));
    let url = world.site.url("/y");
    assert!(ask(&world.app, &url).await.rules.allows("/y"));
    let strict = Manner { verify_tls: true, ..manner() };
    let site = rules(&world.app, &url, strict).await.unwrap();
    assert_eq!((site.rules.allows("/y"), site.failure), (false, Some(Failure::Tls)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_private_is_not_written() {
    let world = World::start().await;
    world.site.respond("/robots.txt", text(FILE));
    let url = world.site.url("/x");
    let origin = url.origin().ascii_serialization();
    let private = Manner { private: true, ..manner() };
    assert!(!rules(&world.app, &url, private).await.unwrap().rules.allows("/x"));
    assert!(!world.stored(&origin));
    let another = world.another(Settings::default()).await;
    ask(&another, &url).await;
    assert!(world.stored(&origin));
}
