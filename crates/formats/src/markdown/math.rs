//! Formulas: the TeX that a page keeps beside what it draws, else the symbols in reading order.

use page::{Index, Page, local_name};

use super::{Open, Writer};

/// Nodes of one formula that are looked through for its source.
const MAX_NODES: usize = 5_000;
/// The same where a picture of it follows.
const MAX_BEFORE_IMAGE: usize = 200;

impl Writer<'_> {
    /// `<math>`: its annotation or alternative text, else its parts as text.
    pub(super) fn formula(&mut self, index: Index) -> Option<Open> {
        let page = self.page;
        let nodes = page.subtree(index).take(MAX_NODES);
        let annotation = nodes.clone().find(|&i| {
            page.is(i, &local_name!("annotation"))
                && page.attr(i, "encoding").is_some_and(|encoding| encoding.to_ascii_lowercase().contains("tex"))
        });
        let tex = annotation.map(|i| page.text_of(i)).or_else(|| page.attr(index, "alttext").map(String::from));
        let Some(tex) = tex.filter(|tex| !tex.trim().is_empty()) else {
            return Some(Open::Inline);
        };
        let shown = page.attr(index, "display").is_some_and(|display| &*display == "block")
            || page.ancestors(index).take(3).any(|above| has_class(page, above, "katex-display"));
        self.tex(&tex, shown);
        None
    }

    /// `<script type="math/tex">`, which MathJax draws.
    pub(super) fn script(&mut self, index: Index) {
        let kind = self.page.attr(index, "type").unwrap_or_default().to_ascii_lowercase();
        if kind.starts_with("math/tex") {
            self.tex(&self.page.text_of(index), kind.contains("mode=display"));
        }
    }

    /// What MathJax has drawn; its source is in the `<script>` after it. False when there is none.
    pub(super) fn drawn_by_script(&mut self, index: Index) -> bool {
        let page = self.page;
        let Some(parent) = page.parent(index) else { return false };
        let mut next = page.end(index);
        if next < page.end(parent) && !page.is(next, &local_name!("script")) {
            next = page.end(next);
        }
        if next >= page.end(parent) || !page.is(next, &local_name!("script")) {
            return false;
        }
        // A script that is content speaks for itself.
        if self.content.is_removed(next) {
            self.script(next);
        }
        true
    }

    /// The picture of a formula, with its source as alternative text.
    pub(super) fn formula_image(&mut self, index: Index) -> bool {
        let Some(element) = self.page.element(index) else { return false };
        let class = element.attr("class").unwrap_or_default();
        let is = |wanted: &str| class.split_ascii_whitespace().any(|name| name.starts_with(wanted));
        // MediaWiki writes the formula itself in front of its picture.
        if is("mwe-math-fallback-image") {
            return self.page.parent(index).is_some_and(|above| self.holds_formula(above));
        }
        let Some(alt) = element.attr("alt").filter(|alt| is("latex") && !alt.trim().is_empty()) else {
            return false;
        };
        self.tex(&alt, false);
        true
    }

    fn holds_formula(&self, index: Index) -> bool {
        self.page.subtree(index).take(MAX_BEFORE_IMAGE).any(|i| self.page.is(i, &local_name!("math")))
    }

    fn tex(&mut self, tex: &str, shown: bool) {
        let mark = if shown { "$$" } else { "$" };
        let mut written = mark.to_owned();
        let source = strip_style(tex.trim());
        for (n, word) in source.split_whitespace().enumerate() {
            if n > 0 {
                written.push(' ');
            }
            written.push_str(word);
        }
        written.push_str(mark);
        if self.in_cell() {
            written = written.replace('|', "\\|");
        }
        self.inline.raw(&written);
    }
}

/// `{\displaystyle x}`, as MediaWiki wraps every formula, without the wrapping.
fn strip_style(tex: &str) -> &str {
    let inner = tex.strip_prefix("{\\displaystyle").or(tex.strip_prefix("{\\textstyle"));
    inner.and_then(|inner| inner.strip_suffix('}')).map_or(tex, str::trim)
}

/// The drawing that KaTeX and MathJax put beside the formula itself.
pub(super) fn is_drawing(class: &str) -> bool {
    class.split_ascii_whitespace().any(|name| matches!(name, "katex-html" | "MathJax_Preview"))
}

/// Whether MathJax 2 drew the element.
pub(super) fn is_drawn_by_script(class: &str) -> bool {
    let known = ["MathJax", "MathJax_Display", "MathJax_SVG", "MathJax_SVG_Display", "MathJax_CHTML", "MathJax_MathML"];
    class.split_ascii_whitespace().any(|name| known.contains(&name))
}

fn has_class(page: &Page, index: Index, wanted: &str) -> bool {
    page.attr(index, "class").is_some_and(|class| class.split_ascii_whitespace().any(|name| name == wanted))
}
