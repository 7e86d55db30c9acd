//! Hostile DNS answers.

use std::time::{Duration, Instant};

use net::{Error, Limits};
use testkit::Answer;

use crate::world::{LOOPBACK, World, named};

#[tokio::test]
async fn one_bad_address_refuses_the_whole_host() {
    let world = World::start().await;
    world.site.html("/", "in");
    let mixes: [&[&str]; 5] = [
        &["127.0.0.1", "127.0.0.2"],
        &["93.184.216.34", "10.0.0.1"],
        &["127.0.0.1", "::1"],
        &["64:ff9b::a9fe:a9fe"],
        &["::ffff:127.0.0.1"],
    ];
    for mix in mixes {
        world.dns.set("rebind.test", mix.iter().map(|ip| ip.parse().unwrap()).collect());
        let result = world.get(named("http", "rebind.test", world.site.addr(), "/")).await;
        assert!(matches!(result, Err(Error::Blocked { .. })), "{mix:?} {result:?}");
        world.dns.remove("rebind.test");
        // Answers are cached; the next mix needs another client.
        let fresh = World::start().await;
        fresh.dns.set("rebind.test", mix.iter().map(|ip| ip.parse().unwrap()).collect());
        let result = fresh.get(named("http", "rebind.test", fresh.canary.addr(), "/")).await;
        assert!(matches!(result, Err(Error::Blocked { .. })), "{mix:?} {result:?}");
        assert_eq!(fresh.canary.connects(), 0);
    }
    assert_eq!(world.site.connections(), 0);
}

#[tokio::test]
async fn a_name_that_changes_its_mind_is_checked_each_time() {
    let world = World::start().await;
    world.site.html("/", "in");
    let bad = "127.0.0.2".parse().unwrap();
    world.dns.set("rebind.test", Answer { sequence: vec![vec![LOOPBACK], vec![bad]], ..Answer::default() });
    let url = named("http", "rebind.test", world.site.addr(), "/");
    assert_eq!(world.get(&url).await.unwrap().peer, Some(world.site.addr()));
    let result = world.get(&url).await;
    assert!(matches!(result, Err(Error::Blocked { .. })), "{result:?}");
}

#[tokio::test]
async fn a_resolver_that_never_answers_is_given_up() {
    let limits = Limits { dns: Duration::from_millis(300), ..Limits::default() };
    let world = World::with(limits, vec![]).await;
    world.dns.set("slow.test", Answer { hang: true, ..Answer::default() });
    let start = Instant::now();
    let result = world.get("http://slow.test/").await;
    assert!(matches!(result, Err(Error::Dns { .. })), "{result:?}");
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn too_many_addresses_and_aliases_are_refused() {
    let world = World::with(Limits::default(), vec!["127.0.0.0/8".parse().unwrap()]).await;
    world.dns.set("many.test", Answer { count: 2000, ..Answer::default() });
    world
        .dns
        .set("chain.test", Answer { a: vec!["127.0.0.1".parse().unwrap()], cname_chain: 100, ..Answer::default() });
    world.dns.set("alias.test", Answer { a: vec!["127.0.0.1".parse().unwrap()], cname_chain: 4, ..Answer::default() });
    world.site.html("/", "in");
    for (name, why) in [("many.test", "more than 128 addresses"), ("chain.test", "the CNAME chain is too long")] {
        let result = world.get(named("http", name, world.site.addr(), "/")).await;
        assert_eq!(result.unwrap_err(), Error::Dns { host: name.to_owned(), reason: why.to_owned() });
    }
    assert_eq!(world.get(named("http", "alias.test", world.site.addr(), "/")).await.unwrap().body, "in");
}

#[tokio::test]
async fn names_that_cannot_exist_fail_quietly() {
    let world = World::start().await;
    let long = format!("http://{}.test/", "a".repeat(300));
    let deep = format!("http://{}test/", "a.".repeat(200));
    for url in ["http://nowhere.test/", "http://a..b.test/", "http://under_score.test/", &long, &deep] {
        let result = world.get(url).await;
        assert!(matches!(result, Err(Error::Dns { .. })), "{url} {result:?}");
    }
    // No search domain of the machine is ever appended.
    assert!(world.dns.queries().iter().all(|query| query.name.ends_with(".test")), "{:?}", world.dns.queries());
}
