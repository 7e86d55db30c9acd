//! The path filters includePaths and excludePaths: RE2 patterns, which are untrusted input, compiled once within a memory
//! budget and matched within a step budget.

mod automaton;
mod expression;
mod parse;
mod words;

use std::borrow::Cow;
use std::fmt;

use regex_automata::hybrid::dfa::Cache;
use thiserror::Error;
use url::{Position, Url};

use crate::reason::Reason;
use crate::{Steps, spelling};
use automaton::{Automaton, Builder};
pub use expression::Expression;
use words::{Word, Words};

/// Maximum number of patterns of one field, and of both together (docs/CONTRACT.md, "Crawl").
pub const MAX_PATTERNS: usize = 1000;
/// Maximum number of characters of one pattern.
pub const MAX_PATTERN_CHARS: usize = 2000;
/// Maximum number of characters of all patterns of both fields.
pub const MAX_ALL_PATTERN_CHARS: usize = 100_000;

/// Memory limit in bytes of all compiled patterns of a request, in addition to 32 bytes per character.
const MAX_SIZE: usize = 1 << 20;
/// Work limit for parsing all patterns of a request; see [`parse`].
const MAX_WORK: u64 = 8_000_000;

/// Path filter of a crawl.
#[derive(Debug, Clone)]
pub struct PathFilter {
    include: Option<Patterns>,
    exclude: Option<Patterns>,
    full_url: bool,
}

/// The patterns of one field.
#[derive(Debug, Clone, Default)]
struct Patterns {
    words: Words,
    automata: Vec<Automaton>,
}

/// A filter with the caches of its automata, which make further URLs cheaper.
#[derive(Debug)]
pub(crate) struct Matcher<'f> {
    filter: &'f PathFilter,
    include: Vec<Option<Cache>>,
    exclude: Vec<Option<Cache>>,
}

/// Field of the crawl request that contains patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// `includePaths`.
    Include,
    /// `excludePaths`.
    Exclude,
}

/// Error of the patterns of a request. The message names the field and the pattern.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    /// One pattern is invalid.
    #[error("pattern {index} of {field} {fault}: {}", shown(pattern))]
    Pattern {
        /// Field of the pattern.
        field: Field,
        /// Index in the list, from 0.
        index: usize,
        /// The pattern as given.
        pattern: String,
        /// Error of the pattern.
        fault: PatternFault,
    },
    /// More than [`MAX_PATTERNS`] in one list.
    #[error("{field} has {count} patterns, at most {MAX_PATTERNS} are allowed")]
    TooMany {
        /// Field of the patterns.
        field: Field,
        /// Number of patterns.
        count: usize,
    },
    /// More than [`MAX_PATTERNS`] in both lists.
    #[error("includePaths and excludePaths have {0} patterns together, at most {MAX_PATTERNS} are allowed")]
    TooManyTogether(usize),
    /// More than [`MAX_ALL_PATTERN_CHARS`] in both lists.
    #[error("includePaths and excludePaths have {0} characters together, at most {MAX_ALL_PATTERN_CHARS} are allowed")]
    TooLongTogether(usize),
}

/// Error of one pattern.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternFault {
    /// The pattern is longer than [`MAX_PATTERN_CHARS`].
    #[error("has {0} characters, at most {MAX_PATTERN_CHARS} are allowed")]
    TooLong(usize),
    /// The compiled pattern takes too much memory or time.
    #[error("is too large when compiled; use fewer or smaller counted repeats and classes")]
    TooLarge,
    /// The compiled pattern is too large together with the previous ones.
    #[error("makes the patterns of the request too large together; use fewer counted repeats and classes")]
    TooLargeTogether,
    /// Look-ahead or look-behind.
    #[error("uses look-around, which RE2 syntax does not have")]
    LookAround,
    /// A reference to a group.
    #[error("uses a back-reference, which RE2 syntax does not have")]
    BackReference,
    /// Any other error, as reported by the parser.
    #[error("is not a valid RE2 expression ({0})")]
    Syntax(String),
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Include => "includePaths",
            Self::Exclude => "excludePaths",
        })
    }
}

impl PathFilter {
    /// Compiles the patterns of a request. They match anywhere in the path unless anchored, or in the whole URL without
    /// fragment with `full_url`. Blank patterns are ignored, since forms send them for an empty field.
    ///
    /// # Errors
    /// [`PatternError`] for the first exceeded limit or the first pattern that does not compile.
    pub fn new(include: &[String], exclude: &[String], full_url: bool) -> Result<Self, PatternError> {
        let fields = [(Field::Include, include), (Field::Exclude, exclude)];
        for (field, patterns) in fields {
            if patterns.len() > MAX_PATTERNS {
                return Err(PatternError::TooMany { field, count: patterns.len() });
            }
        }
        let count = include.len() + exclude.len();
        if count > MAX_PATTERNS {
            return Err(PatternError::TooManyTogether(count));
        }
        for (field, patterns) in fields {
            for (index, pattern) in patterns.iter().enumerate() {
                let characters = pattern.chars().count();
                if characters > MAX_PATTERN_CHARS {
                    return Err(refused(field, index, pattern, PatternFault::TooLong(characters)));
                }
            }
        }
        let characters = include.iter().chain(exclude).map(|pattern| pattern.chars().count()).sum();
        if characters > MAX_ALL_PATTERN_CHARS {
            return Err(PatternError::TooLongTogether(characters));
        }
        let (mut work, mut builder) = (Steps::new(MAX_WORK), Builder::new(MAX_SIZE));
        let mut compile = |field, patterns| Patterns::new(field, patterns, &mut work, &mut builder);
        let (include, exclude) = (compile(Field::Include, include)?, compile(Field::Exclude, exclude)?);
        Ok(Self { include, exclude, full_url })
    }

