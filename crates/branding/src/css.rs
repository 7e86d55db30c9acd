//! Style sheets, read for the few declarations that say how a site looks.

mod reader;
mod selectors;
mod value;

use std::collections::HashMap;

pub(crate) use reader::{MAX_BYTES, read};
pub(crate) use selectors::{Part, Theme};
pub(crate) use value::{color_in, families};

/// How often a variable may refer to another one.
const MAX_REFERENCES: usize = 16;
/// Bytes of a value after its variables have been filled in.
const MAX_VALUE: usize = 1024;

/// The text of a style sheet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sheet {
    /// As CSS.
    pub text: String,
}

/// What style sheets say of the typical parts of a page. What comes later counts.
#[derive(Debug, Default)]
pub(crate) struct Styles {
    /// Custom properties of the whole page, with their two hyphens.
    pub(crate) variables: HashMap<String, String>,
    /// Families of web fonts, in their order.
    pub(crate) faces: Vec<String>,
    declarations: HashMap<(Part, String), String>,
}

impl Styles {
    /// The value of a property with its variables filled in.
    pub(crate) fn get(&self, part: Part, property: &str) -> Option<String> {
        self.fill(self.declarations.get(&(part, property.to_owned()))?)
    }

    /// The first of several properties that is declared.
    pub(crate) fn first(&self, part: Part, properties: &[&str]) -> Option<String> {
        properties.iter().find_map(|property| self.get(part, property))
    }

    /// A value with its variables filled in; `None` when one of them is unknown and has no other value, or when it becomes
    /// too long, as it does when they refer to each other in a circle.
    pub(crate) fn fill(&self, value: &str) -> Option<String> {
        let mut value = value.to_owned();
        for _ in 0..MAX_REFERENCES {
            let Some(start) = value.find("var(") else { return Some(value) };
            let inner = &value[start + 4..];
            let end = closing(inner)?;
            let (name, other) = inner[..end].split_once(',').unwrap_or((&inner[..end], ""));
            let known = self.variables.get(name.trim()).map(String::as_str);
            let filled = known.or(Some(other.trim()).filter(|other| !other.is_empty()))?;
            let next = format!("{}{}{}", &value[..start], filled, &inner[end + 1..]);
            if next.len() > MAX_VALUE {
                return None;
            }
            value = next;
        }
        None
    }

    pub(crate) fn insert(&mut self, part: Part, property: &str, value: &str) {
        if property.starts_with("--") {
            self.variables.insert(property.to_owned(), value.to_owned());
        } else {
            self.declarations.insert((part, property.to_ascii_lowercase()), value.to_owned());
        }
    }

    /// How much is kept.
    pub(crate) fn len(&self) -> usize {
        self.variables.len() + self.declarations.len() + self.faces.len()
    }
}

/// Where the bracket closes that was opened before `text`.
fn closing(text: &str) -> Option<usize> {
    let mut open = 1_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => open += 1,
            b')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in() {
        let mut styles = Styles::default();
        for (name, value) in
            [("--a", "#123456"), ("--b", "var(--a)"), ("--c", "var(--d)"), ("--d", "var(--c) var(--c)")]
        {
            styles.insert(Part::Root, name, value);
        }
        let check = |value: &str, filled: Option<&str>| assert_eq!(styles.fill(value).as_deref(), filled, "{value}");
        check("1px solid red", Some("1px solid red"));
        check("1px solid var( --b )", Some("1px solid #123456"));
        check("var(--none, rgb(1, 2, 3))", Some("rgb(1, 2, 3)"));
        check("var(--none, var(--a))", Some("#123456"));
        check("var(--none)", None);
        check("var(--c)", None);
        check("var(--a", None);
    }
}
