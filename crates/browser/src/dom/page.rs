//! A document that is being written: what is known of its nodes, and what of them a visitor sees.

use std::collections::{HashMap, HashSet};

use url::Url;

use super::noscript;
use super::opened::Opened;
use super::seen::Seen;
use super::snapshot::{Document, Kind, Node, Snapshot};

/// A smaller drawing, in CSS pixels, is an icon.
const MIN_DRAWING_SIDE: f64 = 64.0;

/// What is known of a document's nodes.
pub(super) struct Tree {
    pub(super) kinds: Vec<Kind>,
    pub(super) children: Vec<Vec<Node>>,
    pub(super) seen: Seen,
}

impl Tree {
    pub(super) fn of(snapshot: &Snapshot, document: &Document) -> Self {
        Self { kinds: document.kinds(), children: document.children(), seen: Seen::of(snapshot, document) }
    }
}

/// What a visitor sees of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    Shown,
    /// It is hidden.
    Unseen,
    /// It is hidden until a control of the page opens it.
    Collapsed,
}

/// What is written on a node that is not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Unseen,
    Collapsed,
}

impl Mark {
    /// That of a node, if what is around it does not say the same.
    pub(super) fn of(sight: Sight, around: Sight) -> Option<Self> {
        match sight {
            _ if sight == around => None,
            Sight::Shown => None,
            Sight::Unseen => Some(Self::Unseen),
            Sight::Collapsed => Some(Self::Collapsed),
        }
    }
}

/// A document that is being written.
pub(super) struct Page<'s> {
    pub(super) document: &'s Document,
    pub(super) tree: &'s Tree,
    pub(super) opened: Opened<'s>,
    /// Whether marks make sense: a page that hides itself whole does so only for a moment.
    pub(super) marks: bool,
    /// What it has for readers without scripts, where it shows less than that.
    pub(super) fallbacks: HashSet<Node>,
    pub(super) values: HashMap<Node, i32>,
    pub(super) texts: HashMap<Node, i32>,
    pub(super) checked: HashMap<Node, i32>,
    pub(super) selected: HashMap<Node, i32>,
    pub(super) frames: HashMap<Node, i32>,
    pub(super) bounds: HashMap<Node, (f64, f64)>,
    /// Where it stands, when its addresses must be made absolute: in another document.
    pub(super) base: Option<Url>,
    pub(super) depth: usize,
}

impl<'s> Page<'s> {
    pub(super) fn of(snapshot: &'s Snapshot, document: &'s Document, tree: &'s Tree, depth: usize) -> Self {
        let nodes = &document.nodes;
        let sizes = document.layout.node_index.iter().zip(document.layout.bounds.iter());
        let sizes = sizes.filter_map(|(&node, bounds)| {
            Some((usize::try_from(node).ok()?, (bounds.get(2).copied()?, bounds.get(3).copied()?)))
        });
        Self {
            document,
            tree,
            opened: Opened::of(snapshot, document, tree),
            marks: depth > 0 || tree.seen.shows.contains(&true),
            fallbacks: if depth == 0 { noscript::richer(snapshot, document, tree) } else { HashSet::new() },
            values: nodes.input_value.by_node(),
            texts: nodes.text_value.by_node(),
            checked: nodes.input_checked.by_node(),
            selected: nodes.option_selected.by_node(),
            frames: nodes.content_document_index.by_node(),
            bounds: sizes.collect(),
            base: (depth > 0).then(|| Url::parse(snapshot.string(document.base)).ok()).flatten(),
            depth,
        }
    }

    pub(super) fn roots(&self) -> impl Iterator<Item = Node> {
        (0..self.tree.kinds.len()).filter(|&node| self.document.parent(node).is_none())
    }

    /// What a frame shows: the children of its body.
    pub(super) fn body(&self, snapshot: &Snapshot) -> Vec<Node> {
        let is_body = |node: &Node| matches!(snapshot.name(self.document, *node).as_ref(), "body" | "frameset");
        let body = (0..self.tree.kinds.len()).filter(|node| self.tree.kinds[*node] == Kind::Element).find(is_body);
        body.map_or_else(|| self.roots().collect(), |body| self.tree.children[body].clone())
    }

    pub(super) fn hides(&self, node: Node) -> bool {
        self.marks && self.tree.seen.hides(node)
    }

    /// What is seen of a node whose parent is seen as `around`. In a collapsed part layout says nothing: a node is hidden there
    /// only where its own markup says so.
    pub(super) fn sight(&self, node: Node, around: Sight) -> Sight {
        let is_out = match around {
            Sight::Shown => self.hides(node),
            Sight::Collapsed => self.hides(node) && self.opened.is_shut(node),
            Sight::Unseen => return Sight::Unseen,
        };
        match is_out {
            false => around,
            true if self.opened.is_opened(node) => Sight::Collapsed,
            true => Sight::Unseen,
        }
    }

    /// Whether an `svg` is more than an icon or a line of type.
    pub(super) fn is_drawing(&self, node: Node) -> bool {
        self.bounds.get(&node).is_some_and(|(width, height)| width.min(*height) >= MIN_DRAWING_SIDE)
    }
}
