//! Lists: numbers and bullets.

use std::ops::RangeInclusive;

/// Numbers that markdown reads.
const NUMBERS: RangeInclusive<i64> = 0..=999_999_999;

/// An open list.
#[derive(Debug)]
pub(super) struct List {
    ordered: bool,
    next: i64,
    alternate: bool,
    /// Items that were opened.
    pub(super) items: usize,
    /// Length of the document when the list began.
    pub(super) began: usize,
}

/// A list that has just ended. A list of the same kind right behind it needs another bullet, or both would join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ended {
    ordered: bool,
    alternate: bool,
    /// Length of the document at its end.
    at: usize,
}

impl List {
    /// `start` is the attribute of an ordered list; `written` the length of the document.
    pub(super) fn new(ordered: bool, start: Option<i64>, previous: Option<Ended>, written: usize) -> List {
        let follows = previous.is_some_and(|ended| ended.at == written && ended.ordered == ordered);
        let alternate = follows && previous.is_some_and(|ended| !ended.alternate);
        List {
            ordered,
            next: start.unwrap_or(1),
            alternate,
            items: 0,
            began: written,
        }
    }

    /// The marker of the next item; `value` is the item's own number.
    pub(super) fn marker(&mut self, value: Option<i64>) -> String {
        self.items += 1;
        let number = value.unwrap_or(self.next);
        self.next = number.saturating_add(1);
        match (self.ordered && NUMBERS.contains(&number), self.alternate) {
            (true, false) => format!("{number}. "),
            (true, true) => format!("{number}) "),
            (false, false) => "- ".into(),
            (false, true) => "* ".into(),
        }
    }

    /// Whether the list may follow a paragraph without a blank line: numbers other than 1 would not be read as a list.
    pub(super) fn interrupts(&self) -> bool {
        !self.ordered || self.next == 1
    }

    pub(super) fn end(&self, written: usize) -> Ended {
        Ended {
            ordered: self.ordered,
            alternate: self.alternate,
            at: written,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers() {
        let mut list = List::new(true, Some(3), None, 0);
        assert_eq!(
            [list.marker(None), list.marker(Some(7)), list.marker(None)],
            ["3. ", "7. ", "8. "]
        );
        let mut next = List::new(true, None, Some(list.end(9)), 9);
        assert_eq!(next.marker(None), "1) ");
        assert_eq!(List::new(true, None, Some(next.end(20)), 20).marker(None), "1. ");
        assert_eq!(List::new(true, None, Some(next.end(20)), 30).marker(None), "1. ");
        assert_eq!(List::new(false, None, Some(next.end(20)), 20).marker(None), "- ");
        assert_eq!(List::new(true, Some(-1), None, 0).marker(None), "- ");
        assert_eq!(List::new(true, Some(i64::MAX), None, 0).marker(None), "- ");
    }
}
