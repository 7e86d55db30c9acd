//! Formulas that several cells share: one cell has the text, the others only its number.

use std::collections::HashMap;

use super::super::flat::letters;
use super::super::tree::Element;
use super::{MAX_COLUMN, MAX_ROW, place};

/// Maximum number of shared formulas of a sheet, and maximum length of one in bytes.
const MAX_SHARED: usize = 10_000;
const MAX_LENGTH: usize = 8192;
/// Maximum size of all formulas of a sheet that are written for cells without a text of their own, in bytes.
const MAX_WRITTEN: usize = 4 << 20;

/// Shared formula with the row and column of the cell that has its text.
struct Shared {
    at: (usize, usize),
    text: String,
}

/// Distance between two cells.
struct Distance {
    rows: isize,
    columns: isize,
}

/// Shared formulas of a sheet by their numbers.
#[derive(Default)]
pub(super) struct SharedFormulas {
    known: HashMap<String, Shared>,
    /// Bytes that were written for cells without a text of their own.
    written: usize,
}

impl SharedFormulas {
    /// Returns the text of a cell's formula, as it would stand in this cell; empty if the cell shares it, and has a value.
    pub(super) fn text(&mut self, formula: &Element<'_>, at: Option<(usize, usize)>, has_value: bool) -> String {
        let text = formula.text();
        let is_shared = formula.attribute("t").is_some_and(|kind| kind == "shared");
        let (true, Some(number), Some(at)) = (is_shared, formula.attribute("si"), at) else { return text };
        if !text.trim().is_empty() {
            if self.known.len() < MAX_SHARED && text.len() <= MAX_LENGTH {
                self.known.insert(number.into_owned(), Shared { at, text: text.clone() });
            }
            return text;
        }
        let Some(shared) = self.known.get(number.as_ref()).filter(|_| !has_value && self.written < MAX_WRITTEN) else {
            return text;
        };
        let distance = |to: usize, from: usize| to.cast_signed() - from.cast_signed();
        let by = Distance { rows: distance(at.0, shared.at.0), columns: distance(at.1, shared.at.1) };
        let moved = moved(&shared.text, &by);
        self.written += moved.len();
        moved
    }
}

/// Moves the relative references of a formula by the distance between its cell and another.
fn moved(formula: &str, by: &Distance) -> String {
    let mut out = String::with_capacity(formula.len());
    let mut rest = formula;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => quoted(rest, first),
            _ => word(rest),
        };
        let (token, after) = rest.split_at(length.max(first.len_utf8()));
        // A name with a bracket after it is a function, one with an exclamation mark a sheet.
        let is_reference = length > 0 && !after.starts_with(['(', '!']) && !matches!(first, '"' | '\'');
        match is_reference.then(|| reference(token, by)).flatten() {
            Some(reference) => out.push_str(&reference),
            None => out.push_str(token),
        }
        rest = after;
    }
    out
}

/// Returns the length of a text or name in quotation marks; a doubled mark ends it and begins the next.
fn quoted(rest: &str, mark: char) -> usize {
    rest[1..].find(mark).map_or(rest.len(), |end| end + 2)
}

/// Returns the length of the word at the beginning: what names and references consist of.
fn word(rest: &str) -> usize {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '$' | '_' | '.');
    rest.find(|letter| !is_part(letter)).unwrap_or(rest.len())
}

/// Moves a reference such as `B$7`; `None` for another word.
fn reference(word: &str, by: &Distance) -> Option<String> {
    let (column_mark, rest) = anchor(word);
    let (column, row) = rest.split_at(rest.find(|letter: char| !letter.is_ascii_alphabetic())?);
    let (row_mark, row) = anchor(row);
    let (row, column) = place(&format!("{column}{row}"))?;
    let shifted = |value: usize, mark: &str, by: isize| {
        if mark.is_empty() { value.checked_add_signed(by) } else { Some(value) }
    };
    let column = shifted(column, column_mark, by.columns).filter(|column| (1..=MAX_COLUMN).contains(column));
    let row = shifted(row, row_mark, by.rows).filter(|row| (1..=MAX_ROW).contains(row));
    Some(match (column, row) {
        (Some(column), Some(row)) => format!("{column_mark}{}{row_mark}{row}", letters(column)),
        _ => "#REF!".to_owned(),
    })
}

/// Splits off the mark of a column or row that does not move.
fn anchor(word: &str) -> (&str, &str) {
    word.split_at(usize::from(word.starts_with('$')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_references_move_with_the_cell() {
        for (formula, expected) in [
            ("B3/C3", "C5/D5"),
            ("$B3/C$3+$A$1", "$B5/D$3+$A$1"),
            ("SUM(A1:B2)&\"A1\"", "SUM(B3:C4)&\"A1\""),
            ("'A1 ''B2'!A1+Sheet1!A1", "'A1 ''B2'!B3+Sheet1!B3"),
            ("LOG10(A1)+rate_A1+A1.5", "LOG10(B3)+rate_A1+A1.5"),
            ("IF(ä>1,\"B", "IF(ä>1,\"B"),
        ] {
            assert_eq!(moved(formula, &Distance { rows: 2, columns: 1 }), expected, "{formula}");
        }
        assert_eq!(moved("A1", &Distance { rows: -2, columns: 0 }), "#REF!");
    }
    #[test]
    fn what_cells_share_is_written_up_to_a_bound() {
        let formula = |text: &str| Element::with_text("f".to_owned(), " t=\"shared\" si=\"0\"", text);
        let mut shared = SharedFormulas::default();
        shared.text(&formula(&"A1+".repeat(2000)), Some((1, 1)), false);
        let follower = formula("");
        assert_eq!(shared.text(&follower, Some((2, 1)), true), "");
        let written: usize = (2..2000).map(|row| shared.text(&follower, Some((row, 1)), false).len()).sum();
        assert!((MAX_WRITTEN..MAX_WRITTEN + 2 * MAX_LENGTH).contains(&written), "{written}");
    }
}
