//! Tests of what a page and its server see of the visitor.

use std::time::Duration;

use browser::Visit;
use serde_json::Value;
use testkit::Reply;
use url::Url;
use wire::Location;

use crate::world::{World, dom, plain};

const PAGE: &str = "<meta name=viewport content='width=device-width'><pre id=a></pre><script>
    (async () => {
        const hints = await navigator.userAgentData.getHighEntropyValues(['fullVersionList', 'platform', 'model']);
        const place = await new Promise((yes) => navigator.geolocation.getCurrentPosition(
            (p) => yes([p.coords.latitude, p.coords.longitude]), (e) => yes(e.message), {timeout: 500}));
        a.textContent = JSON.stringify({agent: navigator.userAgent, driven: navigator.webdriver, hints,
            languages: navigator.languages, zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
            locale: Intl.NumberFormat().resolvedOptions().locale, width: innerWidth, height: innerHeight,
            scale: devicePixelRatio, touch: navigator.maxTouchPoints, place});
        fetch('/done');
    })()</script>";

async fn look(world: &World, visit: Visit<'_>) -> Value {
    let visit = Visit { wait_for: Duration::from_millis(900), ..visit };
    let visited = world.visit(&visit).await.unwrap();
    let text = dom(&visited);
    let json = text.split("<pre id=\"a\">").nth(1).unwrap().split("</pre>").next().unwrap();
    serde_json::from_str(&json.replace("&amp;", "&")).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Geolocation needs a secure context, so the page uses TLS.
async fn start() -> (World, Url) {
    let world = World::start().await;
    world.other.html("/page", PAGE);
    let url = format!("https://other.test:{}/page", world.other.addr().port()).parse().unwrap();
    (world, url)
}

#[tokio::test]
async fn nothing_says_headless() {
    let (world, url) = start().await;
    let seen = look(&world, Visit { skip_tls_verification: true, ..plain(&url) }).await;
    assert!(seen["agent"].as_str().unwrap().starts_with("Mozilla/5.0 (X11; Linux x86_64)"), "{seen}");
    assert_eq!((&seen["driven"], &seen["width"], &seen["height"]), (&false.into(), &1920.into(), &1080.into()));
    assert_eq!(seen["languages"], serde_json::json!(["en-US", "en"]));
    // Not this machine's time zone; and no geolocation, because the visit named no country.
    assert_eq!(seen["zone"], "America/New_York");
    assert!(seen["place"].is_string(), "{seen}");
    assert!(!seen.to_string().contains("eadless"), "{seen}");
    for request in world.other.requests() {
        let head = format!("{:?}", request.headers);
        assert!(!head.contains("eadless"), "{head}");
        assert_eq!(request.header("accept-language"), "en-US,en;q=0.9");
        assert!(request.header("sec-ch-ua").contains("Google Chrome"), "{head}");
    }
}

#[tokio::test]
async fn a_phone_in_germany() {
    let (world, url) = start().await;
    let location = Location { country: "DE".to_owned(), languages: vec![] };
    let visit = Visit { mobile: true, location: Some(&location), skip_tls_verification: true, ..plain(&url) };
    let seen = look(&world, visit).await;
    assert!(seen["agent"].as_str().unwrap().contains("Mobile Safari"), "{seen}");
    assert_eq!(seen["hints"]["mobile"], true);
    assert_eq!((&seen["width"], &seen["scale"], &seen["touch"]), (&390.into(), &3.into(), &5.into()));
    assert_eq!((&seen["zone"], &seen["locale"]), (&"Europe/Berlin".into(), &"de-DE".into()));
    assert_eq!(seen["languages"], serde_json::json!(["de-DE", "de", "en-US", "en"]));
    assert_eq!(seen["place"], serde_json::json!([52.52, 13.41]));
    assert_eq!(world.other.requests()[0].header("sec-ch-ua-mobile"), "?1");
}

#[tokio::test]
async fn workers_see_the_same() {
    let world = World::start().await;
    let script = Reply {
        body: "fetch('/w?' + encodeURIComponent(navigator.userAgent + navigator.languages))".into(),
        ..Reply::default()
    };
    world.site.respond("/w.js", script.header("content-type", "text/javascript"));
    world.site.html(
        "/page",
        "<script>new Worker('/w.js'); new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])))</script>",
    );
    let (url, location) = (world.url("/page"), Location { country: "FR".to_owned(), languages: vec![] });
    let visit = Visit { mobile: true, location: Some(&location), wait_for: Duration::from_millis(700), ..plain(&url) };
    world.visit(&visit).await.unwrap();
    let seen = world.site.requests();
    let worker = seen.iter().find(|seen| seen.path.starts_with("/w?")).unwrap();
    assert!(worker.path.contains("Mobile") && worker.path.contains("fr-FR"), "{}", worker.path);
    assert!(worker.header("user-agent").contains("Mobile"));
}

/// An exception for one visit's certificates does not apply to the next.
#[tokio::test]
async fn a_bad_certificate_is_taken_only_by_who_asks() {
    let (world, url) = start().await;
    let strict = plain(&url);
    let loose = Visit { skip_tls_verification: true, ..plain(&url) };
    let (one, two) = tokio::join!(world.visit(&loose), world.visit(&strict));
    assert_eq!(one.unwrap().status, 200);
    assert!(two.err().unwrap().to_string().contains("CERT"));
    assert!(world.visit(&plain(&url)).await.is_err());
    assert_eq!(world.browser.counts().launched, 1);
}
