//! Properties of random pages: nothing panics, no word is lost or doubled, what is wanted of a page is a part of it.

use formats::{ContentOptions, MarkdownOptions, Page, content, html, images, links, markdown, metadata, text_links};
use proptest::prelude::*;
use url::Url;

const ELEMENTS: [&str; 40] = [
    "div",
    "p",
    "section",
    "article",
    "main",
    "nav",
    "header",
    "footer",
    "aside",
    "ul",
    "ol",
    "li",
    "table",
    "tr",
    "td",
    "th",
    "caption",
    "blockquote",
    "pre",
    "code",
    "b",
    "i",
    "em",
    "strong",
    "s",
    "sub",
    "sup",
    "a href=/x",
    "h1",
    "h3",
    "dl",
    "dt",
    "dd",
    "details",
    "summary",
    "span class=share",
    "div class=comments",
    "form",
    "figure",
    "q",
];

#[derive(Debug, Clone)]
enum Node {
    Word,
    Break,
    Element(usize, Vec<Node>),
}

fn tree() -> impl Strategy<Value = Vec<Node>> {
    let leaf = prop_oneof![4 => Just(Node::Word), 1 => Just(Node::Break)];
    let node = leaf.prop_recursive(7, 60, 5, |inner| {
        (0..ELEMENTS.len(), prop::collection::vec(inner, 0..5))
            .prop_map(|(name, children)| Node::Element(name, children))
    });
    prop::collection::vec(node, 1..6)
}

/// Words are numbered, so that each is unlike all others.
fn write(nodes: &[Node], out: &mut String, words: &mut usize) {
    for node in nodes {
        match node {
            Node::Word => {
                out.push_str(&format!(" q{words}z "));
                *words += 1;
            }
            Node::Break => out.push_str("<br>"),
            Node::Element(name, children) => {
                let tag = ELEMENTS[*name];
                out.push_str(&format!("<{tag}>"));
                write(children, out, words);
                out.push_str(&format!("</{}>", tag.split(' ').next().unwrap()));
            }
        }
    }
}

fn url() -> Url {
    Url::parse("https://example.com/d/").unwrap()
}

fn whole_page() -> ContentOptions {
    ContentOptions { only_main_content: false, ..ContentOptions::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_word_is_lost_or_doubled(nodes in tree()) {
        let (mut source, mut words) = (String::new(), 0);
        write(&nodes, &mut source, &mut words);
        let page = Page::parse(&source, &url());
        let all = content(&page, &whole_page());
        let (text, clean) = (markdown(&all, &MarkdownOptions::default()), html(&all));
        for word in 0..words {
            let word = format!("q{word}z");
            prop_assert_eq!(text.matches(&word).count(), 1, "{} in {}\n{}", &word, &source, &text);
            prop_assert_eq!(clean.matches(&word).count(), 1, "{} in {}", &word, &source);
        }
        let main = markdown(&content(&page, &ContentOptions::default()), &MarkdownOptions::default());
        prop_assert!(words == 0 || !main.is_empty(), "{}", &source);
        for word in main.split(|c: char| !c.is_alphanumeric()).filter(|word| word.starts_with('q')) {
            prop_assert!(text.contains(word));
        }
    }

    #[test]
    fn clean_html_is_stable(nodes in tree()) {
        let (mut source, mut words) = (String::new(), 0);
        write(&nodes, &mut source, &mut words);
        let page = Page::parse(&source, &url());
        let once = markdown(&content(&page, &whole_page()), &MarkdownOptions::default());
        let again = Page::parse(&html(&content(&page, &whole_page())), &url());
        prop_assert_eq!(once, markdown(&content(&again, &whole_page()), &MarkdownOptions::default()), "{}", &source);
    }

    #[test]
    fn nothing_panics(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "<", ">", "/", "=", "'", "\"", "!--", "-->", "<![CDATA[", "]]>", "<p", "<a href=", "<table>", "<td colspan=2", "</", "script", "<script>",
            "<svg>", "<math>", "<template>", "<select>", "<option>", "<li>", "<ul>", "<ol start=", "-1", "99999999999999999999", "é", "\u{0}", "\u{202e}",
            "&amp", "&#x0;", "<pre>\n", "<img srcset=", ",", " 1x", "data:", "javascript:", "`", "```", "*", "_", "[", "](", "|", "\n", " ", "text",
            "<title>", "<meta name=", " content=", "<base href=", "http://", "<frameset>", "<noscript>", "<iframe>", "style='background:url(",
        ]), 0..60),
        selector in "[a-z#.:>~+*()\\[\\] ]{0,12}",
    ) {
        let source = pieces.concat();
        let page = Page::parse(&source, &url());
        let options = ContentOptions { include_tags: vec![selector.clone()], exclude_tags: vec![selector], only_main_content: true };
        for options in [options, whole_page(), ContentOptions::default()] {
            let content = content(&page, &options);
            html(&content);
            markdown(&content, &MarkdownOptions { remove_base64_images: false });
        }
        links(&page);
        images(&page);
        text_links(&source, &url());
        for value in metadata(&page).values() {
            let unfit = value.to_string().contains(|c: char| c.is_control() || c == '\u{202e}');
            prop_assert!(!unfit);
        }
    }
}
