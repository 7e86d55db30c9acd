//! Declarative shadow roots (HTML standard, "attaching a declarative shadow root"): the shown tree is that of the root,
//! with the children of its host in the slots.

use std::collections::{HashMap, HashSet};

use html5ever::{LocalName, local_name, ns};

use super::super::{Data, GrowingNode, NONE};
use super::{append, attribute, children, clear};

/// Budget of nodes searched for slots, as a multiple of the page's nodes. Nested roots search the same nodes
/// repeatedly.
const LOOKS: usize = 4;

/// Replaces the content of every host by its shadow root. Outer roots come before inner ones, as in the source.
pub(super) fn attach(nodes: &mut [GrowingNode]) {
    let mut looks = LOOKS * nodes.len();
    for template in 0..nodes.len() as u32 {
        if let Some(host) = host_of(nodes, template) {
            show(nodes, host, template, &mut looks);
        }
        if looks == 0 {
            return;
        }
    }
}

/// Returns the host of which a template is the shadow root.
fn host_of(nodes: &[GrowingNode], template: u32) -> Option<u32> {
    let mode = attribute(nodes, template, "shadowrootmode")?;
    let declares = mode.eq_ignore_ascii_case("open") || mode.eq_ignore_ascii_case("closed");
    let is_template = html_name(nodes, template) == Some(&local_name!("template"));
    let host = Some(nodes[template as usize].parent).filter(|&host| host != NONE && is_template && declares)?;
    html_name(nodes, host).is_some_and(may_host).then_some(host)
}

fn html_name(nodes: &[GrowingNode], id: u32) -> Option<&LocalName> {
    match &nodes[id as usize].data {
        Data::Element(element) if element.name.ns == ns!(html) => Some(&element.name.local),
        _ => None,
    }
}

/// Whether an element may have a shadow root (DOM standard, "valid shadow host name").
fn may_host(name: &LocalName) -> bool {
    name.contains('-')
        || matches!(
            *name,
            local_name!("article")
                | local_name!("aside")
                | local_name!("blockquote")
                | local_name!("body")
                | local_name!("div")
                | local_name!("footer")
                | local_name!("h1")
                | local_name!("h2")
                | local_name!("h3")
                | local_name!("h4")
                | local_name!("h5")
                | local_name!("h6")
                | local_name!("header")
                | local_name!("main")
                | local_name!("nav")
                | local_name!("p")
                | local_name!("section")
                | local_name!("span")
        )
}

fn show(nodes: &mut [GrowingNode], host: u32, template: u32, looks: &mut usize) {
    let own = clear(nodes, host);
    // The contents of a template hang on the node right after it.
    for child in clear(nodes, template + 1) {
        append(nodes, host, child);
    }
    let slots = slots(nodes, host, looks);
    let mut filled: HashSet<u32> = HashSet::new();
    for child in own.into_iter().filter(|&child| child != template) {
        let name = attribute(nodes, child, "slot").map(ToString::to_string).unwrap_or_default();
        let Some(&slot) = slots.get(&name) else { continue };
        if filled.insert(slot) {
            // A slot shows its fallback only if nothing is assigned to it.
            clear(nodes, slot);
        }
        append(nodes, slot, child);
    }
}

/// Returns the slots below a host by name; the first of each name counts.
fn slots(nodes: &[GrowingNode], host: u32, looks: &mut usize) -> HashMap<String, u32> {
    let mut slots = HashMap::new();
    let mut left = children(nodes, host);
    left.reverse();
    while let Some(id) = left.pop().filter(|_| *looks > 0) {
        *looks -= 1;
        if html_name(nodes, id).is_some_and(|name| &**name == "slot") {
            slots.entry(attribute(nodes, id, "name").map(ToString::to_string).unwrap_or_default()).or_insert(id);
        }
        let mut inner = children(nodes, id);
        inner.reverse();
        left.append(&mut inner);
    }
    slots
}
