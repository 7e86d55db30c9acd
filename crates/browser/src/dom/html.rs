//! Writes a captured page as HTML.

use url::Url;

use super::invisible::Cause;
use super::page::{Mark, Page, Sight};
use super::snapshot::{Kind, Node, Snapshot};
use super::tree::Tree;
use super::{COLLAPSED, Capture, INVISIBLE, UNSEEN};

/// Maximum nesting depth of inlined frames.
const MAX_FRAME_DEPTH: usize = 3;
/// Smallest side of a visible frame, in CSS pixels; smaller ones are tracking frames.
const MIN_FRAME_SIDE: f64 = 8.0;
/// Elements of a drawing that hold readable text.
const LABELS: &[&str] = &["text", "foreignObject"];
/// Maximum number of texts that are extracted from a drawing.
const MAX_LABELS: usize = 500;
/// Elements without an end tag.
const VOID: &[&str] = &[
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link",
    "meta", "param", "source", "track", "wbr",
];
/// Elements whose text is written without escaping.
const RAW: &[&str] = &["script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext"];
/// Types of fields whose `value` attribute is kept: it is not what was typed, or that is secret.
const KEPT_VALUES: &[&str] = &["checkbox", "radio", "file", "password"];
/// Attributes that hold one address.
const ADDRESSES: &[&str] = &["href", "src", "action", "formaction", "poster", "data", "cite", "longdesc", "xlink:href"];

/// Writes the main frame with everything in it, up to `limit` bytes.
pub(super) fn write(snapshot: &Snapshot, limit: usize) -> Capture {
    let mut writer = Writer { snapshot, html: String::new(), limit, is_cut: false };
    writer.html.push_str("<!DOCTYPE html>");
    if let Some(document) = snapshot.documents.first() {
        let tree = Tree::of(snapshot, document);
        let page = Page::of(snapshot, document, &tree, 0);
        page.roots().for_each(|root| writer.subtree(&page, root, Sight::Shown));
    }
    Capture { html: writer.html, is_cut: writer.is_cut }
}

struct Writer<'s> {
    snapshot: &'s Snapshot,
    html: String,
    limit: usize,
    is_cut: bool,
}

/// Collects the texts of a drawing, such as a chart or a diagram. Readers leave out the drawing itself.
fn labels(snapshot: &Snapshot, page: &Page<'_>, drawing: Node) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![(drawing, false)];
    while let Some((node, is_label)) = left.pop() {
        match page.tree.kinds[node] {
            Kind::Text if is_label => {
                let text = snapshot.value(page.document, node);
                found.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
            }
            Kind::Element => {
                let name = snapshot.name(page.document, node);
                let is_label = is_label || LABELS.iter().any(|label| name.eq_ignore_ascii_case(label));
                let is_seen = !page.hides(node) && !RAW.contains(&name.as_ref());
                left.extend(page.tree.children[node].iter().rev().filter(|_| is_seen).map(|&child| (child, is_label)));
            }
            _ => {}
        }
        if found.len() > MAX_LABELS {
            break;
        }
    }
    found.retain(|label| !label.is_empty());
    found
}

/// Step of the traversal, which uses no recursion so that trees of any depth can be written.
enum Step {
    /// A node, and the visibility of its surroundings.
    Enter(Node, Sight),
    Close(String),
    /// The texts of a drawing ([`labels`]).
    Labels(Vec<String>),
}

fn push_children(page: &Page<'_>, node: Node, around: Sight, steps: &mut Vec<Step>) {
    steps.extend(page.tree.children[node].iter().rev().map(|&child| Step::Enter(child, around)));
}

