//! Maps: sources, bounds, credits, privacy.

use std::time::Duration;

use ::fetch::FetchError;
use ::scrape::ScrapeError;
use app::auth::Caller;
use app::{AppError, MapError, ScrapingError, map::map};
use testkit::{Body, Reply, Script};
use wire::{MapAnswer, MapRequest, SitemapMode, TeamFlags};

use crate::world::World;

fn text(body: impl Into<String>) -> Reply {
    Reply { body: body.into().into(), ..Reply::default() }
}

fn request(world: &World) -> MapRequest {
    MapRequest::new(world.site.url("/"))
}

async fn run(world: &World, caller: &Caller, request: MapRequest) -> Result<MapAnswer, MapError> {
    map(&world.scraper, caller, request).await
}

/// Returns the paths of the answer, in its order.
fn paths(world: &World, answer: &MapAnswer) -> Vec<String> {
    let origin = world.site.url("/").origin().ascii_serialization();
    answer.links.iter().map(|link| link.url.strip_prefix(&origin).unwrap_or(&link.url).to_owned()).collect()
}

async fn world() -> (World, Caller) {
    let world = World::start().await;
    let team = world.team(Some(10)).await;
    let page = "<title>Home</title><meta name=description content=Start><a href=/about?x=1>a</a><a href=/about?x=2#p>b</a>\
                <a href=/pricing>c</a><a href=https://elsewhere.test/>d</a><a href=/file.zip>e</a>";
    world.site.html("/", page);
    world.site.respond("/sitemap.xml", text("<urlset><url><loc>/pricing/</loc></url><url><loc>/blog/one</loc></url>"));
    (world, team)
}

