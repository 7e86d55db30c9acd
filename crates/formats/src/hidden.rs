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
use crate::content::{Content, Visitor};

/// Classes of text for screen readers alone, by the names that the common frameworks share.
const FOR_SCREEN_READERS: [&str; 6] =
    ["sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only", "a11y-hidden"];

/// Attribute with which a browser marks what is laid out and invisible all the same.
const INVISIBLE: &str = "data-invisible";
/// Value of that attribute for what is transparent.
const TRANSPARENT: &str = "opacity";
/// Value of that attribute for what is folded up.
const FOLDED: &str = "folded";

/// Nodes of a page that readers do not see: hidden by a style or an attribute, off the page, of no size, or in the
/// colour of their background.
///
/// Known are the styles of the page itself, `<style>` elements and attributes, and what a browser has found by all
/// styles. Text that a click shows is not hidden,
/// nor is text that is hidden from screen readers alone (`aria-hidden`). A page that hides most of its content shows it
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

    /// Whether the node or one of its ancestors is hidden.
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

/// Bytes of text that a page shows by its scripts at least, if it does. Shorter hidden text is hidden even where it is
/// longer than the rest of the page: an order for a model needs a few sentences, an article has more.
const ARTICLE: usize = 1000;

/// Finds what readers of a page do not see. Whether that is most of a page is judged by its content.
///
/// ```
/// let url = url::Url::parse("https://example.com/").unwrap();
/// let page = formats::Page::parse("<style>.x { left: -9999px }</style><p class=x style='position: absolute'>a<p>b", &url);
/// let content = formats::content(&page, &formats::ContentOptions::default());
/// let hidden = formats::hidden(&content, formats::Rendering::None);
/// assert_eq!(formats::markdown(&content.without(&hidden), &formats::MarkdownOptions::default()), "b");
/// ```
pub fn hidden(content: &Content, rendering: Rendering) -> Hidden {
    let mut search = Search::new(content, rendering);
    let mut found = search.run(Ignored::Nothing);
    if found.is_empty() {
        return Hidden::default();
    }
    let moving: usize = found.iter().filter(|found| found.moves).map(|found| search.letters(found.index)).sum();
    let all: usize = found.iter().map(|found| search.letters(found.index)).sum();
    let shown = search.total().saturating_sub(all);
    // A browser marks text by its opacity alone, without a sign of an animation: 30 % of the page are enough.
    let most = if rendering == Rendering::Browser { shown * 3 / 7 } else { shown };
    if moving > most.max(ARTICLE) {
        // Too much text for an order to a model waits for its animation.
        found = search.run(Ignored::Moving);
    } else if all > shown.max(ARTICLE) {
        // More text is hidden than shown: the page shows itself by scripts.
        found = search.run(Ignored::Closed);
    }
    Hidden { nodes: found.into_iter().map(|found| found.index).collect() }
}

/// What does not count as hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ignored {
    Nothing,
    /// What an animation or a transition may show.
    Moving,
    /// What a script may show.
    Closed,
}

/// A hidden node.
struct Found {
    index: Index,
    /// Whether an animation or a transition may show it.
    moves: bool,
}

/// Mark of a browser.
#[derive(Clone, Copy)]
struct Marked {
    cause: Cause,
    /// Whether an animation may show the element.
    moves: bool,
}

/// What follows a look at a node.
enum Look {
    /// Its children are looked at.
    Into(Sight),
    /// Nothing to look at, neither in it nor below it.
    Past,
    Hidden {
        moves: bool,
    },
}

struct Search<'p> {
    page: &'p Page,
    content: &'p Content<'p>,
    sheets: Sheets,
    known: Known,
    /// What its controls open; looked for at the first hidden element.
    controls: Option<Controls>,
    /// Bytes of the content before each node, without blanks; counted at the first hidden element.
    before: Vec<usize>,
}

impl<'p> Search<'p> {
    fn new(content: &'p Content<'p>, rendering: Rendering) -> Self {
        let page = content.page();
        let is_sheet = |index: Index| {
            page.is(index, &local_name!("link"))
                && page.attr(index, "rel").is_some_and(|rel| rel.to_ascii_lowercase().contains("stylesheet"))
        };
        let known = Known { is_linked: page.positions().any(is_sheet), is_rendered: rendering == Rendering::Browser };
        Self { page, content, sheets: Sheets::of(page), known, controls: None, before: Vec::new() }
    }

