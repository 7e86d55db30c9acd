//! The tree of a page while it is built: an arena of bounded size that html5ever writes to, and its conversion to a
//! list of nodes in document order.

mod shown;

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};

use dom_query::Element;
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName, local_name};

use crate::tokens::MAX_ATTRIBUTES;

/// Content of a node.
#[derive(Default)]
pub(crate) enum Data {
    /// Boxed, so that text nodes, which are many, stay small.
    Element(Box<Element>),
    Text(StrTendril),
    /// The document, or the contents of a `<template>`.
    #[default]
    Other,
}

/// One node in document order. Its descendants are the nodes after it, up to `end`.
pub(crate) struct Node {
    pub(crate) data: Data,
    pub(crate) parent: u32,
    pub(crate) end: u32,
}

/// Limit on the nodes of one tree: about 25 MB of ordinary HTML.
const MAX_NODES: usize = 600_000;
/// Limit on text, scripts and attributes together, in bytes.
const MAX_BYTES: usize = 64 << 20;
/// Bytes counted per attribute, in addition to its value.
const ATTRIBUTE_BYTES: usize = 48;
/// Nesting depth that is kept. Parsing does not nest as deeply, but shadow roots in the slots of others can.
const MAX_DEPTH: usize = 4096;

/// Marker for "no node".
const NONE: u32 = u32::MAX;
/// Handle of every comment; comments do not become nodes.
const COMMENT: u32 = u32::MAX - 1;

/// A node while the tree is built, linked to its relatives.
pub(crate) struct GrowingNode {
    data: Data,
    parent: u32,
    previous: u32,
    next: u32,
    first: u32,
    last: u32,
    /// Number of ancestors.
    depth: u32,
}

/// A tree sink that counts nodes and bytes and tracks the current depth.
pub(crate) struct BoundedTree {
    nodes: RefCell<Vec<GrowingNode>>,
    /// Probable depth of the next element.
    pub(crate) depth: Cell<u32>,
    bytes: Cell<usize>,
    signs: Cell<Adjustments>,
    /// Name of the attribute with an obfuscated mail address.
    mail: LocalName,
}

/// Adjustments that a page needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Adjustments {
    shadow: bool,
    frames: bool,
    mail: bool,
}

impl Default for BoundedTree {
    fn default() -> BoundedTree {
        BoundedTree {
            nodes: RefCell::new(vec![GrowingNode::new(Data::Other)]),
            depth: Cell::new(0),
            bytes: Cell::new(0),
            signs: Cell::default(),
            mail: LocalName::from("data-cfemail"),
        }
    }
}

impl BoundedTree {
    /// Whether the budget is spent.
    pub(crate) fn full(&self) -> bool {
        self.bytes.get() > MAX_BYTES || self.nodes.borrow().len() > MAX_NODES
    }

    /// Returns the nodes in their arena form, in which they can still be moved.
    pub(crate) fn into_growing(self) -> Vec<GrowingNode> {
        self.nodes.into_inner()
    }

    fn spend(&self, bytes: usize) {
        self.bytes.set(self.bytes.get() + bytes);
    }

    fn add(&self, data: Data) -> u32 {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(GrowingNode::new(data));
        nodes.len() as u32 - 1
    }

    /// Inserts a node or text below `parent`, before its child `next`, or last if that is [`NONE`].
    fn insert(&self, parent: u32, next: u32, child: NodeOrText<u32>) {
        let nodes = &mut *self.nodes.borrow_mut();
        let depth = nodes[parent as usize].depth;
        let previous = if next == NONE { nodes[parent as usize].last } else { nodes[next as usize].previous };
        let id = match child {
            NodeOrText::AppendNode(COMMENT) => return,
            NodeOrText::AppendNode(id) => {
                self.depth.set(depth + 1);
                id
            }
            NodeOrText::AppendText(text) => {
                self.depth.set(depth);
                self.spend(text.len());
                if let Some(GrowingNode { data: Data::Text(before), .. }) = nodes.get_mut(previous as usize) {
                    before.push_tendril(&text);
                    return;
                }
                nodes.push(GrowingNode::new(Data::Text(text)));
                nodes.len() as u32 - 1
            }
        };
        let node = &mut nodes[id as usize];
        (node.parent, node.previous, node.next, node.depth) = (parent, previous, next, depth + 1);
        join(nodes, parent, previous, id);
        join(nodes, parent, id, next);
    }
}

impl GrowingNode {
    fn new(data: Data) -> GrowingNode {
        GrowingNode { data, parent: NONE, previous: NONE, next: NONE, first: NONE, last: NONE, depth: 0 }
    }
}

/// Links two children of `parent` as neighbours; [`NONE`] means the first or last position.
fn join(nodes: &mut [GrowingNode], parent: u32, before: u32, after: u32) {
    if before == NONE {
        nodes[parent as usize].first = after;
    } else {
        nodes[before as usize].next = after;
    }
    if after == NONE {
        nodes[parent as usize].last = before;
    } else {
        nodes[after as usize].previous = before;
    }
}

