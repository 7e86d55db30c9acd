//! A unified diff as the tree that the npm package `parse-diff` makes of it.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Tree of a unified diff. It borrows the lines of the diff.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tree<'t> {
    /// Compared files; one in the diffs of [`crate::unified`], none in an empty one.
    pub files: Vec<File<'t>>,
}

/// Changes of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct File<'t> {
    /// Hunks in order.
    pub chunks: Vec<Chunk<'t>>,
    /// Number of removed lines.
    pub deletions: usize,
    /// Number of added lines.
    pub additions: usize,
    /// Name of the previous version.
    pub from: &'t str,
    /// Name of the current version.
    pub to: &'t str,
}

/// Hunk: changed lines with their context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Chunk<'t> {
    /// Head line, `@@ -1,4 +1,4 @@`.
    pub content: &'t str,
    /// Lines in order.
    pub changes: Vec<Change<'t>>,
    /// Number of its first line in the previous version, from 1; the line before it if it has none there.
    pub old_start: usize,
    /// Number of its lines in the previous version.
    pub old_lines: usize,
    /// Number of its first line in the current version, from 1; the line before it if it has none there.
    pub new_start: usize,
    /// Number of its lines in the current version.
    pub new_lines: usize,
}

/// One line of a hunk. The contents begin with the sign: a blank, `-` or `+`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'t> {
    /// Context.
    Normal {
        /// Line number in the previous version.
        old_line: usize,
        /// Line number in the current version.
        new_line: usize,
        /// Line with its sign.
        content: &'t str,
    },
    /// Removed line.
    Del {
        /// Line number in the previous version.
        line: usize,
        /// Line with its sign.
        content: &'t str,
    },
    /// Added line.
    Add {
        /// Line number in the current version.
        line: usize,
        /// Line with its sign.
        content: &'t str,
    },
}

impl<'t> Change<'t> {
    /// Returns the line with its sign.
    #[must_use]
    pub fn content(&self) -> &'t str {
        match self {
            Self::Normal { content, .. } | Self::Del { content, .. } | Self::Add { content, .. } => content,
        }
    }
}

impl Serialize for Change<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut kind = |word: &str| {
            map.serialize_entry("type", word)?;
            map.serialize_entry(word, &true)
        };
        match self {
            Self::Normal { old_line, new_line, .. } => {
                kind("normal")?;
                map.serialize_entry("ln1", old_line)?;
                map.serialize_entry("ln2", new_line)?;
            }
            Self::Del { line, .. } => {
                kind("del")?;
                map.serialize_entry("ln", line)?;
            }
            Self::Add { line, .. } => {
                kind("add")?;
                map.serialize_entry("ln", line)?;
            }
        }
        map.serialize_entry("content", self.content())?;
        map.end()
    }
}

/// Returns the tree of a diff that [`crate::unified`] has made. Lines outside of hunks that are no head are skipped.
#[must_use]
pub fn tree(diff: &str) -> Tree<'_> {
    let mut tree = Tree::default();
    let mut lines = diff.strip_suffix('\n').unwrap_or(diff).split('\n');
    while let Some(line) = lines.next() {
        if let Some(from) = line.strip_prefix("--- ") {
            tree.files.push(File { from: from.trim(), ..File::default() });
        } else if let Some(file) = tree.files.last_mut() {
            if let Some(to) = line.strip_prefix("+++ ") {
                file.to = to.trim();
            } else if let Some(chunk) = head(line) {
                file.read_hunk(chunk, &mut lines);
            }
        }
    }
    tree
}

impl<'t> File<'t> {
    /// Reads the lines that the head of the chunk announces.
    fn read_hunk(&mut self, mut chunk: Chunk<'t>, lines: &mut std::str::Split<'t, char>) {
        let (mut old, mut new) = (0, 0);
        while old < chunk.old_lines || new < chunk.new_lines {
            let Some(content) = lines.next() else { break };
            let (old_line, new_line) = (chunk.old_start + old, chunk.new_start + new);
            chunk.changes.push(match content.as_bytes().first() {
                Some(b'-') => {
                    old += 1;
                    self.deletions += 1;
                    Change::Del { line: old_line, content }
                }
                Some(b'+') => {
                    new += 1;
                    self.additions += 1;
                    Change::Add { line: new_line, content }
                }
                _ => {
                    old += 1;
                    new += 1;
                    Change::Normal { old_line, new_line, content }
                }
            });
        }
        self.chunks.push(chunk);
    }
}

/// Reads `@@ -1,4 +1,4 @@`.
fn head(line: &str) -> Option<Chunk<'_>> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let ((old_start, old_lines), (new_start, new_lines)) = (span(old)?, span(new)?);
    Some(Chunk { content: line, changes: Vec::new(), old_start, old_lines, new_start, new_lines })
}

fn span(text: &str) -> Option<(usize, usize)> {
    let (start, lines) = text.split_once(',').unwrap_or((text, "1"));
    // Numbers of 32 bits, so that sums cannot overflow.
    let number = |digits: &str| digits.parse::<u32>().ok().map(|number| number as usize);
    Some((number(start)?, number(lines)?))
}
