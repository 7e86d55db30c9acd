//! Markdown tables, parsed and written.

/// Table whose cells are markdown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Grid {
    /// Rows of equal length.
    pub rows: Vec<Vec<String>>,
    /// Whether the first row names the columns.
    pub has_header: bool,
}

impl Grid {
    /// Parses the lines of one table: a header, the delimiter line, and the other rows.
    pub(super) fn of_lines(lines: &[&str]) -> Option<Self> {
        let [header, rule, rest @ ..] = lines else { return None };
        let is_rule = rule.chars().all(|letter| matches!(letter, '|' | '-' | ' '));
        let header = cells(header);
        let has_header = header.iter().any(|cell| !cell.is_empty());
        let width = header.len();
        let mut rows: Vec<Vec<String>> = rest.iter().map(|line| cells(line)).collect();
        if has_header {
            rows.insert(0, header);
        }
        (is_rule && rows.iter().all(|row| row.len() == width)).then_some(Self { rows, has_header })
    }

    /// Writes the table. Without a header its first row is empty, as markdown tables must have a header.
    pub(super) fn markdown(&self) -> String {
        let width = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let empty = vec![String::new(); width];
        let (header, rest) = match self.rows.split_first() {
            Some((header, rest)) if self.has_header => (header, rest),
            _ => (&empty, &self.rows[..]),
        };
        let mut lines = vec![line(header), line(&vec!["---".to_owned(); width])];
        lines.extend(rest.iter().map(|row| line(row)));
        lines.join("\n")
    }
}

fn line(cells: &[String]) -> String {
    let mut line = "|".to_owned();
    for cell in cells {
        line.push(' ');
        line.push_str(cell);
        line.push_str(" |");
    }
    line
}

/// Splits a line into cells. A `|` inside a cell is escaped by a backslash.
fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().strip_prefix('|').unwrap_or(line);
    let (mut cells, mut start, mut is_escaped) = (Vec::new(), 0, false);
    for (at, letter) in inner.char_indices() {
        if letter == '|' && !is_escaped {
            cells.push(inner[start..at].trim().to_owned());
            start = at + 1;
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(table: &str, rows: &[&[&str]]) {
        let lines: Vec<&str> = table.lines().collect();
        let grid = Grid::of_lines(&lines).expect("a table");
        assert_eq!(grid.rows, rows);
        assert_eq!(grid.markdown(), table);
    }

    #[test]
    fn tables_are_read_as_they_are_written() {
        check("| a | b \\| c |\n| --- | --- |\n| 1 |  |", &[&["a", "b \\| c"], &["1", ""]]);
        check("|  |  |\n| --- | --- |\n| x\\\\ | y |", &[&["x\\\\", "y"]]);
    }

    #[test]
    fn what_is_no_table_is_left() {
        assert_eq!(Grid::of_lines(&["| a |"]), None);
        assert_eq!(Grid::of_lines(&["| a |", "| b |"]), None);
        assert_eq!(Grid::of_lines(&["| a |", "| --- |", "| b | c |"]), None);
    }
}
