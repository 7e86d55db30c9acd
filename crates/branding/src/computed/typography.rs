//! Typography: fonts, sizes, line heights and weights.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use wire::{Font, Typography};

use super::counts::{Counts, css_px, most};
use crate::css::families;
use crate::fonts::{chosen, is_serif};
use crate::sample::{Element, ElementKind, Sample};

/// Font size in pixels below which text is not meant to be read.
const MIN_SIZE: f64 = 8.0;

/// The typography of a page.
pub(crate) struct Letters {
    pub(crate) fonts: Vec<Font>,
    pub(crate) typography: Typography,
    /// Whether its texts are set in a serif font.
    pub(crate) serif: bool,
    /// Whether its headings are large and heavy.
    pub(crate) heavy: bool,
}

/// Font stacks by their use.
struct Stacks {
    body: Vec<String>,
    paragraph: Vec<String>,
    heading: Vec<String>,
    code: Vec<String>,
    button: Vec<String>,
}

impl Letters {
    pub(crate) fn of(sample: &Sample) -> Letters {
        let stacks = Stacks::of(sample);
        let loaded = |family: &str| sample.faces.iter().any(|face| face.family.eq_ignore_ascii_case(family));
        let main = if stacks.paragraph.is_empty() { &stacks.body } else { &stacks.paragraph };
        let heading = if stacks.heading.is_empty() { main } else { &stacks.heading };
        let roles = [("primary", main), ("heading", heading), ("code", &stacks.code)];
        let font_families = named(roles.iter().filter_map(|(role, stack)| Some((*role, chosen(stack, loaded)?))));
        let lists = [("primary", main), ("heading", heading), ("body", &stacks.body), ("paragraph", main)];
        let font_stacks = lists.into_iter().filter(|(_, stack)| !stack.is_empty());
        let font_stacks = font_stacks.map(|(role, stack)| (role.to_owned(), stack.clone())).collect();
        let fonts = [("body", main), ("heading", heading), ("code", &stacks.code), ("button", &stacks.button)];
        let sizes = sizes(sample);
        let heavy = of_tag(sample, "h1").any(|h1| h1.weight.get() >= 700.0 && h1.size.get() >= 40.0);
        Letters {
            fonts: list_fonts(&fonts, loaded),
            serif: is_serif(main),
            heavy,
            typography: Typography {
                font_families,
                font_stacks,
                font_sizes: sizes,
                line_heights: line_heights(sample),
                font_weights: weights(sample),
            },
        }
    }
}

impl Stacks {
    fn of(sample: &Sample) -> Stacks {
        let by_length = |fits: &dyn Fn(&Element) -> bool| {
            let mut lists = Counts::default();
            for element in sample
                .elements
                .iter()
                .filter(|element| fits(element) && !element.font.is_empty() && !element.text.is_empty())
            {
                lists.add(&*element.font, element.text.len() as f64 * element.size.get().max(1.0));
            }
            lists.most().map(families).unwrap_or_default()
        };
        let only = |kind: ElementKind| move |element: &Element| element.kind == kind;
        let running = by_length(&|element| element.kind == ElementKind::Paragraph && !element.framed);
        let paragraph = if running.is_empty() { by_length(&only(ElementKind::Paragraph)) } else { running };
        Stacks {
            body: families(&sample.body.font),
            paragraph,
            heading: by_length(&only(ElementKind::Heading)),
            code: by_length(&only(ElementKind::Code)),
            button: by_length(&only(ElementKind::Button)),
        }
    }
}

fn named<T>(members: impl Iterator<Item = (&'static str, T)>) -> BTreeMap<String, T> {
    members.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Lists each family once, with its first role and whether it is a web font.
fn list_fonts(roles: &[(&'static str, &Vec<String>)], loaded: impl Fn(&str) -> bool) -> Vec<Font> {
    let mut fonts: Vec<Font> = Vec::new();
    for (role, stack) in roles {
        let Some(family) = chosen(stack, &loaded) else { continue };
        if !fonts.iter().any(|font| font.family == family) {
            let mut more = Map::new();
            more.insert("role".into(), Value::from(*role));
            more.insert("webFont".into(), Value::from(loaded(&family)));
            fonts.push(Font { family, more });
        }
    }
    fonts
}

fn of_tag<'s>(sample: &'s Sample, tag: &'s str) -> impl Iterator<Item = &'s Element> {
    sample.elements.iter().filter(move |element| &*element.tag == tag)
}

/// Returns the paragraphs outside header, footer and menus.
fn running(sample: &Sample) -> impl Iterator<Item = &Element> {
    sample.elements.iter().filter(|element| element.kind == ElementKind::Paragraph && !element.framed)
}

/// Returns the font size of most of the text.
fn main_size<'e>(elements: impl Iterator<Item = &'e Element>) -> Option<f64> {
    let mut sizes = Counts::default();
    for element in elements.filter(|element| element.size.get() >= MIN_SIZE) {
        sizes.add(element.size.get(), element.text.len() as f64 + 1.0);
    }
    sizes.most()
}

fn sizes(sample: &Sample) -> BTreeMap<String, String> {
    let body = main_size(running(sample)).or(Some(sample.body.size.get()).filter(|size| *size >= MIN_SIZE));
    let smaller = || main_size(running(sample).filter(|text| body.is_some_and(|body| text.size.get() <= body * 0.92)));
    let small = main_size(sample.elements.iter().filter(|element| element.kind == ElementKind::Small)).or_else(smaller);
    let heading = |tag: &'static str| main_size(of_tag(sample, tag));
    let sizes = [("h1", heading("h1")), ("h2", heading("h2")), ("h3", heading("h3")), ("body", body), ("small", small)];
    named(sizes.into_iter().filter_map(|(role, size)| Some((role, css_px(size?)))))
}

fn line_heights(sample: &Sample) -> BTreeMap<String, f64> {
    let height = |element: &Element| Some(element.line_height.get()).filter(|height| (0.5..5.0).contains(height));
    let heading =
        most(sample.elements.iter().filter(|element| element.kind == ElementKind::Heading).filter_map(height));
    let body = most(running(sample).filter_map(height)).or_else(|| height(&sample.body));
    named([("heading", heading), ("body", body)].into_iter().filter_map(|(role, height)| Some((role, height?))))
}

/// Returns the most frequent weight in each range.
fn weights(sample: &Sample) -> BTreeMap<String, u32> {
    let kinds = [("light", 100.0..350.0), ("regular", 350.0..450.0), ("medium", 450.0..650.0), ("bold", 650.0..1001.0)];
    let used = |range: std::ops::Range<f64>| {
        let all = sample.elements.iter().chain([&sample.body]).map(|element| element.weight.get());
        // The cast is safe: the ranges lie between 100 and 1001.
        most(all.filter(|weight| range.contains(weight)).map(|weight| weight.round() as u32))
    };
    named(kinds.into_iter().filter_map(|(name, range)| Some((name, used(range)?))))
}
