//! includePaths and excludePaths: RE2-style patterns, compiled once, matched in linear time.

use std::borrow::Cow;
use std::fmt;

use regex::bytes::{RegexBuilder, RegexSet, RegexSetBuilder};
use thiserror::Error;
use url::{Position, Url};

use crate::reason::Reason;
use crate::spelling;

/// Most patterns of one field, and of both together (docs/CONTRACT.md, "Crawl").
pub const MOST_PATTERNS: usize = 1000;
/// Most characters of one pattern.
pub const LONGEST_PATTERN: usize = 2000;
/// Most characters of all patterns of both fields together.
pub const MOST_PATTERN_CHARACTERS: usize = 100_000;

/// Most bytes that one pattern may take compiled. Counted repeats of large classes reach it.
const MOST_COMPILED: usize = 1 << 20;
/// Most bytes that all patterns of a field may take compiled. It also bounds the time: the worst patterns that fit take
/// about two seconds for the worst path of 8000 bytes, ordinary ones microseconds.
const MOST_COMPILED_TOGETHER: usize = 4 << 20;

/// Which URLs a crawl wants by their path.
#[derive(Debug, Clone)]
pub struct PathFilter {
    include: Option<Patterns>,
    exclude: Option<Patterns>,
    full_url: bool,
}

/// The patterns of one field. As in RE2, `\w`, `\d` and `\s` mean ASCII, which also keeps counted classes small; only
/// patterns that name other characters know Unicode.
#[derive(Debug, Clone)]
struct Patterns {
    ascii: RegexSet,
    unicode: RegexSet,
}

/// A list of patterns of the crawl request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// `includePaths`.
    Include,
    /// `excludePaths`.
    Exclude,
}

/// Why the patterns of a request are refused. The message names the field and the pattern.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    /// One pattern is at fault.
    #[error("pattern {index} of {field} {fault}: {}", shown(pattern))]
    Pattern {
        /// Which list.
        field: Field,
        /// Its place in the list, from 0.
        index: usize,
        /// The pattern as given.
        pattern: String,
        /// What is wrong with it.
        fault: PatternFault,
    },
    /// More than [`MOST_PATTERNS`] in one list.
    #[error("{field} has {count} patterns, at most {MOST_PATTERNS} are allowed")]
    TooMany {
        /// Which list.
        field: Field,
        /// How many there are.
        count: usize,
    },
    /// More than [`MOST_PATTERNS`] in both lists.
    #[error("includePaths and excludePaths have {0} patterns together, at most {MOST_PATTERNS} are allowed")]
    TooManyTogether(usize),
    /// More than [`MOST_PATTERN_CHARACTERS`] in both lists.
    #[error(
        "includePaths and excludePaths have {0} characters together, at most {MOST_PATTERN_CHARACTERS} are allowed"
    )]
    TooLongTogether(usize),
    /// Each pattern is small enough, but all of them are not.
    #[error("the patterns of {0} are too large together; use fewer counted repeats and classes")]
    TooLargeTogether(Field),
}

/// What is wrong with one pattern.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternFault {
    /// Over [`LONGEST_PATTERN`].
    #[error("has {0} characters, at most {LONGEST_PATTERN} are allowed")]
    TooLong(usize),
    /// Takes too much memory when compiled.
    #[error("is too large when compiled; use fewer or smaller counted repeats")]
    TooLarge,
    /// Look-ahead or look-behind.
    #[error("uses look-around, which RE2 syntax does not have")]
    LookAround,
    /// A reference to a group.
    #[error("uses a back-reference, which RE2 syntax does not have")]
    BackReference,
    /// Anything else, in the words of the parser.
    #[error("is no valid RE2 expression ({0})")]
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
    /// Compiles the patterns of a request. They match anywhere in the path unless they are anchored, and in the whole
    /// URL without fragment with `full_url`. Blank patterns are left out, as forms send them for an empty field.
    ///
    /// # Errors
    /// [`PatternError`] for the first limit that is passed or the first pattern that does not compile.
    pub fn new(include: &[String], exclude: &[String], full_url: bool) -> Result<Self, PatternError> {
        let fields = [(Field::Include, include), (Field::Exclude, exclude)];
        for (field, patterns) in fields {
            if patterns.len() > MOST_PATTERNS {
                return Err(PatternError::TooMany { field, count: patterns.len() });
            }
        }
        let count = include.len() + exclude.len();
        if count > MOST_PATTERNS {
            return Err(PatternError::TooManyTogether(count));
        }
        for (field, patterns) in fields {
            for (index, pattern) in patterns.iter().enumerate() {
                let characters = pattern.chars().count();
                if characters > LONGEST_PATTERN {
                    return Err(refused(field, index, pattern, PatternFault::TooLong(characters)));
                }
            }
        }
        let characters = include.iter().chain(exclude).map(|pattern| pattern.chars().count()).sum();
        if characters > MOST_PATTERN_CHARACTERS {
            return Err(PatternError::TooLongTogether(characters));
        }
        let include = Patterns::new(Field::Include, include)?;
        let exclude = Patterns::new(Field::Exclude, exclude)?;
        Ok(Self { include, exclude, full_url })
    }

    /// Why the filter does not want a URL, if it does not. A path with percent escapes is also tried as people read it,
    /// so that `/café` finds `/caf%C3%A9`.
    #[must_use]
    pub fn refuses(&self, url: &Url) -> Option<Reason> {
        if self.excludes(url) {
            return Some(Reason::Excluded);
        }
        let include = self.include.as_ref()?;
        (!include.find(self.subject(url))).then_some(Reason::NotIncluded)
    }

    /// Whether a URL matches a pattern of `excludePaths`.
    #[must_use]
    pub fn excludes(&self, url: &Url) -> bool {
        self.exclude.as_ref().is_some_and(|exclude| exclude.find(self.subject(url)))
    }

    fn subject<'u>(&self, url: &'u Url) -> &'u str {
        if self.full_url { &url[..Position::AfterQuery] } else { url.path() }
    }
}

