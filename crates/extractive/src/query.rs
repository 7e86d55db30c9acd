//! A question: its terms, and what kind of answer it wants.

use crate::language::Language;
use crate::words::{Word, fold, fold_into, is_unspaced, words};

/// Most terms of a question that are looked for: as many as a mask has bits. A question of a person has fewer than 20.
const MOST_TERMS: usize = 64;
/// Weight of a word that says what kind of thing is asked for (`type`, `name`), beside 1 for others.
const VAGUE: f32 = 0.4;

/// What kind of answer a question wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Who,
    When,
    Where,
    Why,
    Number,
    Anything,
}

/// A word of a question.
#[derive(Debug)]
pub(crate) struct Term {
    pub(crate) stem: String,
    folded: String,
    pub(crate) weight: f32,
    /// Whether it is the name of something, or a number.
    pub(crate) name: bool,
    /// Whether it is two characters of a script without blanks.
    pub(crate) pair: bool,
    /// Its place among all words of the question.
    pub(crate) place: usize,
}

/// A question, read for one page.
#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) language: &'static Language,
    pub(crate) terms: Vec<Term>,
    pub(crate) wanted: Wanted,
    /// Its letters and digits.
    pub(crate) letters: String,
    /// Initials of words that follow each other, with the mask of their terms.
    initials: Vec<(String, u64)>,
    /// Initials in the question, with their terms: the page may have the words.
    pub(crate) acronyms: Vec<(Vec<char>, usize)>,
    /// Which first letters a word must have to be one of the terms.
    first: [bool; 256],
}

/// A term that a word of the page matches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Match {
    pub(crate) terms: u64,
    /// 1 for the same stem, less for a longer or a related word.
    pub(crate) quality: f32,
}

/// Same beginning, other ending: `gravity` and `gravitation`.
const RELATED: f32 = 0.6;
/// A part of a compound: `Kredit` and `Autokredit`.
const PART: f32 = 0.6;
/// Initials: `PWA` for `progressive web app`.
const INITIALS: f32 = 0.8;

impl Query {
    pub(crate) fn read(text: &str, language: &'static Language) -> Self {
        let text = crate::page::upto(text, 10_000 * 4);
        let folded = fold(text);
        let asked = Language::of_question(text, language);
        let mut query = Query {
            language,
            terms: Vec::new(),
            wanted: wanted(&folded, asked),
            letters: letters(text),
            initials: Vec::new(),
            acronyms: Vec::new(),
            first: [false; 256],
        };
        let content = without_asking(text, asked);
        query.add_terms(&content, asked);
        query.add_initials(&content);
        for term in &query.terms {
            query.first[first_letter(&term.stem)] = true;
            query.first[first_letter(&term.folded)] = true;
        }
        query
    }

    /// `asked` is the language of the question.
    fn add_terms(&mut self, text: &str, asked: &Language) {
        let title_case = is_title_case(text, asked);
        let mut place = 0;
        words(text, |word| {
            let form = &text[word.start..word.end];
            let folded = fold(form);
            place += 1;
            let empty = asked.is_empty(&folded) || self.language.is_empty(&folded);
            let stopped = if word.pair { asked.is_empty_pair(form) } else { empty };
            let acronym = !title_case && is_acronym(form);
            if (stopped && !acronym) || self.terms.len() >= MOST_TERMS {
                return;
            }
            let stem = if word.pair { folded.clone() } else { self.language.stem(&form.to_lowercase()) };
            if self.terms.iter().any(|term| term.stem == stem) {
                return;
            }
            // `Muscular Dystrophy (EDMD)` says the same thing twice.
            let repeated = acronym && text[..word.start].ends_with('(');
            let vague = repeated || self.language.vague.contains(&folded) || asked.vague.contains(&folded);
            let number = form.chars().all(char::is_numeric);
            let capital = form.chars().next().is_some_and(char::is_uppercase);
            let named = capital && place > 1 && !title_case && !asked.has_capital_nouns();
            let name = !vague && (number || acronym || named);
            if acronym && !vague && (2..=5).contains(&form.len()) {
                self.acronyms.push((form.chars().collect(), self.terms.len()));
            }
            self.terms.push(Term {
                stem,
                folded,
                weight: if vague { VAGUE } else { 1.0 },
                name,
                pair: word.pair,
                place,
            });
        });
    }

    fn add_initials(&mut self, text: &str) {
        let mut line: Vec<(char, u64)> = Vec::new();
        words(text, |Word { start, end, pair }| {
            let stem = self.language.stem(&text[start..end].to_lowercase());
            let mask = self.terms.iter().position(|term| term.stem == stem).map_or(0, |index| 1 << index);
            if let Some(initial) = text[start..end].chars().next().filter(|c| c.is_alphabetic() && !pair) {
                line.extend(initial.to_uppercase().map(|initial| (initial, mask)));
            }
        });
        line.truncate(MOST_TERMS);
        for start in 0..line.len() {
            for length in 2..=5.min(line.len() - start) {
                let run = &line[start..start + length];
                let mask = run.iter().fold(0, |mask, (_, term)| mask | term);
                if run[0].1 != 0 && run[length - 1].1 != 0 && mask.count_ones() >= 2 {
                    self.initials.push((run.iter().map(|(initial, _)| initial).collect(), mask));
                }
            }
        }
    }

