//! Plain wishes of a crawl prompt, without a model: `only the blog`, `everything under /docs except changelog`, `first 50
//! pages`. A prompt is either understood as a whole or not at all: no option is guessed.

mod patterns;
mod phrase;
mod rules;
mod sections;
mod targets;
#[cfg(test)]
mod tests;
mod tokens;
mod wish;

use url::Url;
use wire::DerivedOptions;

use patterns::Parts;
use tokens::{Kind, Token, tokens};

/// Maximum number of parts that are told of a prompt.
const MAX_TOLD: usize = 20;

/// Options and open parts of a prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wishes {
    /// Options of the understood parts.
    pub options: DerivedOptions,
    /// Parts of the prompt that were understood.
    pub understood: Vec<String>,
    /// Parts of the prompt that were not.
    pub unclear: Vec<String>,
    /// Warnings about the options for the caller, one sentence each.
    pub notes: Vec<String>,
}

impl Wishes {
    /// Whether the whole prompt was understood and asks for something.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        self.unclear.is_empty() && !self.options.is_empty()
    }
}

/// Reads a prompt. The time is linear in its length.
///
/// ```
/// use answers::wishes;
///
/// let start = "https://example.com/".parse()?;
/// let read = wishes::read("Everything under /docs except changelog, first 50 pages.", &start);
/// assert!(read.is_sure());
/// assert_eq!(read.options.limit, Some(50));
/// assert_eq!(read.options.exclude_paths.unwrap(), ["(?i)(^|/)(change-?logs?)([/.]|$)"]);
///
/// let unsure = wishes::read("only the blog, and whatever mentions prices", &start);
/// assert!(!unsure.is_sure());
/// assert_eq!(unsure.unclear, ["whatever mentions prices"]);
/// # Ok::<(), url::ParseError>(())
/// ```
#[must_use]
pub fn read(prompt: &str, start: &Url) -> Wishes {
    let tokens = tokens(prompt);
    let mut reader = Reader { prompt, tokens: &tokens, start, wishes: Wishes::default(), parts: Parts::default() };
    let mut at = 0;
    while at < tokens.len() {
        at += reader.step(at);
    }
    let Reader { mut wishes, parts, .. } = reader;
    if !parts.apply(start, &mut wishes) {
        wishes.unclear.push(prompt.chars().take(200).collect());
    }
    wishes.understood.truncate(MAX_TOLD);
    wishes.unclear.truncate(MAX_TOLD);
    wishes
}

struct Reader<'a> {
    prompt: &'a str,
    tokens: &'a [Token],
    start: &'a Url,
    wishes: Wishes,
    parts: Parts,
}

impl Reader<'_> {
    /// Reads one wish, filler or unclear part, and returns the number of its tokens.
    fn step(&mut self, at: usize) -> usize {
        let rest = &self.tokens[at..];
        if matches!(rest[0].kind, Kind::Break | Kind::Comma) {
            return 1;
        }
        let targets = targets::find(rest, self.start);
        let rule = rules::find(rest);
        // `only the sitemap` is longer than a list that would end earlier.
        let length = match (targets, rule) {
            (Some(found), rule) if rule.is_none_or(|(_, length)| length <= found.length) => {
                let is_new = found.targets.into_iter().all(|target| self.parts.add(found.side, target));
                is_new.then_some(found.length)
            }
            (_, Some((wish, length))) => wish::add(&mut self.wishes.options, wish).is_ok().then_some(length),
            _ => None,
        };
        if let Some(length) = length {
            self.wishes.understood.push(self.text(at, length));
            return length;
        }
        if let Some(length) = rules::filler(rest) {
            return length;
        }
        let length =
            rest.iter().position(|token| matches!(token.kind, Kind::Break | Kind::Comma)).unwrap_or(rest.len());
        self.wishes.unclear.push(self.text(at, length));
        length
    }

    fn text(&self, at: usize, length: usize) -> String {
        let (first, last) = (&self.tokens[at], &self.tokens[at + length - 1]);
        self.prompt[first.place.start..last.place.end].chars().take(200).collect()
    }
}
