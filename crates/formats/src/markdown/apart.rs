//! Separation of inline parts: text that CSS lays out side by side, and superscripts and subscripts.

use page::{Index, LocalName, local_name};

use super::code::sign_of_shift;
use super::event::Mark;
use super::{Open, Writer};

/// Layout that a class implies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClassLayout {
    /// The children are laid out side by side or one below the other.
    LaidOut,
    /// The element itself is separate from its neighbours.
    Cell,
    Unknown,
}

/// Length limit of a text of emoji, in bytes.
const MAX_PICTURE: usize = 32;

/// Whether a text consists of one emoji, or a few.
fn is_picture(text: &str) -> bool {
    let is_part = |c: char| {
        matches!(c, '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{fe0f}' | '\u{200d}')
            || matches!(c, '\u{1f000}'..='\u{1faff}')
    };
    (1..=MAX_PICTURE).contains(&text.len()) && text.chars().all(is_part)
}

fn place(class: &str) -> ClassLayout {
    match class {
        "flex" | "inline-flex" | "grid" | "inline-grid" | "d-flex" | "d-inline-flex" | "d-grid" | "flex-row" => {
            ClassLayout::LaidOut
        }
        "row" | "tr" | "table-row" | "table__row" | "columns" | "tabs" => ClassLayout::LaidOut,
        "cell" | "td" | "th" | "table-cell" | "table__cell" | "grid-cell" | "col" | "column" => ClassLayout::Cell,
        _ => ClassLayout::Unknown,
    }
}

impl Writer<'_> {
    /// Records that the children of an element are separate parts, if its class or style says so.
    pub(super) fn look_for_parts(&mut self, index: Index) {
        let Some(element) = self.page.element(index) else { return };
        let mut is_laid_out = false;
        for attribute in &element.attrs {
            match &*attribute.name.local {
                "class" => {
                    for name in attribute.value.split_ascii_whitespace() {
                        match place(name) {
                            ClassLayout::LaidOut => is_laid_out = true,
                            ClassLayout::Cell => self.inline.part(),
                            ClassLayout::Unknown => {}
                        }
                    }
                }
                // Tabs without panels; others are handled by `tabs`.
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

    /// Separates the element at `index` from the text before it, if its parent lays out its children.
    pub(super) fn part(&mut self, index: Index) {
        if self.apart.last().is_some_and(|&above| self.page.parent(index) == Some(above)) {
            self.inline.part();
        }
    }

    /// Ends the element at `index`, and separates it from the text after it if it is a part.
    pub(super) fn end_part(&mut self, index: Index) {
        if self.apart.last() == Some(&index) {
            self.apart.pop();
        }
        self.part(index);
    }

    /// Separates a `<span>` with an emoji from an adjacent one with words: pages use them as icon and label.
    pub(super) fn part_picture(&mut self, index: Index) {
        let Some(before) = index.checked_sub(1).and_then(|before| self.page.text(before)) else { return };
        // A fast check first: most spans are neither.
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

    /// Opens superscript or subscript text. In code, where markup is impossible, a sign keeps it from joining a number.
    pub(super) fn shifted(&mut self, index: Index, name: &LocalName, mark: Mark) -> Open {
        if self.inline.in_code() {
            let sign = sign_of_shift(self.page, index, name).filter(|_| self.inline.joins());
            sign.iter().for_each(|sign| self.inline.text(sign));
            return Open::Inline;
        }
        self.mark(index, name, mark)
    }

    /// Returns whether a class or style makes the text of an element superscript or subscript.
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
        // Other spans are joined as written.
        check("<p><span>📄</span><span>📄</span>", "📄📄");
        check("<p><span>📄</span>s <span>a</span><span>b</span>", "📄s ab");
        check("<p><code><span>x</span><span>📄</span></code>", "`x📄`");
        check("<p><span>📄 of</span><span>wood</span>", "📄 ofwood");
    }
}
