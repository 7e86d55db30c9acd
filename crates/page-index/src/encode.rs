//! Terms of a page as one text, which the tokenizer of the index reads.
//!
//! Terms stand between blanks. A section starts with a mark and its weight: each of its terms counts that many times,
//! and its positions start beyond the reach of the section before, so that no phrase runs over its border.

use std::collections::HashMap;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::language::{LANGUAGES, Language};
use crate::words::{lower_into, words};

/// Mark of a section.
const SECTION: u8 = 1;
/// Positions between two sections.
const GAP: usize = 20;
/// Words of a language whose stems are remembered.
const REMEMBERED: usize = 20_000;

/// Terms of a page, in the making. What words come to is remembered for the pages that follow.
#[derive(Debug)]
pub(crate) struct Encoder {
    language: &'static Language,
    /// Stems of words, by language.
    stems: HashMap<&'static str, HashMap<String, String>>,
    lower: String,
    out: String,
}

impl Default for Encoder {
    fn default() -> Self {
        let (lower, out) = (String::new(), String::new());
        Encoder { language: &LANGUAGES[0], stems: HashMap::new(), lower, out }
    }
}

impl Encoder {
    /// Stems in a language from now on.
    pub(crate) fn speak(&mut self, language: &'static Language) {
        self.language = language;
    }

    /// Starts a text of its own, and returns the one before.
    pub(crate) fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    /// Adds a section of stems.
    pub(crate) fn section(&mut self, weight: u8, text: &str) {
        self.start(weight);
        let stems = self.stems.entry(self.language.tag).or_default();
        if stems.len() >= REMEMBERED {
            stems.clear();
        }
        words(text, |word| {
            if word.pair {
                self.out.push_str(word.text);
            } else {
                self.lower.clear();
                lower_into(word.text, &mut self.lower);
                push_stem(self.language, stems, &self.lower, &mut self.out);
            }
            self.out.push(' ');
        });
    }

    /// Starts a section, whose terms are added by [`Encoder::push`].
    pub(crate) fn start(&mut self, weight: u8) {
        self.out.push(char::from(SECTION));
        self.out.push(char::from(weight));
        self.out.push(' ');
    }

    /// Adds a term as it is.
    pub(crate) fn push(&mut self, term: &str) {
        self.out.push_str(term);
        self.out.push(' ');
    }
}

fn push_stem(language: &Language, stems: &mut HashMap<String, String>, lower: &str, out: &mut String) {
    if let Some(stem) = stems.get(lower) {
        out.push_str(stem);
        return;
    }
    let start = out.len();
    language.stem_into(lower, out);
    if stems.len() < REMEMBERED {
        stems.insert(lower.to_owned(), out[start..].to_owned());
    }
}

/// Tokenizer of encoded terms.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Decoder;

/// Terms of an encoded text.
pub(crate) struct Decoded<'a> {
    rest: &'a str,
    weight: u8,
    /// Repetitions of the current term that are left.
    again: u8,
    position: usize,
    token: Token,
}

impl Tokenizer for Decoder {
    type TokenStream<'a> = Decoded<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Decoded<'a> {
        Decoded { rest: text, weight: 1, again: 0, position: 0, token: Token::default() }
    }
}

impl TokenStream for Decoded<'_> {
    fn advance(&mut self) -> bool {
        if self.again > 0 {
            self.again -= 1;
            return true;
        }
        while let Some((term, rest)) = self.rest.split_once(' ') {
            self.rest = rest;
            match *term.as_bytes() {
                [] => {}
                [SECTION, weight] => {
                    self.weight = weight;
                    self.position += GAP;
                }
                _ => {
                    self.token.text.clear();
                    self.token.text.push_str(term);
                    self.token.position = self.position;
                    self.position += 1;
                    self.again = self.weight.saturating_sub(1);
                    return true;
                }
            }
        }
        false
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_weighed_and_kept_apart() {
        let mut encoder = Encoder::default();
        encoder.section(2, "Running shoes");
        encoder.section(1, "Shoes");
        let text = encoder.take();
        let mut decoder = Decoder;
        let mut stream = decoder.token_stream(&text);
        let mut out = Vec::new();
        while stream.advance() {
            out.push((stream.token().text.clone(), stream.token().position));
        }
        let expected = [("run", 20), ("run", 20), ("shoe", 21), ("shoe", 21), ("shoe", 42)];
        assert_eq!(out, expected.map(|(text, position)| (text.to_owned(), position)));
    }
}
