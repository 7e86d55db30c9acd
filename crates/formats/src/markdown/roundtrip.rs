//! Property test: rendering our markdown gives the structure of the page.

use page::{Index, Page, local_name};
use proptest::prelude::*;
use pulldown_cmark::{Options, Parser, html::push_html};
use url::Url;

use super::{LinkStyle, MarkdownOptions, markdown};
use crate::content::ContentOptions;
use crate::select::content;

/// Pieces of text that markdown could read as markup.
const PIECES: [&str; 44] = [
    "a",
    "b",
    "word",
    "é",
    "漢",
    "1.",
    "2)",
    "-",
    "+",
    "#",
    "##",
    ">",
    "*",
    "**",
    "_",
    "__",
    "~",
    "~~",
    "`",
    "``",
    "[",
    "]",
    "](",
    "(",
    ")",
    "!",
    "![",
    "&lt;b&gt;",
    "&lt;!--",
    "&amp;lt;",
    "&amp;",
    "\\",
    "\\*",
    "|",
    "---",
    "===",
    ":",
    "“",
    "”",
    ".",
    "[x]",
    "[^1]",
    "$",
    "http://c.test",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec((prop::sample::select(PIECES.to_vec()), any::<bool>()), 1..5).prop_map(|pieces| {
        let joined: String =
            pieces.iter().map(|(piece, blank)| format!("{piece}{}", if *blank { " " } else { "" })).collect();
        joined.trim().to_owned()
    })
}

/// Text with marks; `marks` are those that may be opened, in this order.
fn inline(marks: &'static [&'static str]) -> BoxedStrategy<String> {
    let code = text().prop_map(|text| format!("<code>{text}</code>"));
    let image = Just("<img src=\"i\" alt=\"x [y]\">".to_owned());
    let leaf = prop_oneof![6 => text(), 2 => code, 1 => image];
    let item = match marks.split_first() {
        None => leaf.boxed(),
        Some((mark, rest)) => {
            let inner = inline(rest).prop_map(move |inner| {
                let name = mark.split(' ').next().unwrap();
                format!("<{mark}>{inner}</{name}>")
            });
            prop_oneof![3 => leaf, 2 => inner, 1 => inline(rest)].boxed()
        }
    };
    prop::collection::vec((item, prop::sample::select(vec!["", " ", " "])), 1..4)
        .prop_map(|items| items.iter().map(|(item, gap)| format!("{item}{gap}")).collect::<String>().trim().to_owned())
        .boxed()
}

fn paragraph() -> BoxedStrategy<String> {
    let marked = prop_oneof![
        inline(&["em", "strong", "a href=\"u\""]),
        inline(&["strong", "em"]),
        inline(&["a href=\"u\"", "strong", "em"]),
        inline(&["em", "del", "sub"]),
    ];
    prop::collection::vec(marked, 1..3).prop_map(|lines| lines.join("<br>")).boxed()
}

fn block() -> BoxedStrategy<String> {
    let code =
        prop::collection::vec(text(), 1..4).prop_map(|lines| format!("<pre><code>{}\n</code></pre>", lines.join("\n")));
    let heading =
        (1..7_u8, inline(&["em", "a href=\"u\""])).prop_map(|(level, text)| format!("<h{level}>{text}</h{level}>"));
    let row = |cell: &'static str| {
        (inline(&["strong", "a href=\"u\""]), text())
            .prop_map(move |(a, b)| format!("<tr><{cell}>{a}</{cell}><{cell}>{b}</{cell}></tr>"))
    };
    let table = (row("th"), row("td")).prop_map(|(head, body)| format!("<table>{head}{body}</table>"));
    let leaf = prop_oneof![
        4 => paragraph().prop_map(|text| format!("<p>{text}</p>")),
        1 => heading,
        1 => code,
        1 => Just("<hr>".to_owned()),
        1 => table,
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let blocks = prop::collection::vec(inner, 1..3).prop_map(|blocks| blocks.concat());
        let item = prop_oneof![
            paragraph(),
            blocks.clone(),
            (paragraph(), blocks.clone()).prop_map(|(a, b)| format!("<p>{a}</p>{b}"))
        ];
        let items = prop::collection::vec(item.prop_map(|item| format!("<li>{item}</li>")), 1..4)
            .prop_map(|items| items.concat());
        prop_oneof![
            items.clone().prop_map(|items| format!("<ul>{items}</ul>")),
            (items, 0..30_u8).prop_map(|(items, start)| format!("<ol start=\"{start}\">{items}</ol>")),
            blocks.prop_map(|blocks| format!("<blockquote>{blocks}</blockquote>")),
        ]
    })
    .boxed()
}