fn unlink(nodes: &mut [GrowingNode], id: u32) {
    let GrowingNode { parent, previous, next, .. } = nodes[id as usize];
    if parent != NONE {
        join(nodes, parent, previous, next);
        let node = &mut nodes[id as usize];
        (node.parent, node.previous, node.next) = (NONE, NONE, NONE);
    }
}

/// Moves the nodes out of the arena, in document order. Detached nodes and the contents of templates are discarded.
fn in_document_order(mut growing: Vec<GrowingNode>) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::with_capacity(growing.len());
    let (mut id, mut parent, mut depth) = (0, 0, 0);
    loop {
        let place = nodes.len();
        let node = &mut growing[id as usize];
        nodes.push(Node { data: std::mem::take(&mut node.data), parent, end: 0 });
        if node.first != NONE && depth < MAX_DEPTH {
            (id, parent, depth) = (node.first, place as u32, depth + 1);
            continue;
        }
        let mut done = place;
        loop {
            nodes[done].end = nodes.len() as u32;
            if id == 0 {
                return nodes;
            }
            let node = &growing[id as usize];
            parent = nodes[done].parent;
            if node.next != NONE {
                id = node.next;
                break;
            }
            (id, done, depth) = (node.parent, parent as usize, depth - 1);
        }
    }
}

impl TreeSink for BoundedTree {
    type Handle = u32;
    type Output = Vec<Node>;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Vec<Node> {
        in_document_order(self.nodes.into_inner())
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> u32 {
        0
    }

    fn elem_name<'a>(&'a self, target: &'a u32) -> Ref<'a, QualName> {
        Ref::map(self.nodes.borrow(), |nodes| match &nodes[*target as usize].data {
            Data::Element(element) => &element.name,
            Data::Text(_) | Data::Other => unreachable!("html5ever asks for the names of elements only"),
        })
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> u32 {
        let mut bytes = 0;
        for attribute in &attrs {
            bytes += ATTRIBUTE_BYTES + attribute.value.len();
            let sign = match attribute.name.local {
                local_name!("srcdoc") => Adjustments { frames: true, ..self.signs.get() },
                local_name!("shadowrootmode") => Adjustments { shadow: true, ..self.signs.get() },
                ref name if *name == self.mail => Adjustments { mail: true, ..self.signs.get() },
                _ => continue,
            };
            self.signs.set(sign);
        }
        self.spend(bytes);
        let element = Element::new(name, attrs, None, flags.mathml_annotation_xml_integration_point);
        let id = self.add(Data::Element(Box::new(element)));
        // The contents of a template hang on the node right after it: get_template_contents relies on that.
        if flags.template {
            self.add(Data::Other);
        }
        id
    }

    fn create_comment(&self, _text: StrTendril) -> u32 {
        COMMENT
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> u32 {
        COMMENT
    }

    fn append(&self, parent: &u32, child: NodeOrText<u32>) {
        self.insert(*parent, NONE, child);
    }

    fn append_before_sibling(&self, sibling: &u32, child: NodeOrText<u32>) {
        if let NodeOrText::AppendNode(id) = child
            && id != COMMENT
        {
            unlink(&mut self.nodes.borrow_mut(), id);
        }
        let parent = self.nodes.borrow()[*sibling as usize].parent;
        if parent != NONE {
            self.insert(parent, *sibling, child);
        }
    }

    fn append_based_on_parent_node(&self, element: &u32, previous: &u32, child: NodeOrText<u32>) {
        let has_parent = self.nodes.borrow()[*element as usize].parent != NONE;
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _name: StrTendril, _public_id: StrTendril, _system_id: StrTendril) {}

    fn get_template_contents(&self, target: &u32) -> u32 {
        let mut nodes = self.nodes.borrow_mut();
        nodes[*target as usize + 1].depth = nodes[*target as usize].depth;
        target + 1
    }

    fn same_node(&self, x: &u32, y: &u32) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn add_attrs_if_missing(&self, target: &u32, attrs: Vec<Attribute>) {
        let mut nodes = self.nodes.borrow_mut();
        let Data::Element(element) = &mut nodes[*target as usize].data else { return };
        // Charged because repeated <body> tags add up: each compares its attributes with all that exist.
        self.spend(ATTRIBUTE_BYTES * (1 + element.attrs.len()));
        if element.attrs.len() < MAX_ATTRIBUTES {
            for attribute in attrs {
                if !element.attrs.iter().any(|other| other.name == attribute.name) {
                    element.attrs.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &u32) {
        unlink(&mut self.nodes.borrow_mut(), *target);
    }

    fn reparent_children(&self, node: &u32, new_parent: &u32) {
        let mut nodes = self.nodes.borrow_mut();
        let mut child = nodes[*node as usize].first;
        while child != NONE {
            let next = nodes[child as usize].next;
            unlink(&mut nodes, child);
            let last = nodes[*new_parent as usize].last;
            nodes[child as usize].parent = *new_parent;
            join(&mut nodes, *new_parent, last, child);
            join(&mut nodes, *new_parent, child, NONE);
            child = next;
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, target: &u32) -> bool {
        match &self.nodes.borrow()[*target as usize].data {
            Data::Element(element) => element.mathml_annotation_xml_integration_point,
            Data::Text(_) | Data::Other => false,
        }
    }
}
