//! Formulas: the TeX source that a page keeps beside the rendered formula, else its MathML converted to TeX.

use page::{Index, Page, local_name};

use super::{Writer, mathml};

/// Number of nodes of a formula that are searched for its source.
const MAX_NODES: usize = 5_000;
/// Lower limit, for a formula with an image, and for other searches that run often.
const MAX_BEFORE_IMAGE: usize = 200;

impl Writer<'_> {
    /// Writes `<math>`: its TeX annotation or alternative text, else its elements converted to TeX.
    pub(super) fn formula(&mut self, index: Index) {
        let page = self.page;
        let nodes = page.subtree(index).take(MAX_NODES);
        let annotation = nodes.clone().find(|&i| {
            page.is(i, &local_name!("annotation"))
                && page.attr(i, "encoding").is_some_and(|encoding| encoding.to_ascii_lowercase().contains("tex"))
        });
        let written = annotation.map(|i| page.text_of(i)).into_iter();
        let said = ["alttext", "data-latex"].iter().filter_map(|name| page.attr(index, name).map(String::from));
        let tex = written.chain(said).find(|tex| !tex.trim().is_empty()).unwrap_or_else(|| mathml::tex(page, index));
        let is_block =
            |at: Index, name: &str| page.attr(at, name).is_some_and(|display| matches!(&*display, "block" | "true"));
        let shown = is_block(index, "display")
            || page
                .ancestors(index)
                .take(3)
                .any(|above| is_block(above, "display") || has_class(page, above, "katex-display"));
        self.tex(&tex, shown);
    }

    /// Writes a formula that a script has rendered, from the source that it keeps. Returns false if it keeps none.
    fn drawn_formula(&mut self, index: Index) -> bool {
        let page = self.page;
        if let Some(math) = page.subtree(index).take(MAX_NODES).find(|&i| page.is(i, &local_name!("math"))) {
            self.formula(math);
            return true;
        }
        if let Some(source) = page.attr(index, "data-mathml") {
            let inner = Page::parse_until(&source, page.url(), page.stop());
            if let Some(math) = inner.first(&local_name!("math")) {
                let shown = inner.attr(math, "display").is_some_and(|display| &*display == "block");
                self.tex(&mathml::tex(&inner, math), shown);
                return true;
            }
        }
        let latex = page.subtree(index).take(MAX_BEFORE_IMAGE).find_map(|i| page.attr(i, "data-latex"));
        let shown = page.attr(index, "display").is_some_and(|display| &*display == "true");
        latex.iter().for_each(|latex| self.tex(latex, shown));
        latex.is_some()
    }

    /// Writes an unrendered formula: TeX between delimiters in an element marked as a formula, possibly with its
    /// number. Returns whether the element is one.
    pub(super) fn unread_formula(&mut self, index: Index) -> bool {
        let page = self.page;
        let (mut text, mut number) = (None, None);
        for child in page.children(index) {
            match page.text(child) {
                Some(blank) if blank.trim().is_empty() => {}
                Some(found) if text.is_none() => text = Some(found.trim()),
                None if number.is_none() && has_class(page, child, "eqno") => number = Some(child),
                _ => return false,
            }
        }
        let Some(text) = text else { return false };
        let between = |open: &str, close: &str| text.strip_prefix(open)?.strip_suffix(close);
        let found = between("\\[", "\\]").or(between("$$", "$$")).map(|tex| (tex, true));
        match found.or(between("\\(", "\\)").or(between("$", "$")).map(|tex| (tex, false))) {
            Some((tex, shown)) => self.tex(tex, shown),
            None => return false,
        }
        // The first text only: a permalink follows the number.
        if let Some(number) = number.and_then(|number| page.subtree(number).find_map(|at| page.text(at))) {
            self.inline.part();
            self.inline.text(number);
        }
        true
    }

    /// Writes an unrendered formula as a block of its own.
    pub(super) fn starts_unread_formula(&mut self, index: Index) -> bool {
        self.boundary();
        let is_formula = self.unread_formula(index);
        self.boundary();
        is_formula
    }

    /// Writes a text with its formulas, if a script of the page would render them.
    pub(super) fn text_with_formulas(&mut self, text: &str) {
        let page = self.page;
        let mut rest = text;
        if !self.inline.in_code() && *self.reads_tex.get_or_insert_with(|| reads_tex(page)) {
            while let Some(found) = next_formula(rest) {
                self.inline.text(found.before);
                self.tex(found.tex, found.shown);
                rest = found.after;
            }
        }
        self.inline.text(rest);
    }

    /// Writes `<script type="math/tex">`, which MathJax renders.
    pub(super) fn script(&mut self, index: Index) {
        let kind = self.page.attr(index, "type").unwrap_or_default().to_ascii_lowercase();
        if kind.starts_with("math/tex") {
            self.tex(&self.page.text_of(index), kind.contains("mode=display"));
        }
    }

    /// Writes a formula that MathJax has rendered; its source is in the `<script>` after it, or inside. Returns false
    /// if there is none.
    pub(super) fn drawn_by_script(&mut self, index: Index) -> bool {
        self.source_follows(index) || self.drawn_formula(index)
    }

    fn source_follows(&mut self, index: Index) -> bool {
        let page = self.page;
        let Some(parent) = page.parent(index) else { return false };
        let mut next = page.end(index);
        if next < page.end(parent) && !page.is(next, &local_name!("script")) {
            next = page.end(next);
        }
        let is_source = |at: Index| {
            page.is(at, &local_name!("script")) && page.attr(at, "type").is_some_and(|kind| kind.starts_with("math/"))
        };
        if next >= page.end(parent) || !is_source(next) {
            return false;
        }
        // A script that is not removed is written when the walk reaches it.
        if self.content.is_removed(next) {
            self.script(next);
        }
        true
    }

    /// Writes the image of a formula by its alternative text, which is TeX. Returns whether the image is one.
    pub(super) fn formula_image(&mut self, index: Index) -> bool {
        let Some(element) = self.page.element(index) else { return false };
        let class = element.attr("class").unwrap_or_default();
        let is = |wanted: &str| class.split_ascii_whitespace().any(|name| name.starts_with(wanted));
        // MediaWiki has the formula itself before its image.
        if is("mwe-math-fallback-image") {
            return self.page.parent(index).is_some_and(|above| self.holds_formula(above));
        }
        let Some(alt) = element.attr("alt").filter(|alt| is("latex") && !alt.trim().is_empty()) else {
            return false;
        };
        self.tex(&alt, false);
        true
    }

    pub(super) fn holds_formula(&self, index: Index) -> bool {
        self.page.subtree(index).take(MAX_BEFORE_IMAGE).any(|i| self.page.is(i, &local_name!("math")))
    }

    fn tex(&mut self, tex: &str, shown: bool) {
        let source = strip_style(tex.trim());
        if source.is_empty() {
            return;
        }
        let mark = if shown { "$$" } else { "$" };
        let mut written = mark.to_owned();
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

/// A formula in a text, with the text around it.
struct Formula<'t> {
    before: &'t str,
    tex: &'t str,
    shown: bool,
    after: &'t str,
}

