//! Result of `DOMSnapshot.captureSnapshot`: columns instead of nodes, with every text stored once.

use std::collections::HashMap;

use serde::Deserialize;

use super::lists::Lists;

/// Maximum number of an element's attributes that a lookup reads.
const MAX_ATTRIBUTES: usize = 256;

/// Computed styles that are requested, in the order of their columns: those that tell what is laid out, then those that
/// tell whether it is seen ([`super::invisible`]).
pub(super) const STYLES: [&str; 11] = [
    "visibility",
    "content-visibility",
    "opacity",
    "-webkit-text-fill-color",
    "background-color",
    "background-image",
    "position",
    "overflow",
    "clip",
    "clip-path",
    "filter",
];
/// Number of [`STYLES`] that a summary of the text needs.
pub(super) const STYLES_OF_TEXT: usize = 2;

/// Index of a text in [`Snapshot::strings`]; -1 means none.
type Text = i32;

/// All documents of a page, the main frame's first.
#[derive(Deserialize)]
pub(crate) struct Snapshot {
    pub(super) documents: Vec<Document>,
    strings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    #[serde(rename = "documentURL")]
    pub(super) url: Text,
    #[serde(rename = "baseURL")]
    pub(super) base: Text,
    pub(super) nodes: Nodes,
    pub(super) layout: Layout,
}

/// Columns with one entry per node, in document order, parents before their children.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Nodes {
    parent_index: Vec<i32>,
    node_type: Vec<u8>,
    node_name: Vec<Text>,
    node_value: Vec<Text>,
    #[serde(default)]
    attributes: Lists<Text>,
    #[serde(default)]
    pub(super) text_value: Rare,
    #[serde(default)]
    pub(super) input_value: Rare,
    #[serde(default)]
    pub(super) input_checked: Rare,
    #[serde(default)]
    pub(super) option_selected: Rare,
    #[serde(default)]
    pub(super) content_document_index: Rare,
    #[serde(default)]
    pub(super) pseudo_type: Rare,
}

/// Sparse column; a flag has no values.
#[derive(Deserialize, Default)]
pub(super) struct Rare {
    index: Vec<i32>,
    #[serde(default)]
    value: Vec<i32>,
}

/// Columns with one entry per node that is laid out.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Layout {
    pub(super) node_index: Vec<i32>,
    pub(super) styles: Lists<Text>,
    /// Left, top, width and height.
    pub(super) bounds: Lists<f64>,
}

/// Index of a node in its document.
pub(super) type Node = usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Element,
    Text,
    /// Document types, comments, pseudo-elements.
    Other,
}

impl Snapshot {
    /// Returns the text of an index; empty for -1.
    pub(super) fn string(&self, index: Text) -> &str {
        usize::try_from(index).ok().and_then(|at| self.strings.get(at)).map_or("", String::as_str)
    }

    /// Returns the name of an element, in lower case for HTML.
    pub(super) fn name<'a>(&'a self, document: &Document, node: Node) -> std::borrow::Cow<'a, str> {
        let name = self.string(document.nodes.node_name[node]);
        // HTML names are reported in upper case, those of SVG and MathML unchanged.
        if name.bytes().any(|byte| byte.is_ascii_lowercase()) { name.into() } else { name.to_ascii_lowercase().into() }
    }

    pub(super) fn value(&self, document: &Document, node: Node) -> &str {
        self.string(document.nodes.node_value[node])
    }

    /// Returns the number of an element's name; equal names have equal numbers.
    pub(super) fn name_number(&self, document: &Document, node: Node) -> i32 {
        document.nodes.node_name[node]
    }

    /// Returns the number of a node's value; equal texts have equal numbers.
    pub(super) fn value_number(&self, document: &Document, node: Node) -> i32 {
        document.nodes.node_value[node]
    }

    /// Returns the number of an attribute's value, or -1; equal texts have equal numbers.
    pub(super) fn attribute_number(&self, document: &Document, node: Node, name: &str) -> i32 {
        let pairs = document.nodes.attributes.get(node).unwrap_or_default();
        pairs.chunks_exact(2).take(MAX_ATTRIBUTES).find(|pair| self.string(pair[0]) == name).map_or(-1, |pair| pair[1])
    }

    /// Returns names and values of the attributes, unchanged.
    pub(super) fn attributes<'a>(
        &'a self,
        document: &'a Document,
        node: Node,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let pairs = document.nodes.attributes.get(node).unwrap_or_default();
        pairs.chunks_exact(2).map(|pair| (self.string(pair[0]), self.string(pair[1])))
    }

    pub(super) fn attribute<'a>(&'a self, document: &'a Document, node: Node, name: &str) -> Option<&'a str> {
        self.attributes(document, node).take(MAX_ATTRIBUTES).find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

/// Returns the first `most` bytes of a text. Many nodes can share one long text, which would be examined for each.
pub(super) fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

impl Document {
    pub(super) fn len(&self) -> usize {
        let nodes = &self.nodes;
        // The columns may have different lengths if the answer is malformed.
        nodes.parent_index.len().min(nodes.node_type.len()).min(nodes.node_name.len()).min(nodes.node_value.len())
    }

    /// Returns the parent, which always precedes the node.
    pub(super) fn parent(&self, node: Node) -> Option<Node> {
        usize::try_from(self.nodes.parent_index[node]).ok().filter(|parent| *parent < node)
    }

    pub(super) fn kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<_> = self.nodes.node_type[..self.len()]
            .iter()
            .map(|number| match number {
                1 => Kind::Element,
                3 | 4 => Kind::Text,
                _ => Kind::Other,
            })
            .collect();
        for node in self.nodes.pseudo_type.nodes() {
            if let Some(kind) = kinds.get_mut(node) {
                *kind = Kind::Other;
            }
        }
        kinds
    }

    /// Returns the children of every node, in order.
    pub(super) fn children(&self) -> Vec<Vec<Node>> {
        let mut children = vec![Vec::new(); self.len()];
        for node in 0..self.len() {
            if let Some(parent) = self.parent(node) {
                children[parent].push(node);
            }
        }
        children
    }
}

impl Rare {
    pub(super) fn nodes(&self) -> impl Iterator<Item = Node> {
        self.index.iter().filter_map(|&node| usize::try_from(node).ok())
    }

    /// Returns the values by node; 0 for a flag.
    pub(super) fn by_node(&self) -> HashMap<Node, i32> {
        self.nodes().enumerate().map(|(at, node)| (node, self.value.get(at).copied().unwrap_or_default())).collect()
    }
}
