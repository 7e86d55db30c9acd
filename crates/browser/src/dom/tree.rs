//! Nodes of a document as a tree.

use super::seen::Seen;
use super::snapshot::{Document, Kind, Node, Snapshot};

/// Nodes of a document.
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
