//! Tests of screenshots and PDFs.

use std::io::Cursor;
use std::time::Duration;

use browser::{Visit, Visited};
use image::{ImageReader, RgbImage};
use serde_json::{Value, json};
use tokio::time::Instant;
use wire::{Format, ScreenshotOptions};

use crate::page_world::{act, actions};
use crate::world::{World, plain};

/// Page that is red at the top, then grey, and blue for the last 100 pixels.
fn striped(height: u32) -> String {
    format!(
        "<!doctype html><title>t</title><body style='margin: 0'><div style='height: 100px; background: #f00'></div>
        <div style='height: {}px; background: linear-gradient(#888, #999)'></div><div style='height: 100px; background: #00f'></div>",
        height - 200
    )
}

async fn shot(world: &World, html: &str, options: Value, mobile: bool) -> (Visited, RgbImage) {
    world.site.html("/page", html);
    let url = world.url("/page");
    let options = options_of(&options);
    let visited = world
        .visit(&Visit {
            screenshot: Some(&options),
            mobile,
            deadline: Instant::now() + Duration::from_secs(60),
            ..plain(&url)
        })
        .await
        .unwrap();
    let picture = visited.rendered.screenshot.as_ref().unwrap();
    let pixels = decode(&picture.bytes, picture.content_type);
    (visited, pixels)
}

fn options_of(options: &Value) -> ScreenshotOptions {
    let mut format = json!({"type": "screenshot"});
    format.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    let options = wire::decode_options(json!({ "formats": [format] })).unwrap();
    match options.formats.into_iter().next() {
        Some(Format::Screenshot(options)) => options,
        other => panic!("{other:?}"),
    }
}

fn decode(bytes: &[u8], content_type: &str) -> RgbImage {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().unwrap();
    assert_eq!(reader.format().unwrap().to_mime_type(), content_type);
    reader.decode().unwrap().into_rgb8()
}

fn assert_near(found: &RgbImage, (x, y): (u32, u32), expect: [u8; 3]) {
    let pixel = found.get_pixel(x, y).0;
    let far = pixel.iter().zip(expect).any(|(a, b)| a.abs_diff(b) > 12);
    assert!(!far, "{pixel:?} instead of {expect:?} at {x}, {y} of {:?}", found.dimensions());
}

#[tokio::test]
async fn pictures_have_the_size_that_was_asked_for() {
    let world = World::start().await;
    let (visited, picture) = shot(&world, &striped(3000), json!({}), false).await;
    assert_eq!((picture.dimensions(), visited.warnings.len()), ((1920, 1080), 0));
    assert_near(&picture, (5, 5), [255, 0, 0]);
    let (_, picture) = shot(&world, &striped(3000), json!({"fullPage": true, "quality": 80}), false).await;
    assert_eq!(picture.dimensions(), (1920, 3000));
    assert_near(&picture, (1000, 2990), [0, 0, 255]);
    let (_, picture) = shot(&world, &striped(3000), json!({"viewport": {"width": 800, "height": 600}}), false).await;
    assert_eq!(picture.dimensions(), (800, 600));
    let (_, picture) = shot(&world, &striped(3000), json!({}), true).await;
    assert_eq!(picture.width() % 390, 0);
}

#[tokio::test]
async fn very_high_pages_are_put_together() {
    let world = World::start().await;
    let fixed = "<div style='position: fixed; top: 0; right: 0; width: 50px; height: 50px; background: #0f0'></div>";
    let html = striped(20_000) + fixed;
    for (options, kind) in
        [(json!({"fullPage": true}), "image/png"), (json!({"fullPage": true, "quality": 90}), "image/jpeg")]
    {
        let (visited, picture) = shot(&world, &html, options, false).await;
        assert_eq!((picture.dimensions(), visited.rendered.screenshot.unwrap().content_type), ((1920, 20_000), kind));
        assert_near(&picture, (960, 5), [255, 0, 0]);
        assert_near(&picture, (960, 150), [0x88, 0x88, 0x88]);
        assert_near(&picture, (960, 10_000), [0x90, 0x90, 0x90]);
        assert_near(&picture, (960, 19_890), [0x99, 0x99, 0x99]);
        assert_near(&picture, (960, 19_990), [0, 0, 255]);
        // A fixed element appears only once.
        assert_near(&picture, (1900, 20), [0, 255, 0]);
        assert_near(&picture, (1900, 8212), [0x8f, 0x8f, 0x8f]);
    }
    let (visited, picture) = shot(&world, &striped(60_000), json!({"fullPage": true, "quality": 50}), false).await;
    assert_eq!(picture.dimensions(), (1920, 25_000));
    assert!(visited.warnings[0].contains("first 25000 of 60000"), "{:?}", visited.warnings);
}

#[tokio::test]
async fn pictures_and_prints_are_actions_too() {
    let world = World::start().await;
    let html = striped(1500).replace("<div", "<p>Printed words</p><div");
    let list = actions(json!([
        {"type": "screenshot", "fullPage": true}, {"type": "screenshot", "viewport": {"width": 500, "height": 400}, "quality": 60},
        {"type": "screenshot"}, {"type": "pdf", "format": "A4", "landscape": true}, {"type": "generatePDF", "scale": 0.5},
        {"type": "pdf", "format": "Ledger"},
    ]));
    let visited = act(&world, &html, &list).await.unwrap();
    let sizes: Vec<_> = visited
        .rendered
        .acted
        .screenshots
        .iter()
        .map(|shot| decode(&shot.bytes, shot.content_type).dimensions())
        .collect();
    assert_eq!(sizes[1..], [(500, 400), (1920, 1080)]);
    assert!(sizes[0].1 > 1500);
    let boxes: Vec<_> = visited.rendered.acted.pdfs.iter().map(|pdf| media_box(&pdf.bytes)).collect();
    for (found, expect) in boxes.iter().zip([(842, 595), (612, 792), (1224, 792)]) {
        assert!(found.0.abs_diff(expect.0) <= 1 && found.1.abs_diff(expect.1) <= 1, "{found:?} instead of {expect:?}");
    }
}

/// Returns width and height of the first page, in points.
fn media_box(pdf: &[u8]) -> (u32, u32) {
    assert!(pdf.starts_with(b"%PDF-"));
    let text = String::from_utf8_lossy(pdf);
    let at = text.find("/MediaBox [").unwrap() + "/MediaBox [".len();
    let numbers = text[at..].split(']').next().unwrap().split_whitespace();
    let numbers: Vec<f64> = numbers.map(|number| number.parse().unwrap()).collect();
    let whole = |number: f64| format!("{number:.0}").parse().unwrap();
    (whole(numbers[2]), whole(numbers[3]))
}

/// Lazy pictures load on scrolling, and are decoded before the screenshot.
#[tokio::test]
async fn lazy_pictures_are_in_the_picture() {
    let world = World::start().await;
    let mut file = Cursor::new(Vec::new());
    RgbImage::from_pixel(64, 64, image::Rgb([0, 128, 0])).write_to(&mut file, image::ImageFormat::Png).unwrap();
    let reply =
        testkit::Reply { body: file.into_inner().into(), delay: Duration::from_millis(300), ..Default::default() };
    world.site.respond("/green.png", reply.header("content-type", "image/png"));
    let html = "<!doctype html><title>t</title><body style='margin: 0'><div style='height: 6000px'>Top</div>
        <img loading=lazy src=/green.png width=200 height=200 style='display: block'>";
    let (_, picture) = shot(&world, html, json!({"fullPage": true}), false).await;
    assert_near(&picture, (100, 6100), [0, 128, 0]);
}