    /// Returns the reason for refusing a URL, or `None`. A path with percent escapes is also matched decoded, so that
    /// `/café` matches `/caf%C3%A9`.
    #[must_use]
    pub fn refuses(&self, url: &Url) -> Option<Reason> {
        self.matcher().refuses(url, &mut Steps::of_a_url())
    }

    /// Returns the memory of the patterns in bytes.
    pub(crate) fn size(&self) -> usize {
        [&self.include, &self.exclude].into_iter().flatten().map(Patterns::size).sum()
    }

    pub(crate) fn matcher(&self) -> Matcher<'_> {
        Matcher { filter: self, include: Vec::new(), exclude: Vec::new() }
    }

    fn subject<'u>(&self, url: &'u Url) -> &'u str {
        if self.full_url { &url[..Position::AfterQuery] } else { url.path() }
    }
}

impl Matcher<'_> {
    /// Returns the reason for refusing a URL, as [`PathFilter::refuses`] does. A URL is refused when the steps are used up.
    pub(crate) fn refuses(&mut self, url: &Url, steps: &mut Steps) -> Option<Reason> {
        if let Some(reason) = self.excludes(url, steps) {
            return Some(reason);
        }
        let include = self.filter.include.as_ref()?;
        match include.find(self.filter.subject(url), &mut self.include, steps) {
            Some(true) => None,
            Some(false) => Some(Reason::NotIncluded),
            None => Some(Reason::TooCostly),
        }
    }

    /// Checks a URL against `excludePaths` only. A URL is refused when the steps are used up.
    pub(crate) fn excludes(&mut self, url: &Url, steps: &mut Steps) -> Option<Reason> {
        let exclude = self.filter.exclude.as_ref()?;
        match exclude.find(self.filter.subject(url), &mut self.exclude, steps) {
            Some(true) => Some(Reason::Excluded),
            Some(false) => None,
            None => Some(Reason::TooCostly),
        }
    }
}

impl Patterns {
    fn new(
        field: Field,
        patterns: &[String],
        work: &mut Steps,
        builder: &mut Builder,
    ) -> Result<Option<Self>, PatternError> {
        let mut words = Vec::new();
        let mut last = None;
        for (index, pattern) in patterns.iter().enumerate().filter(|(_, pattern)| !is_blank(pattern)) {
            let mut add = || -> Result<(), PatternFault> {
                let hir = parse::parse(pattern, work)?;
                match Word::of(&hir) {
                    Some(word) => words.push(word),
                    None => builder.add(hir, pattern.len())?,
                }
                Ok(())
            };
            add().map_err(|fault| refused(field, index, pattern, fault))?;
            last = Some((index, pattern));
        }
        let Some((index, pattern)) = last else { return Ok(None) };
        let words = Words::new(words).ok_or(PatternFault::TooLargeTogether);
        let both = words.and_then(|words| Ok(Self { words, automata: builder.finish()? }));
        both.map(Some).map_err(|fault| refused(field, index, pattern, fault))
    }

    fn size(&self) -> usize {
        self.words.size() + self.automata.iter().map(Automaton::size).sum::<usize>()
    }

    /// Returns whether a pattern matches; `None` when the steps are used up.
    fn find(&self, subject: &str, caches: &mut Vec<Option<Cache>>, steps: &mut Steps) -> Option<bool> {
        if self.find_in(subject.as_bytes(), caches, steps)? {
            return Some(true);
        }
        match spelling::readable(subject) {
            Cow::Borrowed(_) => Some(false),
            Cow::Owned(readable) => self.find_in(readable.as_bytes(), caches, steps),
        }
    }

    fn find_in(&self, text: &[u8], caches: &mut Vec<Option<Cache>>, steps: &mut Steps) -> Option<bool> {
        if self.words.find(text, steps)? {
            return Some(true);
        }
        caches.resize_with(self.automata.len(), || None);
        for (automaton, cache) in self.automata.iter().zip(caches) {
            if automaton.find(text, cache, steps)? {
                return Some(true);
            }
        }
        Some(false)
    }
}

fn is_blank(pattern: &str) -> bool {
    pattern.trim().is_empty()
}

fn refused(field: Field, index: usize, pattern: &str, fault: PatternFault) -> PatternError {
    PatternError::Pattern { field, index, pattern: pattern.to_owned(), fault }
}

