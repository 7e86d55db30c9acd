//! Order of the hits.

use page_index::{AnchorText, IndexedPage};

use crate::{Fixture, page, paths};

/// Pages that speak of other things, so that words are rare.
fn others() -> Vec<IndexedPage> {
    let text =
        |n: usize| format!("Page {n} says that rain fell on the hills, and the river rose by {} cm in a night.", n * 3);
    (0..40).map(|n| page(&format!("https://other{n}.net/{n}"), &format!("River report {n}"), &text(n))).collect()
}

fn first(pages: &[IndexedPage], query: &str) -> String {
    let mut all = others();
    all.extend_from_slice(pages);
    Fixture::with(&all).paths(query).into_iter().next().unwrap_or_default()
}

#[test]
fn a_word_counts_by_where_it_stands() {
    let text = "The borrow checker of the compiler refuses the program. A second sentence follows it.";
    let title =
        page("https://a.org/title", "Lifetimes", "A second sentence follows it. The compiler refuses the program.");
    let body = page("https://b.org/body", "Compilers", &format!("{text} Lifetimes are short."));
    assert_eq!(first(&[body.clone(), title], "lifetimes"), "title");
    let headings = IndexedPage { headings: "Lifetimes".into(), ..page("https://a.org/headings", "Compilers", text) };
    assert_eq!(first(&[body, headings], "lifetimes"), "headings");
}

#[test]
fn a_page_need_not_have_all_words_but_those_that_do_are_first() {
    let some =
        page("https://a.org/some", "Kettles", "A kettle boils water, and a kettle whistles. Kettle kettle kettle.");
    let all = page("https://b.org/all", "Kitchens", "In the kitchen stood an old copper kettle beside the lamp.");
    assert_eq!(first(&[some.clone(), all], "copper kettle"), "all");
    assert_eq!(first(&[some], "copper kettle"), "some");
}

#[test]
fn words_that_stand_together_count_more() {
    let apart = page(
        "https://a.org/apart",
        "Notes",
        "Green hills. Nothing grows there in the cold of the north. Some drink tea.",
    );
    let near = page(
        "https://b.org/near",
        "Notes",
        "Some hills are in the cold of the north. Nothing grows there but green tea.",
    );
    assert_eq!(first(&[apart, near], "green tea"), "near");
}

#[test]
fn a_page_that_has_the_query_word_by_word_is_first() {
    let sentence = "Slabs of grey granite are sawn with a wet blade of diamond";
    let around = "The manual tells of machines, of men and of the roads on which both of them came. ".repeat(60);
    let quote = page("https://a.org/quote", "Manual", &format!("{around}{sentence}. {around}"));
    let words = "A blade for granite slabs. Grey slabs, sawn wet. Diamond blade, wet granite. ".repeat(4);
    let words = page("https://b.org/words", "Blades", &words);
    assert_eq!(first(&[words, quote], sentence), "quote");
}

#[test]
fn the_exact_title_and_the_start_page_of_a_host_are_first() {
    let exact = page("https://a.org/exact", "Getting started", "Install the program and run it once.");
    let longer = page(
        "https://b.org/longer",
        "Getting started with getting more out of it",
        "Getting started: getting it is a start, started well. Getting started.",
    );
    assert_eq!(first(&[longer.clone(), exact], "getting started"), "exact");

    let home = page("https://www.kettle.io/", "Welcome", "We boil water.");
    let about =
        page("https://kettle.io/about", "About Kettle", "Kettle is a firm that makes a kettle. Kettle, kettle.");
    let review = page("https://b.org/review", "Kettle review", "The kettle of kettle.io is a good kettle.");
    for query in ["kettle", "kettle.io"] {
        assert_eq!(first(&[about.clone(), review.clone(), home.clone()], query), "", "{query}");
    }
}

#[test]
fn texts_of_links_help_to_find_their_target() {
    let link = AnchorText { target: "https://b.org/spec".into(), text: "Dishwasher manual".into() };
    let from = IndexedPage { links: vec![link], ..page("https://a.org/from", "Links", "See the documents below.") };
    let target = page("https://b.org/spec", "WX-900", "Press the button for three seconds.");
    assert_eq!(first(&[from, target], "dishwasher"), "spec");
}

#[test]
fn stems_accents_and_scripts_are_found() {
    let fixture = Fixture::with(&[
        page("https://a.org/en", "Running", "She was running through the cafés of Łódź."),
        IndexedPage {
            language: Some("de".into()),
            ..page("https://a.org/de", "Häuser", "Die Häuser der Straße sind alt, und der Garten ist nicht groß.")
        },
        IndexedPage {
            language: Some("ru".into()),
            ..page("https://b.org/ru", "Погода", "Погода в городах будет хорошей, и ветер не с запада.")
        },
        IndexedPage {
            language: Some("ja".into()),
            ..page("https://b.org/ja", "東京タワー", "東京タワーは東京の電波塔です。")
        },
        IndexedPage { language: None, ..page("https://c.org/zh", "天气", "北京今天的天气很好。") },
    ]);
    for (query, path) in [
        ("runs", "en"),
        ("cafe lodz", "en"),
        ("LÓDZ", "en"),
        ("haus strasse", "de"),
        ("häusern", "de"),
        ("погоды", "ru"),
        ("город", "ru"),
        ("電波塔", "ja"),
        ("\"東京タワー\"", "ja"),
        ("天气", "zh"),
    ] {
        assert_eq!(fixture.paths(query).first().map(String::as_str), Some(path), "{query}");
    }
}

#[test]
fn near_duplicates_and_pages_of_one_site_give_way() {
    let text: String = (0..60).map(|n| format!("sentence{} of the manual of the boiler{}. ", n, n % 7)).collect();
    let fixture = Fixture::with(&[
        page("https://a.org/v1/manual", "Boiler manual", &text),
        page("https://b.org/v2/manual", "Boiler manual", &format!("{text} Printed on Friday.")),
    ]);
    assert_eq!(fixture.ask("boiler manual").len(), 1);

    let mut pages = Vec::new();
    for n in 0..20 {
        pages.push(page(&format!("https://sub{}.shop.co.uk/{n}", n % 4), "Boiler", &format!("boiler number {n}")));
    }
    pages.push(page(
        "https://small.co.uk/other",
        "Heating",
        "It has a boiler somewhere among all of the other things that it has.",
    ));
    let fixture = Fixture::with(&pages);
    let hits = fixture.paths("boiler");
    assert_eq!((hits.len(), hits.iter().filter(|path| *path == "other").count()), (4, 1));
    assert_eq!(paths(&fixture.ask_with("boiler", |asked| (asked.per_site, asked.limit) = (None, 50))).len(), 21);
    assert_eq!(fixture.ask_with("boiler", |asked| asked.per_site = Some(1)).len(), 2);
}

#[test]
fn one_site_with_most_of_the_best_leaves_room_for_others() {
    let mut pages: Vec<_> =
        (0..400).map(|n| page(&format!("https://big.org/{n}"), "Boiler boiler", &format!("boiler {n}"))).collect();
    for n in 0..5 {
        let text = format!("Some text that says much of other things, and names a boiler once, in house {n}.");
        pages.push(page(&format!("https://small{n}.org/small{n}"), "House", &text));
    }
    let hits = Fixture::with(&pages).paths("boiler");
    assert_eq!(hits.iter().filter(|path| path.starts_with("small")).count(), 5, "{hits:?}");
}
