//! Ordered and unordered lists.

use std::ops::RangeInclusive;

use page::{Index, local_name};

use super::blocks::{Gap, Marker};
use super::layout::is_list_in_columns;
use super::{Open, Writer};

/// Item numbers that markdown accepts.
const NUMBERS: RangeInclusive<i64> = 0..=999_999_999;

/// An open list.
#[derive(Debug)]
pub(super) struct List {
    ordered: bool,
    next: i64,
    alternate: bool,
    /// Number of items.
    pub(super) items: usize,
    /// Length of the document at the start of the list.
    pub(super) began: usize,
    /// Length of the document at the end of the last item.
    ended_at: usize,
}

/// The list that ended last. A list of the same kind right after it needs a different marker, or markdown joins both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EndedList {
    ordered: bool,
    alternate: bool,
    /// Length of the document at the end of the list.
    at: usize,
}

impl List {
    /// Creates a list. `start` is the attribute of an ordered list, `written` the length of the document.
    pub(super) fn new(ordered: bool, start: Option<i64>, previous: Option<EndedList>, written: usize) -> List {
        let follows = previous.is_some_and(|ended| ended.at == written && ended.ordered == ordered);
        let alternate = follows && previous.is_some_and(|ended| !ended.alternate);
        List { ordered, next: start.unwrap_or(1), alternate, items: 0, began: written, ended_at: 0 }
    }

    /// Returns the marker of the next item; `value` is the item's own number.
    pub(super) fn marker(&mut self, value: Option<i64>) -> Marker {
        self.items += 1;
        let number = value.unwrap_or(self.next);
        self.next = number.saturating_add(1);
        match (self.ordered && NUMBERS.contains(&number), self.alternate) {
            (true, false) => Marker::Number(number, '.'),
            (true, true) => Marker::Number(number, ')'),
            (false, false) => Marker::Bullet('-'),
            (false, true) => Marker::Bullet('*'),
        }
    }

    /// Whether the list may follow a paragraph without a blank line: only the number 1 can interrupt one.
    pub(super) fn interrupts(&self) -> bool {
        !self.ordered || self.next == 1
    }

    pub(super) fn end(&self, written: usize) -> EndedList {
        EndedList { ordered: self.ordered, alternate: self.alternate, at: written }
    }
}

/// A table that lays out one list in columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    end: Index,
    /// Length of the document at the start of the table.
    began: usize,
}

