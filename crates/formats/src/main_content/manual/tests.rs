//! Small documentation pages, with the lines that are kept of each.

use page::Page;

use crate::content::ContentOptions;
use crate::main_content::outline::Outline;
use crate::select::content;

/// Returns the blocks of text that are kept of a page with this body, trimmed.
fn kept(body: &str) -> Vec<String> {
    let html = format!("<!doctype html><html><head><title>Bench</title></head><body>{body}</body></html>");
    let page = Page::parse(&html, &url::Url::parse("https://docs.a.test/bench.html").unwrap());
    let found = content(&page, &ContentOptions::default());
    let outline = Outline::of(&found);
    let text = |texts: &std::ops::Range<usize>| {
        let texts = outline.texts[texts.clone()].iter().filter_map(|&text| page.text(text));
        texts.collect::<String>().trim().to_owned()
    };
    outline.blocks.iter().map(|block| text(&block.texts)).collect()
}

/// Asserts that everything in `body` is kept except the parts between `{` and `}`.
fn check(body: &str) {
    let whole = body.replace(['{', '}'], "");
    let own: String = body
        .split('{')
        .enumerate()
        .map(|(at, part)| if at == 0 { part } else { part.split_once('}').unwrap().1 })
        .collect();
    let blocks = |html: &str| -> Vec<String> {
        let page = Page::parse(html, &url::Url::parse("https://docs.a.test/bench.html").unwrap());
        let options = ContentOptions { only_main_content: false, ..ContentOptions::default() };
        let outline = Outline::of(&content(&page, &options));
        let text = |texts: &std::ops::Range<usize>| {
            let texts = outline.texts[texts.clone()].iter().filter_map(|&text| page.text(text));
            texts.collect::<String>().trim().to_owned()
        };
        outline.blocks.iter().map(|block| text(&block.texts)).collect()
    };
    assert_eq!(kept(&whole), blocks(&own), "{body}");
}

const SITE: &str = "{<header><a href=/>Workshop</a><nav><a href=/shop>Shop</a><a href=/map>Map</a></nav></header>}";
const END: &str = "{<footer><p>Copyright of the workshop. All rights reserved.<p><a href=/terms>Terms</a></footer>}";
const FIRST: &str = "<h1>The bench</h1><p>It stands against the wall, where the light comes in from the left.";

#[test]
fn a_note_is_content_whatever_it_is_made_of() {
    for note in [
        "<div class='theme-admonition alert alert--warning'><div>Warning</div><div><p>Mind the blade.</div></div>",
        "<aside class='starlight-aside starlight-aside--danger'><p aria-hidden=true>Danger</p><p>Mind it.</p></aside>",
        "<div class='warning custom-block'><p>Warning<p>Mind the blade.</div>",
        "<div class='admonition note'><p class=admonition-title>Note<p>Mind the blade.</div>",
        "<div class=markdown-alert><p>Note<p>Mind the blade.</div>",
        "<div class=admonitionblock><table><tr><td>Note<td>Mind the blade.</table></div>",
        "<div class='alert alert-danger' role=alert>Mind the blade.</div>",
        "<div class=confluence-information-macro><p>Mind the blade.</div>",
        "<aside class=remark><p>Mind the blade.</aside>",
        "<div role=note>Mind the blade.</div>",
    ] {
        check(&format!("{SITE}<main>{FIRST}{note}<p>Its top is of beech.</main>{END}"));
        let long = "<p>The vice at the left end has a jaw as wide as the bench is deep, and holds boards of any width."
            .repeat(20);
        check(&format!("{SITE}<main>{FIRST}{long}{note}{long}</main>{END}"));
    }
}

#[test]
fn footnotes_are_content_whatever_they_are_made_of() {
    for notes in [
        "<aside class='footnote-list brackets'><aside class='footnote brackets' id=f role=doc-footnote>\
         <span class=label>[<a role=doc-backlink href=#r>1</a>]</span><p>Of beech.</aside></aside>",
        "<footer class=footnotes><ol><li id=f>Of beech. <a href=#r>↩</a></ol></footer>",
        "<aside class=my-footnotes><p id=f><a href=#r>1</a> Of beech.</aside>",
        "<aside role=doc-endnotes><p id=f><a href=#r>1</a> Of beech.</aside>",
    ] {
        check(&format!(
            "{SITE}<main>{FIRST}<p>A top<a href=#f id=r role=doc-noteref>1</a> of wood.{notes}</main>{END}"
        ));
    }
    check(&format!("{SITE}<main>{FIRST}{{<aside class=notes><a href=/n>News</a></aside>}}</main>{END}"));
}

