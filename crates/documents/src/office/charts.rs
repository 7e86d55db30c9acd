//! Charts: values as the chart shows them.
//!
//! The converter writes the values of a chart as they are stored, one after the other. Their number formats and places
//! are in the same part, so each value is replaced by what is shown, and gaps are filled. Points of scatter charts get
//! the names that the converter knows.

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::memmem;

use super::numbers::{self, Number};
use super::package::Package;
use super::tree::{self, Element, Node};

/// Maximum number of values in one chart.
const MAX_VALUES: usize = 20_000;
/// Maximum number of charts in a document.
const MAX_CHARTS: usize = 200;

/// Replaces the charts in a folder of a package.
pub(super) fn mend(package: &mut Package<'_>, folder: &str) {
    let is_chart = |name: &String| {
        let file = name.strip_prefix(folder).unwrap_or_default();
        file.starts_with("chart") && file.ends_with(".xml")
    };
    for name in package.names().into_iter().filter(is_chart).take(MAX_CHARTS) {
        let Some(text) = package.text(&name) else { continue };
        let matters =
            ["formatCode", "xVal", "yVal"].iter().any(|sign| memmem::find(text.as_bytes(), sign.as_bytes()).is_some());
        let Some(mut root) = tree::parse(&text).filter(|_| matters) else { continue };
        let mut values = Vec::new();
        collect(&root, &mut values);
        if values.len() > MAX_VALUES {
            continue;
        }
        let shown = numbers::shown(&values).unwrap_or_default();
        let mut shown = shown.into_iter();
        change(&mut root, &mut shown);
        let bytes = root.into_part(text.len());
        package.replace(&name, bytes);
    }
}

/// Collects the values of all caches of numbers, in order.
fn collect(element: &Element<'_>, values: &mut Vec<Number>) {
    for child in element.elements() {
        if child.local() == "numCache" {
            values.extend(points(child));
        } else {
            collect(child, values);
        }
    }
}

/// Returns the values of a cache, each with its format.
fn points(cache: &Element<'_>) -> Vec<Number> {
    let usual = cache.child("formatCode").map(Element::text);
    let point = |point: &Element<'_>| Number {
        value: point.child("v").map(Element::text).unwrap_or_default(),
        format: point.attribute("formatCode").map(Cow::into_owned).or_else(|| usual.clone()),
    };
    cache.elements().filter(|child| child.local() == "pt").map(point).collect()
}

/// Writes the shown values, in the order in which they were collected.
fn change(element: &mut Element<'_>, shown: &mut impl Iterator<Item = String>) {
    let name = match element.local() {
        "xVal" => Some("cat"),
        "yVal" => Some("val"),
        _ => None,
    };
    if let Some(name) = name {
        let prefix = element.name.split_once(':').map(|(prefix, _)| format!("{prefix}:")).unwrap_or_default();
        element.name = Cow::Owned(format!("{prefix}{name}"));
    }
    let is_numbers = element.local() == "numCache";
    if is_numbers || element.local() == "strCache" {
        fill(element, is_numbers.then_some(shown));
        return;
    }
    for node in &mut element.children {
        if let Node::Element(child) = node {
            change(child, shown);
        }
    }
}

/// Replaces the values of a cache, and adds empty ones where there is none, so that each stands in its place.
fn fill(cache: &mut Element<'_>, mut shown: Option<&mut impl Iterator<Item = String>>) {
    let number = |element: &Element<'_>, name: &str| element.attribute(name)?.parse::<usize>().ok();
    let count = cache.child("ptCount").and_then(|count| number(count, "val")).unwrap_or(0).min(MAX_VALUES);
    let prefix = cache.name.split_once(':').map(|(prefix, _)| format!("{prefix}:")).unwrap_or_default();
    let mut points: HashMap<usize, String> = HashMap::new();
    let mut next = 0;
    for point in cache.elements().filter(|child| child.local() == "pt") {
        let stored = point.child("v").map(Element::text).unwrap_or_default();
        let text = shown.as_mut().and_then(Iterator::next).filter(|shown| !shown.is_empty()).unwrap_or(stored);
        let place = number(point, "idx").unwrap_or(next);
        next = place.saturating_add(1);
        points.insert(place, text);
    }
    cache.children.retain(|node| node.element().is_none_or(|child| child.local() != "pt"));
    let most = points.keys().max().map_or(0, |most| most.saturating_add(1)).min(MAX_VALUES);
    for place in 0..count.max(most) {
        let value = points.remove(&place).unwrap_or_default();
        let mut point = Element::new(format!("{prefix}pt"), "");
        point.children.push(Node::Element(Element::with_text(format!("{prefix}v"), "", &value)));
        cache.children.push(Node::Element(point));
    }
}
