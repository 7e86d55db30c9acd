//! Operators and conditions.

use page_index::{Domains, IndexedPage, PageKind, Source, Window};

use crate::{Fixture, page, paths};

/// First of January 2026, Unix time in ms.
const YEAR_2026: i64 = 1_767_225_600_000;
const DAY: i64 = 86_400_000;

fn library() -> Fixture {
    let dated = |days: i64, page: IndexedPage| IndexedPage { published: Some(YEAR_2026 + days * DAY), ..page };
    Fixture::with(&[
        dated(
            0,
            page(
                "https://docs.example.org/guide/tea.html",
                "A guide to tea",
                "How green tea is brewed with hot water.",
            ),
        ),
        dated(40, page("https://www.example.org/tea.pdf", "Tea report", "Tea was sold in London. Coffee was not.")),
        page("https://example.com/shop/tea", "Buy tea", "Cheap tea and black tea, brewed well."),
        dated(-1, page("https://notexample.org/coffee", "Coffee", "Coffee is not tea; hot water is brewed too.")),
    ])
}

fn sorted(mut paths: Vec<String>) -> Vec<String> {
    paths.sort();
    paths
}

#[test]
fn operators_hold_for_every_hit() {
    let fixture = library();
    for (query, expected) in [
        ("tea", vec!["coffee", "guide/tea.html", "shop/tea", "tea.pdf"]),
        ("tea site:example.org", vec!["guide/tea.html", "tea.pdf"]),
        ("tea site:www.example.org", vec!["tea.pdf"]),
        ("tea site:docs.example.org", vec!["guide/tea.html"]),
        ("site:example.org", vec!["guide/tea.html", "tea.pdf"]),
        ("tea site:example.org/guide", vec!["guide/tea.html"]),
        ("tea site:example.com site:notexample.org", vec!["coffee", "shop/tea"]),
        ("tea site:com", vec!["shop/tea"]),
        ("tea -site:example.org", vec!["coffee", "shop/tea"]),
        ("tea -coffee", vec!["guide/tea.html", "shop/tea"]),
        ("tea -\"black tea\" -\"hot water\"", vec!["tea.pdf"]),
        ("\"hot water\"", vec!["coffee", "guide/tea.html"]),
        ("\"water hot\"", vec![]),
        ("\"brewed tea\" tea", vec![]),
        ("intitle:tea", vec!["guide/tea.html", "shop/tea", "tea.pdf"]),
        ("tea intitle:\"tea report\"", vec!["tea.pdf"]),
        ("brewed inurl:guide", vec!["guide/tea.html"]),
        ("tea filetype:pdf", vec!["tea.pdf"]),
        ("tea filetype:html filetype:pdf", vec!["guide/tea.html", "tea.pdf"]),
        ("tea after:2026", vec!["guide/tea.html", "tea.pdf"]),
        ("tea before:2026-01-01", vec!["coffee"]),
        ("after:2026-01-02 before:2027", vec!["tea.pdf"]),
        ("-tea", vec![]),
        ("", vec![]),
        ("nowhere", vec![]),
        // A word that no page has costs nothing.
        ("tea nowhere", vec!["coffee", "guide/tea.html", "shop/tea", "tea.pdf"]),
    ] {
        assert_eq!(sorted(fixture.paths(query)), expected, "{query}");
    }
}

#[test]
fn conditions_of_the_request_hold_for_every_hit() {
    let fixture = library();
    let only = Domains::Only(vec!["example.org".into(), "notexample.org".into()]);
    assert_eq!(sorted(paths(&fixture.ask_within("tea", &only))), ["coffee", "guide/tea.html", "tea.pdf"]);
    let without = Domains::Without(vec!["example.org".into()]);
    assert_eq!(sorted(paths(&fixture.ask_within("tea", &without))), ["coffee", "shop/tea"]);
    let window = Window { from: Some(YEAR_2026), until: Some(YEAR_2026) };
    assert_eq!(paths(&fixture.ask_with("tea", |asked| asked.published = Some(window))), ["guide/tea.html"]);
    let open = Window { from: Some(YEAR_2026 + 1), until: None };
    assert_eq!(paths(&fixture.ask_with("tea", |asked| asked.published = Some(open))), ["tea.pdf"]);
    // Both at once: what the query says and what the request says.
    assert!(fixture.ask_with("tea before:2026", |asked| asked.published = Some(open)).is_empty());
    assert_eq!(sorted(paths(&fixture.ask_with("tea", |asked| asked.published = Some(Window::default())))).len(), 4);
}

#[test]
fn documents_and_news_are_told_apart() {
    let fixture = Fixture::with(&[
        IndexedPage { kind: PageKind::Document, ..page("https://a.org/paper", "Tea", "tea leaves") },
        IndexedPage { is_news: true, published: Some(5), ..page("https://b.org/news", "Tea", "tea prices") },
        IndexedPage { is_news: true, ..page("https://c.org/undated", "Tea", "tea time") },
    ]);
    assert_eq!(paths(&fixture.ask_with("tea", |asked| asked.kind = Some(PageKind::Document))), ["paper"]);
    assert_eq!(sorted(paths(&fixture.ask_with("tea", |asked| asked.kind = Some(PageKind::Page)))), ["news", "undated"]);
    assert_eq!(paths(&fixture.ask_with("tea", |asked| asked.source = Source::News)), ["news"]);
}

#[test]
fn the_newest_are_first_only_when_asked() {
    let dated = |name: &str, text: &str, published| IndexedPage {
        published,
        ..page(&format!("https://{name}.org/{name}"), name, text)
    };
    let fixture = Fixture::with(&[
        dated("old", "tea ceremony in Kyoto, the tea ceremony", Some(1)),
        dated("new", "a tea ceremony", Some(3)),
        dated("undated", "tea ceremony", None),
        dated("other", "tea, among a lot of other things that a page can say of plants and trade", Some(9)),
    ]);
    assert_eq!(fixture.paths("tea ceremony").last().map(String::as_str), Some("other"));
    let newest = paths(&fixture.ask_with("tea ceremony", |asked| asked.newest_first = true));
    assert_eq!(newest, ["new", "old", "undated"]);
}

#[test]
fn pages_of_answers_follow_each_other() {
    let pages: Vec<_> =
        (0..30).map(|n| page(&format!("https://h{n}.org/{n}"), "Tea", &format!("tea {}", "leaf ".repeat(n)))).collect();
    let fixture = Fixture::with(&pages);
    let all = paths(&fixture.ask_with("tea", |asked| asked.limit = 30));
    assert_eq!(all.len(), 30);
    let mut parts = Vec::new();
    for offset in (0..40).step_by(7) {
        parts.extend(paths(&fixture.ask_with("tea", |asked| (asked.limit, asked.offset) = (7, offset))));
    }
    assert_eq!(parts, all);
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(60))]
    #[test]
    fn any_query_is_answered(
        text in "(tea|hot|water|coffee|the|of|[-\" :/.é東]|site:|-site:|intitle:|inurl:|filetype:|before:|after:|2026|org|example){0,25}"
    ) {
        thread_local!(static LIBRARY: Fixture = library());
        LIBRARY.with(|fixture| {
            let one = paths(&fixture.ask(&text));
            assert_eq!(one, paths(&fixture.ask(&text)));
            let images = fixture.ask_with(&text, |asked| asked.source = Source::Images);
            assert!(images.is_empty());
        });
    }
}
