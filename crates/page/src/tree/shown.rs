//! Adjustments of the tree to what a browser shows: declarative shadow roots, pages in the `srcdoc` of frames, and mail
//! addresses that a content delivery network obfuscates.
//!
//! Nearly all pages have none of them and pay next to nothing: the attributes are noted while the tree is built.

mod frames;
mod mail;
mod shadow;

use base::Stop;
use html5ever::LocalName;
use html5ever::tendril::StrTendril;
use memchr::memmem;

use super::{BoundedTree, Data, GrowingNode, NONE, join, unlink};

impl BoundedTree {
    /// Changes the tree of `source` to what a browser would show. `level` is the number of pages around this one.
    pub(crate) fn show(&self, source: &str, level: usize, stop: &Stop) {
        let signs = self.signs.get();
        if signs.shadow {
            shadow::attach(&mut self.nodes.borrow_mut());
        }
        if signs.mail || memmem::find(source.as_bytes(), mail::PATH.as_bytes()).is_some() {
            mail::decode(&mut self.nodes.borrow_mut());
        }
        if signs.frames {
            frames::open(&mut self.nodes.borrow_mut(), level, stop);
        }
    }
}

/// Returns the value of an attribute; `None` if the node is not an element or lacks it.
fn attribute<'n>(nodes: &'n [GrowingNode], id: u32, name: &str) -> Option<&'n StrTendril> {
    let Data::Element(element) = &nodes[id as usize].data else { return None };
    element.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &attribute.value)
}

fn set_attribute(nodes: &mut [GrowingNode], id: u32, name: &str, value: &str) {
    if let Data::Element(element) = &mut nodes[id as usize].data
        && let Some(attribute) = element.attrs.iter_mut().find(|attribute| &*attribute.name.local == name)
    {
        attribute.value = value.into();
    }
}

fn is_named(nodes: &[GrowingNode], id: u32, name: &LocalName) -> bool {
    matches!(&nodes[id as usize].data, Data::Element(element) if element.name.local == *name)
}

fn children(nodes: &[GrowingNode], id: u32) -> Vec<u32> {
    let first = Some(nodes[id as usize].first).filter(|&first| first != NONE);
    std::iter::successors(first, |&child| Some(nodes[child as usize].next).filter(|&next| next != NONE)).collect()
}

/// Detaches all children of `id` and returns them.
fn clear(nodes: &mut [GrowingNode], id: u32) -> Vec<u32> {
    let children = children(nodes, id);
    children.iter().for_each(|&child| unlink(nodes, child));
    children
}

/// Appends a detached node to the children of `parent`.
fn append(nodes: &mut [GrowingNode], parent: u32, child: u32) {
    let last = nodes[parent as usize].last;
    nodes[child as usize].parent = parent;
    join(nodes, parent, last, child);
    join(nodes, parent, child, NONE);
}
