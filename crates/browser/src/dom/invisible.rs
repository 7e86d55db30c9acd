//! Text that is laid out, and that its computed styles hide: transparent, in the colour of its background, cut to
//! nothing, of no size, or off the page. Readers' formats keep it, because much of it waits for an animation; it is marked
//! for those who must see no more than a visitor does.

mod look;
mod paint;

use std::collections::HashMap;

use super::seen::Seen;
use super::snapshot::{Document, Kind, Node, Snapshot};
use look::{Around, Look};
use paint::Painted;

/// Elements that are not written, or stand for the whole page.
const UNMARKED: &[&str] = &["slot", "html", "body", "frameset"];

/// Why a text is invisible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// Transparent, as before an animation.
    Opacity,
    /// Folded up, as what a control opens.
    Folded,
    /// Cut to nothing, of no size, off the page, or in the colour of its background.
    Cut,
}

impl Cause {
    /// Returns the value of the mark.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Opacity => "opacity",
            Self::Folded => "folded",
            Self::Cut => "cut",
        }
    }
}

/// Knowledge of the visible content in a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// There is none.
    Nothing,
    /// All of it is invisible for one reason.
    All(Cause),
    /// Some of it is visible, or is invisible for another reason.
    Mixed,
}

/// Marks of a document: the outermost nodes whose content is invisible for one reason.
pub(super) struct Invisible(HashMap<Node, Cause>);

impl Invisible {
    /// Looks at all nodes. `is_frame` tells a frame from the page: what lies behind it is unknown.
    pub(super) fn of(snapshot: &Snapshot, document: &Document, seen: &Seen, is_frame: bool) -> Self {
        let painted = Painted::of(snapshot, document);
        let look = Look::new(snapshot, document, &painted, is_frame);
        let kinds = document.kinds();
        let mut around: Vec<Around> = Vec::with_capacity(kinds.len());
        let mut verdicts = vec![Verdict::Nothing; kinds.len()];
        for node in 0..kinds.len() {
            let outer = document.parent(node).map_or_else(|| look.of_page(), |parent| around[parent]);
            let own = if kinds[node] == Kind::Element { look.within(node, outer) } else { outer };
            around.push(own);
            if seen.own[node] {
                verdicts[node] = look.cause(node, kinds[node], own).map_or(Verdict::Mixed, Verdict::All);
            }
        }
        hand_up(document, &mut verdicts);
        // A page that is transparent as a whole is about to be shown.
        let is_root = |node: &usize| document.parent(*node).is_none();
        let is_fading = (0..kinds.len()).filter(is_root).any(|node| verdicts[node] == Verdict::All(Cause::Opacity));
        if is_fading {
            return Self(HashMap::new());
        }
        Self(outermost(snapshot, document, &kinds, &verdicts))
    }

    /// Returns why everything in a node is invisible, if the node is the outermost one.
    pub(super) fn cause(&self, node: Node) -> Option<Cause> {
        self.0.get(&node).copied()
    }
}

/// Hands the verdicts on children to their parents.
fn hand_up(document: &Document, verdicts: &mut [Verdict]) {
    // Parents precede their children, so that the reverse order works bottom-up.
    for node in (0..verdicts.len()).rev() {
        let Some(parent) = document.parent(node) else { continue };
        verdicts[parent] = match (verdicts[parent], verdicts[node]) {
            (known, Verdict::Nothing) => known,
            (Verdict::Nothing, new) => new,
            (known, new) if known == new => known,
            _ => Verdict::Mixed,
        };
    }
}

fn outermost(snapshot: &Snapshot, document: &Document, kinds: &[Kind], verdicts: &[Verdict]) -> HashMap<Node, Cause> {
    let mut marks = HashMap::new();
    let mut is_covered = vec![false; kinds.len()];
    for node in 0..kinds.len() {
        is_covered[node] = document.parent(node).is_some_and(|parent| is_covered[parent]);
        let may_be_marked = || match kinds[node] {
            Kind::Element => !UNMARKED.contains(&snapshot.name(document, node).as_ref()),
            Kind::Text => true,
            Kind::Other => false,
        };
        if let Verdict::All(cause) = verdicts[node]
            && !is_covered[node]
            && may_be_marked()
        {
            marks.insert(node, cause);
            is_covered[node] = true;
        }
    }
    marks
}
