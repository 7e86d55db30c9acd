//! Hostile pages: every format finishes quickly and in bounded memory. The threads of tests have 2 MiB of stack, like
//! those that convert pages in the service. The sizes are chosen for builds without optimisation.

use std::time::{Duration, Instant};

use base::Stop;
use formats::{
    ContentOptions, MarkdownOptions, Page, attributes, content, html, images, links, markdown, metadata, text_links,
};
use url::Url;

/// Runs every format and returns the markdown of the whole page.
fn convert(source: &str) -> String {
    let page = Page::parse(source, &Url::parse("https://example.com/a").unwrap());
    let main = content(&page, &ContentOptions::default());
    let all = content(&page, &ContentOptions { only_main_content: false, ..ContentOptions::default() });
    html(&main);
    links(&page);
    images(&page);
    metadata(&page);
    attributes(&page, "div > p, [a]", "class");
    markdown(&main, &MarkdownOptions::default());
    markdown(&all, &MarkdownOptions::default())
}

#[test]
fn nesting() {
    for unit in
        ["<div>", "<blockquote>", "<ul><li>", "<table><tr><td>", "<svg><g>", "<a href=x><b>", "<pre>", "<template>"]
    {
        let source = format!("start {}end", unit.repeat(20_000));
        let found = convert(&source);
        assert!(found.contains("start"), "{unit}");
        assert!(found.len() < 100_000, "{unit}: {} bytes", found.len());
    }
    let found = convert(&format!("{}end", "<ul><li>x".repeat(20_000)));
    assert!(found.ends_with("end"));
    assert_eq!(found.matches('x').count(), 20_000);
    assert!(found.len() < 2_000_000);
}

#[test]
fn formatting_that_is_never_closed() {
    let found = convert(&"<a href=x><b><i>x".repeat(5_000));
    assert_eq!(found.matches('x').count() - found.matches("example.com/x").count() * 2, 5_000);
    convert(&(0..3_000).map(|i| format!("<p><b id={i}>x</p>")).collect::<String>());
    convert(&"<b><i><p></b></i>x".repeat(3_000));
}

#[test]
fn siblings_without_end() {
    assert_eq!(convert(&format!("<main>{}", "<aside></aside>".repeat(20_000))), "");
    let found = convert(&"<a href=/x>edit page</a>".repeat(10_000));
    assert_eq!(found.matches("edit page").count(), 10_000);
    let lists = format!("{}{}", "<ul><li>x</li>".repeat(400), "<li>x</li>".repeat(2_000));
    assert!(convert(&lists).len() < 400_000);
}

#[test]
fn attributes_without_end() {
    let same = format!("<p {}>text", "a=1 ".repeat(300_000));
    assert_eq!(convert(&same), "text");
    let different: String = (0..300_000).map(|i| format!("a{i} ")).collect();
    assert_eq!(convert(&format!("<p {different}>text")), "text");
    assert_eq!(convert(&format!("<svg><style><p {different}>text</p>")), "text");
    assert_eq!(convert(&format!("<script>a<b {different}</script>text")), "text");
    let srcset = format!("<img srcset='{}'>", "/a.png 1w,".repeat(300_000));
    assert_eq!(convert(&srcset), "![](https://example.com/a.png)");
}

#[test]
fn addresses_that_multiply() {
    let source =
        format!("<base href='https://a.test/{}/'>{}", "b".repeat(30_000), "<a href=x><img src=y>".repeat(4_000));
    let page = Page::parse(&source, &Url::parse("https://example.com/a").unwrap());
    let all = content(&page, &ContentOptions { only_main_content: false, ..ContentOptions::default() });
    assert!(html(&all).len() < 100_000_000);
    assert_eq!((links(&page).len(), images(&page).len()), (1, 1));
    let different: String = (0..4_000).map(|i| format!("<a href={i}>")).collect();
    let source = format!("<base href='https://a.test/{}/'>{different}", "b".repeat(30_000));
    let found = links(&Page::parse(&source, &Url::parse("https://example.com/a").unwrap()));
    assert!(found.iter().map(String::len).sum::<usize>() < 40_000_000);
}

#[test]
fn heads_and_styles_without_end() {
    assert_eq!(convert(&format!("<p style='background:{}'>text", "url(".repeat(200_000))), "text");
    assert_eq!(convert(&format!("<p style='background:{}'>text", "url(\"".repeat(200_000))), "text");
    convert(&format!("<svg>{}{}", "<g>".repeat(400), "<title>x</title>".repeat(20_000)));
    let metas: String = (0..20_000).map(|i| format!("<meta name=k{i} content=v><meta name=k content={i}>")).collect();
    let found = metadata(&Page::parse(&metas, &Url::parse("https://example.com/").unwrap()));
    assert!(found.len() <= 501);
    assert!(found["k"].as_array().is_some_and(|values| values.len() <= 50));
    convert(&"<link rel='icon icon icon' href=data:x>".repeat(20_000));
}

#[test]
fn tables_without_end() {
    assert_eq!(convert("<table><tr><td colspan=1000000000 rowspan=1000000000>x</td></tr></table>"), "x");
    let wide = format!("<table><tr>{}{}", "<td rowspan=9999 colspan=9999>x".repeat(3_000), "<tr><td>y".repeat(3_000));
    assert!(convert(&wide).len() < 1_000_000);
}