fn page(html: &str) -> Page {
    Page::parse(html, &Url::parse("https://a.test/").unwrap())
}

fn render(markdown: &str) -> String {
    let mut html = String::new();
    push_html(&mut html, Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH));
    html
}

/// Returns the structure as one line per block: the path of its containers, then its text with marks.
fn outline(page: &Page) -> String {
    let mut lines: Vec<String> = Vec::new();
    let body = page.first(&local_name!("body")).unwrap();
    blocks(page, body, "", &mut lines);
    lines.join("\n")
}

fn blocks(page: &Page, index: Index, path: &str, lines: &mut Vec<String>) {
    let mut line = String::new();
    let end = |line: &mut String, name: &str, lines: &mut Vec<String>| {
        let text = line.split_whitespace().collect::<Vec<_>>().join(" ");
        // Spaces around a line break do not count.
        let text = text.replace(" ⏎", "⏎").replace("⏎ ", "⏎");
        if !text.is_empty() {
            lines.push(format!("{path}{name}: {text}"));
        }
        line.clear();
    };
    for child in page.children(index) {
        let name = page.name(child).map(ToString::to_string);
        match name.as_deref() {
            Some("p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "th" | "td") => {
                end(&mut line, "p", lines);
                let mut text = String::new();
                marks(page, child, &mut text);
                end(&mut text, name.as_deref().unwrap(), lines);
            }
            Some("pre") => {
                end(&mut line, "p", lines);
                lines.push(format!("{path}pre: {:?}", page.text_of(child)));
            }
            Some("hr") => {
                end(&mut line, "p", lines);
                lines.push(format!("{path}hr"));
            }
            Some(tag @ ("ul" | "ol" | "li" | "blockquote" | "table" | "thead" | "tbody" | "tr")) => {
                end(&mut line, "p", lines);
                let tag = if matches!(tag, "thead" | "tbody") { "" } else { tag };
                blocks(page, child, &format!("{path}{tag}>"), lines);
            }
            Some(_) => inline_element(page, child, &mut line),
            None => line.push_str(page.text(child).unwrap_or_default()),
        }
    }
    end(&mut line, "p", lines);
}

fn marks(page: &Page, index: Index, out: &mut String) {
    for child in page.children(index) {
        match page.name(child) {
            Some(_) => inline_element(page, child, out),
            None => out.push_str(page.text(child).unwrap_or_default()),
        }
    }
}

fn inline_element(page: &Page, index: Index, out: &mut String) {
    let name = page.name(index).unwrap();
    let attr = |name| page.attr(index, name).unwrap_or_default();
    match &**name {
        "br" => out.push('⏎'),
        "img" => out.push_str(&format!("⟪img {} {}⟫", attr("src"), attr("alt"))),
        mark => {
            let start = format!("⟪{mark}{}⟫", attr("href"));
            let end = format!("⟪/{mark}⟫");
            // Adjacent marks of one kind are one mark.
            if mark != "a" && out.ends_with(&end) {
                out.truncate(out.len() - end.len());
            } else {
                out.push_str(&start);
            }
            marks(page, index, out);
            out.push_str(&end);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rendering_gives_the_same_structure(found in prop::collection::vec(block(), 1..4)) {
        let html = found.concat();
        let source = page(&html);
        let all = content(&source, &ContentOptions { only_main_content: false, ..ContentOptions::default() });
        let written = markdown(&all, &MarkdownOptions { links: LinkStyle::AsWritten, ..MarkdownOptions::default() });
        let rendered = render(&written);
        prop_assert_eq!(outline(&source), outline(&page(&rendered)), "{}\n---\n{}\n---\n{}", html, written, rendered);
    }
}
