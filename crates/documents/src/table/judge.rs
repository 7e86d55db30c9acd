//! Rejection of false tables.

use crate::layout::words::Word;
use crate::model::Table;

/// Maximum mean length of the cells of a table without rules, in characters.
const LONG_CELL: usize = 45;

/// Whether words lie across the rules of a net, as in charts and on ruled paper. `xs` are the edges of its columns.
pub(crate) fn crossed(xs: &[f32], words: &[Word]) -> bool {
    let crosses = |word: &&Word| {
        let inner = xs.get(1..xs.len() - 1).unwrap_or_default();
        inner.iter().any(|x| word.rect.x0 + 2.0 < *x && *x < word.rect.x1 - 2.0)
    };
    // Two points of tolerance, as letters may touch a rule; one word in eight, as a heading may span columns without
    // being a cell of its own.
    words.len() >= 4 && words.iter().filter(crosses).count() * 8 > words.len()
}

/// Whether a net contains a table, rather than a frame, an empty form or a page laid out in boxes.
pub(crate) fn grid(table: &Table) -> bool {
    let full = || table.cells.iter().filter(|cell| !cell.is_blank()).map(|cell| cell.plain().len());
    let (count, letters) = full().fold((0, 0), |(count, letters), length| (count + 1, letters + length));
    let longest = full().max().unwrap_or(0);
    // One cell of 1 200 bytes, more than half of a column, with most of the text: a frame around running text.
    let framed = longest > 1200 && longest * 10 > letters * 6;
    // A form is empty but for its labels: fewer than one cell in six with text.
    table.rows >= 2 && table.columns >= 2 && count >= 3 && count * 6 >= table.cells.len() && !framed
}

/// Whether text in columns is a table, rather than a list, a table of contents, a form or two columns of text.
pub(crate) fn columns(table: &Table, ruled: bool) -> bool {
    let full: Vec<_> = table.cells.iter().filter(|cell| !cell.is_blank()).collect();
    if table.columns < 2 || table.rows < 2 || full.len() < 4 {
        return false;
    }
    let letters: usize = full.iter().map(|cell| cell.plain().chars().count()).sum();
    let average = letters / full.len();
    let places = table.rows * table.columns;
    let filled = |row: usize| full.iter().filter(|cell| cell.row == row).count() >= 2;
    let several = (0..table.rows).filter(|row| filled(*row)).count();
    // In two rows of five there must be something to compare.
    if several * 5 < table.rows * 2 {
        return false;
    }
    // Rules are evidence of their own: a third of the places with text suffices, and the cells may be paragraphs.
    if ruled {
        return full.len() * 3 >= places && average <= 4 * LONG_CELL;
    }
    // Without rules, the fewer rows and columns there are, the more the rest must speak for a table: two columns must
    // have numbers or four rows.
    let numbers = full.iter().filter(|cell| is_number(&cell.plain())).count();
    let dense = full.len() * 2 >= places;
    let rows_enough = table.rows >= 3 || (table.rows == 2 && table.columns >= 4);
    let columns_enough = table.columns >= 3 || (numbers * 3 >= full.len() && !is_contents(table)) || table.rows >= 4;
    dense && rows_enough && columns_enough && average <= LONG_CELL && !is_contents(table) && !is_list(table)
}

/// Whether it is a table of contents: up to three columns, the last of page numbers that only grow.
fn is_contents(table: &Table) -> bool {
    let last = table.columns - 1;
    let numbers: Vec<Option<u32>> =
        table.cells.iter().filter(|cell| cell.column == last).map(|cell| cell.plain().trim().parse().ok()).collect();
    let known: Vec<u32> = numbers.iter().flatten().copied().collect();
    // Roman numbers and parts without a page are allowed: four of five.
    table.columns <= 3
        && known.len() >= 3
        && known.len() * 5 >= numbers.len() * 4
        && known.windows(2).all(|pair| pair[0] <= pair[1])
        && known.first() < known.last()
}

/// Whether it is a list: two columns, the first of list marks only.
fn is_list(table: &Table) -> bool {
    let first: Vec<_> = table.cells.iter().filter(|cell| cell.column == 0 && !cell.is_blank()).collect();
    table.columns == 2 && first.iter().all(|cell| crate::layout::line::is_mark(&cell.plain()))
}

/// Whether the text is a number or measurement, or a placeholder for one.
pub(crate) fn is_number(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
    digits > letters || matches!(text, "-" | "–" | "—" | "n/a" | "N/A" | "*")
}