#[test]
fn long_text() {
    let words = "word ".repeat(200_000);
    assert_eq!(convert(&words), words.trim());
    assert_eq!(convert(&format!("<p>{}", "*".repeat(200_000))).len(), 400_000);
    convert(&"<".repeat(100_000));
    convert(&"<!--".repeat(100_000));
    convert(&"&amp;".repeat(50_000));
    text_links(&"](".repeat(50_000), &Url::parse("https://example.com/").unwrap(), &Stop::new());
    text_links(&"`https://a.test ``".repeat(20_000), &Url::parse("https://example.com/").unwrap(), &Stop::new());
}

#[test]
fn long_texts_beside_many_elements() {
    let spaces = " ".repeat(1 << 20);
    let words = "word ".repeat(200_000);
    let picture = format!("<img src='data:image/png;base64,{}'>", "A".repeat(1 << 20));
    let sphinx = "<meta name=generator content=Sphinx><main><h1>Saw</h1><p>It cuts along the line.";
    for source in [
        format!("<title>t</title><main><h1>Saw</h1><p>It cuts.<div>{spaces}{}", "<p hidden>x</p>".repeat(10_000)),
        format!("{sphinx}<ul><li>{words}</li>{}", "<li><a href=x>Edit</a>".repeat(5_000)),
        format!("<label>{picture}{}", "<img src=x>".repeat(10_000)),
        format!("{}{}", "<b for=x>".repeat(500), "<i for=x>x</i>".repeat(20_000)),
    ] {
        let began = Instant::now();
        convert(&source);
        let took = began.elapsed();
        assert!(took < Duration::from_secs(8), "{}: {took:?}", &source[..60]);
    }
}

#[test]
fn a_page_past_the_limit_says_so_and_keeps_its_start() {
    let page = Page::parse(&"<p>word</p>".repeat(310_000), &Url::parse("https://example.com/").unwrap());
    assert!(page.truncated());
    assert_eq!(metadata(&page).len(), 0);
    assert!(!content(&page, &ContentOptions::default()).is_empty());
}

#[test]
fn work_ends_when_it_is_told_to() {
    let units = [
        "<p>word <b>bold</b> <a href=x>link</a>",
        "<ul><li>x",
        "<table><tr><td>a<td>b",
        "<i class=a>x</i>",
        "<b><i><p></b></i>x",
        "<meta name=k content=v><link rel=icon href=x><img srcset='/a.png 1w, /b.png 2w'>",
        "<a href=#fn1><sup>1</sup></a><li id=fn1 class=footnote>",
        "word ",
        "&amp;<",
    ];
    let selectors = ["i ~ b ~ i", "*:has(~ b)", ":not(:nth-last-child(2n)) > *", "[class*='aaaaaaab' i]"];
    let options = ContentOptions {
        exclude_tags: selectors.map(str::to_owned).to_vec(),
        only_main_content: true,
        ..ContentOptions::default()
    };
    for unit in units {
        let source = unit.repeat((8 << 20) / unit.len());
        for after in [0, 20, 200, 1000] {
            let stop = Stop::new();
            let told = std::thread::spawn({
                let stop = stop.clone();
                move || {
                    std::thread::sleep(Duration::from_millis(after));
                    stop.set();
                    Instant::now()
                }
            });
            let page = Page::parse_until(&source, &Url::parse("https://example.com/a").unwrap(), &stop);
            let main = content(&page, &options);
            html(&main);
            markdown(&main, &MarkdownOptions::default());
            links(&page);
            images(&page);
            metadata(&page);
            attributes(&page, "div > p, [a]", "class");
            text_links(&source, page.url(), &stop);
            let ended = Instant::now();
            let late = ended.saturating_duration_since(told.join().unwrap());
            // With optimisation a quarter of a second suffices.
            assert!(late < Duration::from_secs(2), "{unit} ended {late:?} after the signal at {after} ms");
        }
    }
}

#[test]
fn roots_frames_and_formulas_inside_each_other() {
    let found =
        convert(&format!("{}end", "<x-a><template shadowrootmode=open>[<slot></slot></template>".repeat(5_000)));
    // Elements nested too deep are dropped, so there is no slot to assign to.
    assert!(found.len() < 10_000, "{} bytes", found.len());
    convert(&"<x-a><template shadowrootmode=open><x-b>".repeat(5_000));
    convert(&"<iframe srcdoc='<p>x'></iframe>".repeat(5_000));
    let frames = (0..8).fold("<p>x".to_owned(), |inner, _| {
        format!("<iframe srcdoc=\"{}\"></iframe>", inner.replace('&', "&amp;").replace('"', "&quot;"))
    });
    assert_eq!(convert(&frames), "");
    convert(&format!("<math>{}", "<msup><mfrac>".repeat(5_000)));
    convert(&format!("<math>{}", "<mrow><mo>(</mo><mtable>".repeat(5_000)));
    convert(&"<div class=note>x".repeat(5_000));
    convert(&"<div role=grid><div role=row><b role=cell>x<b role=cell>y".repeat(300));
    convert(&"<table><tr><th>a<th>b<tr><td>".repeat(300));
    convert(&"<ul><ul><li>x".repeat(5_000));
}
