//! Fields of forms: what is filled in, ticked or chosen.

use lopdf::{Dictionary, Document, Object};

use crate::objects::{Lookup, decode_text, resolve};

/// Maximum number of ancestors that are searched for an inherited entry.
const MAX_PARENTS: usize = 8;
/// Maximum number of values of one field.
const MAX_VALUES: usize = 200;
/// Flags of fields, as bits: text that is a password, a button that is pushed rather than ticked.
const PASSWORD: i64 = 1 << 13;
const PUSH_BUTTON: i64 = 1 << 16;

/// Field of a form, or another annotation, which has no value.
pub(super) struct Field<'a> {
    doc: &'a Document,
    widget: &'a Dictionary,
}

impl<'a> Field<'a> {
    pub(super) fn of(doc: &'a Document, widget: &'a Dictionary) -> Self {
        Self { doc, widget }
    }

    /// Returns an entry of the field, which may be inherited.
    fn entry(&self, key: &[u8]) -> Option<&'a Object> {
        let mut node = self.widget;
        for _ in 0..MAX_PARENTS {
            if let Some(found) = node.object(self.doc, key) {
                return Some(found);
            }
            node = node.dict(self.doc, b"Parent")?;
        }
        None
    }

    fn flags(&self) -> i64 {
        self.entry(b"Ff").and_then(|flags| flags.as_i64().ok()).unwrap_or(0)
    }

    fn kind(&self) -> Option<&'a [u8]> {
        self.entry(b"FT")?.as_name().ok()
    }

    /// Returns whether a check box or radio button is ticked; `None` for everything else.
    pub(super) fn ticked(&self) -> Option<bool> {
        if self.kind()? != b"Btn" || self.flags() & PUSH_BUTTON != 0 {
            return None;
        }
        let state = self.widget.name(self.doc, b"AS").or_else(|| self.entry(b"V")?.as_name().ok());
        Some(state.is_some_and(|state| state != b"Off"))
    }

    /// Returns what is filled in or chosen, as it is shown; empty for other kinds of fields.
    pub(super) fn value(&self) -> String {
        let value = self.entry(b"V");
        match (self.kind(), value) {
            (Some(b"Tx"), Some(value)) if self.flags() & PASSWORD == 0 => decode_text(value).unwrap_or_default(),
            (Some(b"Ch"), Some(Object::Array(values))) => {
                let shown = values.iter().take(MAX_VALUES).filter_map(|value| resolve(self.doc, value));
                shown.filter_map(|value| self.choice(value)).collect::<Vec<_>>().join("\n")
            }
            (Some(b"Ch"), Some(value)) => self.choice(value).unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// Returns the label of a chosen value: choices are listed as labels, or as values with their labels.
    fn choice(&self, value: &Object) -> Option<String> {
        let value = decode_text(value)?;
        let choices = self.entry(b"Opt").and_then(|choices| choices.as_array().ok());
        let label = choices.into_iter().flatten().find_map(|choice| {
            let pair = resolve(self.doc, choice)?.as_array().ok()?;
            let text = |place: usize| pair.get(place).and_then(|text| resolve(self.doc, text)).and_then(decode_text);
            text(1).filter(|_| text(0).as_ref() == Some(&value))
        });
        Some(label.unwrap_or(value))
    }
}
