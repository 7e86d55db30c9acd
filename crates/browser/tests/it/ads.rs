//! Tests of blocking advertisements and consent notices.

use browser::{Settings, Visit};
use testkit::{Answer, Reply};

use crate::page_world::text;
use crate::world::{LOOPBACK, World, dom, plain};

/// A page whose advertisement is on every list.
async fn page(world: &World, host: &str) -> String {
    world.dns.set(host, Answer::from(LOOPBACK));
    let ad = format!("http://{host}:{}", world.site.addr().port());
    let script = Reply { body: "document.body.append('ADVERTISEMENT')".into(), ..Reply::default() };
    world.site.respond("/ad.js", script.header("content-type", "text/javascript"));
    world.site.html("/frame", "<p>framed");
    format!(
        "<style>body {{ overflow: hidden }}</style><p>article<div id=onetrust-consent-sdk>We value your privacy</div>
        <script src={ad}/ad.js></script><iframe src={ad}/frame></iframe>"
    )
}

#[tokio::test]
async fn they_are_kept_out_for_who_wants_it() {
    let world = World::start().await;
    let html = page(&world, "securepubads.g.doubleclick.net").await;
    world.site.html("/page", html);
    let url = world.url("/page");
    let with = world.visit(&plain(&url)).await.unwrap();
    assert!(dom(&with).contains("ADVERTISEMENT"));
    assert!(world.asked().contains(&"/frame".to_owned()));
    let before = world.asked().len();
    let without = world.visit(&Visit { block_ads: true, ..plain(&url) }).await.unwrap();
    assert!(!dom(&without).contains("ADVERTISEMENT") && dom(&without).contains("article"));
    assert_eq!(world.asked()[before..].to_vec(), ["/page"]);
    // Kept in the raw page, marked as hidden.
    let banner = dom(&without).split("onetrust-consent-sdk").nth(1).unwrap();
    assert!(banner.split('>').next().unwrap().contains("hidden"), "{}", dom(&without));
}

#[tokio::test]
async fn lists_of_the_operator_count_too() {
    let lists = tempfile::tempdir().unwrap();
    std::fs::write(lists.path().join("mine.txt"), "||promo.test^\n##.my-banner\n").unwrap();
    let world = World::with(Settings { lists: Some(lists.path().to_owned()), ..Settings::default() }).await;
    let html = page(&world, "promo.test").await + "<p class=my-banner>banner";
    world.site.html("/page", html);
    let url = world.url("/page");
    let visited = world.visit(&Visit { block_ads: true, ..plain(&url) }).await.unwrap();
    assert_eq!(world.asked(), ["/page"]);
    assert!(dom(&visited).contains("article"));
    let banner = dom(&visited).split("my-banner").nth(1).unwrap();
    assert!(banner.split('>').next().unwrap().contains("hidden"), "{}", dom(&visited));
}

/// Consent notices are hidden even if no rule covers them; other overlays are content.
#[tokio::test]
async fn a_question_for_consent_goes_and_another_dialog_stays() {
    let world = World::start().await;
    let html = "<!doctype html><title>t</title><p>Article about cookies and how to bake them.
        <div role=dialog aria-modal=true id=a><p>We use cookies to make your visit better.<button>Accept all</button><button>Reject</button></div>
        <div style='position: fixed; bottom: 0'><p>Diese Website verwendet Cookies.<a href=#>Alle akzeptieren</a></div>
        <dialog open><h2>Opening hours</h2><p>The saw mill is closed on Mondays.<button>OK</button></dialog>";
    world.site.html("/page", html);
    let url = world.url("/page");
    let visited = world.visit(&Visit { block_ads: true, ..plain(&url) }).await.unwrap();
    let seen = text(dom(&visited));
    assert!(seen.contains("how to bake them") && seen.contains("closed on Mondays"), "{seen}");
    assert!(!seen.contains("We use cookies") && !seen.contains("Diese Website"), "{seen}");
    let visited = world.visit(&plain(&url)).await.unwrap();
    assert!(text(dom(&visited)).contains("We use cookies"));
}
