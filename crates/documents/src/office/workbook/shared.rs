//! Formulas that several cells share: one cell has the text, the others only its number.

use std::collections::HashMap;

use super::super::flat::letters;
use super::super::tree::Element;
use super::place;

/// Maximum number of shared formulas of a sheet, and maximum length of one in bytes.
const MAX_SHARED: usize = 10_000;
const MAX_LENGTH: usize = 8192;
/// Most rows and columns of a sheet.
const MAX_ROW: usize = 1_048_576;
const MAX_COLUMN: usize = 16_384;

/// Row and column of a cell, counted from 1.
type Place = (usize, usize);

/// Shared formulas of a sheet by their numbers, each with the cell that has its text.
#[derive(Default)]
pub(super) struct SharedFormulas(HashMap<String, (Place, String)>);

impl SharedFormulas {
    /// Returns the text of a cell's formula, as it would stand in this cell.
    pub(super) fn text(&mut self, formula: &Element<'_>, at: Option<Place>) -> String {
        let text = formula.text();
        let is_shared = formula.attribute("t").is_some_and(|kind| kind == "shared");
        let (true, Some(number), Some(at)) = (is_shared, formula.attribute("si"), at) else { return text };
        if !text.trim().is_empty() {
            if self.0.len() < MAX_SHARED && text.len() <= MAX_LENGTH {
                self.0.insert(number.into_owned(), (at, text.clone()));
            }
            return text;
        }
        self.0.get(number.as_ref()).map(|(from, text)| moved(text, *from, at)).unwrap_or_default()
    }
}

/// Moves the relative references of a formula from one cell to another.
fn moved(formula: &str, from: Place, to: Place) -> String {
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
        match is_reference.then(|| reference(token, from, to)).flatten() {
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
fn reference(word: &str, from: Place, to: Place) -> Option<String> {
    let (fixes_column, rest) = word.strip_prefix('$').map_or((false, word), |rest| (true, rest));
    let (column, row) = rest.split_at(rest.find(|letter: char| !letter.is_ascii_alphabetic())?);
    let (fixes_row, row) = row.strip_prefix('$').map_or((false, row), |row| (true, row));
    let (row, column) = place(&format!("{column}{row}"))?;
    let shifted = |value: usize, is_fixed: bool, from: usize, to: usize, most: usize| match is_fixed {
        true => Some(value),
        false => (value + to).checked_sub(from).filter(|value| (1..=most).contains(value)),
    };
    let column = shifted(column, fixes_column, from.1, to.1, MAX_COLUMN);
    let row = shifted(row, fixes_row, from.0, to.0, MAX_ROW);
    let mark = |is_fixed: bool| if is_fixed { "$" } else { "" };
    Some(match (column, row) {
        (Some(column), Some(row)) => {
            format!("{}{}{}{row}", mark(fixes_column), letters(column), mark(fixes_row))
        }
        _ => "#REF!".to_owned(),
    })
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
            assert_eq!(moved(formula, (3, 4), (5, 5)), expected, "{formula}");
        }
        assert_eq!(moved("A1", (3, 4), (1, 4)), "#REF!");
    }
}
