//! Text that linked styles hide although it is laid out.

use testkit::Reply;

use crate::world::{World, dom};

/// Rules of text that no visitor sees, and of the elements around it.
const HIDDEN: &[(&str, &str)] = &[
    ("opacity", "opacity: 0"),
    ("filter", "filter: opacity(0)"),
    ("white", "color: #fff"),
    ("dark", "background: #111; color: #151515"),
    ("clear", "color: transparent"),
    ("left", "position: absolute; left: -9999px"),
    ("right", "position: absolute; left: 9999px"),
    ("top", "position: absolute; top: -9999px"),
    ("indent", "text-indent: -9999px"),
    ("nosize", "font-size: 0"),
    ("pixel", "font-size: 1px"),
    ("clip", "position: absolute; clip: rect(0, 0, 0, 0)"),
    ("path", "clip-path: inset(50%)"),
    ("folded", "height: 0; overflow: hidden"),
    ("scaled", "transform: scale(0)"),
    (
        "reader",
        "position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0 0 0 0); white-space: nowrap",
    ),
];

/// Text that is seen, with the rules that it needs.
const SHOWN: &[(&str, &str)] = &[
    (
        "<div class=hero><p>WORDS on a picture</p></div>",
        ".hero { background: linear-gradient(#000, #333); color: #fff }",
    ),
    (
        "<div class=stage><div class=backdrop></div><p class=over>WORDS before a backdrop</p></div>",
        ".stage { position: relative } .backdrop { position: absolute; inset: 0; background: #024 } .over { position: relative; color: #fff }",
    ),
    (
        "<p class=rainbow>WORDS in a gradient</p>",
        ".rainbow { background: linear-gradient(90deg, red, blue); -webkit-background-clip: text; background-clip: text; color: transparent }",
    ),
    ("<div class=night><p>WORDS on a dark ground</p></div>", ".night { background: #000; color: #fff }"),
    (
        "<div class=bar>Menu<p class=out>WORDS beside their box</p></div>",
        ".bar { background: #000; color: #fff; height: 20px; position: relative } .out { position: absolute; top: 60px; color: #000; margin: 0 }",
    ),
    (
        "<div class=reel><div class=row><p>WORDS one</p><p>WORDS two</p><p>WORDS three</p></div></div>",
        ".reel { overflow: hidden; width: 600px } .row { display: flex; transform: translateX(-600px) } .row p { flex: 0 0 600px }",
    ),
    (
        "<div class=wide><table><tr><td class=first>one</td><td>WORDS of a wide table</td></tr></table></div>",
        ".wide { position: absolute; width: 500px; overflow-x: auto } .first { min-width: 9000px }",
    ),
    ("<p class=small>WORDS in small print</p>", ".small { font-size: 8px; opacity: .5 }"),
    (
        "<p class=mark><mark>WORDS with a ground of their own</mark></p>",
        ".mark { color: #fff } mark { background: #ff0; color: #000 }",
    ),
];

async fn captured(world: &World, html: &str, sheet: &str) -> String {
    let body = sheet.to_owned().into();
    world.site.respond("/style.css", Reply { body, ..Reply::default() }.header("content-type", "text/css"));
    let html = format!("<!doctype html><title>t</title><link rel=stylesheet href=/style.css><body>{html}");
    let visited = world.page(&html).await.unwrap();
    dom(&visited).to_owned()
}

/// Returns the sections that have a mark in them.
fn marked(dom: &str) -> Vec<&str> {
    let sections = dom.split("<section ").skip(1).map(|rest| rest.split("</section>").next().unwrap());
    sections.filter(|section| section.contains("data-invisible")).collect()
}

#[tokio::test]
async fn text_that_linked_styles_hide_is_marked() {
    let world = World::start().await;
    let sections: String =
        HIDDEN.iter().map(|(name, _)| format!("<section id={name}><div class={name}>ORDER</div></section>")).collect();
    let rules: String = HIDDEN.iter().map(|(name, rule)| format!(".{name} {{ {rule} }}\n")).collect();
    let dom = captured(&world, &format!("<p>The page.</p>{sections}<p>The end.</p>"), &rules).await;
    let found = marked(&dom);
    let missed: Vec<_> = HIDDEN
        .iter()
        .filter(|(name, _)| !found.iter().any(|section| section.contains(&format!("id=\"{name}\""))))
        .collect();
    assert!(missed.is_empty(), "{missed:?}: {dom}");
    assert!(dom.contains("<p>The page.</p>") && dom.contains("<p>The end.</p>"), "{dom}");
    let word = |name: &str| found.iter().find(|section| section.contains(&format!("id=\"{name}\""))).copied().unwrap();
    assert!(
        word("opacity").contains("data-invisible=\"opacity\"") && word("folded").contains("data-invisible=\"folded\"")
    );
    assert!(word("left").contains("data-invisible=\"cut\""), "{dom}");
}

#[tokio::test]
async fn text_that_is_seen_is_not_marked() {
    let world = World::start().await;
    let sections: String =
        SHOWN.iter().enumerate().map(|(at, (html, _))| format!("<section id=s{at}>{html}</section>")).collect();
    let rules: String = SHOWN.iter().map(|(_, rules)| format!("{rules}\n")).collect();
    let dom = captured(&world, &format!("<p>The page.</p>{sections}"), &rules).await;
    assert!(marked(&dom).is_empty(), "{:?}", marked(&dom));
    // A page of its own may have dark colours without a background.
    let dark = captured(&world, "<section id=d>WORDS in the dark</section>", ":root { color-scheme: dark }").await;
    assert!(marked(&dark).is_empty(), "{dark}");
    // A page that fades in as a whole is seen a moment later.
    let fading = captured(&world, "<section id=f>WORDS that fade in</section>", "body { opacity: 0 }").await;
    assert!(marked(&fading).is_empty(), "{fading}");
}