impl Patterns {
    /// All patterns of a field in two automata; on failure each is compiled alone to find out which one is bad.
    fn new(field: Field, patterns: &[String]) -> Result<Option<Self>, PatternError> {
        let wanted: Vec<&str> = patterns.iter().map(String::as_str).filter(|pattern| !is_blank(pattern)).collect();
        if wanted.is_empty() {
            return Ok(None);
        }
        let (unicode, ascii): (Vec<&str>, Vec<&str>) = wanted.into_iter().partition(|pattern| needs_unicode(pattern));
        let set = |patterns: &[&str], unicode| {
            // One pattern alone has the limit of one pattern.
            let limit = if patterns.len() == 1 { MOST_COMPILED } else { MOST_COMPILED_TOGETHER };
            RegexSetBuilder::new(patterns).unicode(unicode).size_limit(limit).build()
        };
        if let (Ok(ascii), Ok(unicode)) = (set(&ascii, false), set(&unicode, true)) {
            return Ok(Some(Self { ascii, unicode }));
        }
        for (index, pattern) in patterns.iter().enumerate().filter(|(_, pattern)| !is_blank(pattern)) {
            let one = RegexBuilder::new(pattern).unicode(needs_unicode(pattern)).size_limit(MOST_COMPILED).build();
            if let Err(error) = one {
                return Err(refused(field, index, pattern, fault(pattern, &error)));
            }
        }
        Err(PatternError::TooLargeTogether(field))
    }

    fn find(&self, subject: &str) -> bool {
        let find = |text: &[u8]| self.ascii.is_match(text) || self.unicode.is_match(text);
        find(subject.as_bytes())
            || match spelling::readable(subject) {
                Cow::Borrowed(_) => false,
                Cow::Owned(readable) => find(readable.as_bytes()),
            }
    }
}

fn is_blank(pattern: &str) -> bool {
    pattern.trim().is_empty()
}

fn needs_unicode(pattern: &str) -> bool {
    !pattern.is_ascii() || [r"\p", r"\P", r"\x", r"\u", r"\U", "(?u"].iter().any(|mark| pattern.contains(mark))
}

fn refused(field: Field, index: usize, pattern: &str, fault: PatternFault) -> PatternError {
    PatternError::Pattern { field, index, pattern: pattern.to_owned(), fault }
}

fn fault(pattern: &str, error: &regex::Error) -> PatternFault {
    let text = error.to_string();
    if matches!(error, regex::Error::CompiledTooBig(_)) || text.contains("exceeds the maximum") {
        PatternFault::TooLarge
    } else if text.contains("look-around") || ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|mark| pattern.contains(mark)) {
        PatternFault::LookAround
    } else if text.contains("backreference") {
        PatternFault::BackReference
    } else {
        // The last line of the parser's drawing is the sentence.
        let last = text.lines().last().unwrap_or_default();
        PatternFault::Syntax(last.trim_start_matches("error:").trim().to_owned())
    }
}

/// A pattern in a message: cut after 100 characters, control characters escaped.
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
        check_error(&["["], &[], "pattern 0 of includePaths is no valid RE2 expression (unclosed character class): [");
        check_error(
            &["", "*.pdf"],
            &[],
            "pattern 1 of includePaths is no valid RE2 expression (repetition operator missing expression): *.pdf",
        );
        check_error(
            &["((a{1,1000}){1,1000}){1,1000}"],
            &[],
            "pattern 0 of includePaths is too large when compiled; use fewer or smaller counted repeats: \
             ((a{1,1000}){1,1000}){1,1000}",
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
            &vec![r"\pL{9}"; 100],
            &[],
            "the patterns of includePaths are too large together; use fewer counted repeats and classes",
        );
        let words: Vec<String> = (0..1000).map(|number| format!("^/section-{number}/")).collect();
        assert!(PathFilter::new(&words, &[], false).is_ok());
        let exact = vec!["x".repeat(2000); 50];
        assert!(PathFilter::new(&exact, &[], false).is_ok());
    }
}
