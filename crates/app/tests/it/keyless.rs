//! Callers admitted by `auth.keyless`, and handles of keys.

use std::time::Duration;

use app::auth::{authenticate, keyless};
use app::scrape::read;
use app::{AppError, AuthMode, CacheSettings, DEFAULT_TEAM, ScrapingError, Settings, keys, teams};
use tokio::time::timeout;
use wire::{CreateKey, FormatKind, Profile, ScrapeOptions, UpdateKey, UpdateTeam};

use crate::world::World;

fn settings() -> Settings {
    Settings { auth: AuthMode::Keys, keyless_team: DEFAULT_TEAM.parse().ok(), ..Settings::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scrape_without_a_key_leaves_no_copy_and_no_document() {
    let world = World::with(settings()).await;
    world.site.html("/", "<p>Granite.</p>");
    let caller = keyless(&world.app).await.unwrap();
    assert_eq!((caller.team.id.as_str(), caller.key.as_ref(), caller.is_keyless), (DEFAULT_TEAM, None, true));
    let first = world.scrape(&caller, "/").await.unwrap();
    world.scrape(&caller, "/").await.unwrap();
    assert_eq!((world.asked(), world.cached_bytes().await), (2, 0));
    let id = first.metadata.scrape_id.parse().unwrap();
    assert!(matches!(read(&world.scraper, &caller, id).await, Err(ScrapingError::App(AppError::NotFound(_)))));
    let profile = Some(Profile { name: "shop".into(), save_changes: false });
    let options = ScrapeOptions { profile, ..ScrapeOptions::default() };
    let refused = world.scrape_with(&caller, "/", options).await;
    assert!(matches!(refused, Err(ScrapingError::App(AppError::Unauthorized(_)))), "{refused:?}");

    // A shared cache also serves keyless callers.
    let cache = CacheSettings { shared: true, ..CacheSettings::default() };
    let world = World::with_cache(settings(), cache).await;
    world.site.html("/", "<p>Granite.</p>");
    let caller = keyless(&world.app).await.unwrap();
    let first = world.scrape(&caller, "/").await.unwrap();
    world.scrape(&caller, "/").await.unwrap();
    assert_eq!(world.asked(), 1);
    let id = first.metadata.scrape_id.parse().unwrap();
    assert!(matches!(read(&world.scraper, &caller, id).await, Err(ScrapingError::App(AppError::NotFound(_)))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_are_read_with_the_caller_and_change_at_once() {
    let world = World::with(settings()).await;
    world.site.html("/", "<p>Granite.</p>");
    let team = world.team(Some(10)).await;
    let limited = CreateKey { formats: vec![FormatKind::Links], ..CreateKey::new("ci") };
    let key = keys::create(&world.app, team.team.id.parse().unwrap(), limited).await.unwrap();
    let other = world.another(settings()).await;
    let scrape = async |app: &app::App| {
        let caller = authenticate(app, Some(&key.api_key)).await.unwrap();
        world.scrape(&caller, "/").await.map(drop)
    };
    for app in [&world.app, &other.app] {
        let refused = scrape(app).await;
        assert!(matches!(refused, Err(ScrapingError::App(AppError::KeyNotAllowed { .. }))), "{refused:?}");
    }
    assert_eq!((world.asked(), world.balance(&team).await.available), (0, 10), "it was neither fetched nor charged");
    let clear = UpdateKey { formats: Some(Vec::new()), ..UpdateKey::default() };
    assert!(keys::update(&world.app, key.key_id, clear).await.unwrap().formats.is_empty());
    scrape(&world.app).await.unwrap();
    assert!(scrape(&other.app).await.is_err());
    world.clock.advance(Duration::from_secs(1));
    scrape(&other.app).await.unwrap();
    let addresses = Some(vec!["192.0.2.0/24".to_owned()]);
    let change = UpdateTeam { addresses, ..UpdateTeam::default() };
    teams::update(&world.app, team.team.id.parse().unwrap(), change).await.unwrap();
    let caller = authenticate(&world.app, Some(&key.api_key)).await.unwrap();
    assert!(caller.rules.check_address("192.0.2.9".parse().unwrap()).is_ok());
    assert!(caller.rules.check_address("192.0.3.9".parse().unwrap()).is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_holds_a_key_is_told_of_its_end() {
    let world = World::with(settings()).await;
    let (one, two) = (world.team(None).await.key.unwrap(), world.team(None).await.key.unwrap());
    let other = world.another(settings()).await;
    let here = [world.app.hold_key(Some(&one)), world.app.hold_key(Some(&one))];
    let (elsewhere, lives) = (other.app.hold_key(Some(&one)), other.app.hold_key(Some(&two)));
    let keyless = world.app.hold_key(None);
    keys::revoke(&world.app, one.parse().unwrap()).await.unwrap();
    for hold in here.iter().chain([&elsewhere]) {
        timeout(Duration::from_secs(20), hold.revoked()).await.unwrap();
    }
    // A handle taken after the revocation is notified as well.
    timeout(Duration::from_secs(20), other.app.hold_key(Some(&one)).revoked()).await.unwrap();
    for hold in [&lives, &keyless] {
        assert!(timeout(Duration::from_millis(10), hold.revoked()).await.is_err());
    }
}
