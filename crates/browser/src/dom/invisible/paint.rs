//! Colours and boxes of a page as they are painted.

use std::cell::Cell;
use std::num::NonZeroU32;

use super::super::snapshot::{Document, Node, Snapshot};

/// Difference of two colours in each channel up to which they cannot be told apart.
const ALIKE: u8 = 10;
/// Opacity below which nothing is seen.
pub(super) const FAINT: f64 = 0.05;
/// Number of comparisons of a text with boxes and ancestors in one document. Beyond it texts count as seen.
const MAX_COMPARED: usize = 30_000_000;
/// Elements that paint something of their own.
const PICTURES: &[&str] = &["img", "video", "canvas", "svg", "iframe", "frame", "object", "embed"];

/// Colour of a text or a background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    Solid([u8; 3]),
    /// Nothing is painted.
    Clear,
    /// Pictures, translucent colours, and colours that are written in another way.
    Unknown,
}

/// A rectangle in the document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A laid-out node with its computed styles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Laid<'s> {
    pub(super) area: Area,
    pub(super) opacity: &'s str,
    pub(super) ink: &'s str,
    pub(super) ground: &'s str,
    pub(super) picture: &'s str,
    pub(super) position: &'s str,
    pub(super) overflow: &'s str,
    pub(super) clip: &'s str,
    pub(super) clip_path: &'s str,
    pub(super) filter: &'s str,
}

/// All laid-out nodes of a document.
pub(super) struct Painted<'s> {
    snapshot: &'s Snapshot,
    document: &'s Document,
    /// Place in the layout by node, from 1; `None` if the node is not laid out.
    places: Vec<Option<NonZeroU32>>,
    /// Boxes that paint something, pseudo-elements included.
    boxes: Vec<PaintedBox>,
    /// Number of comparisons that are left of [`MAX_COMPARED`].
    left: Cell<usize>,
}

struct PaintedBox {
    node: Node,
    area: Area,
    paint: Paint,
}

impl<'s> Painted<'s> {
    pub(super) fn of(snapshot: &'s Snapshot, document: &'s Document) -> Self {
        let (places, boxes) = (vec![None; document.len()], Vec::new());
        let mut painted = Self { snapshot, document, places, boxes, left: Cell::new(MAX_COMPARED) };
        for (at, &node) in document.layout.node_index.iter().enumerate() {
            let Some(node) = usize::try_from(node).ok().filter(|node| *node < painted.places.len()) else { continue };
            let Some(laid) = laid(snapshot, document, at) else { continue };
            let is_picture = PICTURES.contains(&snapshot.name(document, node).as_ref());
            let paint = if is_picture { Paint::Unknown } else { laid.ground_paint() };
            if paint != Paint::Clear {
                painted.boxes.push(PaintedBox { node, area: laid.area, paint });
            }
            painted.places[node] = u32::try_from(at + 1).ok().and_then(NonZeroU32::new);
        }
        painted
    }

    pub(super) fn laid(&self, node: Node) -> Option<Laid<'s>> {
        let place = (*self.places.get(node)?)?;
        laid(self.snapshot, self.document, place.get() as usize - 1)
    }

    /// Whether anything in another colour than `ink` lies where a text is, besides the elements around it.
    pub(super) fn is_backed(&self, document: &Document, text: Node, ink: [u8; 3]) -> bool {
        let Some(laid) = self.laid(text) else { return false };
        let differs = |paint: Paint| match paint {
            Paint::Solid(color) => !is_alike(color, ink),
            Paint::Clear => false,
            Paint::Unknown => true,
        };
        let mut others = self.boxes.iter().filter(|painted| differs(painted.paint) && painted.area.meets(laid.area));
        !self.may_compare(self.boxes.len()) || others.any(|painted| !self.is_around(document, painted.node, text))
    }

    /// Whether a node is an ancestor of a text; false also when too much was compared.
    fn is_around(&self, document: &Document, node: Node, text: Node) -> bool {
        let ancestors = std::iter::successors(Some(text), |&at| document.parent(at));
        ancestors.take_while(|_| self.may_compare(1)).any(|at| at == node)
    }

    fn may_compare(&self, count: usize) -> bool {
        let left = self.left.get().checked_sub(count);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }
}

