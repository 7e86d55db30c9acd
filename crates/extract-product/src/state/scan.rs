//! The values in scripts and attributes. Nothing is run: only literals are read.

use std::borrow::Cow;

use memchr::{memchr_iter, memmem};
use page::Index;

use super::StateValue;
use crate::lenient::{Budget, ParsedValue, Syntax, parse_value, read_json};
use crate::survey::Survey;
use crate::tags::attribute;
use crate::value::Value;

/// Text that a script must contain to be read: the end of `price` and `Price`.
const SIGN: &[u8] = b"rice";
/// Shortest attribute that may hold a product, in bytes.
const MIN_ATTRIBUTE: usize = 24;
/// Limit on the attributes that are read.
const MAX_ATTRIBUTES: usize = 2000;
/// Names in scripts that are written for analytics.
const ANALYTICS: [&str; 11] = [
    "dataLayer",
    "datalayer",
    "utag_data",
    "digitalData",
    "digitaldata",
    "universal_variable",
    "gtag(",
    "fbq(",
    "_satellite",
    "tc_vars",
    "ga(",
];

/// Returns the values of the page, in document order.
pub(super) fn sources<'p>(survey: &Survey<'p>, budget: &mut Budget<'_>) -> Vec<StateValue<'p>> {
    let mut found = Vec::new();
    let mut flight = String::new();
    for &script in &survey.scripts {
        if budget.is_spent() {
            break;
        }
        let text = survey.page.subtree(script).find_map(|node| survey.page.text(node)).unwrap_or_default();
        // Next.js splits its data anywhere, so the pieces of all scripts are joined before they are searched.
        if text.contains("__next_f") {
            add_flight(text, &mut flight, budget);
            continue;
        }
        if memmem::find(text.as_bytes(), SIGN).is_none() {
            continue;
        }
        let kind = attribute(survey.page, script, "type").unwrap_or_default().to_ascii_lowercase();
        if kind.contains("ld+json") || kind.contains("importmap") || kind.contains("speculation") {
            continue;
        }
        if kind.contains("json") || kind.contains("magento") {
            let is_nuxt = attribute(survey.page, script, "id") == Some("__NUXT_DATA__");
            let value = read_json(text, budget).map(|value| if is_nuxt { revived(&value) } else { value });
            found.extend(value.map(|value| StateValue { value, is_analytics: false }));
        } else if kind.is_empty() || kind.contains("javascript") || kind.contains("module") || kind.contains("babel") {
            add_literals(text, &mut found, budget);
        }
    }
    found.extend(flight_values(&flight, budget));
    add_attributes(survey, &mut found, budget);
    found
}

/// Adds the literals that a script assigns, returns or passes to a function.
fn add_literals<'p>(text: &'p str, found: &mut Vec<StateValue<'p>>, budget: &mut Budget<'_>) {
    let mut end = 0;
    for place in memchr_iter(b'{', text.as_bytes()) {
        // Braces inside of a literal that was read are passed over, so every byte is read once.
        if place < end || budget.is_spent() {
            continue;
        }
        let Some(start) = start_of_literal(text, place).filter(|start| *start >= end) else { continue };
        let Some(ParsedValue { value, end: length }) = parse_value(&text[start..], Syntax::Script, budget) else {
            // It never closes: what follows is inside of it.
            break;
        };
        end = start + length;
        let head = &text[text.floor_char_boundary(start.saturating_sub(60))..start];
        let is_analytics = ANALYTICS.iter().any(|name| head.contains(name));
        let value = match value {
            Value::Text(text) => inner(&text, budget).unwrap_or_default(),
            value => value,
        };
        if !value.is_null() && memmem::find(&text.as_bytes()[start..end], SIGN).is_some() {
            found.push(StateValue { value, is_analytics });
        }
    }
}