    /// Returns the terms that a word of the page matches. `buffer` is reused from word to word.
    pub(crate) fn matches(&self, form: &str, pair: bool, buffer: &mut String) -> Option<Match> {
        if form.len() <= 6 && form.as_bytes()[0].is_ascii_uppercase() && form.len() >= 2 && !self.initials.is_empty() {
            let form = form.strip_suffix('s').unwrap_or(form);
            if let Some((_, terms)) = self.initials.iter().find(|(initials, _)| initials == form) {
                return Some(Match { terms: *terms, quality: INITIALS });
            }
        }
        let compound = self.language.has_compounds() && form.len() >= 8;
        if !compound && !self.first[first_letter(form)] {
            return None;
        }
        buffer.clear();
        fold_into(form, buffer);
        if pair {
            return self.exact(buffer);
        }
        if let Some(found) = self.terms.iter().position(|term| term.folded == *buffer) {
            return Some(Match { terms: 1 << found, quality: 1.0 });
        }
        let lower = form.to_lowercase();
        let stem = self.language.stem(&lower);
        self.exact(&stem).or_else(|| self.related(&stem, compound))
    }

    fn exact(&self, stem: &str) -> Option<Match> {
        let found = self.terms.iter().position(|term| term.stem == stem)?;
        Some(Match { terms: 1 << found, quality: 1.0 })
    }

    fn related(&self, stem: &str, compound: bool) -> Option<Match> {
        self.terms.iter().enumerate().find_map(|(index, term)| {
            let shared = term.stem.bytes().zip(stem.bytes()).take_while(|(a, b)| a == b).count();
            let longer = term.stem.len().max(stem.len());
            if shared >= 5 && shared * 10 >= longer * 7 {
                return Some(Match { terms: 1 << index, quality: RELATED });
            }
            let (short, long) =
                if term.stem.len() < stem.len() { (term.stem.as_str(), stem) } else { (stem, term.stem.as_str()) };
            let part = compound && short.len() >= 5 && (long.ends_with(short) || long.starts_with(short));
            part.then_some(Match { terms: 1 << index, quality: PART })
        })
    }
}

/// Returns the letters and digits of a text, folded.
pub(crate) fn letters(text: &str) -> String {
    fold(text).chars().filter(|c| c.is_alphanumeric()).collect()
}

fn is_acronym(form: &str) -> bool {
    form.len() > 1
        && form.chars().all(|c| c.is_uppercase() || c.is_ascii_digit())
        && form.chars().any(char::is_alphabetic)
}

/// Returns a number below 256 that is the same for all forms of a first letter.
fn first_letter(form: &str) -> usize {
    let byte = match form.chars().next() {
        Some(c) if c.is_ascii() => c.to_ascii_lowercase() as u8,
        // Letters with accents are folded to ASCII, so they have to be looked at.
        Some(c) => {
            let folded = fold(c.encode_utf8(&mut [0; 4]));
            folded.chars().next().map_or(0, |c| if c.is_ascii() { c as u8 } else { 128 + (u32::from(c) % 128) as u8 })
        }
        None => 0,
    };
    usize::from(byte)
}

/// Replaces the words that ask in scripts without blanks by blanks.
fn without_asking(text: &str, language: &Language) -> String {
    if !text.chars().any(is_unspaced) {
        return text.to_owned();
    }
    let mut asking: Vec<&String> = language.ask.iter().collect();
    asking.sort_by_key(|word| (std::cmp::Reverse(word.len()), word.as_str()));
    asking.into_iter().fold(text.to_owned(), |text, word| text.replace(word.as_str(), " "))
}

/// Returns whether most words of a text have a capital, as in a title.
fn is_title_case(text: &str, language: &Language) -> bool {
    let (mut capitals, mut others, mut count) = (0, 0, 0);
    words(text, |word| {
        count += 1;
        let form = &text[word.start..word.end];
        if word.pair || count == 1 || (language.is_empty(&fold(form)) && form.len() < 4) {
            return;
        }
        if form.chars().next().is_some_and(char::is_uppercase) { capitals += 1 } else { others += 1 }
    });
    capitals >= 3 && others == 0
}

fn wanted(folded: &str, language: &Language) -> Wanted {
    let spaced = !folded.chars().any(is_unspaced);
    let padded = format!(" {} ", folded.replace(|c: char| !c.is_alphanumeric() && c != '\'', " "));
    let has = |words: &[String]| {
        words
            .iter()
            .any(|word| if spaced { padded.contains(&format!(" {word} ")) } else { folded.contains(word.as_str()) })
    };
    for (words, wanted) in [
        (&language.year, Wanted::When),
        (&language.many, Wanted::Number),
        (&language.when, Wanted::When),
        (&language.why, Wanted::Why),
        (&language.who, Wanted::Who),
        (&language.wher, Wanted::Where),
    ] {
        if has(words) {
            return wanted;
        }
    }
    Wanted::Anything
}
