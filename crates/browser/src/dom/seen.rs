//! Visibility of nodes to a visitor: everything that CSS does not hide, wherever it is on the page.

use super::snapshot::{Document, Kind, Node, Snapshot};

/// Visibility of the nodes of a document.
pub(crate) struct Seen {
    /// By node: whether it or a descendant is visible.
    pub(super) shows: Vec<bool>,
    /// By node: whether it or a descendant has content that could be visible.
    pub(super) has_content: Vec<bool>,
    /// By node: whether it is visible text or a visible picture itself.
    pub(super) own: Vec<bool>,
    /// By node: whether it is laid out and visible.
    pub(super) is_laid: Vec<bool>,
}

/// Elements whose children are accessible to a visitor although they are not laid out.
const CONTAINERS: &[&str] = &["canvas", "select", "optgroup", "textarea"];
/// Elements that are visible content without text.
const PICTURES: &[&str] =
    &["img", "video", "audio", "canvas", "svg", "iframe", "frame", "object", "embed", "input", "textarea", "select"];
/// Elements whose text is not for readers.
const MACHINERY: &[&str] = &["script", "style", "noscript", "template", "head", "title", "datalist"];

/// Layout of a node.
#[derive(Clone, Copy)]
struct Laid {
    is_visible: bool,
    /// Whether layout is skipped while the node is far from the window (`content-visibility: auto`).
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
        // Whether children without layout are visible together with their parent.
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

    /// Propagates visibility and content from children to their parents.
    fn hand_up(&mut self, document: &Document) {
        // Parents precede their children, so that the reverse order works bottom-up.
        for node in (0..self.shows.len()).rev() {
            if let Some(parent) = document.parent(node) {
                self.shows[parent] |= self.shows[node];
                self.has_content[parent] |= self.has_content[node];
            }
        }
    }

    /// Whether the node has content, none of which is visible.
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
