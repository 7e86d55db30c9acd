//! The answer of `DOMSnapshot.captureSnapshot`: columns instead of nodes, and every text once.

use std::collections::HashMap;

use serde::Deserialize;

use super::lists::Lists;

/// The most attributes of an element that a lookup reads.
const MAX_ATTRIBUTES: usize = 256;

/// The computed styles that are asked for, in the order of their columns.
pub(super) const STYLES: [&str; 2] = ["visibility", "content-visibility"];

/// Index of a text in [`Snapshot::strings`]; -1 is none.
type Text = i32;

/// All documents of a page: the main frame's first.
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

/// One entry a node, parents before their children, in document order.
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

/// A column that few nodes have; a flag has no values.
#[derive(Deserialize, Default)]
pub(super) struct Rare {
    index: Vec<i32>,
    #[serde(default)]
    value: Vec<i32>,
}

/// One entry for each node that is laid out.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Layout {
    pub(super) node_index: Vec<i32>,
    pub(super) styles: Lists<Text>,
    /// Left, top, width, height.
    pub(super) bounds: Lists<f64>,
}

/// Place of a node in its document.
pub(super) type Node = usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Element,
    Text,
    /// Document types, comments, what CSS puts before and after an element.
    Other,
}

impl Snapshot {
    /// The text of an index; empty for none.
    pub(super) fn string(&self, index: Text) -> &str {
        usize::try_from(index).ok().and_then(|at| self.strings.get(at)).map_or("", String::as_str)
    }

    /// The name of an element, in lower case for HTML.
    pub(super) fn name<'a>(&'a self, document: &Document, node: Node) -> std::borrow::Cow<'a, str> {
        let name = self.string(document.nodes.node_name[node]);
        // HTML elements are told in upper case, those of SVG and MathML as they are.
        if name.bytes().any(|byte| byte.is_ascii_lowercase()) { name.into() } else { name.to_ascii_lowercase().into() }
    }

    pub(super) fn value(&self, document: &Document, node: Node) -> &str {
        self.string(document.nodes.node_value[node])
    }

    /// The number of an element's name: the same for the same name.
    pub(super) fn name_number(&self, document: &Document, node: Node) -> i32 {
        document.nodes.node_name[node]
    }

    /// The number of a node's value: the same for the same text.
    pub(super) fn value_number(&self, document: &Document, node: Node) -> i32 {
        document.nodes.node_value[node]
    }

    /// The number of an attribute's value: the same for the same text. -1 for none.
    pub(super) fn attribute_number(&self, document: &Document, node: Node, name: &str) -> i32 {
        let pairs = document.nodes.attributes.get(node).unwrap_or_default();
        pairs.chunks_exact(2).take(MAX_ATTRIBUTES).find(|pair| self.string(pair[0]) == name).map_or(-1, |pair| pair[1])
    }

    /// Names and values, as they are written.
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

/// The first `most` bytes of a text. Many nodes can share one long text, which would be read again for each.
pub(super) fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

impl Document {
    pub(super) fn len(&self) -> usize {
        let nodes = &self.nodes;
        // A node is what every column has.
        nodes.parent_index.len().min(nodes.node_type.len()).min(nodes.node_name.len()).min(nodes.node_value.len())
    }

    /// The parent, always before the node itself.
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

    /// The children of every node, in order.
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

    /// The column by node; the value of a flag is 0.
    pub(super) fn by_node(&self) -> HashMap<Node, i32> {
        self.nodes().enumerate().map(|(at, node)| (node, self.value.get(at).copied().unwrap_or_default())).collect()
    }
}