/// Returns where the literal around a brace starts, if the brace opens one: behind `=`, `(`, `return`, a string and a
/// comma, inside of `[`, or inside of a string that is assigned or parsed.
fn start_of_literal(text: &str, brace: usize) -> Option<usize> {
    let before = text[..brace].trim_end();
    match before.as_bytes().last()? {
        b'=' | b'(' => Some(brace),
        b',' => before[..before.len() - 1].trim_end().ends_with(['"', '\'']).then_some(brace),
        b'[' => {
            let list = before.len() - 1;
            let before = before[..list].trim_end();
            before.ends_with(['=', '(']).then_some(list)
        }
        b'"' | b'\'' | b'`' if before.len() == brace => {
            let quote = brace - 1;
            let before = text[..quote].trim_end();
            if before.ends_with("JSON.parse(") {
                Some(before.len() - 11)
            } else {
                before.ends_with('=').then_some(quote)
            }
        }
        _ => before.ends_with("return").then_some(brace),
    }
}

/// Reads the JSON in a string.
fn inner(text: &str, budget: &mut Budget<'_>) -> Option<Value<'static>> {
    budget.take_bytes(text.len())?;
    read_json(text, budget).map(Value::into_owned)
}

/// Adds the strings that a page of Next.js pushes piece by piece.
fn add_flight(text: &str, flight: &mut String, budget: &mut Budget<'_>) {
    for place in memmem::find_iter(text.as_bytes(), "__next_f.push(") {
        let Some(found) = parse_value(&text[place + 14..], Syntax::Script, budget) else { return };
        found.value.items().iter().skip(1).filter_map(Value::text).for_each(|piece| flight.push_str(piece));
    }
}

/// Reads the lines of the pieces: an id, a colon, then JSON.
fn flight_values(flight: &str, budget: &mut Budget<'_>) -> Vec<StateValue<'static>> {
    let mut found = Vec::new();
    for line in flight.lines().filter(|line| memmem::find(line.as_bytes(), SIGN).is_some()) {
        let json = line.split_once(':').map(|pair| pair.1).filter(|json| json.starts_with(['{', '[']));
        let value = json.and_then(|json| inner(json, budget));
        found.extend(value.map(|value| StateValue { value, is_analytics: false }));
    }
    found
}

/// Adds the attributes that hold JSON, such as `data-product_variations`.
fn add_attributes<'p>(survey: &Survey<'p>, found: &mut Vec<StateValue<'p>>, budget: &mut Budget<'_>) {
    let page = survey.page;
    let holds = |value: &str| {
        value.len() >= MIN_ATTRIBUTE && value.starts_with(['{', '[']) && memmem::find(value.as_bytes(), SIGN).is_some()
    };
    let elements = page.positions().filter_map(|node: Index| page.element(node));
    let values =
        elements.flat_map(|element| &element.attrs).map(|attribute| &*attribute.value).filter(|value| holds(value));
    for value in values.take(MAX_ATTRIBUTES) {
        if budget.is_spent() {
            return;
        }
        let value = read_json(value, budget);
        found.extend(value.map(|value| StateValue { value, is_analytics: false }));
    }
}

/// Puts the values of a page of Nuxt 3 together: a list whose objects hold the places of their members in it.
fn revived<'p>(value: &Value<'p>) -> Value<'p> {
    let all = value.items();
    // An object may hold the place of one that holds it: depth and number of values are limited, not the visits.
    let mut nodes = 50_000;
    let products = all.iter().filter(|item| item.members().iter().any(|member| member.name.contains("rice")));
    Value::List(products.take(200).map(|item| with_members(all, item, 6, &mut nodes)).collect())
}

fn with_members<'p>(all: &[Value<'p>], item: &Value<'p>, depth: usize, nodes: &mut usize) -> Value<'p> {
    *nodes = nodes.saturating_sub(1);
    if depth == 0 || *nodes == 0 {
        return Value::Null;
    }
    let mut follow = |value: &Value<'p>| {
        let place = value.text().and_then(|place| place.parse::<usize>().ok());
        place.and_then(|place| all.get(place)).map_or(Value::Null, |item| with_members(all, item, depth - 1, nodes))
    };
    match item {
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|member| crate::value::Member {
                    name: Cow::Owned(member.name.to_string()),
                    value: follow(&member.value),
                })
                .collect(),
        ),
        Value::List(items) => Value::List(items.iter().map(follow).collect()),
        one => one.clone(),
    }
}
