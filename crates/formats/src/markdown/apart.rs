//! Separates text that a style lays side by side, and raised and lowered letters, from the text before it.

use page::{Index, LocalName};

use super::code::sign_of_shift;
use super::event::Mark;
use super::{Open, Writer};

/// How the children of an element stand, by a class of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Beside or below each other.
    LaidOut,
    /// The element itself stands apart wherever it is.
    Cell,
    Unknown,
}

fn place(class: &str) -> Place {
    match class {
        "flex" | "inline-flex" | "grid" | "inline-grid" | "d-flex" | "d-inline-flex" | "d-grid" | "flex-row" => {
            Place::LaidOut
        }
        "row" | "tr" | "table-row" | "table__row" | "columns" | "tabs" => Place::LaidOut,
        "cell" | "td" | "th" | "table-cell" | "table__cell" | "grid-cell" | "col" | "column" => Place::Cell,
        _ => Place::Unknown,
    }
}

impl Writer<'_> {
    /// Notes that the children of an element stand apart, as its class or style says.
    pub(super) fn look_for_parts(&mut self, index: Index) {
        let Some(element) = self.page.element(index) else { return };
        let mut is_laid_out = false;
        for attribute in &element.attrs {
            match &*attribute.name.local {
                "class" => {
                    for name in attribute.value.split_ascii_whitespace() {
                        match place(name) {
                            Place::LaidOut => is_laid_out = true,
                            Place::Cell => self.inline.part(),
                            Place::Unknown => {}
                        }
                    }
                }
                // Of tabs without panels.
                "role" => is_laid_out |= &*attribute.value == "tablist",
                "style" if attribute.value.contains("display") => {
                    let style = attribute.value.replace(' ', "");
                    is_laid_out |=
                        ["flex", "grid", "table-row"].iter().any(|how| style.contains(&format!("display:{how}")))
                            || style.contains("display:inline-");
                    if style.contains("display:table-cell") || style.contains("display:block") {
                        self.inline.part();
                    }
                }
                _ => {}
            }
        }
        if is_laid_out && !self.inline.in_code() {
            self.apart.push(index);
        }
    }

    /// The element at `index` begins: it may be a part of one that is laid out.
    pub(super) fn part(&mut self, index: Index) {
        if self.apart.last().is_some_and(|&above| self.page.parent(index) == Some(above)) {
            self.inline.part();
        }
    }

    /// The element at `index` ends.
    pub(super) fn end_part(&mut self, index: Index) {
        if self.apart.last() == Some(&index) {
            self.apart.pop();
        }
        self.part(index);
    }

    /// Raised or lowered text. In code, where marks cannot be written, a sign in front keeps it from joining a number.
    pub(super) fn shifted(&mut self, index: Index, name: &LocalName, mark: Mark) -> Open {
        if self.inline.in_code() {
            let sign = sign_of_shift(self.page, index, name).filter(|_| self.inline.joins());
            sign.iter().for_each(|sign| self.inline.text(sign));
            return Open::Inline;
        }
        self.mark(index, name, mark)
    }

    /// How a style shifts the text of an element.
    pub(super) fn shift_of(&self, index: Index) -> Option<Mark> {
        let element = self.page.element(index)?;
        element.attrs.iter().find_map(|attribute| match &*attribute.name.local {
            "class" => attribute.value.split_ascii_whitespace().find_map(|name| match name {
                "sup" | "superscript" | "msupsub" => Some(Mark::Superscript),
                "sub" | "subscript" => Some(Mark::Subscript),
                _ => None,
            }),
            "style" if attribute.value.contains("vertical-align") => {
                let style = attribute.value.replace(' ', "");
                let has = |how: &str| style.contains(&format!("vertical-align:{how}"));
                match () {
                    () if has("super") => Some(Mark::Superscript),
                    () if has("sub") => Some(Mark::Subscript),
                    () => None,
                }
            }
            _ => None,
        })
    }
}
