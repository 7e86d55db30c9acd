//! robots.txt of a site: fetched once, cached for a day, shared, guarded.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use site::{AGENT, Approach, RobotsFailure, SiteError, SiteRules};
use testkit::{Body, Canary, Encoding, Reply, Script, Site};
use tokio::time::Instant;
use url::Url;

use crate::world::{DAY, World};

const FILE: &str = "User-agent: *\nDisallow: /x\nCrawl-delay: 2\nUser-agent: OurBot\nDisallow: /own\nSitemap: /s.xml\n";

pub(crate) fn approach() -> Approach<'static> {
    let deadline = Instant::now() + Duration::from_secs(20);
    Approach { agent: AGENT, deadline, verify_tls: false, private: false }
}

fn text(body: &str) -> Reply {
    Reply { body: body.to_owned().into(), ..Reply::default() }
}

async fn ask(ours: &site::Site, url: &Url) -> Arc<SiteRules> {
    ours.rules(url, approach()).await.unwrap()
}

async fn check(world: &World, reply: Reply, allowed: bool) {
    let another = world.another().await;
    world.site.respond("/robots.txt", reply.clone());
    // Answers are cached per site, so each case waits until they have expired.
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
        let site = ask(&world.ours, &url).await;
        assert!(!site.rules.allows_url(&url) && site.rules.allows("/y"));
        assert_eq!(
            (site.crawl_delay, site.sitemaps.as_slice()),
            (Some(Duration::from_secs(2)), &["/s.xml".to_owned()][..])
        );
    }
    // Another robot and another process use the stored file.
    let own = world.ours.rules(&url, Approach { agent: "OurBot/2 (x)", ..approach() }).await.unwrap();
    assert!(own.rules.allows("/x") && !own.rules.allows("/own"));
    let another = world.another().await;
    assert!(!ask(&another, &url).await.rules.allows("/x"));
    assert_eq!(world.asked(), 1);
    assert_eq!(world.site.requests()[0].header("user-agent"), AGENT);
    world.clock.advance(DAY - Duration::from_secs(1));
    ask(&another, &url).await;
    assert_eq!(world.asked(), 1);
    world.clock.advance(Duration::from_secs(2));
    world.site.respond("/robots.txt", Reply { status: 503, ..Reply::default() });
    assert!(!ask(&world.ours, &url).await.rules.allows("/y"));
    assert!(!ask(&another, &url).await.rules.allows("/y"));
    assert_eq!(world.asked(), 2);
    world.clock.advance(Duration::from_secs(301));
    ask(&another, &url).await;
    assert_eq!(world.asked(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_begins_asks_anew_after_a_failure() {
    let world = World::start().await;
    let another = world.another().await;
    let url = world.site.url("/y");
    let begun = async |ours: &site::Site| ours.rules_at_start(&url, approach()).await.unwrap().rules.allows("/y");
    for failure in [Script::Raw("".into()), Script::Reply(Reply { status: 503, ..Reply::default() })] {
        let before = world.asked();
        world.site.script("/robots.txt", vec![failure]);
        assert!(!begun(&world.ours).await);
        world.site.respond("/robots.txt", text(FILE));
        world.clock.advance(Duration::from_secs(4));
        assert!(!begun(&world.ours).await && !begun(&another).await, "a site that is down is not asked all the time");
        world.clock.advance(Duration::from_secs(2));
        assert!(!ask(&world.ours, &url).await.rules.allows("/y"), "pages of a crawl that runs are not a beginning");
        assert_eq!(world.asked(), before + 1);
        assert!(begun(&another).await && begun(&another).await);
        assert_eq!(world.asked(), before + 2);
        // The first process has a cached failure, but finds the newer answer in the database.
        assert!(begun(&world.ours).await && ask(&world.ours, &url).await.rules.allows("/y"));
        assert_eq!(world.asked(), before + 2);
        world.clock.advance(2 * DAY);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_who_ask_at_once_share_one_request() {
    let world = World::start().await;
    world.site.respond("/robots.txt", Reply { delay: Duration::from_millis(200), ..text(FILE) });
    let url = world.site.url("/x");
    let asked = join_all((0..50).map(|_| ask(&world.ours, &url))).await;
    assert!(asked.iter().all(|site| !site.rules.allows("/x")));
    assert_eq!(world.asked(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_early_spoils_nothing() {
    let world = World::start().await;
    world.site.respond("/robots.txt", Reply { delay: Duration::from_millis(400), ..text(FILE) });
    let url = world.site.url("/x");
    let hurried = Approach { deadline: Instant::now() + Duration::from_millis(100), ..approach() };
    let (first, second) = tokio::join!(world.ours.rules(&url, hurried), ask(&world.ours, &url));
    assert!(matches!(first, Err(SiteError::Timeout)));
    assert!(!second.rules.allows("/x") && second.rules.allows("/y"));
    assert_eq!(world.asked(), 1, "the request of the first is shared");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_waits_for_any_more_is_remembered() {
    let world = World::start().await;
    world.site.respond("/robots.txt", Reply { delay: Duration::from_millis(400), ..text(FILE) });
    let url = world.site.url("/x");
    let hurried = Approach { deadline: Instant::now() + Duration::from_millis(100), ..approach() };
    assert_eq!(world.ours.rules(&url, hurried).await.unwrap_err(), SiteError::Timeout);
    assert!(!ask(&world.ours, &url).await.rules.allows("/x"));
    assert_eq!(world.asked(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_robots_share_a_request_that_nothing_is_written_of() {
    let world = World::start().await;
    world.site.respond("/robots.txt", Reply { delay: Duration::from_millis(200), ..text(FILE) });
    let url = world.site.url("/x");
    let private = Approach { private: true, ..approach() };
    let own = Approach { agent: "OurBot", ..private };
    let (all, own) = tokio::join!(world.ours.rules(&url, private), world.ours.rules(&url, own));
    assert!(!all.unwrap().rules.allows("/x") && own.unwrap().rules.allows("/x"));
    assert_eq!(world.asked(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_hangs_is_given_up() {
    let world = World::start().await;
    world.site.script("/robots.txt", vec![Script::Hang(Duration::from_secs(60))]);
    let started = Instant::now();
    let site = ask(&world.ours, &world.site.url("/x")).await;
    assert!(started.elapsed() < Duration::from_secs(12));
    assert!(site.rules.is_unreachable() && site.failure == Some(RobotsFailure::Timeout));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guard_never_means_allowed() {
    let world = World::start().await;
    let canary = Canary::start().await;
    let private = Url::parse(&format!("http://{}/x", canary.addr())).unwrap();
    let site = ask(&world.ours, &private).await;
    assert_eq!((site.rules.allows("/x"), site.failure), (false, Some(RobotsFailure::Blocked)));
    let away = Reply { status: 302, ..Reply::default() }.header("location", private.as_str());
    world.site.respond("/robots.txt", away);
    let site = ask(&world.ours, &world.site.url("/x")).await;
    assert_eq!((site.rules.allows("/x"), site.failure), (false, Some(RobotsFailure::Blocked)));
    assert_eq!(canary.connects(), 0);
    let nowhere = Url::parse("http://nowhere.invalid/").unwrap();
    assert_eq!(ask(&world.ours, &nowhere).await.failure, Some(RobotsFailure::Dns));
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_count_when_they_are_asked_for() {
    let world = World::on(Site::start_tls().await).await;
    world.site.respond("/robots.txt", text(FILE));
    let url = world.site.url("/y");
    assert!(ask(&world.ours, &url).await.rules.allows("/y"));
    let strict = Approach { verify_tls: true, ..approach() };
    let site = world.ours.rules(&url, strict).await.unwrap();
    assert_eq!((site.rules.allows("/y"), site.failure), (false, Some(RobotsFailure::Certificate)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_private_is_not_written() {
    let world = World::start().await;
    world.site.respond("/robots.txt", text(FILE));
    let url = world.site.url("/x");
    let origin = url.origin().ascii_serialization();
    let private = Approach { private: true, ..approach() };
    assert!(!world.ours.rules(&url, private).await.unwrap().rules.allows("/x"));
    assert!(!world.stored(&origin));
    let another = world.another().await;
    ask(&another, &url).await;
    assert!(world.stored(&origin));
}
