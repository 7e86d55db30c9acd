//! Realistic pages and samples.

use branding::{Sample, Sheet, computed, declared};
use page::Page;
use serde_json::{Value, json};
use url::Url;
use wire::Branding;

use crate::contract::holds;

fn page(html: &str) -> Page {
    Page::parse(html, &Url::parse("https://acme.test/docs/").unwrap())
}

fn of_html(html: &str, css: &str) -> Value {
    let found = declared(&page(html), &[Sheet { text: css.into() }]);
    holds(&found);
    serde_json::to_value(found).unwrap()
}

fn of_sample(sample: &Value) -> Branding {
    let found = computed(&serde_json::from_value::<Sample>(sample.clone()).unwrap(), &page("<title>Acme</title>"));
    holds(&found);
    found
}

#[test]
fn a_declared_brand() {
    let css = "@font-face { font-family: Inter; src: url(i.woff2) }
        :root { --primary: 262 83% 58%; --bs-danger: rgb(220 53 69); --muted-text: #6c757d; --radius: 6px }
        body { background: #fafafa; color: #222; font: 400 1rem/1.6 Inter, sans-serif; line-height: 1.6 }
        h1 { font-family: 'Source Serif', serif; font-size: 2.5rem; font-weight: 800 } h2 { font-size: calc(1rem + 1vw) }
        a { color: #6d28d9 } code { font-family: monospace }
        .btn { border-radius: var(--radius); transition: color .2s ease-in-out }
        .btn-primary { background: hsl(var(--primary)); color: white; border: 1px solid #5b21b6 }
        input { border: 1px solid #ccc } input:focus { border-color: #6d28d9 }";
    let found = of_html("<title>Docs | Acme</title><link rel=icon href=/f.svg><img class=logo src=/l.svg>", css);
    assert_eq!(found["colorScheme"], "light");
    assert_eq!(found["brandName"], "Acme");
    assert_eq!(found["logo"], "https://acme.test/l.svg");
    let colors = json!({ "primary": "#7C3BED", "background": "#FAFAFA", "textPrimary": "#222222", "textSecondary": "#6C757D",
        "link": "#6D28D9", "error": "#DC3545" });
    assert_eq!(found["colors"], colors);
    let fonts = json!([{ "family": "Inter", "role": "body", "webFont": true },
        { "family": "Source Serif", "role": "heading", "webFont": false }, { "family": "monospace", "role": "code", "webFont": false }]);
    assert_eq!(found["fonts"], fonts);
    let typography = json!({
        "fontFamilies": { "primary": "Inter", "heading": "Source Serif", "code": "monospace" },
        "fontStacks": { "primary": ["Inter", "sans-serif"], "paragraph": ["Inter", "sans-serif"], "body": ["Inter", "sans-serif"],
            "heading": ["Source Serif", "serif"] },
        "fontSizes": { "h1": "2.5rem", "h2": "calc(1rem + 1vw)" }, "lineHeights": { "body": 1.6 }, "fontWeights": { "bold": 800 } });
    assert_eq!(found["typography"], typography);
    assert_eq!(found["spacing"]["borderRadius"], "6px");
    assert_eq!(
        found["components"],
        json!({ "buttonPrimary": { "background": "#7C3BED", "textColor": "#FFFFFF", "borderColor": "#5B21B6", "borderRadius": "6px" },
            "input": { "borderColor": "#CCCCCC", "focusBorderColor": "#6D28D9" } })
    );
    assert_eq!(found["animations"], json!({ "transitionDuration": ".2s", "easing": "ease-in-out" }));
    assert_eq!(
        found["images"],
        json!({ "logo": "https://acme.test/l.svg", "favicon": "https://acme.test/f.svg", "ogImage": null })
    );
}

#[test]
fn nothing_declared_is_nothing_said() {
    let found = of_html("<p>text", "");
    let nothing = json!({ "colors": {}, "fonts": [], "icons": {}, "animations": {},
        "images": { "logo": null, "favicon": null, "ogImage": null } });
    assert_eq!(found, nothing);
}

#[test]
fn what_shines_through_lies_on_the_ground() {
    let found = of_html("", "body { background: #000; color: rgb(255 255 255 / 50%) }");
    assert_eq!(found["colors"], json!({ "background": "#000000", "textPrimary": "#808080" }));
}

#[test]
fn schemes() {
    let check =
        |html: &str, css: &str, scheme: Value| assert_eq!(of_html(html, css)["colorScheme"], scheme, "{html} {css}");
    check("", "body { background: #111 }", json!("dark"));
    check("<meta name=color-scheme content='light dark'>", "", json!("light"));
    check("<meta name=color-scheme content=dark>", "", json!("dark"));
    check("", ":root { color-scheme: dark }", json!("dark"));
    check("", "@media (prefers-color-scheme: dark) { body { background: #111 } }", Value::Null);
    check("<body style='background: black'>", "body { background: white }", json!("dark"));
    let themes = ".light { --bg: white } .navy { --bg: #161923 } [data-theme=ayu] { --bg: #0f1419 } body { background: var(--bg) }";
    check("<html class='js light'>", themes, json!("light"));
    check("<html class=light data-theme=ayu>", themes, json!("dark"));
}

fn button(text: &str, background: &str, framed: bool) -> Value {
    json!({ "kind": "button", "tag": "a", "text": text, "background": background, "color": "#ffffff", "ground": background,
        "radius": "4px", "box": { "x": 100, "y": 300, "width": 140, "height": 40 }, "framed": framed, "padding": [8, 16, 8, 16] })
}

fn text(kind: &str, color: &str, text: &str) -> Value {
    json!({ "kind": kind, "tag": "p", "text": text, "color": color, "ground": "#ffffff", "font": "Lora, serif", "size": 18,
        "weight": 400, "lineHeight": 1.5, "margin": [0, 0, 16, 0] })
}

#[test]
fn colors_by_their_use() {
    let check = |elements: Value, variables: Value, expect: &[(&str, Option<&str>)]| {
        let found = of_sample(&json!({ "ground": "#ffffff", "elements": elements, "variables": variables })).colors;
        for (role, hex) in expect {
            assert_eq!(found.get(*role).map(String::as_str), *hex, "{role} of {elements}: {found:?}");
        }
    };
    let running = || text("paragraph", "#333333", "The text of the page, which is long enough.");
    check(
        json!([button("Start now", "#e11d48", false), text("link", "#2563eb", "more"), running()]),
        json!([]),
        &[
            ("primary", Some("#E11D48")),
            ("link", Some("#2563EB")),
            ("textPrimary", Some("#333333")),
            ("background", Some("#FFFFFF")),
        ],
    );
    // A variable counts only if its colour is used; frameworks define many that are not.
    check(
        json!([button("Start now", "#e11d48", false)]),
        json!([{ "name": "--bs-primary", "color": "#0d6efd" }]),
        &[("primary", Some("#E11D48"))],
    );
    check(
        json!([button("Start now", "#e11d48", false), button("Other", "#0d6efd", true)]),
        json!([{ "name": "--bs-primary", "color": "#0d6efd" }, { "name": "--success", "color": "#198754" }]),
        &[("primary", Some("#0D6EFD")), ("secondary", Some("#E11D48")), ("success", Some("#198754"))],
    );
    // On a page without hues the colour of the buttons is the primary one.
    check(
        json!([button("Start now", "#111111", false), running()]),
        json!([]),
        &[("primary", Some("#111111")), ("accent", None)],
    );
    // An icon is not a button.
    check(
        json!([button("", "#e11d48", false), text("link", "#2563eb", "more")]),
        json!([]),
        &[("primary", Some("#2563EB"))],
    );
    // White on white is not meant to be read.
    check(
        json!([text("paragraph", "#ffffff", "hidden words that nobody reads"), running()]),
        json!([]),
        &[("textPrimary", Some("#333333"))],
    );
    let mut menu = text("paragraph", "#eeeeee", "A menu on a ground of its own, which is dark");
    menu["ground"] = "#111111".into();
    check(json!([running(), menu]), json!([]), &[("textPrimary", Some("#333333")), ("textSecondary", None)]);
    let muted = text("paragraph", "#777777", "small");
    check(json!([running(), muted]), json!([]), &[("textSecondary", Some("#777777"))]);
    let notice = json!({ "kind": "notice", "name": "admonition warning", "borderColor": "#ff9100" });
    check(json!([notice]), json!([]), &[("warning", Some("#FF9100")), ("error", None)]);
}

#[test]
fn schemes_that_are_seen() {
    let check = |sample: Value, dark: bool| {
        let scheme = of_sample(&sample).color_scheme.map(wire::ColorScheme::as_str);
        assert_eq!(scheme, Some(if dark { "dark" } else { "light" }), "{sample}");
    };
    check(json!({}), false);
    check(json!({ "dark": true }), true);
    check(json!({ "dark": true, "ground": "#ffffff" }), false);
    check(json!({ "ground": "#0b1120" }), true);
}

#[test]
fn shapes() {
    let field = json!({ "kind": "input", "borderColor": "#cccccc", "background": "#ffffff", "color": "#333333", "radius": "8px",
        "box": { "width": 300, "height": 40 }, "padding": [8, 12, 8, 12] });
    let header = json!({ "kind": "header", "box": { "y": 0, "width": 1280, "height": 64 }, "duration": "0.3s", "easing": "ease" });
    let footer = json!({ "kind": "footer", "box": { "y": 3000, "width": 1280, "height": 200 } });
    let found = of_sample(&json!({
        "elements": [header, button("Start now", "#e11d48", false), button("Other", "#ffffff00", false), field, footer,
            text("paragraph", "#333333", "one"), text("paragraph", "#333333", "two")],
        "grids": [{ "columns": 3, "gap": 24, "width": 1100 }, { "columns": 2, "gap": 24, "width": 300 }],
        "containers": [{ "maxWidth": 1140, "width": 1140, "height": 3000 }, { "maxWidth": 700, "width": 700, "height": 300 }],
        "icons": [{ "style": "outline", "color": "#333333" }, { "style": "outline", "color": "#333333" }, { "style": "font" }],
        "focusColor": "#e11d48",
    }));
    let spacing = found.spacing.unwrap();
    assert_eq!((spacing.base_unit, spacing.border_radius.as_deref()), (Some(8), Some("4px")));
    assert_eq!(Value::Object(spacing.padding), json!({ "buttonX": 16.0, "buttonY": 8.0, "input": 12.0 }));
    assert_eq!(
        (Value::Object(spacing.margins), spacing.grid_gutter),
        (json!({ "paragraph": 16.0 }), Some(json!(24.0)))
    );
    assert_eq!(found.components["input"]["focusBorderColor"], "#E11D48");
    assert_eq!(found.components["buttonPrimary"]["background"], "#E11D48");
    assert_eq!(found.layout["grid"], json!({ "columns": 3, "maxWidth": "1140px" }));
    assert_eq!((&found.layout["headerHeight"], &found.layout["footerHeight"]), (&json!("64px"), &json!("200px")));
    assert_eq!((&*found.icons["style"], &*found.icons["primaryColor"]), ("outline", "#333333"));
    assert_eq!((&*found.animations["transitionDuration"], &*found.animations["easing"]), ("0.3s", "ease"));
}

#[test]
fn letters() {
    let mut heading = text("heading", "#111111", "Title of it");
    heading["tag"] = "h1".into();
    heading["font"] = "\"Acme Sans\", sans-serif".into();
    heading["size"] = 40.into();
    heading["weight"] = 700.into();
    let found = of_sample(&json!({
        "body": { "kind": "body", "font": "Arial", "size": 16, "weight": 400 }, "faces": [{ "family": "Lora" }],
        "elements": [heading, text("paragraph", "#333333", "A paragraph of text"), { "kind": "small", "size": 13, "text": "x" }],
    }));
    let fonts = serde_json::to_value(&found.fonts).unwrap();
    assert_eq!(
        fonts,
        json!([{ "family": "Lora", "role": "body", "webFont": true }, { "family": "Acme Sans", "role": "heading", "webFont": false }])
    );
    let typography = serde_json::to_value(found.typography.unwrap()).unwrap();
    assert_eq!(typography["fontFamilies"], json!({ "primary": "Lora", "heading": "Acme Sans" }));
    assert_eq!(typography["fontStacks"]["body"], json!(["Arial"]));
    assert_eq!(typography["fontSizes"], json!({ "h1": "40px", "body": "18px", "small": "13px" }));
    assert_eq!(typography["lineHeights"], json!({ "heading": 1.5, "body": 1.5 }));
    assert_eq!(typography["fontWeights"], json!({ "regular": 400, "bold": 700 }));
}
