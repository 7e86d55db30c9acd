//! Properties: untrusted pages and samples never break the contract. `PROPTEST_CASES=20000` searches further.

use branding::{Color, Sample, Sheet, computed, declared};
use page::Page;
use proptest::prelude::*;
use serde_json::{Value, json};
use url::Url;

use crate::contract::holds;

fn page(html: &str) -> Page {
    Page::parse(html, &Url::parse("https://a.test/x/y").unwrap())
}

/// Any JSON value, often with words that occur in samples.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z#0-9 ,.()-]{0,12}".prop_map(Value::from),
        prop::sample::select(vec![
            "button",
            "heading",
            "link",
            "paragraph",
            "input",
            "card",
            "#fff",
            "#0d6efd80",
            "1e9px",
            "-4px",
            "0.2s",
            "ease",
            "home",
            "<svg/>",
            "https://a.test/l.png",
            "Inter, serif",
            "--primary",
            "h1",
            "\u{0}é🎉",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map(member(), inner, 0..10).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn member() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "viewport",
        "ground",
        "body",
        "variables",
        "faces",
        "elements",
        "logos",
        "icons",
        "containers",
        "grids",
        "focusColor",
        "kind",
        "tag",
        "name",
        "text",
        "box",
        "x",
        "y",
        "width",
        "height",
        "color",
        "background",
        "gradient",
        "borderColor",
        "radius",
        "font",
        "size",
        "weight",
        "lineHeight",
        "padding",
        "margin",
        "gap",
        "duration",
        "easing",
        "family",
        "svg",
        "url",
        "hint",
        "top",
        "leads",
        "style",
        "columns",
        "maxWidth",
        "dark",
        "framed",
    ])
    .prop_map(str::to_owned)
}

/// An element with members of any type.
fn element() -> impl Strategy<Value = Value> {
    let kinds =
        vec!["button", "heading", "link", "paragraph", "input", "card", "notice", "header", "nav", "footer", "code"];
    (prop::sample::select(kinds), prop::collection::btree_map(member(), value(), 0..12)).prop_map(|(kind, members)| {
        let mut element: Value = members.into_iter().collect();
        element["kind"] = kind.into();
        element
    })
}

proptest! {
    #[test]
    fn no_sample_breaks_it(elements in prop::collection::vec(element(), 0..12), rest in value()) {
        let mut json = if rest.is_object() { rest } else { json!({}) };
        json["elements"] = elements.into();
        let sample = serde_json::from_value::<Sample>(json).unwrap_or_default();
        let page = page("<title>a - b</title><p>c");
        let found = computed(&sample, &page);
        holds(&found);
        prop_assert_eq!(computed(&sample, &page), found);
    }

    #[test]
    fn no_style_sheet_breaks_it(css in "([a-z.#:&>{}();,'\"@!/*\\\\ -]|:root|--a|var\\(--a|--primary|#fff|red|@media |body|a\\{color:|url\\(|é){0,60}") {
        let page = page(&format!("<body style='{}'><style>{css}</style>", css.replace('\'', "")));
        holds(&declared(&page, &[Sheet { text: css }]));
    }

    #[test]
    fn no_page_breaks_it(html in "(<img |<a href=/>|class=logo|src=x |<meta |property=og:image|name=theme-color|content='[^']{0,9}'|>|<script type=application/ld\\+json>|\\{\"@type\":\"Organization\"|,\"name\":\"\"\\}|</script>|<title>|[ -~é]{0,4}){0,30}") {
        let page = page(&html);
        holds(&declared(&page, &[]));
        holds(&computed(&Sample::default(), &page));
    }

    #[test]
    fn colors_are_written_as_they_are_read(red: u8, green: u8, blue: u8) {
        let color = Color::parse(&format!("rgb({red}, {green}, {blue})")).unwrap();
        prop_assert_eq!(Color::parse(&color.hex()), Some(color));
        prop_assert!((0.0..=1.0).contains(&color.luminance()));
        prop_assert!(color.contrast(color) == 1.0);
    }
}
