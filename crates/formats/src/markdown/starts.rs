//! Dispatch for elements other than inline marks and lists: boxes, images, formulas, separators.

use page::{Index, LocalName, local_name};

use super::table::Table;
use super::{Open, Writer, code, math};
use crate::elements::is_box;
use crate::marks;

impl Writer<'_> {
    /// Starts an element without text of its own, or one that only separates blocks.
    pub(super) fn start_other(&mut self, index: Index, name: &LocalName) -> Option<Open> {
        match *name {
            local_name!("br") => self.inline.line_break(),
            local_name!("hr") => self.rule(),
            local_name!("img") => self.image(index),
            local_name!("pre") | local_name!("listing") | local_name!("xmp") | local_name!("plaintext") => {
                self.code_block(index);
            }
            local_name!("input") => self.task_box(index),
            local_name!("math") => self.formula(index),
            local_name!("button") if self.is_copy_button(index) => {}
            local_name!("script") => self.script(index),
            local_name!("iframe") | local_name!("video") | local_name!("audio") | local_name!("embed") => {
                self.embedded(index);
            }
            local_name!("label") if self.is_tab_label(index) => return Some(self.start_bold_block()),
            local_name!("object") => {
                self.embedded(index);
                return Some(Open::Inline);
            }
            local_name!("svg") | local_name!("canvas") | local_name!("select") | local_name!("datalist") => {}
            local_name!("textarea") | local_name!("title") | local_name!("rp") | local_name!("template") => {}
            local_name!("annotation") | local_name!("annotation-xml") => {}
            local_name!("div") | local_name!("table") => return self.start_box(index),
            local_name!("section") | local_name!("article") if self.starts_grid(index) => return Some(Open::Table),
            _ if is_block(name) => {
                return Some(self.start_callout(index).unwrap_or_else(|| self.start_block(index, name)));
            }
            _ if name.contains('-') => return self.start_custom(index, name),
            _ => return Some(Open::Inline),
        }
        None
    }

    /// Starts a `<div>` or `<table>`, whose class may give it another meaning.
    fn start_box(&mut self, index: Index) -> Option<Open> {
        if let Some(class) = self.page.attr(index, "class") {
            if !self.is_flat() && code::is_view(&class) {
                self.code_block(index);
                return None;
            }
            if math::is_drawn_by_script(&class) && self.drawn_by_script(index) {
                return None;
            }
            if math::is_unread(&class) && self.starts_unread_formula(index) {
                return None;
            }
            self.look_for_laid_out_lists(index, &class);
        }
        self.look_for_parts(index);
        let name = if self.page.is(index, &local_name!("table")) { local_name!("table") } else { local_name!("div") };
        if name == local_name!("table") && self.is_data_table(index) {
            self.flush();
            self.table = Some(Table::default());
            return Some(Open::Table);
        }
        if name == local_name!("table") {
            return Some(self.start_inner_table(index).unwrap_or_else(|| self.start_block(index, &name)));
        }
        if self.starts_grid(index) {
            return Some(Open::Table);
        }
        Some(self.start_callout(index).unwrap_or_else(|| self.start_block(index, &name)))
    }

    /// Starts a custom element.
    fn start_custom(&mut self, index: Index, name: &LocalName) -> Option<Open> {
        match &**name {
            "mjx-container" if self.drawn_by_script(index) => None,
            "mat-icon" if self.page.end(index) == index + 2 => None,
            "clipboard-copy" => None,
            _ => Some(Open::Inline),
        }
    }

    pub(super) fn start_block(&mut self, index: Index, name: &LocalName) -> Open {
        if let Some(note) = self.start_note(index) {
            return note;
        }
        self.boundary();
        if *name != local_name!("p") {
            return Open::Block;
        }
        self.look_for_parts(index);
        Open::Paragraph
    }

    pub(super) fn start_span(&mut self, index: Index) -> Option<Open> {
        self.part_picture(index);
        if self.page.element(index).is_none_or(|element| element.attrs.is_empty()) {
            return Some(Open::Inline);
        }
        if let Some(class) = self.page.attr(index, "class") {
            if self.is_drawn_formula(index, &class) || marks::is_icon(self.page, index, &class) {
                return None;
            }
            if math::is_unread(&class) && self.unread_formula(index) || self.is_number_of_note(index, &class) {
                return None;
            }
            if &*class == "classifier" && self.bold_blocks > 0 {
                self.inline.part_by(":");
            }
        }
        if let Some(mark) = self.shift_of(index) {
            return Some(self.shifted(index, &local_name!("span"), mark));
        }
        self.look_for_parts(index);
        Some(Open::Inline)
    }

    pub(super) fn is_icon(&self, index: Index) -> bool {
        self.page.attr(index, "class").is_some_and(|class| marks::is_icon(self.page, index, &class))
    }

    /// Whether an element is the label of a tab directly before its panel (sphinx-design, sphinx-inline-tabs).
    fn is_tab_label(&self, index: Index) -> bool {
        let class = self.page.attr(index, "class");
        class.is_some_and(|class| {
            class.split_ascii_whitespace().any(|name| matches!(name, "sd-tab-label" | "tab-label"))
        })
    }

    fn is_copy_button(&self, index: Index) -> bool {
        let says =
            || matches!(&*self.page.text_of(index).trim().to_ascii_lowercase(), "copy" | "copied!" | "copy code");
        self.page.element(index).is_some_and(marks::is_copy_control) || self.page.end(index) - index < 12 && says()
    }

    /// Whether the element is only the rendering of a formula that is written elsewhere.
    fn is_drawn_formula(&mut self, index: Index, class: &str) -> bool {
        math::is_preview(class)
            || math::is_drawing(class) && self.page.parent(index).is_some_and(|above| self.holds_formula(above))
            || math::is_drawn_by_script(class) && self.drawn_by_script(index)
    }
}

/// Whether an element is a block without a markdown equivalent.
fn is_block(name: &LocalName) -> bool {
    is_box(name)
        || matches!(
            *name,
            local_name!("dir")
                | local_name!("html")
                | local_name!("legend")
                | local_name!("optgroup")
                | local_name!("search")
        )
}