impl Writer<'_> {
    /// Writes a node with everything in it.
    fn subtree(&mut self, page: &Page<'_>, root: Node, around: Sight) {
        let mut steps = vec![Step::Enter(root, around)];
        while let Some(step) = steps.pop() {
            if self.html.len() > self.limit {
                self.is_cut = true;
                return;
            }
            match step {
                Step::Close(name) => self.end(&name),
                Step::Labels(labels) => self.labels(&labels),
                Step::Enter(node, around) => match page.tree.kinds[node] {
                    Kind::Element => self.element(page, node, around, &mut steps),
                    Kind::Text => self.text(page, node, around),
                    // The document itself; other nodes of this kind have no children.
                    Kind::Other => push_children(page, node, around, &mut steps),
                },
            }
        }
    }

    fn end(&mut self, name: &str) {
        self.html.push_str("</");
        self.html.push_str(name);
        self.html.push('>');
    }

    fn element(&mut self, page: &Page<'_>, node: Node, around: Sight, steps: &mut Vec<Step>) {
        let name = self.snapshot.name(page.document, node);
        // Replaced by scripts, or not used yet.
        if matches!(name.as_ref(), "noscript" | "template") {
            return self.fallback(page, node);
        }
        let sight = page.sight(node, around);
        // Layout has already put the slotted content inside the slot.
        if name == "slot" {
            return push_children(page, node, around, steps);
        }
        let name = if name == "frameset" { "body".into() } else { name };
        self.start_tag(page, node, &name, sight);
        self.mark(Mark::of(sight, around).filter(|_| name != "input"));
        self.mark_invisible(page.invisible(node, sight));
        self.end_start_tag(page, node, &name);
        if VOID.contains(&name.as_ref()) {
            return self.frame(page, node, &name, sight);
        }
        if RAW.contains(&name.as_ref()) {
            self.raw(page, node, &name);
            self.end(&name);
            return self.frame(page, node, &name, sight);
        }
        if let Some(&text) = page.texts.get(&node).filter(|_| name == "textarea") {
            self.escaped(self.snapshot.string(text));
            return self.end(&name);
        }
        let first = page.tree.children[node].first().map_or("", |&child| self.snapshot.value(page.document, child));
        if matches!(name.as_ref(), "pre" | "listing") && first.starts_with('\n') {
            // The parser drops one line break there.
            self.html.push('\n');
        }
        if name == "canvas" {
            // Readers leave out a canvas with its fallback content, which is the only readable part of it.
            self.end(&name);
            self.html.push_str("<div data-canvas>");
            steps.push(Step::Close("div".to_owned()));
        } else {
            let is_drawing = name == "svg" && sight == Sight::Shown && page.is_drawing(node);
            steps.extend(is_drawing.then(|| Step::Labels(labels(self.snapshot, page, node))));
            steps.push(Step::Close(name.into_owned()));
        }
        push_children(page, node, sight, steps);
    }

    /// Writes a `noscript` of a page whose scripts have shown next to nothing. Its markup is a single text node.
    fn fallback(&mut self, page: &Page<'_>, node: Node) {
        if !page.fallbacks.contains(&node) {
            return;
        }
        self.html.push_str("<div data-noscript>");
        for &text in &page.tree.children[node] {
            self.html.push_str(self.snapshot.value(page.document, text));
        }
        self.end("div");
    }

    fn labels(&mut self, labels: &[String]) {
        if labels.is_empty() {
            return;
        }
        self.html.push_str("<div data-svg>");
        for label in labels {
            self.html.push_str("<div>");
            self.escaped(label);
            self.end("div");
        }
        self.end("div");
    }

    /// Returns the value that was typed into a field, unless it is secret.
    fn typed(&self, page: &Page<'_>, node: Node, name: &str) -> Option<i32> {
        let kind = self.snapshot.attribute(page.document, node, "type").unwrap_or_default();
        let is_kept = KEPT_VALUES.iter().any(|kept| kind.eq_ignore_ascii_case(kept));
        page.values.get(&node).copied().filter(|_| name == "input" && !is_kept)
    }

    /// Begins a start tag: its name, and the attributes of the page.
    fn start_tag(&mut self, page: &Page<'_>, node: Node, name: &str, sight: Sight) {
        self.html.push('<');
        self.html.push_str(name);
        let typed = self.typed(page, node, name);
        for (attribute, value) in self.snapshot.attributes(page.document, node) {
            let is_replaced = match attribute {
                // Replaced below by the actual visibility.
                "hidden" => page.marks,
                INVISIBLE => true,
                // Redundant on collapsed elements.
                "aria-hidden" => sight == Sight::Collapsed,
                "value" => typed.is_some(),
                "checked" => name == "input",
                "selected" => name == "option",
                "srcdoc" => true,
                _ => false,
            };
            if is_replaced {
                continue;
            }
            if attribute == "style" && sight == Sight::Collapsed {
                let style = without_sight(value);
                if !style.trim().is_empty() {
                    self.attribute(page, attribute, &style);
                }
            } else {
                self.attribute(page, attribute, value);
            }
        }
    }

    /// Ends a start tag with the current state of a field.
    fn end_start_tag(&mut self, page: &Page<'_>, node: Node, name: &str) {
        if let Some(value) = self.typed(page, node, name) {
            self.attribute(page, "value", self.snapshot.string(value));
        }
        if page.checked.contains_key(&node) {
            self.attribute(page, "checked", "");
        }
        if page.selected.contains_key(&node) {
            self.attribute(page, "selected", "");
        }
        self.html.push('>');
    }

    fn mark(&mut self, mark: Option<Mark>) {
        match mark {
            Some(Mark::Unseen) => {
                self.html.push_str(" hidden=\"");
                self.html.push_str(UNSEEN);
                self.html.push('"');
            }
            Some(Mark::Collapsed) => {
                self.html.push(' ');
                self.html.push_str(COLLAPSED);
            }
            None => {}
        }
    }

    fn mark_invisible(&mut self, cause: Option<Cause>) {
        if let Some(cause) = cause {
            let [name, word] = [INVISIBLE, cause.word()];
            self.html.push_str(&format!(" {name}=\"{word}\""));
        }
    }

    fn attribute(&mut self, page: &Page<'_>, name: &str, value: &str) {
        // Scripts can create attribute names that cannot be serialized.
        if name.is_empty()
            || name.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '>' | '/' | '=' | '<'))
        {
            return;
        }
        let absolute = page.base.as_ref().and_then(|base| absolute(base, name, value));
        self.html.push(' ');
        self.html.push_str(name);
        self.html.push_str("=\"");
        for c in absolute.as_deref().unwrap_or(value).chars() {
            match c {
                '&' => self.html.push_str("&amp;"),
                '"' => self.html.push_str("&quot;"),
                '<' => self.html.push_str("&lt;"),
                '>' => self.html.push_str("&gt;"),
                '\u{a0}' => self.html.push_str("&nbsp;"),
                _ => self.html.push(c),
            }
        }
        self.html.push('"');
    }

    fn text(&mut self, page: &Page<'_>, node: Node, around: Sight) {
        let text = self.snapshot.value(page.document, node);
        // The text differs from its parent, so it needs an element for its mark.
        let sight = page.sight(node, around);
        let (mark, invisible) = (Mark::of(sight, around), page.invisible(node, sight));
        let is_marked = mark.is_some() || invisible.is_some();
        if is_marked {
            self.html.push_str("<span");
            self.mark(mark);
            self.mark_invisible(invisible);
            self.html.push('>');
        }
        self.escaped(text);
        if is_marked {
            self.html.push_str("</span>");
        }
    }

    fn escaped(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.html.push_str("&amp;"),
                '<' => self.html.push_str("&lt;"),
                '>' => self.html.push_str("&gt;"),
                '\u{a0}' => self.html.push_str("&nbsp;"),
                _ => self.html.push(c),
            }
        }
    }

    /// Writes the text of a script or a style, escaped where it would end the element too early or too late.
    fn raw(&mut self, page: &Page<'_>, node: Node, name: &str) {
        if matches!(name, "iframe" | "noembed" | "noframes" | "plaintext") {
            return;
        }
        for &child in &page.tree.children[node] {
            let text = self.snapshot.value(page.document, child);
            let lower = text.to_ascii_lowercase();
            if lower.contains(&format!("</{name}")) || lower.contains("<!--") {
                self.html.push_str(&text.replace("</", "<\\/").replace("<!--", "<\\!--"));
            } else {
                self.html.push_str(text);
            }
        }
    }

    /// Writes the document of a frame after the frame's element.
    fn frame(&mut self, page: &Page<'_>, node: Node, name: &str, around: Sight) {
        let Some(&index) = page.frames.get(&node) else { return };
        let Some(document) = usize::try_from(index).ok().and_then(|at| self.snapshot.documents.get(at)) else { return };
        if page.depth >= MAX_FRAME_DEPTH || !matches!(name, "iframe" | "frame" | "embed") {
            return;
        }
        let tree = Tree::of(self.snapshot, document);
        let inner = Page::of(self.snapshot, document, &tree, page.depth + 1);
        if !tree.seen.has_content.contains(&true) {
            return;
        }
        let is_large = page.bounds.get(&node).is_some_and(|(width, height)| width.min(*height) >= MIN_FRAME_SIDE);
        let inner_sight = if is_large { around } else { Sight::Unseen };
        self.html.push_str("<div data-frame-url=\"");
        let url = self.snapshot.string(document.url).to_owned();
        self.escaped(&url.replace('"', "%22"));
        self.html.push('"');
        // Written outside the frame's element, so that element's mark is repeated.
        self.mark(if inner_sight == Sight::Shown { None } else { Mark::of(inner_sight, Sight::Shown) });
        self.html.push('>');
        for child in inner.body(self.snapshot) {
            self.subtree(&inner, child, inner_sight);
        }
        self.html.push_str("</div>");
    }
}

