//! Tables of PowerPoint before 2007.
//!
//! In this format a table is a group of boxes, and the converter writes each box as a paragraph. The group declares
//! that it is a table and where its boxes are. Its paragraphs are found in the markdown, in the same order, and
//! replaced.

mod records;

use super::grid::Grid;
use records::TableBox;

/// Maximum number of comparison steps for all tables of a file.
const MAX_STEPS: usize = 20_000_000;

/// Returns the markdown with the tables of the slides as tables.
pub(super) fn with_tables(markdown: String, bytes: &[u8]) -> String {
    let tables = records::tables(bytes).unwrap_or_default();
    if tables.is_empty() {
        return markdown;
    }
    let mut lines: Vec<SourceLine> = markdown.lines().map(SourceLine::of).collect();
    let mut steps = MAX_STEPS;
    for table in &tables {
        if let Some((start, end)) = find(&lines, table, &mut steps) {
            let written = SourceLine { source: format!("\n{}\n", grid(table).markdown()), letters: None };
            lines.splice(start..end, [written]);
        }
    }
    let text = lines.iter().map(|line| line.source.as_str()).collect::<Vec<_>>().join("\n");
    // A table adds empty lines around it, so doubled ones are removed.
    let mut out = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.lines() {
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

struct SourceLine {
    source: String,
    /// Letters and digits of the line; `None` if it is a table already.
    letters: Option<Vec<char>>,
}

impl SourceLine {
    fn of(source: &str) -> Self {
        Self { source: source.to_owned(), letters: Some(letters(source).collect()) }
    }
}

/// Returns the text without markdown syntax, white space and punctuation.
fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|letter| letter.is_alphanumeric())
}

/// Finds the lines that contain exactly the text of a table.
fn find(lines: &[SourceLine], table: &[TableBox], steps: &mut usize) -> Option<(usize, usize)> {
    let wanted: Vec<char> = table.iter().flat_map(|cell| letters(&cell.text)).collect();
    if wanted.is_empty() {
        return None;
    }
    let is_start = |line: &SourceLine| line.letters.as_ref().is_some_and(|letters| !letters.is_empty());
    (0..lines.len()).filter(|start| is_start(&lines[*start])).find_map(|start| {
        let mut rest = &wanted[..];
        for (place, line) in lines.iter().enumerate().skip(start) {
            let letters = line.letters.as_ref()?;
            *steps = steps.checked_sub(letters.len() + 1)?;
            rest = rest.strip_prefix(&letters[..])?;
            if rest.is_empty() {
                return Some((start, place + 1));
            }
        }
        None
    })
}

/// Arranges the boxes in rows and columns by their corners.
fn grid(table: &[TableBox]) -> Grid {
    let places = |corner: fn(&TableBox) -> i32| {
        let mut places: Vec<i32> = table.iter().map(corner).collect();
        places.sort_unstable();
        places.dedup();
        places
    };
    let (tops, lefts) = (places(|cell| cell.top), places(|cell| cell.left));
    let mut rows = vec![vec![String::new(); lefts.len()]; tops.len()];
    for cell in table {
        let place = (tops.binary_search(&cell.top), lefts.binary_search(&cell.left));
        if let (Ok(row), Ok(column)) = place {
            rows[row][column] = escaped(&cell.text);
        }
    }
    Grid { rows, has_header: true }
}

/// Escapes the text of a cell as markdown, in one line.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.trim().chars() {
        match letter {
            '\r' | '\n' | '\u{b}' => out.push_str("<br>"),
            '\\' | '|' | '*' | '_' | '`' | '<' | '[' | ']' => out.extend(['\\', letter]),
            letter if letter.is_control() => {}
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(left: i32, top: i32, text: &str) -> TableBox {
        TableBox { left, top, text: text.to_owned() }
    }

    #[test]
    fn boxes_stand_in_rows_and_columns() {
        let table = [cell(10, 5, "a|b"), cell(30, 5, "c"), cell(30, 9, "e\rf")];
        assert_eq!(grid(&table).markdown(), "| a\\|b | c |\n| --- | --- |\n|  | e<br>f |");
    }

    #[test]
    fn only_the_whole_text_of_a_table_is_replaced() {
        let table = [cell(0, 0, "Name"), cell(9, 0, "Price 5%")];
        let lines = |text: &str| text.lines().map(SourceLine::of).collect::<Vec<_>>();
        let found = |text: &str| find(&lines(text), &table, &mut 1000);
        assert_eq!(found("# x\n\nName\n\n**Price** 5%\n\nmore"), Some((2, 5)));
        assert_eq!(found("Name\n\nPrice 55%"), None);
        assert_eq!(found("Name\n\nother\n\nPrice 5%"), None);
        assert_eq!(find(&lines("Name\n\nPrice 5%"), &table, &mut 3), None);
    }
}
