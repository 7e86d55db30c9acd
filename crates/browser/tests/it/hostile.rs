//! Tests of pages that try to block or exhaust the service.

use std::time::Duration;

use browser::{BrowserError, Visit};
use testkit::{Body, Reply};
use tokio::time::Instant;

use crate::world::{World, dom, plain};

async fn within(world: &World, html: &str, seconds: u64) -> Result<browser::Visited, BrowserError> {
    world.site.html("/page", html);
    let url = world.url("/page");
    let began = Instant::now();
    let result = world.visit(&Visit { deadline: began + Duration::from_secs(seconds), ..plain(&url) }).await;
    assert!(began.elapsed() < Duration::from_millis(seconds * 1000 + 500), "{:?}", began.elapsed());
    result
}

#[tokio::test]
async fn dialogs_are_answered() {
    let world = World::start().await;
    let html = "<p id=a><script>alert(1); a.textContent = [confirm('x'), prompt('y', 'z')].join();
        onbeforeunload = (e) => e.preventDefault()</script>";
    let visited = within(&world, html, 10).await.unwrap();
    assert!(dom(&visited).contains("true,"), "{}", dom(&visited));
    for html in ["<p>text<script>while (true) alert(1)</script>", "<p>text<script>setInterval(() => alert(1))</script>"]
    {
        let visited = within(&world, html, 10).await.unwrap();
        assert!(dom(&visited).contains("text"));
    }
}

#[tokio::test]
async fn windows_are_not_opened() {
    let world = World::start().await;
    world.site.html("/w", "<p>window");
    let html =
        "<p id=a><script>for (let i = 0; i < 200; i++) window.open('/w?' + i); a.textContent = 'still here'</script>";
    let visited = within(&world, html, 10).await.unwrap();
    assert!(dom(&visited).contains("still here"));
    assert!(!world.asked().iter().any(|path| path.starts_with("/w")));
    world.quiet().await;
}

#[tokio::test]
async fn a_page_that_ends_itself_is_still_shown() {
    let world = World::start().await;
    for html in ["<p>text<script>window.close()</script>", "<p>text<script>window.stop()</script>"] {
        assert!(dom(&within(&world, html, 10).await.unwrap()).contains("text"));
    }
}

#[tokio::test]
async fn a_script_without_end_does_not_hold_the_visit() {
    let world = World::start().await;
    let result = within(&world, "<p>text before<script>while (true);</script>", 6).await;
    if let Ok(visited) = &result {
        assert!(dom(visited).contains("text before") && !visited.warnings.is_empty());
    }
    // The next visit has a renderer of its own.
    assert!(dom(&within(&world, "<p>next", 10).await.unwrap()).contains("next"));
}

#[tokio::test]
async fn a_page_without_end_is_cut() {
    let limits = net::Limits { body_decoded: 4 << 20, ..net::Limits::default() };
    let world = World::limited(browser::Settings::default(), limits).await;
    let body = Body::Repeat {
        prefix: "<p>begin".into(),
        unit: "<p>more and more text ".into(),
        bytes: None,
        suffix: "".into(),
    };
    world.site.respond("/page", Reply { body, ..Reply::default() }.header("content-type", "text/html"));
    let url = world.url("/page");
    let visit = Visit { deadline: Instant::now() + Duration::from_secs(10), ..plain(&url) };
    let result = world.visit(&visit).await;
    assert!(world.site.sent() < 64 << 20, "{}", world.site.sent());
    if let Ok(visited) = result {
        assert!(visited.body.len() <= 4 << 20);
    }
}

#[tokio::test]
async fn a_page_that_eats_memory_ends_alone() {
    let world = World::start().await;
    let (hungry, other) = (world.url("/hungry"), world.url("/other"));
    world.site.html(
        "/hungry",
        "<p>x<script>const all = []; while (true) all.push(Array.from({length: 1e5}, () => ({})))</script>",
    );
    world.site.html("/other", "<p>unharmed");
    let slow = Visit { wait_for: Duration::from_secs(3), ..plain(&other) };
    let hungry = Visit { deadline: Instant::now() + Duration::from_secs(15), ..plain(&hungry) };
    let (one, two) = tokio::join!(world.visit(&hungry), world.visit(&slow));
    // On a loaded machine the deadline may pass before the memory limit is reached.
    let is_known = matches!(one, Err(BrowserError::TooLarge { .. } | BrowserError::Timeout));
    assert!(is_known, "it is told why: {:?}", one.err());
    assert!(dom(&two.unwrap()).contains("unharmed"));
    assert_eq!(world.browser.counts().launched, 1);
}