#[tokio::test(flavor = "multi_thread")]
async fn page_and_sitemaps_make_one_list() {
    let (world, team) = world().await;
    let answer = run(&world, &team, request(&world)).await.unwrap();
    assert_eq!(paths(&world, &answer), ["/", "/about", "/pricing", "/blog/one"]);
    assert_eq!(
        (answer.links[0].title.as_deref(), answer.links[0].description.as_deref()),
        (Some("Home"), Some("Start"))
    );
    assert_eq!((answer.success, answer.warning.as_deref(), answer.id.len()), (true, None, 36));
    assert_eq!(world.balance(&team).await.spent, 1);
    let skip = MapRequest { sitemap: SitemapMode::Skip, ..request(&world) };
    assert_eq!(paths(&world, &run(&world, &team, skip).await.unwrap()), ["/", "/about", "/pricing"]);
    let only = MapRequest { sitemap: SitemapMode::Only, ..request(&world) };
    assert_eq!(paths(&world, &run(&world, &team, only).await.unwrap()), ["/pricing/", "/blog/one"]);
    let queries = MapRequest { ignore_query_parameters: false, limit: 2, ..request(&world) };
    assert_eq!(paths(&world, &run(&world, &team, queries).await.unwrap()), ["/", "/about?x=1"]);
    let search = MapRequest { search: Some("blog one".to_owned()), limit: 2, ..request(&world) };
    assert_eq!(paths(&world, &run(&world, &team, search).await.unwrap())[0], "/blog/one");
    assert_eq!(world.balance(&team).await.spent, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_addresses() {
    let world = World::start().await;
    let team = world.team(None).await;
    world.site.html("/", "<p>x");
    world.site.respond("/robots.txt", text("Sitemap: /1.xml\nSitemap: /2.xml\nSitemap: /3.xml"));
    for file in 1..=3 {
        let urls: String = (0..45_000).map(|page| format!("<url><loc>/{file}/{page}</loc></url>")).collect();
        world.site.respond(&format!("/{file}.xml"), text(urls));
    }
    let answer = run(&world, &team, MapRequest { limit: 100_000, ..request(&world) }).await.unwrap();
    assert_eq!(answer.links.len(), 100_000);
    let answer = run(&world, &team, request(&world)).await.unwrap();
    assert_eq!(answer.links.len(), 5000);
    let search = MapRequest { search: Some("1 44999".to_owned()), limit: 1, ..request(&world) };
    assert_eq!(run(&world, &team, search).await.unwrap().links.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_slow_does_not_cost_what_is_there() {
    let (world, team) = world().await;
    world.site.script("/sitemap.xml", vec![Script::Hang(Duration::from_secs(60))]);
    let answer = run(&world, &team, MapRequest { timeout: 1500, ..request(&world) }).await.unwrap();
    assert_eq!(paths(&world, &answer), ["/", "/about", "/pricing"]);
    assert!(answer.warning.unwrap().contains("too slow"));
    world.site.script("/", vec![Script::Hang(Duration::from_secs(60))]);
    let late = run(&world, &team, MapRequest { timeout: 1000, ..request(&world) }).await;
    assert!(matches!(late, Err(MapError::MapTimeout)), "{late:?}");
    let at_once = run(&world, &team, MapRequest { timeout: 1, ..request(&world) }).await;
    assert!(matches!(at_once, Err(MapError::MapTimeout)), "{at_once:?}");
    world.app.drain().await;
    assert_eq!(world.balance(&team).await.available, 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_cost_nothing() {
    let world = World::start().await;
    let team = world.team(Some(10)).await;
    let blocked = MapRequest::new("http://127.0.0.1:1/".parse().unwrap());
    let blocked = run(&world, &team, blocked).await;
    assert!(
        matches!(
            blocked,
            Err(MapError::Scraping(ScrapingError::Scrape(ScrapeError::Fetch(FetchError::Blocked { .. }))))
        ),
        "{blocked:?}"
    );
    let nowhere = run(&world, &team, MapRequest::new("http://nowhere.invalid/".parse().unwrap())).await;
    assert!(
        matches!(nowhere, Err(MapError::Scraping(ScrapingError::Scrape(ScrapeError::Fetch(FetchError::Dns { .. }))))),
        "{nowhere:?}"
    );
    let broken = Reply { body: Body::from("short"), ..Reply::default() }.header("content-length", "99");
    world.site.respond("/", broken);
    let broken = run(&world, &team, request(&world)).await;
    assert!(
        matches!(broken, Err(MapError::Scraping(ScrapingError::Scrape(ScrapeError::Fetch(FetchError::Site { .. }))))),
        "{broken:?}"
    );
    let poor = world.team(Some(0)).await;
    let poor = run(&world, &poor, request(&world)).await;
    assert!(matches!(poor, Err(MapError::App(AppError::InsufficientCredits { needed: 1, .. }))), "{poor:?}");
    let private = MapRequest { zero_data_retention: true, ..request(&world) };
    assert!(matches!(run(&world, &team, private).await, Err(MapError::App(AppError::Forbidden(_)))));
    world.app.drain().await;
    let balance = world.balance(&team).await;
    assert_eq!((balance.available, balance.reserved, world.parts.active.total()), (10, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn robots_txt_decides_whether_the_page_is_read() {
    let (world, team) = world().await;
    world.site.respond("/robots.txt", text("User-agent: *\nDisallow: /$\nSitemap: /sitemap.xml"));
    let answer = run(&world, &team, request(&world)).await.unwrap();
    assert_eq!(paths(&world, &answer), ["/", "/pricing/", "/blog/one"]);
    assert!(answer.warning.unwrap().contains("robots.txt"));
    assert!(world.site.requests().iter().all(|seen| seen.path != "/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn zero_data_retention_leaves_no_trace() {
    let (world, _) = world().await;
    let flags = TeamFlags { zero_data_retention: true, ..TeamFlags::default() };
    let team = world.team_with(Some(10), flags).await;
    let url = world.site.url("/zdr-map-8812?token=ZDRTOKEN");
    world.site.html("/zdr-map-8812", "<a href=/zdr-found-8813>x</a>");
    let private = MapRequest { zero_data_retention: true, ..MapRequest::new(url.clone()) };
    let answer = run(&world, &team, private).await.unwrap();
    assert!(answer.links.iter().any(|link| link.url.ends_with("zdr-found-8813")));
    let origin = url.origin().ascii_serialization();
    for marker in ["zdr-map-8812", "zdr-found-8813", "ZDRTOKEN", origin.as_str()] {
        assert!(!world.stored(marker) && !crate::log::contains(marker), "{marker}");
    }
    assert_eq!(world.balance(&team).await.spent, 1);
}
