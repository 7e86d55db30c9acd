//! Requests refused before anything is fetched or reserved.

use std::time::Duration;

use app::{AppError, Refusal, ScrapingError, scrape::scrape, teams};
use serde_json::json;
use testkit::Reply;
use uuid::Uuid;
use wire::{
    AttributeSelector, AttributesFormat, Capability, Code, Format, GivenFields, ScrapeOptions, ScrapeRequest,
    TeamFlags, UpdateTeam,
};

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_cannot_run() {
    let world = World::start().await;
    let team = world.team(Some(1)).await;
    let plain = world.request("/");
    let check = async |request: ScrapeRequest, code: Code, text: &str| {
        let error = scrape(&world.scraper, &team, request).await.unwrap_err();
        assert_eq!((error.code(), error.to_string().contains(text)), (code, true), "{error}");
    };
    let with = |options: ScrapeOptions| ScrapeRequest { options, ..plain.clone() };
    let tags = vec!["p".to_owned(), "p >".to_owned()];
    check(with(ScrapeOptions { include_tags: tags.clone(), ..Default::default() }), Code::BadRequest, "includeTags[1]")
        .await;
    check(with(ScrapeOptions { exclude_tags: tags, ..Default::default() }), Code::BadRequest, "excludeTags[1]").await;
    let selectors = vec![AttributeSelector { selector: "[".into(), attribute: "href".into() }];
    let formats = vec![Format::Attributes(AttributesFormat { selectors })];
    let path = "formats[0].selectors[0].selector";
    check(with(ScrapeOptions { formats, ..Default::default() }), Code::BadRequest, path).await;
    let formats = vec![Format::Summary];
    check(with(ScrapeOptions { formats, ..Default::default() }), Code::ScrapeSummaryNotSupported, "").await;
    let retention = ScrapeRequest { zero_data_retention: true, ..plain.clone() };
    check(retention, Code::Forbidden, "zero data retention").await;
    check(ScrapeRequest { domain_tools: true, ..plain.clone() }, Code::Forbidden, "catalog").await;
    let lockdown = ScrapeOptions { lockdown: true, ..Default::default() };
    check(with(lockdown), Code::InsufficientCredits, "needs 5").await;
    assert_eq!((world.asked(), world.balance(&team).await.available), (0, 1));
}

/// Every kind of request is refused by a server that lacks the feature, and accepted by one that has it.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_can_do_is_the_same_for_every_request() {
    let world = World::start().await;
    let team = world.team(None).await;
    let formats = json!(["markdown", "audio"]);
    let url = world.site.url("/").to_string();
    let page = ScrapeRequest {
        options: ScrapeOptions { formats: vec![Format::Markdown, Format::Audio], ..Default::default() },
        ..world.request("/")
    };
    let refused = scrape(&world.scraper, &team, page.clone()).await.map(drop).map_err(|error| error.code());
    assert_eq!(refused, Err(Code::ScrapeAudioNotSupported));
    let crawl = wire::decode_crawl(json!({ "url": url, "scrapeOptions": { "formats": formats } })).unwrap();
    let refused = app::crawl::start(&world.runs, &team, crawl, &wire::GivenFields::default(), None)
        .await
        .map(drop)
        .map_err(|error| error.code());
    assert_eq!(refused, Err(Code::ScrapeAudioNotSupported));
    let body = json!({ "urls": [url], "formats": formats });
    let (batch, given) = (wire::decode_batch(body.clone()).unwrap(), GivenFields::of(&body));
    let refused =
        app::batch::start(&world.runs, &team, batch, &given, None).await.map(drop).map_err(|error| error.code());
    assert_eq!(refused, Err(Code::ScrapeAudioNotSupported));
    let map = wire::decode_map(json!({ "url": url, "threatProtection": { "mode": "normal" } })).unwrap();
    let refused = app::map::map(&world.scraper, &team, map).await.map(drop).map_err(|error| error.code());
    assert_eq!(refused, Err(Code::ScrapeThreatProtectionNotSupported));
    assert_eq!(world.asked(), 0);

    world.site.html("/", "<p>x</p>");
    let able = world.able([Capability::Media].into_iter().collect()).await;
    assert!(scrape(&able.scraper, &team, page).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn flags_open_what_they_name() {
    let world = World::start().await;
    let flags = TeamFlags { zero_data_retention: true, catalog: true, ..TeamFlags::default() };
    let team = world.team_with(None, flags).await;
    world.site.html("/", "<p>x</p>");
    let plain = world.request("/");
    let private = ScrapeRequest { zero_data_retention: true, ..plain.clone() };
    scrape(&world.scraper, &team, private.clone()).await.unwrap();
    let both = ScrapeRequest { domain_tools: true, ..private };
    assert_eq!(scrape(&world.scraper, &team, both).await.unwrap_err().code(), Code::Forbidden);
    let tools = ScrapeRequest { domain_tools: true, ..plain };
    assert_eq!(scrape(&world.scraper, &team, tools).await.unwrap_err().code(), Code::ScrapeDomainToolsNotSupported);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_has_only_so_many_in_flight() {
    let world = World::start().await;
    let mut team = world.team(Some(10)).await;
    let id: Uuid = team.team.id.parse().unwrap();
    let change = UpdateTeam { concurrency: Some(1), ..UpdateTeam::default() };
    teams::update(&world.app, id, change).await.unwrap();
    team.team.concurrency = 1;
    let reply = Reply { delay: Duration::from_millis(200), ..Reply::default() };
    world.site.respond("/", reply);
    let (one, two) = tokio::join!(world.scrape(&team, "/"), world.scrape(&team, "/"));
    let refused = one.as_ref().err().or(two.as_ref().err());
    assert!(matches!(refused, Some(ScrapingError::App(AppError::ConcurrencyLimited { limit: 1 }))), "{refused:?}");
    assert!(one.is_ok() || two.is_ok());
    world.scrape(&team, "/").await.unwrap();
    assert_eq!(world.balance(&team).await.spent, 2);
}
