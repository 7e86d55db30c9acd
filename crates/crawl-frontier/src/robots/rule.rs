//! One line of a group of robots.txt.

/// Estimated overhead of a heap allocation in bytes.
const ALLOCATION: usize = 16;

/// One `Allow` or `Disallow` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Whether the rule allows or disallows.
    pub allow: bool,
    /// Pattern: `*` matches anything, `$` at the end matches the end of the URL. Normalised like the paths that it is
    /// compared with.
    pub pattern: String,
    /// Line number in the file, from 1.
    pub line: usize,
}

impl Rule {
    /// Returns the memory in bytes.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>() + self.pattern.capacity() + ALLOCATION
    }
}