#[test]
fn a_chapter_may_be_called_what_it_likes() {
    for name in
        ["search", "navigation", "footer", "ads", "related-work", "sidebar", "pagination", "cookies", "menu", "share"]
    {
        let title = name.replace('-', " ");
        check(&format!(
            "{SITE}<main>{FIRST}<h2 id={name}>{title}</h2><p class={name}>Two sentences on it. More.</main>{END}"
        ));
        check(&format!("{SITE}<main>{FIRST}<section id={name}><h2>{title}</h2><p>Two words.</section></main>{END}"));
        check(&format!("{SITE}<main>{FIRST}<pre>let <span class={name}>x</span> = 1;</pre></main>{END}"));
    }
}

#[test]
fn hidden_text_is_content_when_a_control_opens_it() {
    let closed = "<button aria-expanded=false aria-controls=a>How long?</button>";
    check(&format!("<main>{FIRST}<h3>{closed}</h3><div id=a hidden><p>Two hours.</div></main>"));
    check(&format!("<main>{FIRST}<details><summary>How long?</summary><p>Two hours.</details></main>"));
    check(&format!(
        "<main>{FIRST}<div role=tablist><a role=tab href=#n>npm</a></div><div role=tabpanel style='display: none'>npm i</div></main>"
    ));
    for body in ["<div style='display: none'><p>Two hours.</div>", "<p hidden>Two hours.</p>"] {
        check(&format!("<main>{FIRST}<details><summary>How long?</summary>{body}</details><p>The end.</main>"));
        check(&format!(
            "<main>{FIRST}<details><summary>How long?</summary><div><div>{body}</div></div></details><p>The end.</main>"
        ));
        let inner = format!("<details><summary>How long?</summary>{body}</details>");
        check(&format!(
            "<main>{FIRST}<details><summary>Why?</summary><div style='display:none'><p>So.{inner}</div></details></main>"
        ));
        check(&format!(
            "<main>{FIRST}<details><summary>How long?</summary><p>A day.{{{body}}}</details><p>The end.</main>"
        ));
    }
    check(&format!("<main>{FIRST}{{<div hidden><p>Nothing opens this.</div>}}<p>The end of it.</main>"));
    check(&format!(
        "<main>{FIRST}<div hidden data-collapsed><p>A control of the page opens this.</div><p>The end.</main>"
    ));
    check(&format!("<main>{FIRST}<dialog open role=dialog><p>Mind the blade.</dialog><p>The end of it.</main>"));
    check(&format!("<main>{FIRST}{{<div role=dialog><p>Choose a language.</div>}}<p>The end of it.</main>"));
}

#[test]
fn a_long_sidebar_is_furniture_on_a_short_page() {
    let links = "<li><a href=/x>One more page of the manual</a>".repeat(30);
    check(&format!("{{<div class=sidebar><ul>{links}</ul></div>}}<main>{FIRST}</main>"));
    check(&format!("{{<div class=docs-sidebar><ul>{links}</ul></div>}}<div>{FIRST}</div>"));
    check(&format!("{{<nav><ul>{links}</ul></nav>}}<div>{FIRST}</div>"));
    // On a page of nothing but links, the links are the text.
    check(&format!("{{<nav><a href=/>Start</a></nav>}}<main><h1>All chapters</h1><ul>{links}</ul></main>"));
    check(&format!("<h1>All chapters</h1><ul>{links}</ul>"));
}

#[test]
fn labels_and_buttons_of_the_site_go() {
    check(&format!(
        "{{<a href=#c>Skip to content</a>}}<main>{{<p>On this page</p>}}{FIRST}<pre>ls{{<button>Copy</button>}}</pre>\
         <p>The end.{{<div class=feedback><p>Was this page helpful?</p><button>Yes</button></div>}}\
         {{<div class=theme-doc-footer><a href=/e>Edit this page</a></div>}}{{<p>Last updated on Monday</p>}}</main>"
    ));
    check("<main><h2>Saw{<a class=headerlink href=#saw>¶</a>}</h2><p>Cut along the line, not beside it.</main>");
    check("<main><h2>Saw</h2><p>Cut along the line.{<i class=material-icons>expand_more</i>}</main>");
}

