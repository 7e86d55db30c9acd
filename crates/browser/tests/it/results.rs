//! Tests of the common size limit of all results of a visit.

use browser::{ActionFailure, BrowserError, Settings, Visit, Visited};
use net::Limits;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use crate::page_world::actions;
use crate::world::{World, plain};

const MIB: usize = 1 << 20;
/// Size limit for the results of a visit.
const LIMIT: usize = 4 * MIB;
/// A page with 1 MiB of text and an incompressible drawing.
const LARGE: &str = "<!doctype html><canvas id=noise width=600 height=300></canvas><p id=text></p><script>
    text.textContent = 'word '.repeat(2 ** 20 / 5)
    const pen = noise.getContext('2d'), picture = pen.createImageData(600, 300)
    for (let i = 0; i < picture.data.length; i += 65536) crypto.getRandomValues(picture.data.subarray(i, i + 65536))
    for (let i = 3; i < picture.data.length; i += 4) picture.data[i] = 255
    pen.putImageData(picture, 0, 0)
    scrollTo(0, 0)</script>";

async fn world() -> World {
    let world = World::limited(Settings::default(), Limits { body_decoded: LIMIT as u64, ..Limits::default() }).await;
    world.site.html("/page", LARGE);
    world
}

async fn visit(world: &World, wanted: Value) -> Result<Visited, BrowserError> {
    let (url, actions) = (world.url("/page"), actions(wanted));
    let deadline = Instant::now() + Duration::from_secs(60);
    world.visit(&Visit { actions: &actions, deadline, ..plain(&url) }).await
}

/// Returns index, kind and reason of the action whose result did not fit.
async fn refused(world: &World, wanted: Value) -> (usize, &'static str) {
    match visit(world, wanted).await.err().unwrap() {
        BrowserError::Action(ActionFailure { index, kind, reason, .. }) => {
            let words = "all results of a request may have 4 MiB together (fetch.max_decoded_mib)";
            assert!(reason.contains(words), "{reason}");
            (index, kind)
        }
        error => panic!("{error}"),
    }
}

#[tokio::test]
async fn many_large_results_are_refused_with_the_place_and_the_setting() {
    let world = world().await;
    let (index, kind) = refused(&world, json!(vec![json!({"type": "scrape"}); 16])).await;
    assert_eq!((index, kind), (3, "scrape"));
    let (index, kind) = refused(&world, json!(vec![json!({"type": "screenshot"}); 16])).await;
    assert!((1..10).contains(&index) && kind == "screenshot", "{index} {kind}");
    let (index, kind) = refused(&world, json!(vec![json!({"type": "pdf"}); 40])).await;
    assert!((1..39).contains(&index) && kind == "pdf", "{index} {kind}");
    // 200 KB each as text, but 3 MB in memory.
    let numbers = json!({"type": "executeJavascript", "script": "Array(100_000).fill(1)"});
    let (index, kind) = refused(&world, json!(vec![numbers; 16])).await;
    assert!((1..3).contains(&index) && kind == "executeJavascript", "{index} {kind}");
    let mixed = json!([{"type": "scrape"}, {"type": "executeJavascript", "script": "'x'.repeat(2 ** 21)"},
        {"type": "pdf"}, {"type": "scrape"}, {"type": "scrape"}]);
    assert!(refused(&world, mixed).await.0 > 1);
}

#[tokio::test]
async fn results_that_fit_are_given_and_hold_room_until_they_are_gone() {
    let world = world().await;
    let visited = visit(&world, json!([{"type": "scrape"}, {"type": "screenshot"}, {"type": "pdf"}])).await.unwrap();
    let acted = &visited.rendered.acted;
    assert!(acted.scrapes[0].html.len() > MIB && acted.screenshots.len() == 1 && acted.pdfs.len() == 1);
    let held = format!("{:?}", visited.room);
    let kib: u64 = held.split_whitespace().find_map(|word| word.parse().ok()).unwrap();
    // Four bytes for each byte of the page, its copy and the files.
    assert!(kib > 4 * 2 * 1024, "{held}");
}

#[tokio::test]
async fn the_page_counts_among_them() {
    let world = world().await;
    let error = visit(&world, json!(vec![json!({"type": "scrape"}); 3])).await.err().unwrap();
    let words = "bytes of the page and all results of the request (fetch.max_decoded_mib)";
    assert!(matches!(error, BrowserError::TooLarge { what, limit } if what == words && limit == LIMIT as u64));
}
