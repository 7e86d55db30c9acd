//! Pages in the `srcdoc` attribute of frames, which become a part of the page around them.

use base::Stop;
use html5ever::local_name;

use super::super::{Data, GrowingNode, MAX_NODES, NONE};
use super::{append, attribute, children, clear, is_named};
use crate::parse::parse_inner;

/// Nesting depth of frames that are opened.
const MAX_LEVEL: usize = 3;
/// Limit on the frames of one page that are opened.
const MAX_FRAMES: usize = 100;

/// Replaces each frame by a `<div>` with its attributes and the content that it shows. A frame that is hidden or shows
/// nothing stays a frame.
pub(super) fn open(nodes: &mut Vec<GrowingNode>, level: usize, stop: &Stop) {
    let is_frame = |id: &u32| is_named(nodes, *id, &local_name!("iframe"));
    let frames: Vec<u32> = (0..nodes.len() as u32).filter(is_frame).take(MAX_FRAMES).collect();
    for frame in frames.into_iter().filter(|_| level < MAX_LEVEL) {
        let source = attribute(nodes, frame, "srcdoc").filter(|_| is_shown(nodes, frame)).cloned();
        let Some(source) = source.filter(|source| !source.trim().is_empty()) else { continue };
        let inner = parse_inner(&source, level + 1, stop);
        if nodes.len() + inner.len() > MAX_NODES {
            return;
        }
        graft(nodes, frame, inner);
    }
}

fn is_shown(nodes: &[GrowingNode], frame: u32) -> bool {
    let of = |name| attribute(nodes, frame, name).map(|value| value.trim().to_ascii_lowercase()).unwrap_or_default();
    let is_pixel = |name| matches!(of(name).trim_end_matches("px"), "0" | "1");
    let is_hidden =
        attribute(nodes, frame, "hidden").is_some() || of("style").replace(' ', "").contains("display:none");
    !is_hidden && !is_pixel("width") && !is_pixel("height")
}

/// Moves the body of another tree below a frame, if it shows anything.
fn graft(nodes: &mut Vec<GrowingNode>, frame: u32, mut inner: Vec<GrowingNode>) {
    let body = (0..inner.len() as u32).find(|&id| is_named(&inner, id, &local_name!("body")));
    let Some(body) = body.filter(|&body| shows(&inner, body)) else { return };
    clear(nodes, frame);
    let offset = nodes.len() as u32;
    let moved = |id: u32| if id == NONE { NONE } else { id + offset };
    for node in &mut inner {
        (node.parent, node.previous, node.next) = (moved(node.parent), moved(node.previous), moved(node.next));
        (node.first, node.last) = (moved(node.first), moved(node.last));
    }
    nodes.append(&mut inner);
    for child in clear(nodes, body + offset) {
        // The base URL is that of the outer page.
        if !is_named(nodes, child, &local_name!("base")) {
            append(nodes, frame, child);
        }
    }
    if let Data::Element(element) = &mut nodes[frame as usize].data {
        element.name.local = local_name!("div");
        element.attrs.retain(|attribute| !matches!(&*attribute.name.local, "srcdoc" | "src" | "sandbox" | "loading"));
    }
}

/// Whether a node has text or a picture among its descendants.
fn shows(nodes: &[GrowingNode], id: u32) -> bool {
    let mut left = vec![id];
    while let Some(id) = left.pop() {
        match &nodes[id as usize].data {
            Data::Text(text) if !text.trim().is_empty() => return true,
            Data::Element(element) => match element.name.local {
                local_name!("img") => return true,
                local_name!("script") | local_name!("style") | local_name!("noscript") => {}
                _ => left.append(&mut children(nodes, id)),
            },
            Data::Text(_) | Data::Other => {}
        }
    }
    false
}
