//! Synthetic pages of several kinds, identical on every machine.

use url::Url;

use super::Source;

/// Pieces of a page of average size.
const PIECES: usize = 300;

/// Returns twenty pages: five kinds, four sizes each.
pub(crate) fn sources() -> Vec<Source> {
    let kinds: [fn(usize) -> String; 5] = [prose, nested, listing, table, code];
    let mut sources = Vec::new();
    for size in 1..=4 {
        for (number, kind) in kinds.iter().enumerate() {
            let body: String = (0..PIECES * size).map(kind).collect();
            let path = format!("{number}/{size}");
            let url = Url::parse("https://example.com/").and_then(|base| base.join(&path));
            sources.extend(url.map(|url| Source { url, html: page(&path, &body) }));
        }
    }
    sources
}

/// Wraps content in a typical page, of which half is not content.
fn page(title: &str, body: &str) -> String {
    let script: String = (0..body.len() / 160)
        .map(|i| format!("  window.queue.push({{ id: {i}, 'path': '/a/{i}?b=<c>', run: x => x < {i} && x > 1 }});\n"))
        .collect();
    let style: String =
        (0..body.len() / 200).map(|i| format!(".block-{i} > .item {{ color: #fff; margin: 0 {i}px }}\n")).collect();
    let menu: String = (0..60)
        .map(|i| format!("<li class=\"menu-item menu-{i}\"><a href=\"/section/{i}\">Section {i}</a></li>\n"))
        .collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Page {title}</title>\n\
         <meta name=\"description\" content=\"A page &amp; more\">\n<style>{style}</style>\n<script>{script}</script>\n</head>\n\
         <body class=\"home page\">\n<header class=\"site-header\"><nav><ul>{menu}</ul></nav></header>\n\
         <main id=\"main\"><article class=\"post\"><h1>Page {title}</h1>\n{body}</article></main>\n\
         <aside class=\"sidebar\"><ul>{menu}</ul></aside>\n<footer><p>All rights reserved &copy; 2026</p></footer>\n</body>\n</html>\n"
    )
}

fn prose(i: usize) -> String {
    let words = "The river rose slowly through the night, and by morning the lower meadows were under water; nobody had seen \
                 it so high in April. ";
    let heading = if i.is_multiple_of(8) { format!("<h2 id=\"part-{i}\">Part {i}</h2>\n") } else { String::new() };
    format!(
        "{heading}<p>{words}It was <em>not</em> the first time &mdash; <a href=\"/notes/{i}?a=1&amp;b=2\">the notes</a> of \
         <strong>1931</strong> say &ldquo;the same&rdquo;. {words}</p>\n"
    )
}

fn nested(i: usize) -> String {
    let depth = 4 + i % 24;
    let open: String = (0..depth).map(|d| format!("<div class=\"row level-{d}\" data-block=\"{i}-{d}\">\n")).collect();
    format!("{open}<span>Text number {i} in a deep place, with a few more words.</span>{}\n", "</div>".repeat(depth))
}

fn listing(i: usize) -> String {
    format!(
        "<div class=\"card\"><a href=\"/item/{i}\"><img src=\"/img/{i}.jpg\" alt=\"Item {i}\" loading=\"lazy\"></a>\
         <h3><a href=\"/item/{i}\" title=\"Item {i}\">Item {i} of the list</a></h3><p>Short words about item {i}.</p>\
         <ul><li><a href=\"/tag/{i}\">tag {i}</a></li><li><a href=\"/by/{i}\">author {i}</a></li></ul></div>\n"
    )
}

fn table(i: usize) -> String {
    let row: String = (0..8).map(|column| format!("<td class=\"c{column}\">{}</td>", i * column)).collect();
    let rows = format!("<tr><th scope=\"row\">Row {i}</th>{row}</tr>\n").repeat(6);
    format!("<table class=\"data\"><caption>Table {i}</caption>\n<tbody>{rows}</tbody></table>\n")
}

fn code(i: usize) -> String {
    let line = |n: usize| {
        format!(
            "<span class=\"k\">let</span> <span class=\"n\">value_{n}</span> <span class=\"o\">=</span> \
             <span class=\"mi\">{i}</span> &lt; <span class=\"nf\">call</span>(&amp;<span class=\"n\">x</span>);\n"
        )
    };
    let lines: String = (0..6).map(line).collect();
    format!(
        "<p>Call <code>call(&amp;x)</code> like this:</p>\n<pre><code class=\"language-rust\">{lines}</code></pre>\n"
    )
}