#[test]
fn a_table_of_the_page_and_a_question_about_it_go() {
    check(&format!(
        "<main>{FIRST}{{<div><h2>On this page</h2><ul><li><a href=#a>Saw</a><li><a href=#b>Sand</a></ul></div>}}\
         <h2 id=a>Saw</h2><p>Cut along the line.<h2 id=b>Sand</h2><p>Along the grain.\
         {{<p>Did this page help you?</p><p><a href=/y>Yes</a></p><p><a href=/n>No</a></p>}}</main>"
    ));
    // The heading after the table of contents is kept, although it is a link within the page.
    for heading in [
        "<h2 id=a><a class=header href=#a>Saw</a></h2>",
        "<h3><a href=#a id=a>Saw</a></h3>",
        "<section id=a><h2><a class=toc-backref href=#id1>Saw</a></h2></section>",
        "<dl><dt id=a><a href=#a>Saw</a><dd>Cuts.</dl>",
        "<div id=a><p><a href=#a>Saw</a></p></div>",
        "<div id=é><p><a href=#%C3%A9>Saw</a></p></div>",
    ] {
        check(&format!(
            "<main>{FIRST}{{<h2>Contents</h2><ul><li><a href=#a>Saw</a><li><a href=#b>Sand</a></ul>}}{heading}<p>Cut.</main>"
        ));
    }
    // A list of links to other pages is the text of an index.
    check(&format!("<main>{FIRST}<h2>Contents</h2><ul><li><a href=a>Saw</a><li><a href=b>Sand</a></ul></main>"));
}

#[test]
fn names_in_a_list_may_be_those_of_buttons() {
    let list = |names: &[&str]| names.iter().map(|name| format!("<li><a href=x>{name}</a>")).collect::<String>();
    check(&format!("<main>{FIRST}<ul>{}</ul></main>", list(&["<code>Clone</code>", "<code>Copy</code>", "Debug"])));
    check(&format!("<main>{FIRST}<ul>{}</ul></main>", list(&["Print", "Scan", "Edit", "Fax"])));
    check(&format!("<main>{FIRST}<ul>{}</ul></main>", list(&["<code>Copy</code>", "<code>Print</code>"])));
    check(&format!("<main>{FIRST}{{<ul>{}</ul>}}<p>Its top is of beech.</main>", list(&["Edit", "Print"])));
    check(&format!("<main>{FIRST}{{<div><a href=x>Edit</a></div>}}<p>Its top is of beech.</main>"));
}

#[test]
fn a_line_of_links_to_the_parts_of_the_page_goes() {
    check(&format!(
        "<main>{FIRST}{{<p><a href=#a>Saw</a> | <a href=#b>Sand</a> | <a href=#c>Oil</a></p>}}<h2 id=a>Saw</h2><p>Cut.</main>"
    ));
    check(&format!(
        "<main>{FIRST}<p>See <a href=#a>sawing</a>, <a href=#b>sanding</a> and <a href=#c>oiling</a> below.</main>"
    ));
}

#[test]
fn line_numbers_are_no_code() {
    check(
        "<main><h1>Saw</h1><p>Run it like this.<table><tr>{<td class=linenos>1 2</td>}<td><pre>a</pre></table></main>",
    );
    check("<main><h1>Saw</h1><p>Run it like this.<pre>{<span class=lineno>1</span>}let x = 1;</pre></main>");
}

#[test]
fn the_title_is_kept_where_it_stands_before_the_box() {
    check(
        "{<nav><a href=/>Start</a></nav>}<header><h1>Saw</h1><p>In two steps.</header><main><p>Cut along the line.</main>",
    );
    check("<div role=banner><h1>Saw</h1></div><p>Cut along the line.<div role=contentinfo></div>");
    check("<h1>Saw</h1>{<p>Site of saws}<main><p>Cut along the line.</main>{<p>More of the site}");
}

#[test]
fn ways_and_notes_at_the_ends_of_a_bare_page_go() {
    check(
        "{<p><a href=a>Previous</a> | <a href=b>Up</a> | <a href=c>Next</a></p>}<h1>Saw</h1><p>Cut along the line.\
         <ul><li><a href=d>How to sand</a></ul>{<hr><p><a href=c>Next</a> <a href=a>Previous</a> <a href=b>Contents</a></p>}\
         {<address>Copyright of the saw group</address>}",
    );
    check(&format!("{SITE}<main>{FIRST}<address>The workshop, Long Lane 4, Bath</address></main>{END}"));
    check("{<div class=navheader>Saw <a href=a>Prev</a></div>}<h1>Saw</h1><p>Cut.</p>{<p>Generated by a program</p>}");
}

#[test]
fn an_index_page_of_a_book_keeps_its_parts() {
    let page =
        kept("<h1>Book</h1><dl><dt>saw<dd>cuts<dt>plane<dd>smooths</dl><table><tr><th>a<th>b<tr><td>1<td>2</table>");
    assert_eq!(page, ["Book", "saw", "cuts", "plane", "smooths", "a", "b", "1", "2"]);
}
