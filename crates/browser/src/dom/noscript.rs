//! What a page keeps for readers without scripts: it stands for the page where its scripts have brought next to nothing.

use super::page::Tree;
use super::snapshot::{Document, Kind, Node, Snapshot};

/// It has so many times the letters of what is shown.
const RICHER: usize = 2;
/// A shorter one that speaks of scripts asks for them.
const MAX_REQUEST: usize = 60;
/// One with fewer words says nothing.
const MIN_WORDS: usize = 10;

/// Whether the `noscript` of a page say more than the page shows.
pub(super) fn is_richer(snapshot: &Snapshot, document: &Document, tree: &Tree) -> bool {
    let nodes = 0..tree.kinds.len();
    let kept = nodes.clone().filter(|&node| is_fallback(snapshot, document, tree, node));
    let kept = kept.flat_map(|node| &tree.children[node]).map(|&text| words_of(snapshot.value(document, text)));
    let kept = kept.collect::<Vec<_>>().join(" ").to_lowercase();
    let words = kept.split_whitespace().count();
    let is_request = words < MAX_REQUEST && (kept.contains("javascript") || kept.contains("scripts"));
    if words < MIN_WORDS || is_request {
        return false;
    }
    let texts = nodes.filter(|&node| tree.kinds[node] == Kind::Text && tree.seen.own[node]);
    let shown: usize = texts.map(|node| letters(snapshot.value(document, node))).sum();
    letters(&kept) > shown * RICHER
}

fn is_fallback(snapshot: &Snapshot, document: &Document, tree: &Tree, node: Node) -> bool {
    let is = |node: Node, name: &str| tree.kinds[node] == Kind::Element && snapshot.name(document, node) == name;
    let mut around = std::iter::successors(document.parent(node), |&at| document.parent(at));
    is(node, "noscript") && around.any(|at| is(at, "body"))
}

/// Text of HTML, roughly.
fn words_of(html: &str) -> String {
    let parts = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<Vec<_>>().join(" ")
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}