impl Writer<'_> {
    /// Records the start of a list in columns, and of elements that show lists as lines of items.
    pub(super) fn look_for_laid_out_lists(&mut self, index: Index, class: &str) {
        if self.page.is(index, &local_name!("table")) && is_list_in_columns(class) {
            self.flush();
            self.columns = Some(Columns { end: self.page.end(index), began: self.blocks.len() });
        } else {
            self.look_for_row_lists(index, class);
        }
    }

    /// Records whether a class shows the lists in its element as lines of items (MediaWiki).
    pub(super) fn look_for_row_lists(&mut self, index: Index, class: &str) {
        if class.split_ascii_whitespace().any(|name| name == "hlist") {
            self.row_lists_end = self.row_lists_end.max(self.page.end(index));
        }
    }

    pub(super) fn start_list(&mut self, index: Index, ordered: bool) -> Open {
        if let Some(class) = self.page.attr(index, "class") {
            self.look_for_row_lists(index, &class);
        }
        if index < self.row_lists_end || self.heading {
            self.boundary();
            return Open::Block;
        }
        self.flush();
        if self.in_cell() {
            let start = self.page.attr(index, "start").and_then(|start| start.trim().parse().ok()).unwrap_or(1);
            self.flat_lists.push(ordered.then_some(start));
            return Open::FlatList;
        }
        let start = self.page.attr(index, "start").and_then(|start| start.trim().parse().ok());
        // A list directly inside another one is written one level deeper: in the last item, or in an empty one of its
        // own.
        let directly = self.blocks.in_list();
        let follows_item = directly && self.lists.last().is_some_and(|list| list.items > 0);
        let bullet = if self.lists.last().is_some_and(|outer| outer.alternate && !outer.ordered) { '*' } else { '-' };
        let wrapped = directly && !follows_item && self.blocks.open_item(Marker::Bullet(bullet));
        // If the nesting is too deep, its items join the outer list.
        if !self.blocks.fits_list() {
            return Open::Block;
        }
        let mut list = List::new(ordered, start, self.ended, self.blocks.len());
        // The next column of a list in columns continues the list.
        let column = self.columns.filter(|columns| index < columns.end && columns.began < list.began && !ordered);
        let before = self.ended.filter(|ended| column.is_some() && ended.at == list.began && !ended.ordered);
        list.alternate = before.map_or(list.alternate, |ended| ended.alternate);
        let is_next = before.is_some()
            || follows_item && self.lists.last().is_some_and(|outer| outer.ended_at == self.blocks.len());
        if is_next && list.interrupts() {
            self.blocks.set_gap(Gap::Line);
        } else if list.interrupts() {
            self.blocks.tighten();
        }
        self.lists.push(list);
        self.blocks.open_list();
        if wrapped { Open::WrappedList } else { Open::List }
    }

    pub(super) fn end_list(&mut self) {
        self.flush();
        self.blocks.close_list();
        let written = self.blocks.len();
        self.blocks.set_gap(Gap::BlankLine);
        if let Some(list) = self.lists.pop().filter(|list| written > list.began) {
            self.ended = Some(list.end(written));
            // An outer list that contains this one directly continues with its next item.
            if let Some(outer) = self.lists.last_mut().filter(|_| self.blocks.in_list()) {
                outer.ended_at = written;
            }
        }
    }

    /// Ends a list that was wrapped into an empty item.
    pub(super) fn end_wrapped_list(&mut self) {
        self.end_list();
        self.blocks.close();
        let written = self.blocks.len();
        // The wrapping item has a bullet, so it belongs to an outer list with bullets only.
        if let Some(outer) = self.lists.last_mut().filter(|outer| !outer.ordered) {
            outer.ended_at = written;
        }
    }

    pub(super) fn start_item(&mut self, index: Index) -> Open {
        if index < self.row_lists_end {
            if !self.inline.is_empty() {
                self.inline.text(" · ");
            }
            return Open::Inline;
        }
        if self.is_flat() {
            self.boundary();
            if !self.in_cell() {
                return Open::Block;
            }
            let number = self.flat_lists.last_mut().and_then(Option::as_mut);
            let number = number.map(|next| std::mem::replace(next, next.saturating_add(1)));
            self.item_mark = Some(number.map_or_else(|| "- ".to_owned(), |number| format!("{number}. ")));
            return Open::FlatItem;
        }
        self.flush();
        let value = self.page.attr(index, "value").and_then(|value| value.trim().parse().ok());
        let written = self.blocks.len();
        let marker = match self.lists.last_mut() {
            Some(list) => {
                // No blank line between items, unless other text was written since the last one.
                if list.began < written && list.ended_at == written {
                    self.blocks.set_gap(Gap::Line);
                }
                list.marker(value)
            }
            None => Marker::Bullet('-'),
        };
        if self.blocks.open_item(marker) { Open::Item } else { Open::Flat }
    }

    /// Ends an item in a cell. The marker of an empty item is written too.
    pub(super) fn end_flat_item(&mut self, index: Index) {
        self.boundary();
        if let Some(mark) = self.item_mark.take().filter(|_| self.is_bare(index)) {
            self.inline.raw(mark.trim_end());
            self.flush();
        }
    }

    /// Ends an item. An empty one is written only if it has no attributes and no elements, which scripts or styles
    /// might fill.
    pub(super) fn end_item(&mut self, index: Index) {
        self.flush();
        if !self.blocks.started() && self.is_bare(index) {
            // Below a paragraph, a lone `-` would be the underline of a heading.
            if self.lists.last().is_some_and(|list| list.items == 1) {
                self.blocks.set_gap(Gap::BlankLine);
            }
            self.blocks.write("");
        }
        self.blocks.close();
        let written = self.blocks.len();
        if let Some(list) = self.lists.last_mut() {
            list.ended_at = written;
        }
    }

    /// Writes a check box at the start of a list item as `[x]` or `[ ]`.
    pub(super) fn task_box(&mut self, index: Index) {
        let is_box = self.page.attr(index, "type").is_some_and(|t| t.eq_ignore_ascii_case("checkbox"));
        if is_box && self.inline.is_empty() && self.blocks.in_item() && !self.blocks.started() {
            let checked = self.page.attr(index, "checked").is_some();
            self.inline.raw(if checked { "[x]" } else { "[ ]" });
            self.inline.blank();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers() {
        use Marker::{Bullet, Number};
        let mut list = List::new(true, Some(3), None, 0);
        let found = [list.marker(None), list.marker(Some(7)), list.marker(None)];
        assert_eq!(found, [Number(3, '.'), Number(7, '.'), Number(8, '.')]);
        let mut next = List::new(true, None, Some(list.end(9)), 9);
        assert_eq!(next.marker(None), Number(1, ')'));
        assert_eq!(List::new(true, None, Some(next.end(20)), 20).marker(None), Number(1, '.'));
        assert_eq!(List::new(true, None, Some(next.end(20)), 30).marker(None), Number(1, '.'));
        assert_eq!(List::new(false, None, Some(next.end(20)), 20).marker(None), Bullet('-'));
        assert_eq!(List::new(true, Some(-1), None, 0).marker(None), Bullet('-'));
        assert_eq!(List::new(true, Some(i64::MAX), None, 0).marker(None), Bullet('-'));
    }
}