/// Returns a style without its declarations of visibility.
fn without_sight(style: &str) -> String {
    let is_kept = |declaration: &&str| {
        let name = declaration.split(':').next().unwrap_or_default().trim();
        !["display", "visibility"].iter().any(|sight| name.eq_ignore_ascii_case(sight))
    };
    style.split(';').filter(is_kept).collect::<Vec<_>>().join(";")
}

/// Returns an attribute's value with absolute addresses; `None` if it holds none.
fn absolute(base: &Url, name: &str, value: &str) -> Option<String> {
    let join = |address: &str| base.join(address.trim()).map(String::from).ok();
    if ADDRESSES.contains(&name) && !value.starts_with('#') {
        return join(value);
    }
    if !matches!(name, "srcset" | "imagesrcset") {
        return None;
    }
    let entries = value.split(", ").map(|entry| {
        let entry = entry.trim();
        let (address, size) = entry.split_once(char::is_whitespace).unwrap_or((entry, ""));
        format!("{} {size}", join(address).unwrap_or_else(|| address.to_owned())).trim_end().to_owned()
    });
    Some(entries.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collapsed_element_keeps_no_style_that_hides_it() {
        assert_eq!(without_sight("color: red; Display : none;visibility:hidden; margin: 0"), "color: red; margin: 0");
        assert_eq!(without_sight("display:none"), "");
        assert_eq!(without_sight("background: url(data:a;base64,x)"), "background: url(data:a;base64,x)");
    }
}