fn laid<'s>(snapshot: &'s Snapshot, document: &'s Document, at: usize) -> Option<Laid<'s>> {
    let &[left, top, width, height] = document.layout.bounds.get(at)? else { return None };
    let styles = document.layout.styles.get(at)?;
    // The first two are those of `Seen`.
    let style = |column: usize| styles.get(column + 2).map_or("", |&text| snapshot.string(text));
    Some(Laid {
        area: Area { left, top, width, height },
        opacity: style(0),
        ink: style(1),
        ground: style(2),
        picture: style(3),
        position: style(4),
        overflow: style(5),
        clip: style(6),
        clip_path: style(7),
        filter: style(8),
    })
}

impl Area {
    pub(super) fn meets(self, other: Self) -> bool {
        let meets = |start: f64, length: f64, other: f64, others: f64| start < other + others && other < start + length;
        meets(self.left, self.width, other.left, other.width) && meets(self.top, self.height, other.top, other.height)
    }

    /// Whether another rectangle lies inside, give or take a pixel.
    pub(super) fn holds(self, other: Self) -> bool {
        let holds = |start: f64, length: f64, other: f64, others: f64| {
            other >= start - 1.0 && other + others <= start + length + 1.0
        };
        holds(self.left, self.width, other.left, other.width) && holds(self.top, self.height, other.top, other.height)
    }
}

impl Laid<'_> {
    /// Returns what is painted behind the content of the element.
    pub(super) fn ground_paint(&self) -> Paint {
        match self.picture {
            "" | "none" => paint(self.ground),
            _ => Paint::Unknown,
        }
    }

    /// Whether the element and everything in it is transparent.
    pub(super) fn is_faint(&self) -> bool {
        let amount = self.filter.split_once("opacity(").and_then(|(_, rest)| rest.split(')').next());
        let is_below = |text: &str| text.parse::<f64>().is_ok_and(|opacity| opacity < FAINT);
        is_below(self.opacity) || amount.is_some_and(is_below)
    }

    pub(super) fn is_out_of_flow(&self) -> bool {
        matches!(self.position, "absolute" | "fixed")
    }

    /// Whether the element shows nothing of its content, because it has no size and cuts what is larger.
    pub(super) fn is_folded(&self) -> bool {
        self.cuts() && self.area.width.min(self.area.height) <= 1.5
    }

    /// Whether the element cuts what is larger than it.
    pub(super) fn cuts(&self) -> bool {
        self.overflow.contains("hidden") || self.overflow.contains("clip")
    }

    /// Whether visitors can scroll what is larger than the element.
    pub(super) fn scrolls(&self) -> bool {
        self.overflow.contains("auto") || self.overflow.contains("scroll")
    }

    /// Whether `clip` or `clip-path` leave nothing of the element.
    pub(super) fn is_clipped_away(&self) -> bool {
        self.is_out_of_flow() && leaves_nothing(self.clip) || is_empty_shape(self.clip_path, self.area)
    }
}

/// Returns a computed colour.
pub(super) fn paint(text: &str) -> Paint {
    let inner =
        text.strip_prefix("rgba(").or_else(|| text.strip_prefix("rgb(")).and_then(|rest| rest.strip_suffix(')'));
    let Some(inner) = inner else { return if text.is_empty() { Paint::Clear } else { Paint::Unknown } };
    let mut parts = inner.split(',').map(str::trim);
    let mut color = [0; 3];
    for channel in &mut color {
        let Some(Ok(value)) = parts.next().map(str::parse) else { return Paint::Unknown };
        *channel = value;
    }
    match parts.next().map(str::parse::<f64>) {
        None => Paint::Solid(color),
        Some(Ok(alpha)) if alpha < FAINT => Paint::Clear,
        Some(Ok(alpha)) if alpha >= 1.0 => Paint::Solid(color),
        Some(_) => Paint::Unknown,
    }
}

