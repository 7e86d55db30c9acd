//! HTML source to a tree of bounded size: the parser of the HTML standard with a budget in front of and behind it.
//!
//! Behind the tree builder stands [`BoundedTree`], which counts what it builds. In front stands [`Filter`], which drops
//! tags that would nest deeper than [`MAX_DEPTH`] (their text stays) and everything once the budget is spent.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use dom_query::{Document, NodeId};
use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, QualName, TokenizerResult, local_name};

use crate::scan::{MAX_ATTRIBUTES, markup_at};

/// Elements inside each other; deeper tags are dropped, their text stays.
const MAX_DEPTH: u32 = 512;
/// Nodes of one tree: about 25 MB of ordinary HTML.
const MAX_NODES: usize = 600_000;
/// Bytes of text, scripts and attributes together.
const MAX_BYTES: usize = 64 << 20;
/// Bytes of text that is not script or style.
const MAX_TEXT: usize = 24 << 20;
/// Tags and pieces of text read; a million lone `&amp;` take a second.
const MAX_TOKENS: usize = 4_000_000;
const ATTRIBUTE_BYTES: usize = 48;
/// Source handed to the tokenizer at once; the budget is looked at in between.
const CHUNK: usize = 64 << 10;

/// Parses `html`. The flag says whether something had to be left out.
pub(crate) fn parse(html: &str) -> (Document, bool) {
    let tree = BoundedTree::default();
    let options = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let filter = Filter {
        builder: TreeBuilder::new(tree, options),
        raw_text: Cell::new(false),
        dropped: RefCell::default(),
        cut: Cell::new(false),
        tokens: Cell::new(0),
    };
    let tokenizer = Tokenizer::new(filter, TokenizerOpts::default());
    let mut feed = Feed { html, fed: 0, queue: BufferQueue::default(), tokenizer };
    let cut_attributes = feed.run();
    let tokenizer = feed.tokenizer;
    tokenizer.end();
    let cut = tokenizer.sink.cut.get() || tokenizer.sink.full() || cut_attributes;
    (tokenizer.sink.builder.sink.finish(), cut)
}

struct Feed<'h> {
    html: &'h str,
    fed: usize,
    queue: BufferQueue,
    tokenizer: Tokenizer<Filter>,
}

impl Feed<'_> {
    /// Walks over the markup in step with the tokenizer, so that both agree where tags begin.
    fn run(&mut self) -> bool {
        let mut at = 0;
        let mut cut = false;
        while !self.tokenizer.sink.full() {
            let raw_text = self.tokenizer.sink.raw_text.get();
            let Some(start) = self.html[at..].find(if raw_text { "</" } else { "<" }) else {
                break;
            };
            let begin = at + start;
            let markup = markup_at(self.html, begin);
            at = markup.end;
            if !raw_text && self.html[begin..].starts_with("<!--") {
                // Comments would be left out behind the tokenizer, which is slow to read them.
                self.feed_to(begin);
                self.fed = at;
            }
            if let Some(surplus) = markup.surplus {
                self.feed_to(surplus.start);
                self.fed = surplus.end;
                cut = true;
            }
            if raw_text || markup.may_open_raw_text || at - self.fed >= CHUNK {
                self.feed_to(at);
            }
        }
        self.feed_to(self.html.len());
        cut
    }

    fn feed_to(&mut self, end: usize) {
        while self.fed < end && !self.tokenizer.sink.full() {
            let mut stop = end.min(self.fed + CHUNK);
            while !self.html.is_char_boundary(stop) {
                stop += 1;
            }
            self.queue.push_back(StrTendril::from_slice(&self.html[self.fed..stop]));
            self.fed = stop;
            // Scripts are not run, so their end is no reason to wait.
            while !matches!(self.tokenizer.feed(&self.queue), TokenizerResult::Done) {}
        }
        self.fed = self.fed.max(end);
    }
}

