//! Separates text that a style lays side by side, and raised and lowered letters, from the text before it.

use page::{Index, LocalName, local_name};

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

/// Bytes of a picture made of several characters.
const MAX_PICTURE: usize = 32;

/// Whether a text is nothing but one picture, or a few.
fn is_picture(text: &str) -> bool {
    let is_part = |c: char| {
        matches!(c, '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{fe0f}' | '\u{200d}')
            || matches!(c, '\u{1f000}'..='\u{1faff}')
    };
    (1..=MAX_PICTURE).contains(&text.len()) && text.chars().all(is_part)
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

    /// A `<span>` with a picture that is a character, and one with words, stand apart: their page sets them as icon and name.
    pub(super) fn part_picture(&mut self, index: Index) {
        let Some(before) = index.checked_sub(1).and_then(|before| self.page.text(before)) else { return };
        // Most of what is in a span is neither.
        if before.ends_with(|c: char| c.is_ascii_whitespace() || c.is_ascii_punctuation()) || self.inline.in_code() {
            return;
        }
        let after = self.page.children(index).next().and_then(|at| self.page.text(at)).unwrap_or_default();
        let is_named = is_picture(before) && after.starts_with(char::is_alphanumeric)
            || before.ends_with(char::is_alphanumeric) && is_picture(after);
        let is_beside = || {
            self.page.parent(index - 1).is_some_and(|beside| {
                self.page.is(beside, &local_name!("span"))
                    && self.page.end(beside) == index
                    && self.page.parent(beside) == self.page.parent(index)
            })
        };
        if is_named && is_beside() {
            self.inline.part();
        }
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

#[cfg(test)]
mod tests {
    use url::Url;

    use crate::{ContentOptions, MarkdownOptions, Page, content, markdown};

    #[test]
    fn a_picture_stands_apart_from_the_name_beside_it() {
        let check = |html: &str, expect: &str| {
            let page = Page::parse(html, &Url::parse("https://a.test/").unwrap());
            let found = markdown(&content(&page, &ContentOptions::default()), &MarkdownOptions::default());
            assert_eq!(found, expect, "{html}");
        };
        check("<h2><span class=icon>📄\u{fe0f}</span><span>Tabs</span></h2>", "## 📄\u{fe0f} Tabs");
        check("<p><span>Next</span><span>➡\u{fe0f}</span>", "Next ➡\u{fe0f}");
        check("<p><span>👩\u{200d}🔧</span><span>1 saw</span>", "👩\u{200d}🔧 1 saw");
        check("<p>Saw<span></span>", "Saw");
        check("<p>Saw<span id=end></span></p></body></html>", "Saw");
        // Joined as it is written.
        check("<p><span>📄</span><span>📄</span>", "📄📄");
        check("<p><span>📄</span>s <span>a</span><span>b</span>", "📄s ab");
        check("<p><code><span>x</span><span>📄</span></code>", "`x📄`");
        check("<p><span>📄 of</span><span>wood</span>", "📄 ofwood");
    }
}