/// Formats a pattern for a message: truncated to 100 characters, with control characters escaped.
fn shown(pattern: &str) -> String {
    let cut: String = pattern.chars().take(100).flat_map(char::escape_debug).collect();
    if pattern.chars().count() > 100 { format!("{cut}…") } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(patterns: &[&str]) -> Vec<String> {
        patterns.iter().map(|&pattern| pattern.to_owned()).collect()
    }

    fn check(include: &[&str], exclude: &[&str], full_url: bool, cases: &[(&str, Option<Reason>)]) {
        let filter = PathFilter::new(&list(include), &list(exclude), full_url).unwrap();
        for (path, expect) in cases {
            let url = Url::parse("https://example.com").unwrap().join(path).unwrap();
            assert_eq!(filter.refuses(&url), *expect, "{path} by {include:?} {exclude:?}");
        }
    }

    fn check_error(include: &[&str], exclude: &[&str], expect: &str) {
        let error = PathFilter::new(&list(include), &list(exclude), false).unwrap_err();
        assert_eq!(error.to_string(), expect);
    }

    #[test]
    fn patterns_match_the_path() {
        let (out, not) = (Some(Reason::Excluded), Some(Reason::NotIncluded));
        check(&[], &[], false, &[("/a", None)]);
        check(&["^/blog/"], &[], false, &[("/blog/a", None), ("/a/blog/", not), ("/x?/blog/", not)]);
        check(&["/blog/*"], &[], false, &[("/blog/a", None), ("/blog", None), ("/a", not)]);
        check(
            &[],
            &["/admin", r"\.pdf$"],
            false,
            &[("/x/admin/y", out), ("/a.pdf", out), ("/a.pdf?x", out), ("/a", None)],
        );
        check(&["^/a"], &["b$"], false, &[("/ab", out), ("/ac", None), ("/c", not)]);
        check(&[""], &[" "], false, &[("/a", None)]);
        check(&["(?i)ABC", r"\p{Greek}+"], &[], false, &[("/xabcx", None), ("/α", None), ("/z", not)]);
        check(&["^/café$"], &[], false, &[("/caf%c3%a9", None), ("/café", None)]);
        check(&[r"^\/docs\/v\d+"], &[], false, &[("/docs/v2", None)]);
    }

    #[test]
    fn patterns_match_the_whole_url_if_asked() {
        let out = Some(Reason::Excluded);
        check(&[], &[r"\?page="], true, &[("/a?page=2", out), ("/a", None), ("/a#?page=", None)]);
        check(&["^https://example.com/a"], &[], true, &[("/a?x", None)]);
    }

    #[test]
    fn bad_patterns_are_named() {
        check_error(
            &["ok", "(?=x)"],
            &[],
            "pattern 1 of includePaths uses look-around, which RE2 syntax does not have: (?=x)",
        );
        check_error(
            &[],
            &["(?<=x)y"],
            "pattern 0 of excludePaths uses look-around, which RE2 syntax does not have: (?<=x)y",
        );
        check_error(
            &[r"(a)\1"],
            &[],
            r"pattern 0 of includePaths uses a back-reference, which RE2 syntax does not have: (a)\\1",
        );
        check_error(
            &["["],
            &[],
            "pattern 0 of includePaths is not a valid RE2 expression (unclosed character class): [",
        );
        check_error(
            &["", "*.pdf"],
            &[],
            "pattern 1 of includePaths is not a valid RE2 expression (repetition operator missing expression): *.pdf",
        );
        check_error(
            &["((a{1,1000}){1,1000}){1,1000}"],
            &[],
            "pattern 0 of includePaths is too large when compiled; use fewer or smaller counted repeats and \
             classes: ((a{1,1000}){1,1000}){1,1000}",
        );
        let long = "x".repeat(2001);
        let start =
            format!("pattern 0 of excludePaths has 2001 characters, at most 2000 are allowed: {}…", &long[..100]);
        check_error(&[], &[&long], &start);
    }

    #[test]
    fn limits() {
        check_error(&vec!["a"; 1001], &[], "includePaths has 1001 patterns, at most 1000 are allowed");
        check_error(
            &vec!["a"; 600],
            &vec!["b"; 401],
            "includePaths and excludePaths have 1001 patterns together, at most 1000 are allowed",
        );
        let wide = "x".repeat(2000);
        check_error(
            &vec![wide.as_str(); 51],
            &[],
            "includePaths and excludePaths have 102000 characters together, at most 100000 are allowed",
        );
        check_error(
            &["a"],
            &vec!["[a-z]{900}"; 100],
            "pattern 48 of excludePaths makes the patterns of the request too large together; use fewer counted \
             repeats and classes: [a-z]{900}",
        );
        let words: Vec<String> = (0..1000).map(|number| format!("^/section-{number}/")).collect();
        assert!(PathFilter::new(&words, &[], false).is_ok());
        let exact = vec!["x".repeat(2000); 50];
        assert!(PathFilter::new(&exact, &[], false).is_ok());
    }
}