struct Filter {
    builder: TreeBuilder<Handle, BoundedTree>,
    /// The tokenizer reads text in which only one end tag is markup.
    raw_text: Cell<bool>,
    /// Start tags dropped for their depth, so that their end tags are dropped too.
    dropped: RefCell<HashMap<LocalName, usize>>,
    cut: Cell<bool>,
    tokens: Cell<usize>,
}

impl Filter {
    fn full(&self) -> bool {
        self.tokens.get() > MAX_TOKENS || self.builder.sink.full()
    }

    fn drops(&self, tag: &Tag) -> bool {
        let depth = &self.builder.sink.depth;
        let mut dropped = self.dropped.borrow_mut();
        if tag.kind == TagKind::StartTag {
            let drop = depth.get() >= MAX_DEPTH && !turns_tokenizer(&tag.name);
            if drop && !tag.self_closing {
                *dropped.entry(tag.name.clone()).or_default() += 1;
            }
            return drop;
        }
        match dropped.get_mut(&tag.name) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            // The next element that is appended tells the true depth.
            _ => {
                depth.set(depth.get().saturating_sub(1));
                false
            }
        }
    }
}

/// Without these tags in the tree the tokenizer would read their raw text as markup.
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

impl TokenSink for Filter {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        self.tokens.set(self.tokens.get() + 1);
        match &token {
            Token::EOFToken => {}
            _ if self.full() => {
                self.cut.set(true);
                return TokenSinkResult::Continue;
            }
            Token::CommentToken(_) => return TokenSinkResult::Continue,
            Token::TagToken(tag) if self.drops(tag) => {
                self.cut.set(true);
                return TokenSinkResult::Continue;
            }
            Token::TagToken(Tag { kind: TagKind::EndTag, .. }) => self.raw_text.set(false),
            Token::CharacterTokens(text) if !self.raw_text.get() => self.builder.sink.read(text.len()),
            _ => {}
        }
        let result = self.builder.process_token(token, line);
        if matches!(result, TokenSinkResult::RawData(_) | TokenSinkResult::Plaintext) {
            self.raw_text.set(true);
        }
        result
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// A node and its place in the list of depths.
#[derive(Clone, Copy)]
struct Handle {
    id: NodeId,
    place: usize,
}

struct BoundedTree {
    document: Document,
    /// Depth of every handle given out.
    depths: RefCell<Vec<u32>>,
    /// Depth at which the next element would probably stand.
    depth: Cell<u32>,
    bytes: Cell<usize>,
    text: Cell<usize>,
}

impl Default for BoundedTree {
    fn default() -> BoundedTree {
        BoundedTree {
            document: Document::default(),
            depths: RefCell::new(vec![0]),
            depth: Cell::new(0),
            bytes: Cell::new(0),
            text: Cell::new(0),
        }
    }
}

impl BoundedTree {
    fn full(&self) -> bool {
        // A tag that closes badly nested formatting can deepen the tree past the limit, but not for ever.
        self.bytes.get() > MAX_BYTES
            || self.text.get() > MAX_TEXT
            || self.document.tree.len() > MAX_NODES
            || self.depth.get() > 4 * MAX_DEPTH
    }

    fn handle(&self, id: NodeId) -> Handle {
        let mut depths = self.depths.borrow_mut();
        depths.push(0);
        Handle { id, place: depths.len() - 1 }
    }

    fn spend(&self, bytes: usize) {
        self.bytes.set(self.bytes.get() + bytes);
    }

    fn read(&self, text: usize) {
        self.text.set(self.text.get() + text);
    }

    fn child(&self, parent_depth: u32, child: NodeOrText<Handle>) -> NodeOrText<NodeId> {
        match child {
            NodeOrText::AppendNode(node) => {
                self.depths.borrow_mut()[node.place] = parent_depth + 1;
                self.depth.set(parent_depth + 1);
                NodeOrText::AppendNode(node.id)
            }
            NodeOrText::AppendText(text) => {
                self.depth.set(parent_depth);
                self.spend(text.len());
                NodeOrText::AppendText(text)
            }
        }
    }

