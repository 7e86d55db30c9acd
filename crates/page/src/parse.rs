//! HTML source to a tree of bounded size: the tree builder of the HTML standard, with limits on its input and output.
//!
//! On its input, [`Filter`] drops tags that would nest deeper than [`MAX_DEPTH`] (their text stays), and everything
//! once the budget is spent. On its output, [`BoundedTree`] counts the nodes and bytes that it stores.

use std::borrow::Cow;
use std::collections::HashMap;

use base::Stop;
use html5ever::interface::TreeSink;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{LocalName, local_name};

use crate::tokens::{Sink, TextMode, tokenize};
use crate::tree::{BoundedTree, GrowingNode, Node};

/// Nesting depth of elements; deeper tags are dropped, their text stays.
const MAX_DEPTH: u32 = 512;
/// Limit on the source, in bytes.
const MAX_SOURCE: usize = 1 << 30;
/// Limit on text other than raw text such as scripts and styles, in bytes.
const MAX_TEXT: usize = 24 << 20;
/// Limit on tokens: tags and pieces of text.
const MAX_TOKENS: usize = 4_000_000;

/// Parses `html` to its nodes in document order; the first is the document. The flag is true when parts were left out:
/// for the limits, or because `stop` was set.
pub(crate) fn parse(html: &str, stop: &Stop) -> (Vec<Node>, bool) {
    let (tree, cut) = build(html, 0, stop);
    (tree.finish(), cut)
}

/// Parses a page nested inside another one, `level` pages deep; the nodes can still be moved.
pub(crate) fn parse_inner(html: &str, level: usize, stop: &Stop) -> Vec<GrowingNode> {
    build(html, level, stop).0.into_growing()
}

fn build(html: &str, level: usize, stop: &Stop) -> (BoundedTree, bool) {
    let source = &html[..html.floor_char_boundary(MAX_SOURCE)];
    let options = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let mut filter = Filter {
        builder: TreeBuilder::new(BoundedTree::default(), options),
        raw_text: false,
        dropped: HashMap::new(),
        cut: false,
        tokens: 0,
        text: 0,
        stop,
    };
    let cut_attributes = tokenize(&line_ends(source.strip_prefix('\u{feff}').unwrap_or(source)), &mut filter);
    filter.builder.end();
    let cut = filter.cut || filter.full() || cut_attributes || source.len() < html.len();
    let tree = filter.builder.sink;
    tree.show(source, level, stop);
    (tree, cut)
}

/// Normalises line ends to `\n`.
fn line_ends(source: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', source.as_bytes()).is_none() {
        return Cow::Borrowed(source);
    }
    let mut plain = String::with_capacity(source.len());
    let mut lines = source.split('\r');
    plain.push_str(lines.next().unwrap_or_default());
    for line in lines {
        plain.push('\n');
        plain.push_str(line.strip_prefix('\n').unwrap_or(line));
    }
    Cow::Owned(plain)
}

/// Token sink that enforces the limits before the tree builder sees a token.
struct Filter<'s> {
    builder: TreeBuilder<u32, BoundedTree>,
    /// Whether the next text is raw text (script, style, title), which [`MAX_TEXT`] does not count.
    raw_text: bool,
    /// Number of start tags dropped for their depth, by name, so that their end tags are dropped too.
    dropped: HashMap<LocalName, usize>,
    cut: bool,
    tokens: usize,
    text: usize,
    stop: &'s Stop,
}

impl Filter<'_> {
    fn drops(&mut self, tag: &Tag) -> bool {
        let depth = &self.builder.sink.depth;
        if tag.kind == TagKind::StartTag {
            let drop = depth.get() >= MAX_DEPTH && !turns_tokenizer(&tag.name);
            if drop && !tag.self_closing {
                *self.dropped.entry(tag.name.clone()).or_default() += 1;
            }
            return drop;
        }
        match self.dropped.get_mut(&tag.name) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            // An estimate only: the tree sets the true depth when the next node is inserted.
            _ => {
                depth.set(depth.get().saturating_sub(1));
                false
            }
        }
    }
}

/// Whether a start tag switches the tokenizer's state. Dropping it would turn its raw text into markup.
fn turns_tokenizer(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("script")
            | local_name!("style")
            | local_name!("title")
            | local_name!("textarea")
            | local_name!("xmp")
            | local_name!("iframe")
            | local_name!("noembed")
            | local_name!("noframes")
    )
}

