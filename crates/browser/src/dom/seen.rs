//! What of a document a visitor can see: not what is where on the screen, but what CSS does not take away.

use super::snapshot::{Document, Kind, Node, Snapshot};

/// What a document shows.
pub(crate) struct Seen {
    /// By node: whether it, or something in it, can be seen.
    pub(super) shows: Vec<bool>,
    /// By node: whether there is something in it that could be seen.
    pub(super) has_content: Vec<bool>,
    /// By node: whether it is text or a picture and can be seen itself.
    pub(super) own: Vec<bool>,
    /// By node: whether it is laid out and visible.
    pub(super) is_laid: Vec<bool>,
}

/// Elements whose children are not laid out although a visitor gets at them.
const CONTAINERS: &[&str] = &["canvas", "select", "optgroup", "textarea"];
/// Elements that are something to see without having text.
const PICTURES: &[&str] =
    &["img", "video", "audio", "canvas", "svg", "iframe", "frame", "object", "embed", "input", "textarea", "select"];
/// Elements whose text is for machines.
const MACHINERY: &[&str] = &["script", "style", "noscript", "template", "head", "title", "datalist"];

/// How a node is laid out.
#[derive(Clone, Copy)]
struct Laid {
    is_visible: bool,
    /// `content-visibility: auto`: what is far from the window is left out until somebody scrolls there.
    is_lazy: bool,
}

impl Seen {
    pub(super) fn of(snapshot: &Snapshot, document: &Document) -> Self {
        let kinds = document.kinds();
        let laid = laid_out(snapshot, document);
        let mut seen = Self {
            shows: vec![false; kinds.len()],
            has_content: vec![false; kinds.len()],
            own: vec![false; kinds.len()],
            is_laid: laid.iter().map(|laid| laid.is_some_and(|laid| laid.is_visible)).collect(),
        };
        let has_laid_child = has_laid_child(document, &laid);
        // Whether children that are not laid out are seen with their parent.
        let mut carries = vec![false; kinds.len()];
        let mut is_machinery = vec![false; kinds.len()];
        for node in 0..kinds.len() {
            let parent = document.parent(node);
            let carried = parent.is_some_and(|parent| carries[parent]) && laid[node].is_none();
            is_machinery[node] = parent.is_some_and(|parent| is_machinery[parent]);
            let is_visible = carried || laid[node].is_some_and(|laid| laid.is_visible);
            match kinds[node] {
                Kind::Element => {
                    let name = snapshot.name(document, node);
                    is_machinery[node] |= MACHINERY.contains(&name.as_ref());
                    let is_container = CONTAINERS.contains(&name.as_ref());
                    let is_lazy =
                        laid[node].is_some_and(|laid| laid.is_visible && laid.is_lazy) && !has_laid_child[node];
                    carries[node] = is_visible && is_container || is_lazy || carried;
                    seen.has_content[node] = PICTURES.contains(&name.as_ref()) && !is_machinery[node];
                }
                Kind::Text => {
                    seen.has_content[node] = !is_machinery[node] && !is_blank(snapshot.value(document, node));
                }
                Kind::Other => {}
            }
            seen.own[node] = seen.has_content[node] && is_visible;
            seen.shows[node] = seen.own[node];
        }
        seen.hand_up(document);
        seen
    }

    /// What is in a child is in its parent.
    fn hand_up(&mut self, document: &Document) {
        for node in (0..self.shows.len()).rev() {
            if let Some(parent) = document.parent(node) {
                self.shows[parent] |= self.shows[node];
                self.has_content[parent] |= self.has_content[node];
            }
        }
    }

    /// Whether the node is there but cannot be seen, nor anything in it.
    pub(super) fn hides(&self, node: Node) -> bool {
        self.has_content[node] && !self.shows[node]
    }
}

fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

fn has_laid_child(document: &Document, laid: &[Option<Laid>]) -> Vec<bool> {
    let mut has = vec![false; laid.len()];
    for node in (0..laid.len()).filter(|&node| laid[node].is_some()) {
        if let Some(parent) = document.parent(node) {
            has[parent] = true;
        }
    }
    has
}

fn laid_out(snapshot: &Snapshot, document: &Document) -> Vec<Option<Laid>> {
    let mut laid = vec![None; document.len()];
    let layout = &document.layout;
    for (at, &node) in layout.node_index.iter().enumerate() {
        let Some(slot) = usize::try_from(node).ok().and_then(|node| laid.get_mut(node)) else { continue };
        let style = |column: usize| {
            layout.styles.get(at).and_then(|styles| styles.get(column)).map_or("", |&text| snapshot.string(text))
        };
        let is_visible = !matches!(style(0), "hidden" | "collapse");
        *slot = Some(Laid { is_visible, is_lazy: style(1) == "auto" });
    }
    laid
}
