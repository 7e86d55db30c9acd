//! Columns of a line of markdown: a tab reaches to the next multiple of four.

const TAB: usize = 4;

/// Position in a line, between the prefixes of its containers.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'t> {
    rest: &'t str,
    column: usize,
    /// Columns of a tab before `rest` that are not consumed yet.
    spare: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(line: &'t str) -> Self {
        Self { rest: line, column: 0, spare: 0 }
    }

    /// Returns the line from its first non-blank character.
    pub(super) fn word(&self) -> &'t str {
        self.rest.trim_start_matches([' ', '\t'])
    }

    /// Returns the number of columns before [`Cursor::word`].
    pub(super) fn indent(&self) -> usize {
        let blanks = &self.rest[..self.rest.len() - self.word().len()];
        let end = blanks.bytes().fold(self.column, after);
        self.spare + end - self.column
    }

    /// Moves over `columns` of indentation, which must be there.
    pub(super) fn indented(mut self, columns: usize) -> Self {
        let mut missing = columns.saturating_sub(self.spare);
        self.spare -= columns.min(self.spare);
        while missing > 0 {
            let Some(&byte) = self.rest.as_bytes().first().filter(|byte| matches!(byte, b' ' | b'\t')) else { break };
            let wide = after(self.column, byte) - self.column;
            self.column += wide;
            self.rest = &self.rest[1..];
            self.spare = wide.saturating_sub(missing);
            missing = missing.saturating_sub(wide);
        }
        self
    }

    /// Moves over the indentation and over `bytes` of ASCII after it.
    pub(super) fn past(self, bytes: usize) -> Self {
        let mut next = self.indented(self.indent());
        next.rest = &next.rest[bytes..];
        next.column += bytes;
        next
    }
}

fn after(column: usize, byte: u8) -> usize {
    if byte == b'\t' { (column / TAB + 1) * TAB } else { column + 1 }
}
