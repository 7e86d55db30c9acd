//! Whether a text or picture is invisible, by its place and by what the elements around it do.

use super::super::snapshot::{Document, Kind, Node, Snapshot};
use super::Cause;
use super::paint::{Area, Paint, Painted, is_alike, paint};

/// Distance from the page or from a part that scrolls, in CSS pixels, beyond which nothing is brought back: the pictures
/// of a carousel wait closer.
const FAR: f64 = 5000.0;
/// Height of a text up to which no one can read it.
const UNREADABLE: f64 = 2.0;

/// Effect of the elements around a text on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    /// Why everything here is invisible.
    cause: Option<Cause>,
    /// The element around it that has no size and cuts what is larger.
    fold: Fold,
    /// Whether an element around it cuts what is larger, so that it may be moved into sight.
    is_cut: bool,
    /// Whether an element around it is out of the flow, and nothing between the two scrolls.
    is_placed: bool,
    ink: Paint,
    ground: Ground,
}

/// An element around a text that has no size and cuts what is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fold {
    None,
    /// One that cuts only what is in its flow.
    OfFlow,
    /// One that cuts what is taken out of the flow as well.
    OfAll,
}

/// Nearest background around a text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ground {
    /// A colour, and the area that has it; `None` for the whole page.
    Solid([u8; 3], Option<Area>),
    Unknown,
}

pub(super) struct Look<'a> {
    snapshot: &'a Snapshot,
    document: &'a Document,
    painted: &'a Painted<'a>,
    is_frame: bool,
    /// Width of the page without what sticks out of it.
    width: f64,
}

impl<'a> Look<'a> {
    pub(super) fn new(
        snapshot: &'a Snapshot,
        document: &'a Document,
        painted: &'a Painted<'a>,
        is_frame: bool,
    ) -> Self {
        // The document type has the same name, and no layout.
        let is_root = |node: Node| snapshot.name(document, node) == "html";
        let root = (0..document.len()).filter(|&node| is_root(node)).find_map(|node| painted.laid(node));
        let width = root.map_or(f64::MAX, |laid| laid.area.width);
        Self { snapshot, document, painted, is_frame, width }
    }

    /// Returns what the root of the document gets.
    pub(super) fn of_page(&self) -> Around {
        let ground = if self.is_frame { Ground::Unknown } else { Ground::Solid([255; 3], None) };
        Around { cause: None, fold: Fold::None, is_cut: false, is_placed: false, ink: Paint::Unknown, ground }
    }

    /// Returns what the content of an element gets.
    pub(super) fn within(&self, node: Node, around: Around) -> Around {
        let Some(laid) = self.painted.laid(node) else { return around };
        let name = self.snapshot.name(self.document, node);
        let (is_html, is_page) = (name == "html", matches!(name.as_ref(), "html" | "body" | "frameset"));
        let cause = match () {
            () if around.cause.is_some() => around.cause,
            () if laid.is_faint() => Some(Cause::Opacity),
            () if laid.is_clipped_away() => Some(Cause::Cut),
            () => None,
        };
        let fold = match (around.fold, laid.position) {
            (_, "fixed") | (Fold::OfFlow, "absolute") => Fold::None,
            (Fold::OfFlow, "relative" | "sticky") => Fold::OfAll,
            (fold, _) => fold,
        };
        let fold = match fold {
            Fold::None if laid.is_folded() && !is_page => match laid.position {
                "" | "static" => Fold::OfFlow,
                _ => Fold::OfAll,
            },
            fold => fold,
        };
        let ink = paint(laid.ink);
        let ground = match laid.ground_paint() {
            Paint::Solid(color) => Ground::Solid(color, (!is_page).then_some(laid.area)),
            Paint::Unknown => Ground::Unknown,
            // The canvas of a dark page is dark, which shows in the colour of its text.
            Paint::Clear if is_html && is_light(ink) => Ground::Unknown,
            Paint::Clear => around.ground,
        };
        let is_cut = around.is_cut || laid.cuts() && !is_page;
        let is_placed = !laid.scrolls() && (around.is_placed || laid.is_out_of_flow());
        Around { cause, fold, is_cut, is_placed, ink, ground }
    }

    /// Returns why a text or a picture is invisible.
    pub(super) fn cause(&self, node: Node, kind: Kind, around: Around) -> Option<Cause> {
        if around.cause.is_some() {
            return around.cause;
        }
        if around.fold != Fold::None {
            return Some(Cause::Folded);
        }
        let area = self.painted.laid(node)?.area;
        let is_hidden = self.is_off_page(area, around)
            || kind == Kind::Text
                && (area.width <= 1.0 || area.height <= UNREADABLE || self.has_color_of_ground(node, area, around));
        is_hidden.then_some(Cause::Cut)
    }

    fn is_off_page(&self, area: Area, around: Around) -> bool {
        let (right, bottom) = (area.left + area.width, area.top + area.height);
        let reach = if around.is_cut { FAR } else { 0.0 };
        // A wide table or a long line can be scrolled to; what was placed far to the right is meant to stay there.
        let is_far_right = around.is_placed && area.left - self.width > FAR;
        right <= -reach || bottom <= -reach || is_far_right
    }

    fn has_color_of_ground(&self, text: Node, area: Area, around: Around) -> bool {
        let Ground::Solid(ground, of) = around.ground else { return false };
        if of.is_some_and(|of| !of.holds(area)) {
            return false;
        }
        match around.ink {
            Paint::Clear => true,
            Paint::Solid(ink) => is_alike(ink, ground) && !self.painted.is_backed(self.document, text, ink),
            Paint::Unknown => false,
        }
    }
}

fn is_light(ink: Paint) -> bool {
    matches!(ink, Paint::Solid(color) if color.iter().map(|&channel| u32::from(channel)).sum::<u32>() > 3 * 128)
}
