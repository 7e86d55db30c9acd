//! JSON-LD as it is in the wild.

use std::collections::HashMap;

use page::{Index, Page, local_name};

use crate::lenient::{Budget, read_json};
use crate::tags::attribute;
use crate::value::Value;

/// A description of the page or of a part of it.
#[derive(Debug)]
pub(crate) struct Root<'p> {
    pub(crate) value: Value<'p>,
}

/// Reads the scripts of type `application/ld+json`. Lists and the members of `@graph` are roots of their own.
pub(crate) fn read_scripts<'p>(page: &'p Page, budget: &mut Budget<'_>) -> Vec<Root<'p>> {
    let mut roots = Vec::new();
    for node in page.positions().filter(|&node| is_json_ld(page, node)) {
        let text = page.subtree(node).find_map(|node| page.text(node)).unwrap_or_default();
        let mut rest = text;
        // Some scripts hold several objects, one after the other.
        while let Some(found) = crate::lenient::parse_value(rest, crate::lenient::Syntax::Json, budget) {
            spread(found.value, &mut roots);
            rest = rest[found.end..].trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ';' | ','));
            if !rest.starts_with(['{', '[']) {
                break;
            }
        }
    }
    roots
}

fn is_json_ld(page: &Page, node: Index) -> bool {
    page.is(node, &local_name!("script"))
        && attribute(page, node, "type").is_some_and(|kind| kind.to_ascii_lowercase().contains("ld+json"))
}

fn spread<'p>(value: Value<'p>, roots: &mut Vec<Root<'p>>) {
    match value {
        Value::List(items) => items.into_iter().for_each(|item| spread(item, roots)),
        Value::Object(mut members) => {
            let graph = members.iter().position(|member| member.name == "@graph");
            if let Some(place) = graph {
                spread(members.swap_remove(place).value, roots);
            }
            if members.iter().any(|member| !member.name.starts_with('@')) {
                roots.push(Root { value: Value::Object(members) });
            }
        }
        // A string that holds the whole object.
        Value::Text(text) if text.trim_start().starts_with('{') => {
            let mut budget = Budget::small();
            let inner = read_json(&text, &mut budget).map(Value::into_owned);
            inner.into_iter().for_each(|value| spread(value, roots));
        }
        _ => {}
    }
}

/// The nodes of all roots by their `@id`.
#[derive(Debug, Default)]
pub(crate) struct Ids<'v, 'p> {
    known: HashMap<&'v str, &'v Value<'p>>,
}

impl<'v, 'p> Ids<'v, 'p> {
    /// Collects the nodes that are described; a mere reference to one is not.
    pub(crate) fn of(roots: impl Iterator<Item = &'v Value<'p>>) -> Self {
        let mut ids = Ids { known: HashMap::new() };
        let mut open: Vec<&'v Value<'p>> = roots.collect();
        while let Some(value) = open.pop() {
            match value {
                Value::List(items) => open.extend(items),
                Value::Object(members) => {
                    if let Some(id) = value.get("@id").text().filter(|_| !is_reference(value)) {
                        let known = ids.known.entry(id).or_insert(value);
                        if known.members().len() < members.len() {
                            *known = value;
                        }
                    }
                    open.extend(members.iter().map(|member| &member.value));
                }
                _ => {}
            }
        }
        ids
    }

    /// Returns the node that a reference names, or `value` itself.
    pub(crate) fn resolve(&self, value: &'v Value<'p>) -> &'v Value<'p> {
        let id = Some(value).filter(|value| is_reference(value)).and_then(|value| value.get("@id").text());
        id.and_then(|id| self.known.get(id)).copied().unwrap_or(value)
    }
}

/// Whether an object has only an id: `{"@id": "#product"}`.
fn is_reference(value: &Value<'_>) -> bool {
    value.members().iter().all(|member| matches!(&*member.name, "@id" | "@type"))
}

/// Whether a value is of one of these types of schema.org, written as a name or as a URL.
pub(crate) fn is_a(value: &Value<'_>, types: &[&str]) -> bool {
    let name_of = |text: &str| types.iter().any(|one| one.eq_ignore_ascii_case(last_part(text)));
    value.get("@type").items().iter().filter_map(Value::text).any(name_of)
}

/// Returns what stands after the last `/`, `#` or `:` of a type or a term.
pub(crate) fn last_part(term: &str) -> &str {
    let term = term.trim().trim_end_matches(['/', '#']);
    term.rsplit(['/', '#', ':']).next().unwrap_or(term)
}