/// Whether two colours cannot be told apart.
pub(super) fn is_alike(one: [u8; 3], two: [u8; 3]) -> bool {
    one.iter().zip(two).all(|(one, two)| one.abs_diff(two) <= ALIKE)
}

/// Whether a `clip` leaves a pixel at most.
fn leaves_nothing(clip: &str) -> bool {
    let Some(inner) = clip.strip_prefix("rect(").and_then(|rest| rest.strip_suffix(')')) else { return false };
    let sides: Vec<f64> =
        inner.split([',', ' ']).filter_map(|side| side.trim().strip_suffix("px")?.parse().ok()).collect();
    matches!(sides.as_slice(), [top, right, bottom, left] if right - left <= 1.0 || bottom - top <= 1.0)
}

/// Whether a `clip-path` leaves nothing of an element with this area.
fn is_empty_shape(shape: &str, area: Area) -> bool {
    let inner = |name: &str| shape.strip_prefix(name).and_then(|rest| rest.split(')').next());
    let length = |text: &str, whole: f64| match text.strip_suffix('%') {
        Some(share) => share.parse::<f64>().ok().map(|share| share / 100.0 * whole),
        None => text.strip_suffix("px").unwrap_or(text).parse().ok(),
    };
    if let Some(sides) = inner("inset(") {
        let sides: Vec<&str> = sides.split_whitespace().take_while(|side| *side != "round").collect();
        let [top, right, bottom, left] = match *sides.as_slice() {
            [all] => [all; 4],
            [high, wide] => [high, wide, high, wide],
            [top, wide, bottom] => [top, wide, bottom, wide],
            [top, right, bottom, left] => [top, right, bottom, left],
            _ => return false,
        };
        let left_over = |one: &str, two: &str, whole: f64| Some(whole - length(one, whole)? - length(two, whole)?);
        let is_nothing = |left: Option<f64>| left.is_some_and(|left| left <= 1.0);
        return is_nothing(left_over(top, bottom, area.height)) || is_nothing(left_over(left, right, area.width));
    }
    if let Some(circle) = inner("circle(").or_else(|| inner("ellipse(")) {
        return circle
            .split_whitespace()
            .next()
            .and_then(|radius| length(radius, area.width))
            .is_some_and(|r| r <= 0.5);
    }
    inner("polygon(").is_some_and(|points| {
        let points: Vec<Vec<&str>> = points.split(',').map(|point| point.split_whitespace().collect()).collect();
        let is_flat = |axis: usize| points.iter().all(|point| point.get(axis) == points[0].get(axis));
        is_flat(0) || is_flat(1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computed_colours_are_read() {
        for (text, expect) in [
            ("rgb(255, 0, 10)", Paint::Solid([255, 0, 10])),
            ("rgba(0, 0, 0, 0)", Paint::Clear),
            ("rgba(1, 2, 3, 0.5)", Paint::Unknown),
            ("oklch(0.5 0.2 30)", Paint::Unknown),
        ] {
            assert_eq!(paint(text), expect, "{text}");
        }
        assert!(is_alike([250, 250, 250], [255, 255, 255]) && !is_alike([230, 255, 255], [255, 255, 255]));
    }

    #[test]
    fn clips_and_shapes_that_leave_nothing() {
        let area = Area { left: 0.0, top: 0.0, width: 200.0, height: 40.0 };
        for nothing in ["inset(50%)", "inset(0px 0px 100%)", "inset(20px)", "circle(0px at 50% 50%)"] {
            assert!(is_empty_shape(nothing, area), "{nothing}");
        }
        assert!(is_empty_shape("polygon(0px 0px, 0px 0px, 0px 0px)", area));
        for part in ["none", "inset(10%)", "circle(50%)", "polygon(0% 0%, 100% 0%, 50% 100%)", "inset(0px round 8px)"] {
            assert!(!is_empty_shape(part, area), "{part}");
        }
        assert!(leaves_nothing("rect(0px, 0px, 0px, 0px)") && leaves_nothing("rect(1px, 1px, 1px, 1px)"));
        assert!(!leaves_nothing("rect(0px, 90px, 40px, 0px)") && !leaves_nothing("auto"));
    }
}
