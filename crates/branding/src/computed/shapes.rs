//! Spacing, corners, buttons and fields, animations, and the layout of the page.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use wire::Spacing;

use super::counts::{css_px, most};
use super::palette::{Palette, is_labelled};
use crate::color::Color;
use crate::sample::{Element, ElementKind, Sample};

/// Common base units of spacing in pixels, largest first.
const UNITS: [u32; 5] = [12, 10, 8, 6, 4];
// A unit of 4 divides those of 8 and 12 as well, so the largest that fits is the answer. Single distances follow from
// text or pictures and fit none, hence six of ten.

/// Share of all distances that must be multiples of the unit.
const MIN_FIT: f64 = 0.6;
/// Tolerance for a multiple, in pixels.
const TOLERANCE: f64 = 0.5;
/// Limit on a distance in pixels: larger ones come from the window, not from the design.
const MAX_DISTANCE: f64 = 128.0;
/// Least number of distances for a base unit.
const MIN_DISTANCES: usize = 8;
/// Limit on a radius in pixels: anything larger is a pill as well.
const PILL: f64 = 999.0;

type Words = BTreeMap<String, String>;

/// Returns the elements of a kind; of buttons only those with a readable label.
fn of_kind(sample: &Sample, kind: ElementKind) -> impl Iterator<Item = &Element> {
    sample.elements.iter().filter(move |e| e.kind == kind && (kind != ElementKind::Button || is_labelled(e)))
}

pub(crate) fn spacing(sample: &Sample) -> Spacing {
    let gaps = || sample.grids.iter().map(|grid| grid.gap.get()).filter(|gap| *gap > 0.0 && *gap <= MAX_DISTANCE);
    let side = |kind: ElementKind, side: usize| {
        most(of_kind(sample, kind).filter_map(move |element| {
            // Sides in the order of CSS: top, right, bottom, left. 0 is no choice of a designer, but the default.
            let inner = element.padding.get(side)?.get();
            (0.1..=MAX_DISTANCE).contains(&inner).then_some(inner)
        }))
    };
    let below = |kind: ElementKind| {
        most(of_kind(sample, kind).filter_map(|element| {
            let outer = element.margin.get(2)?.get();
            (0.1..=MAX_DISTANCE).contains(&outer).then_some(outer)
        }))
    };
    let padding = [
        ("buttonX", side(ElementKind::Button, 1)),
        ("buttonY", side(ElementKind::Button, 0)),
        ("input", side(ElementKind::Input, 1)),
        ("card", side(ElementKind::Card, 0)),
    ];
    let margins = [("heading", below(ElementKind::Heading)), ("paragraph", below(ElementKind::Paragraph))];
    Spacing {
        base_unit: unit(&distances(sample)),
        border_radius: radius(sample),
        padding: lengths(&padding),
        margins: lengths(&margins),
        grid_gutter: most(gaps()).map(Value::from),
    }
}

fn lengths(members: &[(&str, Option<f64>)]) -> Map<String, Value> {
    members.iter().filter_map(|(name, length)| Some(((*name).to_owned(), Value::from((*length)?)))).collect()
}

/// Returns every padding, margin and gap that a designer may have chosen.
fn distances(sample: &Sample) -> Vec<f64> {
    let all = sample.elements.iter().filter(|element| element.kind != ElementKind::Code).flat_map(|element| {
        element.padding.iter().chain(element.margin.iter()).map(|side| side.get()).chain([element.gap.get()])
    });
    // One pixel is the width of a border rather than a distance.
    all.filter(|distance| *distance >= 2.0 && *distance <= MAX_DISTANCE).collect()
}

/// Returns the largest unit of which most distances are multiples.
fn unit(distances: &[f64]) -> Option<u32> {
    if distances.len() < MIN_DISTANCES {
        return None;
    }
    let fits = |unit: u32| {
        let unit = f64::from(unit);
        let off = |distance: &&f64| (*distance / unit - (*distance / unit).round()).abs() * unit <= TOLERANCE;
        distances.iter().filter(off).count() as f64 >= distances.len() as f64 * MIN_FIT
    };
    UNITS.into_iter().find(|unit| fits(*unit))
}

/// Returns the median radius of visible buttons, fields and cards.
fn radius(sample: &Sample) -> Option<String> {
    let shaped = sample.elements.iter().filter(|element| {
        matches!(element.kind, ElementKind::Button | ElementKind::Input | ElementKind::Card)
            && (element.own_ground().is_some() || element.border_color.0.is_some())
    });
    let mut radii: Vec<f64> = shaped.filter_map(|element| pixels(&element.radius)).collect();
    radii.sort_by(f64::total_cmp);
    // The lower median: one of the radii in use, never a mean of two.
    radii.get(radii.len().saturating_sub(1) / 2).map(|radius| css_px(*radius))
}

/// Parses a length such as `4px`; of `4px 2px` the first.
fn pixels(length: &str) -> Option<f64> {
    let number = length.split_ascii_whitespace().next()?.strip_suffix("px")?.parse::<f64>().ok()?;
    number.is_finite().then(|| number.clamp(0.0, PILL))
}