impl Sink for Filter<'_> {
    fn take(&mut self, token: Token) -> TextMode {
        self.tokens += 1;
        match &token {
            Token::EOFToken => {}
            _ if self.full() => {
                self.cut = true;
                return TextMode::Markup;
            }
            Token::TagToken(tag) if self.drops(tag) => {
                self.cut = true;
                return TextMode::Markup;
            }
            Token::TagToken(Tag { kind: TagKind::EndTag, .. }) => self.raw_text = false,
            Token::CharacterTokens(text) if !self.raw_text => self.text += text.len(),
            _ => {}
        }
        let follows = match self.builder.process_token(token, 1) {
            TokenSinkResult::RawData(RawKind::Rcdata) => TextMode::Decoded,
            TokenSinkResult::RawData(RawKind::Rawtext) => TextMode::Raw,
            TokenSinkResult::RawData(RawKind::ScriptData | RawKind::ScriptDataEscaped(_)) => TextMode::Script,
            TokenSinkResult::Plaintext => TextMode::Rest,
            TokenSinkResult::Continue | TokenSinkResult::Script(_) | TokenSinkResult::EncodingIndicator(_) => {
                return TextMode::Markup;
            }
        };
        self.raw_text = true;
        follows
    }

    fn full(&self) -> bool {
        // Misnested formatting elements are copied by the tree builder (the "adoption agency algorithm" of the HTML
        // standard), which can deepen the tree past MAX_DEPTH; four times that depth ends the parse.
        let tree = &self.builder.sink;
        let is_spent =
            self.tokens > MAX_TOKENS || self.text > MAX_TEXT || tree.depth.get() > 4 * MAX_DEPTH || tree.full();
        is_spent || self.stop.is_set()
    }

    fn in_drawing(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

#[cfg(test)]
mod tests {
    use dom_query::Document;
    use proptest::prelude::*;

    use super::*;
    use crate::tokens::MAX_ATTRIBUTES;
    use crate::tree::Data;

    fn parse_all(html: &str) -> (Vec<Node>, bool) {
        parse(html, &Stop::new())
    }

    /// One line per node: its depth, and its name with attributes or its text.
    fn outline(nodes: &[Node]) -> Vec<String> {
        let mut depths: Vec<usize> = Vec::new();
        let mut lines = Vec::new();
        for (place, node) in nodes.iter().enumerate() {
            let depth = if place == 0 { 0 } else { depths[node.parent as usize] + 1 };
            depths.push(depth);
            match &node.data {
                Data::Element(element) => lines.push(line(depth, element)),
                Data::Text(text) => lines.push(format!("{depth} {:?}", &**text)),
                Data::Other => {}
            }
        }
        lines
    }

    fn line(depth: usize, element: &dom_query::Element) -> String {
        let name = format!("{depth} {} {:?}", element.name.ns, element.name.local);
        element.attrs.iter().fold(name, |line, a| format!("{line} {:?}={:?}", a.name, &*a.value))
    }

    /// The outline of dom_query's own parse, without comments.
    fn expected(html: &str) -> Vec<String> {
        let document = Document::from(html);
        let mut lines = Vec::new();
        let mut text = Text::default();
        for node in document.root().descendants_it() {
            let depth = node.ancestors_it(None).count();
            if node.is_text() {
                if text.depth != depth {
                    lines.extend(flush(&mut text));
                }
                text.depth = depth;
                text.joined.push_str(&node.text());
            } else if let Some(element) = node.element_ref() {
                lines.extend(flush(&mut text));
                lines.push(line(depth, &element));
            }
        }
        lines.extend(flush(&mut text));
        lines
    }

    /// Texts next to each other.
    #[derive(Default)]
    struct Text {
        depth: usize,
        joined: String,
    }

    fn flush(text: &mut Text) -> Option<String> {
        let Text { depth, joined } = std::mem::take(text);
        (!joined.is_empty()).then(|| format!("{depth} {joined:?}"))
    }

    fn check(html: &str) {
        let (nodes, cut) = parse_all(html);
        let start: String = html.chars().take(200).collect();
        for (found, expect) in outline(&nodes).iter().zip(&expected(html)) {
            assert!(found == expect, "{start}: {found:.500}\ninstead of {expect:.500}");
        }
        assert_eq!(outline(&nodes).len(), expected(html).len(), "{start}");
        assert!(!cut, "{start}");
    }

    fn text(nodes: &[Node]) -> String {
        nodes.iter().filter_map(|node| if let Data::Text(text) = &node.data { Some(&**text) } else { None }).collect()
    }

    fn elements<'n>(nodes: &'n [Node], name: &str) -> Vec<&'n dom_query::Element> {
        let all =
            nodes.iter().filter_map(|n| if let Data::Element(element) = &n.data { Some(&**element) } else { None });
        all.filter(|element| &*element.name.local == name).collect()
    }

    #[test]
    fn ordinary_pages_parse_as_without_bounds() {
        check("<!doctype html><html lang=en><head><title>a<b></title></head><body><p>x<p>y</body></html>");
        check("<script>if (a<b) { '<p a b c>' } // </scrip</script><p title='>'>é<br></p>");
        check("<table><b>x<tr><td>y</table><template><p>z</template>");
        check("<body a=1><body b=2><svg><title><p>x</title><style><p></style></svg>");
        check("<b><p>x</b>y</p><textarea></p></textarea><plaintext><p>");
    }

    #[test]
    fn tags_are_read_as_the_standard_says() {
        check("<P ID=a id=b CLASS='x&amp;y' data-é=\"1\"checked =x/y/><BR/><br / ><i a = 'b' = c>x</I A='>'>y");
        check("<p = =>x<p a=>y<p a= b>z<a href=?a=1&b=2&copy=3&amp;c&lt>l</a><p a='\0' \0=b>\0 n\0n &#0;");
        check("a < b <3 </ x>c</>d<?php ?>e<!x>f<!--g-->h<!doctype i>j</");
        check("<p a='x");
        check("<p><");
        check("\u{feff}a\r\nb\rc<pre>\r\n\r\nd</pre><pre>&#10;x</pre>");
        check(
            "<title>a&amp;b</titles></title ><textarea>\n&lt;\0</textarea><style>&amp;\0</style><svg><![CDATA[a>b&amp;]]>c</svg>",
        );
        check("<![CDATA[x>y]]><math><mi>x</mi><annotation-xml encoding=text/html><p>y</math>");
        check("<script><!--<script></script>--></script><p>x<script>a</script");
        check("<!DOCTYPE html PUBLIC \"-//W3C//DTD HTML 3.2//EN\"><p>a<table><tr><td>b</table>c");
        check("<!DOCTYPE html><p>a<table><tr><td>b</table>c<frameset><form><a>1<a>2<div></form>x</div></a>");
    }

    #[test]
    fn long_text_is_whole() {
        check(&"é &amp; ".repeat(40_000));
        check(&"é".repeat(100_000));
        check(&format!("<title>{}</title>", "x&amp;".repeat(40_000)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_soup_parses_as_without_bounds(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "<", ">", "/", "=", "'", "\"", "&", ";", "!--", "-->", "--!>", "-", "<!", "<?", "</", "<![CDATA[", "]]>", "]", "<p", "<a href=",
                "<table>", "<td>", "<tr>", "</table>", "</p>", "</a>", "<b>", "</b>", "<i>", "</i>", "<div>", "</div>", "<svg>", "</svg>", "<math>",
                "<mi>", "<template>", "</template>", "<select>", "<option>", "<li>", "<ul>", "<pre>", "\n", "\r", "\r\n", "\0", "é", " ", "x", "X",
                "script", "<script>", "</script>", "<!--", "<style>", "</style>", "<title>", "</title>", "<textarea>", "</textarea>", "<plaintext>",
                "<frameset>", "<noscript>", "<iframe>", "</iframe>", "<body a=1", "<html b", "<form>", "<br/>", "</br>", "<img/", "&amp", "&copy",
                "&#x41;", "&#", "&notit;", "<!doctype html>", "<h1>", "</h2>", "<button>", "<nobr>", "<foreignObject>", "<desc>", "a=1 ",
            ]), 0..40),
        ) {
            let html = pieces.concat();
            let (nodes, cut) = parse_all(&html);
            prop_assert_eq!(outline(&nodes), expected(&html), "{}", html);
            prop_assert!(!cut);
        }
    }

    #[test]
    fn deep_nesting_is_flattened_and_keeps_its_text() {
        let html = format!("{}deep{}<p>after", "<div>".repeat(5000), "</div>".repeat(5000));
        let (nodes, cut) = parse_all(&html);
        assert!(cut);
        assert_eq!(text(&nodes), "deepafter");
        assert!(elements(&nodes, "div").len() <= MAX_DEPTH as usize);
        assert_eq!(outline(&nodes).last().map(String::as_str), Some("4 \"after\""));
    }

    #[test]
    fn surplus_attributes_are_left_out() {
        let attributes: String = (0..1000).map(|i| format!(" a{i}=1")).collect();
        let (nodes, cut) = parse_all(&format!("<p{attributes}>x</p>y"));
        assert!(cut);
        assert_eq!(elements(&nodes, "p")[0].attrs.len(), MAX_ATTRIBUTES);
        assert_eq!(text(&nodes), "xy");
    }
}
