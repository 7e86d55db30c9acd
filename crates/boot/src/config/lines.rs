//! Line numbers of the keys in a settings file, for error messages.

use std::collections::HashMap;

use toml::de::{DeTable, DeValue, Error};

/// Positions of the sections and keys of a file.
pub(super) struct Lines<'t> {
    text: &'t str,
    /// Byte offset by `section` and `section.key`.
    starts: HashMap<String, usize>,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t str) -> Result<Self, Error> {
        let mut starts = HashMap::new();
        for (section, keys) in DeTable::parse(text)?.get_ref() {
            let name = section.get_ref();
            starts.insert(name.to_string(), section.span().start);
            if let DeValue::Table(keys) = keys.get_ref() {
                starts.extend(keys.keys().map(|key| (format!("{name}.{}", key.get_ref()), key.span().start)));
            }
        }
        Ok(Self { text, starts })
    }

    /// Returns `, line N` for a key, to follow the file name in a message.
    pub(super) fn at(&self, key: &str) -> String {
        self.starts.get(key).map(|start| format!(", line {}", position(self.text, *start).0)).unwrap_or_default()
    }
}

/// Returns file, line and column of a TOML syntax error.
pub(super) fn location(file: &str, text: &str, error: &Error) -> String {
    let Some(span) = error.span() else { return file.to_owned() };
    let (line, column) = position(text, span.start);
    format!("{file}, line {line}, column {column}")
}

/// Returns line and column of a byte offset, counted from 1.
fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}
