//! Text that is in a page and not to be seen on it.

mod openable;
mod selector;
mod sheet;
mod sight;
mod style;
mod value;

use page::{Index, LocalName, Page, local_name};

use self::openable::Controls;
use self::sheet::Sheets;
use self::sight::{Cause, Known, Sight};
use self::style::Style;

/// Classes of text for screen readers alone, by the names that the common frameworks share.
const FOR_SCREEN_READERS: [&str; 6] =
    ["sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only", "a11y-hidden"];

/// Nodes of a page that readers do not see: hidden by a style or an attribute, off the page, of no size, or in the
/// colour of their background.
///
/// Known are the styles of the page itself: `<style>` elements and attributes. Text that a click shows is not hidden,
/// nor is text that is hidden from screen readers alone (`aria-hidden`). A page that hides most of its text shows it
/// with a script, so that text is not hidden either.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hidden {
    /// In document order, none inside another.
    nodes: Vec<Index>,
}

impl Hidden {
    /// Whether nothing is hidden.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The outermost hidden nodes in document order.
    pub(crate) fn nodes(&self) -> &[Index] {
        &self.nodes
    }

    /// Whether the node is hidden, by itself or with one around it.
    pub fn covers(&self, page: &Page, index: Index) -> bool {
        if self.nodes.is_empty() {
            return false;
        }
        let after = self.nodes.partition_point(|&node| node <= index);
        after > 0 && index < page.end(self.nodes[after - 1])
    }
}

/// How a page was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rendering {
    /// As the server sent it: its own styles tell what is displayed.
    None,
    /// From a browser, which has marked what is not displayed.
    Browser,
}

/// Finds what readers of a page do not see.
///
/// ```
/// let url = url::Url::parse("https://example.com/").unwrap();
/// let page = formats::Page::parse("<style>.x { left: -9999px }</style><p class=x style='position: absolute'>a<p>b", &url);
/// let hidden = formats::hidden(&page, formats::Rendering::None);
/// let content = formats::content(&page, &formats::ContentOptions::default()).without(&hidden);
/// assert_eq!(formats::markdown(&content, &formats::MarkdownOptions::default()), "b");
/// ```
pub fn hidden(page: &Page, rendering: Rendering) -> Hidden {
    let mut search = Search::new(page, rendering);
    let found = search.run(false);
    let moving: usize = found.iter().filter(|found| found.moves).map(|found| search.letters(found.index)).sum();
    let all: usize = found.iter().map(|found| search.letters(found.index)).sum();
    // More text waits for its animation than is shown: the page shows itself by scripts.
    let shows_itself = moving > 0 && moving > search.total().saturating_sub(all);
    let found = if shows_itself { search.run(true) } else { found };
    Hidden { nodes: found.into_iter().map(|found| found.index).collect() }
}

/// A hidden node.
struct Found {
    index: Index,
    /// Whether an animation or a transition may show it.
    moves: bool,
}

struct Search<'p> {
    page: &'p Page,
    sheets: Sheets,
    known: Known,
    /// What its controls open; looked for at the first hidden element.
    controls: Option<Controls>,
    /// Bytes of visible characters before each node; counted at the first hidden element.
    before: Vec<usize>,
}

impl<'p> Search<'p> {
    fn new(page: &'p Page, rendering: Rendering) -> Self {
        let is_sheet = |index: Index| {
            page.is(index, &local_name!("link"))
                && page.attr(index, "rel").is_some_and(|rel| rel.to_ascii_lowercase().contains("stylesheet"))
        };
        let known = Known { is_linked: page.positions().any(is_sheet), is_rendered: rendering == Rendering::Browser };
        Self { page, sheets: Sheets::of(page), known, controls: None, before: Vec::new() }
    }

    /// Looks at all nodes. `ignores_motion` says that what an animation may show is not hidden.
    fn run(&mut self, ignores_motion: bool) -> Vec<Found> {
        let (mut found, mut at) = (Vec::new(), 0);
        let mut around = vec![(self.page.node_count(), Sight::of_page(self.known))];
        while at < self.page.node_count() && !self.page.stop().is_set() {
            while around.len() > 1 && around.last().is_some_and(|(end, _)| *end <= at) {
                around.pop();
            }
            let Some(&(_, sight)) = around.last() else { break };
            let Some(name) = self.page.name(at) else {
                if sight.hides_text() && self.page.text(at).is_some_and(|text| !text.trim_start().is_empty()) {
                    found.push(Found { index: at, moves: false });
                }
                at += 1;
                continue;
            };
            if is_machinery(name) {
                at = self.page.end(at);
                continue;
            }
            let style = self.sheets.style(self.page, at);
            let own = style.as_ref();
            let moves = own.is_some_and(sight::moves);
            if let Some(cause) = self.cause(at, own).filter(|_| !(ignores_motion && moves))
                && !self.is_shown_after_all(at, cause)
            {
                found.push(Found { index: at, moves });
                at = self.page.end(at);
                continue;
            }
            let sight = sight.within(self.page, at, own, self.known);
            if sight.hides_pictures() && is_picture(name) {
                found.push(Found { index: at, moves: false });
                at = self.page.end(at);
                continue;
            }
            around.push((self.page.end(at), sight));
            at += 1;
        }
        found
    }

    /// Returns why an element with everything in it is hidden.
    fn cause(&self, index: Index, style: Option<&Style>) -> Option<Cause> {
        let element = self.page.element(index)?;
        let is_for_others = || {
            element
                .attr("class")
                .is_some_and(|class| class.split_ascii_whitespace().any(|name| FOR_SCREEN_READERS.contains(&name)))
        };
        sight::cause(element, style, self.known).or_else(|| is_for_others().then_some(Cause::Cut))
    }

    /// Whether a click shows the element, or it holds most of the page.
    fn is_shown_after_all(&mut self, index: Index, cause: Cause) -> bool {
        if self.letters(index) * 2 > self.total() {
            return true;
        }
        let page = self.page;
        let controls = self.controls.get_or_insert_with(|| Controls::of(page));
        cause == Cause::Closed && controls.open(page, index, &self.sheets)
    }

    /// Bytes of the visible characters in an element.
    fn letters(&mut self, index: Index) -> usize {
        self.count();
        self.before[self.page.end(index)] - self.before[index]
    }

    fn total(&mut self) -> usize {
        self.count();
        self.before.last().copied().unwrap_or_default()
    }

    fn count(&mut self) {
        if !self.before.is_empty() {
            return;
        }
        let (mut sum, mut skipped) = (0, 0);
        self.before.push(0);
        for index in 0..self.page.node_count() {
            let skips = |name: &LocalName| is_machinery(name) || *name == local_name!("noscript");
            if self.page.name(index).is_some_and(skips) {
                skipped = skipped.max(self.page.end(index));
            }
            let text = self.page.text(index).filter(|_| index >= skipped);
            sum += text.map_or(0, |text| text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count());
            self.before.push(sum);
        }
    }
}

/// Whether the element holds no text for readers.
fn is_machinery(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("script")
            | local_name!("style")
            | local_name!("head")
            | local_name!("template")
            | local_name!("svg")
    )
}

fn is_picture(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("img")
            | local_name!("picture")
            | local_name!("video")
            | local_name!("audio")
            | local_name!("iframe")
            | local_name!("embed")
            | local_name!("object")
    )
}

#[cfg(test)]
mod tests;