    /// Looks at all nodes.
    fn run(&mut self, ignored: Ignored) -> Vec<Found> {
        let (mut found, mut at) = (Vec::new(), 0);
        let mut around = vec![(self.page.node_count(), Sight::of_page(self.known))];
        while at < self.page.node_count() && !self.page.stop().is_set() {
            while around.len() > 1 && around.last().is_some_and(|(end, _)| *end <= at) {
                around.pop();
            }
            let Some(&(_, sight)) = around.last() else { break };
            match self.look(at, sight, ignored) {
                Look::Into(sight) => {
                    around.push((self.page.end(at), sight));
                    at += 1;
                    continue;
                }
                Look::Past => {}
                Look::Hidden { moves } => found.push(Found { index: at, moves }),
            }
            at = self.page.end(at);
        }
        found
    }

    /// Looks at one node, whose surroundings are `around`.
    fn look(&mut self, at: Index, around: Sight, ignored: Ignored) -> Look {
        let ignores_closed = ignored == Ignored::Closed;
        let Some(name) = self.page.name(at) else {
            let is_hidden = around.hides_text_beside(ignores_closed)
                && self.page.text(at).is_some_and(|text| !text.trim_start().is_empty());
            // The document is no element, and has children.
            return if is_hidden { Look::Hidden { moves: false } } else { Look::Into(around) };
        };
        if is_machinery(name) {
            return Look::Past;
        }
        let style = self.sheets.style(self.page, at, around.hides_text());
        let style = style.as_ref();
        let mark = self.mark(at);
        let moves = style.is_some_and(sight::moves) || mark.is_some_and(|mark| mark.moves);
        let counts = |cause: &Cause| match ignored {
            Ignored::Nothing => true,
            Ignored::Moving => !moves,
            Ignored::Closed => *cause != Cause::Closed,
        };
        let cause = mark.map(|mark| mark.cause).or_else(|| self.cause(at, style));
        if let Some(cause) = cause.filter(counts)
            && !self.is_shown_after_all(at, cause)
        {
            return Look::Hidden { moves };
        }
        let sight = around.within(self.page, at, style, self.known);
        let is_hidden = sight.hides_pictures() && is_picture(name) && !ignores_closed;
        if is_hidden { Look::Hidden { moves: false } } else { Look::Into(sight) }
    }

    /// Returns the mark of a browser.
    fn mark(&self, index: Index) -> Option<Marked> {
        let word = if self.known.is_rendered { self.page.attr(index, INVISIBLE) } else { None }?;
        let cause = if matches!(&*word, TRANSPARENT | FOLDED) { Cause::Closed } else { Cause::Cut };
        Some(Marked { cause, moves: &*word == TRANSPARENT })
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

    /// Whether a click shows the element, or it holds an article that is most of the content.
    fn is_shown_after_all(&mut self, index: Index, cause: Cause) -> bool {
        let letters = self.letters(index);
        if letters > ARTICLE && letters * 2 > self.total() {
            return true;
        }
        let page = self.page;
        let controls = self.controls.get_or_insert_with(|| Controls::of(page));
        cause == Cause::Closed && controls.open(page, index, &self.sheets)
    }

    /// Bytes of the content in an element.
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
        let mut texts = Texts { page: self.page, letters: vec![0; self.page.node_count() + 1] };
        self.content.walk(&mut texts);
        let mut sum = 0;
        for letters in &mut texts.letters {
            sum += std::mem::replace(letters, sum);
        }
        self.before = texts.letters;
    }
}

/// Bytes of each text of the content, without blanks.
struct Texts<'p> {
    page: &'p Page,
    letters: Vec<usize>,
}

impl Visitor for Texts<'_> {
    fn enter(&mut self, _index: Index, name: &LocalName) -> bool {
        !is_machinery(name)
    }
    fn text(&mut self, index: Index) {
        let text = self.page.text(index).unwrap_or_default();
        self.letters[index] = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
    }
    fn leave(&mut self, _index: Index) {}
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