/// Whether a text may contain formulas: a fast check for delimiters.
pub(super) fn may_hold_formulas(text: &str) -> bool {
    text.contains('\\') && (text.contains("\\(") || text.contains("\\["))
}

/// Returns the first formula of a text.
fn next_formula(text: &str) -> Option<Formula<'_>> {
    let start = text.match_indices('\\').map(|(at, _)| at).find(|at| text[at + 1..].starts_with(['(', '[']))?;
    let shown = text[start + 1..].starts_with('[');
    let inner = &text[start + 2..];
    let end = inner.find(if shown { "\\]" } else { "\\)" })?;
    Some(Formula { before: &text[..start], tex: &inner[..end], shown, after: &inner[end + 2..] })
}

/// Whether a script of the page renders formulas in its text: MathJax, or KaTeX with `auto-render`.
fn reads_tex(page: &Page) -> bool {
    (0..page.node_count()).filter(|&at| page.is(at, &local_name!("script"))).any(|at| {
        let source = page.attr(at, "src").unwrap_or_default().to_ascii_lowercase();
        source.contains("mathjax") || source.contains("katex") && source.contains("auto-render")
    })
}

/// Removes the wrapper `{\displaystyle …}`, which MediaWiki puts around every formula.
fn strip_style(tex: &str) -> &str {
    let inner = tex.strip_prefix("{\\displaystyle").or(tex.strip_prefix("{\\textstyle"));
    inner.and_then(|inner| inner.strip_suffix('}')).map_or(tex, str::trim)
}

/// Whether an element is the preview that MathJax shows until the formula is rendered.
pub(super) fn is_preview(class: &str) -> bool {
    class.split_ascii_whitespace().any(|name| name == "MathJax_Preview")
}

/// Whether an element is the rendering that KaTeX puts beside the MathML.
pub(super) fn is_drawing(class: &str) -> bool {
    class.split_ascii_whitespace().any(|name| name == "katex-html")
}

/// Whether a class marks the TeX in its element as a formula.
pub(super) fn is_unread(class: &str) -> bool {
    class.split_ascii_whitespace().any(|name| matches!(name, "math" | "arithmatex" | "tex" | "latex"))
}

/// Whether MathJax 2 rendered the element.
pub(super) fn is_drawn_by_script(class: &str) -> bool {
    let known = ["MathJax", "MathJax_Display", "MathJax_SVG", "MathJax_SVG_Display", "MathJax_CHTML", "MathJax_MathML"];
    class.split_ascii_whitespace().any(|name| known.contains(&name))
}

fn has_class(page: &Page, index: Index, wanted: &str) -> bool {
    page.attr(index, "class").is_some_and(|class| class.split_ascii_whitespace().any(|name| name == wanted))
}
