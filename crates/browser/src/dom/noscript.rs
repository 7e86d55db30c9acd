//! Selects `noscript` elements that replace the content of a page whose scripts have shown next to nothing.

use std::collections::HashSet;

use super::snapshot::{Document, Kind, Node, Snapshot};
use super::tree::Tree;

/// Factor by which the letters of `noscript` must outnumber those that the page shows.
const RICHER: usize = 2;
/// Number of words below which a text that mentions scripts is a request to enable them.
const MAX_REQUEST: usize = 60;
/// Number of words below which a text is ignored.
const MIN_WORDS: usize = 10;

/// Number of bytes of `noscript` that are read.
const MAX_BYTES: usize = 4 << 20;
/// Markup that swallows everything after it if it is not closed.
const OPEN: &[&str] = &["<!--", "<style", "<script", "<textarea", "<plaintext", "<xmp", "<noembed", "<noframes"];

/// Returns the `noscript` elements of a page if they hold more text than the page shows; otherwise none.
pub(super) fn richer(snapshot: &Snapshot, document: &Document, tree: &Tree) -> HashSet<Node> {
    let nodes = 0..tree.kinds.len();
    let (mut found, mut kept, mut read) = (HashSet::new(), String::new(), 0);
    for node in in_body(snapshot, document, tree) {
        let texts: Vec<&str> = tree.children[node].iter().map(|&text| snapshot.value(document, text)).collect();
        read += texts.iter().map(|text| text.len()).sum::<usize>();
        if read > MAX_BYTES {
            break;
        }
        let html = texts.concat();
        if !is_open(&html) {
            kept.push_str(&words_of(&html).to_lowercase());
            kept.push(' ');
            found.insert(node);
        }
    }
    let words = kept.split_whitespace().count();
    let is_request = words < MAX_REQUEST && (kept.contains("javascript") || kept.contains("scripts"));
    if words < MIN_WORDS || is_request {
        return HashSet::new();
    }
    let texts = nodes.filter(|&node| tree.kinds[node] == Kind::Text && tree.seen.own[node]);
    let shown: usize = texts.map(|node| letters(snapshot.value(document, node))).sum();
    if letters(&kept) > shown * RICHER { found } else { HashSet::new() }
}

/// Returns the `noscript` elements in the body. Those in the head hold no text, and written out they would end the
/// head.
fn in_body(snapshot: &Snapshot, document: &Document, tree: &Tree) -> Vec<Node> {
    let is = |node: Node, name: &str| tree.kinds[node] == Kind::Element && snapshot.name(document, node) == name;
    let (mut is_inside, mut found) = (vec![false; tree.kinds.len()], Vec::new());
    for node in 0..tree.kinds.len() {
        // Parents precede their children.
        is_inside[node] = document.parent(node).is_some_and(|parent| is_inside[parent] || is(parent, "body"));
        if is_inside[node] && is(node, "noscript") {
            found.push(node);
        }
    }
    found
}

/// Whether the markup may swallow what follows it.
fn is_open(html: &str) -> bool {
    let html = html.to_ascii_lowercase();
    OPEN.iter().any(|open| html.contains(open))
}

/// Strips the tags from HTML, approximately.
fn words_of(html: &str) -> String {
    let parts = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<Vec<_>>().join(" ")
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_take_in_the_rest_is_left_out() {
        assert!(is_open("<p>a</p><!-- b") && is_open("<STYLE>p{}") && is_open("a<textarea>"));
        assert!(!is_open("<p>a < b!</p><img src=x>"));
    }
}
