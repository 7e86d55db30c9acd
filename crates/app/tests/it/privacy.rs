//! Requests that must leave no trace.

use app::{ScrapingError, scrape::scrape};
use wire::{CreateKey, ScrapeOptions, ScrapeRequest, TeamFlags};

use crate::world::World;

fn retention_off() -> TeamFlags {
    TeamFlags { zero_data_retention: true, ..TeamFlags::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn zero_data_retention_leaves_only_credits() {
    let world = World::start().await;
    let team = world.team_with(Some(10), retention_off()).await;
    // Short enough to stay readable when compressed; the end of the test relies on it.
    let body = "<p>ZDRBODY55</p>";
    world.site.html("/kept-7711", body);
    world.site.html("/zdr-7712", body);
    let request = ScrapeRequest { zero_data_retention: true, ..world.request("/zdr-7712") };
    let document = scrape(&world.scraper, &team, request.clone()).await.unwrap();
    assert!(document.markdown.unwrap().contains("ZDRBODY55"));
    assert_eq!(document.metadata.cache_state, None);
    let failing = ScrapeRequest { options: ScrapeOptions { min_age: Some(1), ..Default::default() }, ..request };
    assert!(matches!(scrape(&world.scraper, &team, failing).await, Err(ScrapingError::NoCachedData)));
    assert_eq!(world.balance(&team).await.spent, 1);
    for marker in ["zdr-7712", "ZDRBODY55"] {
        assert!(!world.stored(marker), "{marker} in a file");
        assert!(!crate::log::contains(marker), "{marker} in the log");
    }
    assert_eq!(world.cached_bytes().await, 0);
    // Control: the search finds what is kept.
    world.scrape(&team, "/kept-7711").await.unwrap();
    assert!(world.stored("kept-7711") && world.stored("ZDRBODY55"));
    assert!(crate::log::contains("kept-7711"));
}

#[tokio::test(flavor = "multi_thread")]
async fn lockdown_leaves_no_url() {
    let world = World::start().await;
    let team = world.team(Some(10)).await;
    let url = "http://secret-host-9f3.test/p?token=TOPSECRET1".parse().unwrap();
    let options = ScrapeOptions { lockdown: true, max_age: Some(0), ..Default::default() };
    let answer = scrape(&world.scraper, &team, ScrapeRequest { options, ..ScrapeRequest::new(url) }).await;
    assert!(matches!(answer, Err(ScrapingError::LockdownMiss)));
    for marker in ["secret-host-9f3", "TOPSECRET1"] {
        assert!(!world.stored(marker) && !crate::log::contains(marker), "{marker}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn header_values_and_keys_stay_out_of_logs_and_files() {
    let world = World::start().await;
    let created =
        app::keys::create(&world.app, app::DEFAULT_TEAM.parse().unwrap(), CreateKey::new("ci")).await.unwrap();
    let caller = app::auth::authenticate(&world.app, Some(&created.api_key)).await.unwrap();
    world.site.html("/", "<p>x</p>");
    let headers = [("authorization".into(), "Bearer REQSECRET22".into())].into();
    world.scrape_with(&caller, "/", ScrapeOptions { headers, ..Default::default() }).await.unwrap();
    assert_eq!(world.site.requests()[0].header("authorization"), "Bearer REQSECRET22");
    for secret in ["REQSECRET22", &created.api_key] {
        assert!(!world.stored(secret) && !crate::log::contains(secret));
    }
}