    fn depth_of(&self, node: &Handle) -> u32 {
        self.depths.borrow()[node.place]
    }
}

impl TreeSink for BoundedTree {
    type Handle = Handle;
    type Output = Document;
    type ElemName<'a> = <Document as TreeSink>::ElemName<'a>;

    fn finish(self) -> Document {
        self.document
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { id: self.document.tree.root_id(), place: 0 }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> Self::ElemName<'a> {
        self.document.elem_name(&target.id)
    }

    fn create_element(&self, name: QualName, mut attrs: Vec<Attribute>, flags: ElementFlags) -> Handle {
        attrs.shrink_to_fit();
        self.spend(attrs.iter().map(|a| ATTRIBUTE_BYTES + a.value.len()).sum::<usize>());
        self.handle(self.document.create_element(name, attrs, flags))
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        self.handle(self.document.create_comment(text))
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Handle {
        self.handle(self.document.create_pi(target, data))
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        let child = self.child(self.depth_of(parent), child);
        self.document.append(&parent.id, child);
    }

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let child = self.child(self.depth_of(sibling).saturating_sub(1), child);
        self.document.append_before_sibling(&sibling.id, child);
    }

    fn append_based_on_parent_node(&self, element: &Handle, previous: &Handle, child: NodeOrText<Handle>) {
        let child = self.child(self.depth_of(previous), child);
        self.document.append_based_on_parent_node(&element.id, &previous.id, child);
    }

    fn append_doctype_to_document(&self, name: StrTendril, public_id: StrTendril, system_id: StrTendril) {
        self.document.append_doctype_to_document(name, public_id, system_id);
    }

    fn get_template_contents(&self, target: &Handle) -> Handle {
        let contents = self.handle(self.document.get_template_contents(&target.id));
        self.depths.borrow_mut()[contents.place] = self.depth_of(target);
        contents
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        x.id == y.id
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.document.set_quirks_mode(mode);
    }

    fn add_attrs_if_missing(&self, target: &Handle, attrs: Vec<Attribute>) {
        // Repeated <body> tags add up; each addition compares with all that are there.
        let present = self.document.tree.get(&target.id).map_or(0, |node| node.attrs().len());
        self.spend(ATTRIBUTE_BYTES * (1 + present));
        if present < MAX_ATTRIBUTES {
            self.document.add_attrs_if_missing(&target.id, attrs);
        }
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.document.remove_from_parent(&target.id);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        self.document.reparent_children(&node.id, &new_parent.id);
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &Handle) -> bool {
        self.document.is_mathml_annotation_xml_integration_point(&handle.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str) {
        let (document, cut) = parse(html);
        assert_eq!(document.html(), Document::from(html).html(), "{html}");
        assert!(!cut, "{html}");
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
    fn deep_nesting_is_flattened_and_keeps_its_text() {
        let html = format!("{}deep{}<p>after", "<div>".repeat(5000), "</div>".repeat(5000));
        let (document, cut) = parse(&html);
        assert!(cut);
        assert_eq!(document.text().trim(), "deepafter");
        let p = document.select("p");
        assert_eq!(p.parent().nodes()[0].node_name().as_deref(), Some("body"));
        assert!(document.select("div").length() <= MAX_DEPTH as usize);
    }

    #[test]
    fn surplus_attributes_are_left_out() {
        let attributes: String = (0..1000).map(|i| format!(" a{i}=1")).collect();
        let (document, cut) = parse(&format!("<p{attributes}>x</p>y"));
        assert!(cut);
        assert_eq!(document.select("p").nodes()[0].attrs().len(), MAX_ATTRIBUTES);
        assert_eq!(&*document.text(), "xy");
    }
}
