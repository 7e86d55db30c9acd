//! Pages that come, change and go.

use page_index::{Asked, IndexError, IndexedPage, PageKind, Query};

use crate::{Fixture, TEAM, page};

#[test]
fn a_page_is_found_with_everything_that_was_put() {
    let one = IndexedPage {
        description: "All of it".into(),
        kind: PageKind::Document,
        published: Some(-5),
        fetched: 77,
        language: Some("en-GB".into()),
        ..page("https://a.example.org/x", "A title", "Some words\nand others")
    };
    let fixture = Fixture::with(std::slice::from_ref(&one));
    let hits = fixture.ask("words");
    let [hit] = hits.as_slice() else { panic!("{hits:?}") };
    assert_eq!((&hit.copy, &hit.scope, &hit.url, &hit.title), (&one.copy, &one.scope, &one.url, &one.title));
    assert_eq!((&hit.description, &hit.text, &hit.language), (&one.description, &one.text, &one.language));
    assert_eq!((hit.kind, hit.published, hit.fetched), (one.kind, one.published, one.fetched));
    assert!(hit.score > 0.0 && hit.images.is_empty() && hit.image.is_none());
}

#[test]
fn a_newer_copy_replaces_the_older_in_any_order() {
    let copy = |id: &str, text: &str| IndexedPage { copy: id.into(), ..page("https://a.org/", "Page", text) };
    let fixture = Fixture::with(&[copy("1", "first apple"), copy("2", "second apple")]);
    assert_eq!(fixture.ask("apple")[0].copy, "2");
    // Read again while looking back, in the same commit and in one of its own.
    fixture.put(&[copy("3", "third apple"), copy("2", "second apple")]);
    fixture.put(&[copy("1", "first apple"), copy("3", "third apple")]);
    let hits = fixture.ask("apple");
    assert_eq!(hits.iter().map(|hit| hit.copy.as_str()).collect::<Vec<_>>(), ["3"]);
    assert_eq!(fixture.index.stats().unwrap().pages, 1);
    assert!(fixture.ask("second").is_empty());
}

#[test]
fn the_same_page_of_two_scopes_is_two_pages_and_one_hit() {
    let of = |scope: &str| IndexedPage {
        scope: scope.into(),
        copy: format!("1-{scope}"),
        ..page("https://a.org/x", "Page", "apple")
    };
    let fixture = Fixture::with(&[of(TEAM), of("*"), of("team-b")]);
    assert_eq!(fixture.index.stats().unwrap().pages, 3);
    assert_eq!(fixture.ask("apple").len(), 1);
}

#[test]
fn nothing_of_another_scope_is_found() {
    let mut pages = Vec::new();
    for number in 0..50 {
        let scope = format!("team-{}", ["a", "b", "ab", "c"][number % 4]);
        pages.push(IndexedPage { scope, ..page(&format!("https://h{number}.org/{number}"), "Secret", "apple pie") });
    }
    let fixture = Fixture::with(&pages);
    for scopes in [vec!["team-a"], vec!["team-b", "*"], vec!["team-ab"], vec!["team"], vec![], vec![""]] {
        let query = Query::parse("apple secret \"apple pie\"");
        let hits = fixture.index.search(&Asked { limit: 100, ..Asked::new(&scopes, &query) }, &|| false).unwrap();
        assert_eq!(hits.len(), pages.iter().filter(|page| scopes.contains(&page.scope.as_str())).count(), "{scopes:?}");
        assert!(hits.iter().all(|hit| scopes.contains(&hit.scope.as_str())));
    }
}

#[test]
fn removed_copies_are_gone_with_the_commit() {
    let fixture = Fixture::with(&[page("https://a.org/1", "One", "apple"), page("https://b.org/2", "Two", "apple")]);
    let mut writer = fixture.index.writer().unwrap();
    writer.remove(&["1-https://a.org/1".into(), "unknown".into()]).unwrap();
    assert_eq!((fixture.ask("apple").len(), writer.uncommitted()), (2, 2));
    writer.commit("there").unwrap();
    assert_eq!(fixture.paths("apple"), ["2"]);
    // A copy that was put and removed before the commit.
    writer.put(&page("https://c.org/3", "Three", "apple")).unwrap();
    writer.remove(&["1-https://c.org/3".into()]).unwrap();
    writer.commit("there").unwrap();
    assert_eq!(fixture.paths("apple"), ["2"]);
}

#[test]
fn there_is_one_writer_at_a_time_and_the_place_is_kept() {
    let fixture = Fixture::new();
    assert_eq!(fixture.index.stats().unwrap().place, None);
    let mut writer = fixture.index.writer().unwrap();
    assert!(matches!(fixture.index.writer(), Err(IndexError::Busy)));
    writer.commit("id-7").unwrap();
    drop(writer);
    assert_eq!(fixture.index.stats().unwrap().place.as_deref(), Some("id-7"));
    fixture.index.writer().unwrap().commit("id-8").unwrap();
    let again = page_index::PageIndex::open(fixture.folder.path(), page_index::Settings::default()).unwrap();
    assert_eq!(again.stats().unwrap().place.as_deref(), Some("id-8"));
}

#[test]
fn pages_of_any_content_are_taken() {
    let long = "word ".repeat(200_000);
    let odd =
        ["", "\u{1}\u{1} \u{1}", "\0", "東京", &"x".repeat(100_000), &"é".repeat(300_000), &long, "a\u{301}\u{301}"];
    let mut pages = Vec::new();
    for (number, text) in odd.iter().enumerate() {
        let url = format!("https://h{number}.org/");
        pages.push(IndexedPage { headings: (*text).into(), description: (*text).into(), ..page(&url, text, text) });
        pages.push(IndexedPage { copy: format!("2{number}"), ..page(text, text, text) });
    }
    let fixture = Fixture::with(&pages);
    assert_eq!(fixture.ask("東京").len(), 2);
    let hits = fixture.ask("word");
    assert!(!hits.is_empty() && hits[0].text.len() <= page_index::MOST_TEXT);
}

#[test]
fn a_query_is_stopped() {
    let fixture = Fixture::with(&[page("https://a.org/", "Page", "apple")]);
    let query = Query::parse("apple");
    let answer = fixture.index.search(&Asked::new(&[TEAM], &query), &|| true);
    assert!(matches!(answer, Err(IndexError::Stopped)));
}
