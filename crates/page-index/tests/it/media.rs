//! Images.

use page_index::{IndexedPage, PageImage, Source};

use crate::{Fixture, page};

fn image(url: &str, alt: &str) -> PageImage {
    PageImage { url: url.into(), alt: alt.into(), width: Some(320), height: Some(200) }
}

fn found(fixture: &Fixture, query: &str) -> Vec<String> {
    let hits = fixture.ask_with(query, |asked| asked.source = Source::Images);
    hits.into_iter().map(|hit| hit.image.unwrap().url).collect()
}

#[test]
fn images_are_found_by_alt_text_file_name_and_title() {
    let coast = IndexedPage {
        images: vec![
            image("https://a.org/logo.png", "Logo"),
            image("https://a.org/cloud.png", "Weather map of the coast"),
        ],
        ..page("https://a.org/weather", "Showers", "Rain is expected.")
    };
    let cars = IndexedPage {
        images: vec![image("https://b.org/i/red-sports-car.jpg", ""), image("https://b.org/i/2.jpg", "")],
        ..page("https://b.org/cars", "Old vehicles", "Cars of all kinds.")
    };
    let none = page("https://c.org/none", "Weather map", "A weather map without an image.");
    let fixture = Fixture::with(&[coast, cars, none]);
    assert_eq!(found(&fixture, "weather maps"), ["https://a.org/cloud.png"]);
    assert_eq!(found(&fixture, "sports car"), ["https://b.org/i/red-sports-car.jpg"]);
    assert_eq!(found(&fixture, "vehicle"), ["https://b.org/i/red-sports-car.jpg"]);
    assert!(found(&fixture, "expected").is_empty());
    let hits = fixture.ask_with("coast", |asked| asked.source = Source::Images);
    assert_eq!(hits[0].image, Some(image("https://a.org/cloud.png", "Weather map of the coast")));
    assert_eq!((hits[0].images.len(), hits[0].title.as_str()), (2, "Showers"));
}

#[test]
fn images_are_bounded() {
    let images = (0..100).map(|n| image(&format!("https://a.org/{n}.png"), "tea")).collect();
    let long = image(&format!("https://a.org/{}.png", "x".repeat(9_000)), "tea");
    let fixture = Fixture::with(&[
        IndexedPage { images, ..page("https://a.org/many", "Many", "text") },
        IndexedPage { images: vec![long], ..page("https://b.org/long", "Long", "text") },
    ]);
    let hits = fixture.ask_with("tea", |asked| asked.source = Source::Images);
    assert_eq!((hits.len(), hits[0].images.len()), (5, page_index::MOST_IMAGES));
}