/// Returns the looks of the primary and secondary button and of the input field.
pub(crate) fn components(sample: &Sample, palette: &Palette) -> BTreeMap<String, Words> {
    let mut buttons: Vec<(&Element, f64)> =
        of_kind(sample, ElementKind::Button).map(|b| (b, rank(b, palette))).collect();
    buttons.sort_by(|(_, one), (_, two)| two.total_cmp(one));
    let primary = buttons.first().filter(|(_, rank)| *rank > 0.0).map(|(button, _)| *button);
    let differs = |button: &Element| {
        let look = |b: &Element| (b.own_ground().map(Color::hex), b.border_color.0.map(Color::hex));
        primary.is_some_and(|primary| look(primary).0 != look(button).0)
    };
    let framed = |b: &Element| b.own_ground().is_some() || b.border_color.0.is_some();
    let secondary = buttons.iter().map(|(button, _)| *button).find(|button| differs(button) && framed(button));
    let mut found = BTreeMap::new();
    for (name, button) in [("buttonPrimary", primary), ("buttonSecondary", secondary)] {
        button.map(|button| found.insert(name.to_owned(), describe(button, palette)));
    }
    if let Some(field) = of_kind(sample, ElementKind::Input).max_by(|a, b| a.place.area().total_cmp(&b.place.area())) {
        let mut field = describe(field, palette);
        sample.focus_color.0.map(|color| field.insert("focusBorderColor".into(), color.over(palette.ground).hex()));
        found.insert("input".into(), field);
    }
    found
}

/// Scores how prominent a button is: contrast with the page, size, position in the text rather than in a menu, hue, and
/// use of the primary colour. A button without a background scores 0.
fn rank(button: &Element, palette: &Palette) -> f64 {
    let Some(own) = button.own_ground().map(|color| color.over(palette.ground)) else { return 0.0 };
    // The scores are of one order, so that no single sign decides: contrast 1 to 10, size 0 to 5 (the logarithm, from
    // 150 to 22 000 square pixels), 4 for a place in the text, 6 for a hue. The primary colour weighs as much as high
    // contrast.
    let is_primary = palette.primary.is_some_and(|primary| primary.distance(own) < 0.03);
    let stands_out = own.contrast(palette.ground).min(10.0);
    let size = (button.place.area().max(1.0).ln() - 5.0).clamp(0.0, 5.0);
    let in_text = if button.framed { 0.0 } else { 4.0 };
    stands_out + size + in_text + if own.is_chromatic() { 6.0 } else { 0.0 } + if is_primary { 8.0 } else { 0.0 }
}

fn describe(element: &Element, palette: &Palette) -> Words {
    let on_page = |color: Color| color.over(palette.ground).hex();
    let own = element.own_ground().map_or_else(|| "transparent".to_owned(), on_page);
    let members = [
        ("background", Some(own)),
        ("textColor", element.ink().map(Color::hex)),
        ("borderColor", element.border_color.0.map(on_page)),
        ("borderRadius", pixels(&element.radius).map(css_px)),
    ];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Returns the most frequent style and colour of icons.
pub(crate) fn icons(sample: &Sample, palette: &Palette) -> Words {
    let style = most(sample.icons.iter().filter_map(|icon| word(&icon.style)));
    let color = most(sample.icons.iter().filter_map(|icon| Some(icon.color.0?.over(palette.ground).hex())));
    let members = [("style", style), ("primaryColor", color)];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Returns a CSS value such as `0.2s` or `cubic-bezier(0, 0, 1, 1)` if it is short and harmless.
fn word(text: &str) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-.,() ".contains(c);
    (!text.is_empty() && text.len() <= 60 && text.chars().all(fits)).then(|| text.to_owned())
}

/// Returns the most frequent duration and easing of transitions.
pub(crate) fn animations(sample: &Sample) -> Words {
    let moves = || {
        let moving = |e: &&Element| {
            e.duration.starts_with(|c: char| c.is_ascii_digit()) && !matches!(&*e.duration, "0s" | "0ms")
        };
        sample.elements.iter().filter(moving)
    };
    let duration = most(moves().filter_map(|element| word(&element.duration)));
    let easing = most(moves().filter_map(|element| word(&element.easing)));
    let members = [("transitionDuration", duration), ("easing", easing)];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Returns the grid, the width of the content, and the heights of page header and footer.
pub(crate) fn layout(sample: &Sample) -> Map<String, Value> {
    let columns = sample.grids.iter().max_by(|a, b| a.width.get().total_cmp(&b.width.get()));
    let area = |container: &&crate::sample::Container| container.width.get() * container.height.get();
    let widest = sample.containers.iter().max_by(|a, b| area(a).total_cmp(&area(b)));
    let mut grid = Map::new();
    // Frameworks have grids of up to 24 columns; one column is none.
    if let Some(columns) = columns.map(|grid| grid.columns.get()).filter(|columns| (2.0..=24.0).contains(columns)) {
        grid.insert("columns".into(), json!(columns.round() as u32));
    }
    if let Some(widest) = widest.map(|container| container.max_width.get()).filter(|width| *width > 0.0) {
        grid.insert("maxWidth".into(), css_px(widest).into());
    }
    let height = |element: Option<&Element>| element.map(|e| e.place.height.get()).filter(|height| *height > 0.0);
    let header = of_kind(sample, ElementKind::Header).next();
    let header = header.or_else(|| of_kind(sample, ElementKind::Nav).find(|nav| is_bar(nav, sample)));
    let footer = of_kind(sample, ElementKind::Footer).max_by(|a, b| a.place.y.get().total_cmp(&b.place.y.get()));
    let mut layout = Map::new();
    if !grid.is_empty() {
        layout.insert("grid".into(), grid.into());
    }
    for (name, height) in [("headerHeight", height(header)), ("footerHeight", height(footer))] {
        height.map(|height| layout.insert(name.into(), css_px(height).into()));
    }
    layout
}

/// Whether a menu is a bar across the top of the page.
fn is_bar(nav: &Element, sample: &Sample) -> bool {
    // At the top, flat, and wide: a menu at the side is high, one in a corner is narrow.
    let place = nav.place;
    place.y.get() < 100.0 && place.height.get() < 200.0 && place.width.get() > sample.viewport.width.get() * 0.6
}
