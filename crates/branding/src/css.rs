//! Style sheets, read for the few declarations that describe the look of a site.

mod reader;
mod selectors;
mod value;

use std::collections::HashMap;

pub(crate) use reader::{MAX_BYTES, read_sheets};
pub(crate) use selectors::{StyledPart, Theme};
pub(crate) use value::{color_in, families};

/// Limit on variable references that are resolved in one value.
const MAX_REFERENCES: usize = 16;
/// Limit on a value with its variables substituted, in bytes.
const MAX_VALUE: usize = 1024;

/// The text of a style sheet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sheet {
    /// CSS source.
    pub text: String,
}

/// Declarations for the typical parts of a page. Later ones override earlier ones.
#[derive(Debug, Default)]
pub(crate) struct Styles {
    /// Custom properties of the whole page, by name with its two hyphens.
    pub(crate) variables: HashMap<String, String>,
    /// Families of web fonts, in order of declaration.
    pub(crate) faces: Vec<String>,
    declarations: HashMap<(StyledPart, String), String>,
}

impl Styles {
    /// Returns the value of a property with its variables substituted.
    pub(crate) fn get(&self, part: StyledPart, property: &str) -> Option<String> {
        self.fill(self.declarations.get(&(part, property.to_owned()))?)
    }

    /// Returns the value of the first of several properties that is declared.
    pub(crate) fn first(&self, part: StyledPart, properties: &[&str]) -> Option<String> {
        properties.iter().find_map(|property| self.get(part, property))
    }

    /// Substitutes the variables in a value. Returns `None` if one is undefined and has no fallback, or if the value
    /// becomes too long or has too many references, as with circular definitions.
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

    pub(crate) fn insert(&mut self, part: StyledPart, property: &str, value: &str) {
        if property.starts_with("--") {
            self.variables.insert(property.to_owned(), value.to_owned());
        } else {
            self.declarations.insert((part, property.to_ascii_lowercase()), value.to_owned());
        }
    }

    /// Returns the number of stored entries.
    pub(crate) fn len(&self) -> usize {
        self.variables.len() + self.declarations.len() + self.faces.len()
    }
}

/// Returns the position of the bracket that closes the one opened before `text`.
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
            styles.insert(StyledPart::Root, name, value);
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
