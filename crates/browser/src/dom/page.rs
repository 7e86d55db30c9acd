//! State of a document while it is written: its nodes, and which of them a visitor sees.

use std::collections::{HashMap, HashSet};

use url::Url;

use super::invisible::{Cause, Invisible};
use super::noscript;
use super::opened::Opened;
use super::snapshot::{Document, Kind, Node, Snapshot};
use super::tree::Tree;

/// Smallest side of a drawing, in CSS pixels; smaller ones are icons.
const MIN_DRAWING_SIDE: f64 = 64.0;

/// Visibility of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    Shown,
    /// The node is hidden.
    Unseen,
    /// The node is hidden until a control of the page opens it.
    Collapsed,
}

/// Mark that is written on a node that is not visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Unseen,
    Collapsed,
}

impl Mark {
    /// Returns the mark of a node; `None` if its surroundings have the same visibility.
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
    /// Whether hidden nodes are marked: not if the whole page hides itself, which is only temporary.
    pub(super) marks: bool,
    invisible: Invisible,
    /// `noscript` elements that hold more text than the page shows.
    pub(super) fallbacks: HashSet<Node>,
    pub(super) values: HashMap<Node, i32>,
    pub(super) texts: HashMap<Node, i32>,
    pub(super) checked: HashMap<Node, i32>,
    pub(super) selected: HashMap<Node, i32>,
    pub(super) frames: HashMap<Node, i32>,
    pub(super) bounds: HashMap<Node, (f64, f64)>,
    /// Base for making addresses absolute; only set for frames, whose content moves to another document.
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
            invisible: Invisible::of(snapshot, document, &tree.seen, depth > 0),
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

    /// Returns the content of a frame: the children of its body.
    pub(super) fn body(&self, snapshot: &Snapshot) -> Vec<Node> {
        let is_body = |node: &Node| matches!(snapshot.name(self.document, *node).as_ref(), "body" | "frameset");
        let body = (0..self.tree.kinds.len()).filter(|node| self.tree.kinds[*node] == Kind::Element).find(is_body);
        body.map_or_else(|| self.roots().collect(), |body| self.tree.children[body].clone())
    }

    pub(super) fn hides(&self, node: Node) -> bool {
        self.marks && self.tree.seen.hides(node)
    }

    /// Returns why everything in a shown node is invisible, if no node around it has this mark.
    pub(super) fn invisible(&self, node: Node, sight: Sight) -> Option<Cause> {
        self.invisible.cause(node).filter(|_| sight == Sight::Shown)
    }

    /// Returns the visibility of a node inside surroundings with the visibility `around`. Nothing in a collapsed part
    /// is laid out, so only markup counts there.
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

    /// Whether an `svg` is larger than an icon or a line of text.
    pub(super) fn is_drawing(&self, node: Node) -> bool {
        self.bounds.get(&node).is_some_and(|(width, height)| width.min(*height) >= MIN_DRAWING_SIDE)
    }
}
