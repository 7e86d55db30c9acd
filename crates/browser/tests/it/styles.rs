//! Tests of the sample of computed styles.

use browser::Visit;
use serde_json::{Value, json};

use crate::world::{World, plain};

const PAGE: &str = "<!doctype html><title>Acme</title><style>
    :root { --primary: oklch(0.628 0.2577 29.23); --hidden-color: red }
    body { margin: 0; background: #fafafa; color: #222; font: 16px/1.5 'Acme Sans', sans-serif }
    header { background: linear-gradient(#123456, #000); height: 64px } header svg { fill: #0f0 }
    a { color: #06c } .btn { display: inline-block; background: var(--primary); color: #fff; padding: 8px 16px; border-radius: 6px; transition: color .2s ease-in }
    input:focus { border: 1px solid var(--primary) } .menu { display: none }
    </style><header><a href=/ class=logo><svg width=80 height=20 viewBox='0 0 8 2' onload=x()><script>x()</script><path d='M0 0h8v2z'/></svg></a></header>
    <h1>Welcome</h1><p>Words of the page and <a href=/more>more</a> of them.<p class=menu><a href=/unseen>unseen</a></p>
    <a class=btn href=/start>Start now</a><input placeholder=Search>";

async fn look(world: &World, html: &str) -> Value {
    world.site.html("/page", html);
    let url = world.url("/page");
    world.visit(&Visit { styles: true, ..plain(&url) }).await.unwrap().rendered.styles.unwrap()
}

fn element<'s>(sample: &'s Value, kind: &str, text: &str) -> &'s Value {
    let found = sample["elements"].as_array().unwrap().iter().find(|one| one["kind"] == kind && one["text"] == text);
    found.unwrap_or_else(|| panic!("no {kind} {text}: {sample}"))
}

#[tokio::test]
async fn styles_are_told_as_they_are_seen() {
    let world = World::start().await;
    let sample = look(&world, PAGE).await;
    assert_eq!((&sample["ground"], &sample["dark"]), (&json!("#fafafa"), &json!(false)));
    assert_eq!(sample["variables"], json!([{ "name": "--primary", "color": "#ff0000" }]));
    assert_eq!(sample["focusColor"], "#ff0000");
    let button = element(&sample, "button", "Start now");
    assert_eq!(
        (&button["background"], &button["color"], &button["ground"]),
        (&json!("#ff0000"), &json!("#ffffff"), &json!("#ff0000"))
    );
    assert_eq!((&button["radius"], &button["padding"]), (&json!("6px"), &json!([8, 16, 8, 16])));
    assert_eq!((&button["duration"], &button["easing"]), (&json!("0.2s"), &json!("ease-in")));
    let link = element(&sample, "link", "more");
    assert_eq!(
        (&link["color"], &link["ground"], &link["framed"]),
        (&json!("#0066cc"), &json!("#fafafa"), &json!(false))
    );
    let header = element(&sample, "header", "");
    assert_eq!((&header["gradient"], &header["box"]["height"]), (&json!(["#123456", "#000000"]), &json!(64)));
    assert!(!sample.to_string().contains("unseen"), "{sample}");
    let logo = &sample["logos"][0];
    assert_eq!((&logo["leads"], &logo["hint"], &logo["top"]), (&json!("home"), &json!(true), &json!(true)));
    let drawing = logo["svg"].as_str().unwrap();
    assert!(drawing.contains("#00ff00") && !drawing.contains("script") && !drawing.contains("onload"), "{drawing}");
}

#[tokio::test]
async fn nobody_is_looked_at_unasked() {
    let world = World::start().await;
    assert!(world.page(PAGE).await.unwrap().rendered.styles.is_none());
}

/// Shadowed properties, prototypes that throw, recursive shapes, and too much of everything.
#[tokio::test]
async fn a_page_can_neither_break_nor_swell_it() {
    let world = World::start().await;
    let hostile = "<form name=body><input name=localName><input name=getAttribute><input name=lastElementChild></form>
        <form name=documentElement></form><img name=fonts><form name=styleSheets></form><form name=createElement></form>
        <header><a href=/><svg class=logo width=80 height=20><use href='#s'/></svg></a></header>
        <svg width=0 height=0><symbol id=s><circle r=2 /><use href='#s'/></symbol></svg><p>Words of the page</p>
        <script>Element.prototype.getAttribute = JSON.stringify = getComputedStyle = () => { throw 1 }</script>";
    let sample = look(&world, hostile).await;
    assert_eq!(element(&sample, "paragraph", "Words of the page")["color"], "#000000");
    assert!(sample["logos"][0]["svg"].as_str().unwrap().len() < 2_000, "{sample}");

    let drawing = format!(
        "<header><a href=/ class=logo><svg width=80 height=40>{}</svg></a></header>",
        "<path d='M0 0h9v9z'/>".repeat(250)
    );
    let text = format!("<p class='{0}' style='font-family:{0}'>{1}</p>", "x".repeat(300), "漢".repeat(200));
    let swollen = format!("{}{}{}", drawing.repeat(30), text.repeat(200), "<div><a href=/x>y</a></div>".repeat(50_000));
    let sample = look(&world, &swollen).await;
    assert!(sample["elements"].as_array().unwrap().len() > 10, "{sample}");
    assert!(sample.to_string().len() <= 256 * 1024, "{}", sample.to_string().len());
    assert!(sample["walked"].as_u64().unwrap() <= 6_000, "{}", sample["walked"]);
    assert!(sample["milliseconds"].as_u64().unwrap() < 1_000, "{}", sample["milliseconds"]);
}
