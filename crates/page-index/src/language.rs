//! Languages: their stemmers, and the words that carry no topic.

use std::collections::HashMap;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};

use crate::words::{fold_into, lower_into, words};

/// Facts about a language.
pub(crate) struct Language {
    pub(crate) tag: &'static str,
    stemmer: Stemmer,
    /// Bit of the language in [`STOP`].
    bit: u16,
}

/// Words that carry no topic, in lower case without accents, with the languages in which they do not.
static STOP: LazyLock<HashMap<&'static str, u16>> = LazyLock::new(|| {
    let mut out = HashMap::new();
    for (at, (_, _, stop)) in SOURCES.iter().enumerate() {
        for word in stop.split_whitespace() {
            *out.entry(word).or_default() |= 1 << at;
        }
    }
    out
});

/// Number of words of a text from which its language is detected.
const SAMPLE: usize = 200;

/// Languages, of which the first is that of texts that show none.
pub(crate) static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let languages = SOURCES.iter().enumerate();
    let read =
        languages.map(|(at, &(tag, algorithm, _))| Language { tag, stemmer: Stemmer::new(algorithm), bit: 1 << at });
    read.collect()
});

/// Languages that are stemmed.
const MANY: usize = 9;

static SOURCES: [(&str, Algorithm, &str); MANY] = [
    ("en", Algorithm::English, include_str!("stop/en.txt")),
    ("de", Algorithm::German, include_str!("stop/de.txt")),
    ("es", Algorithm::Spanish, include_str!("stop/es.txt")),
    ("fr", Algorithm::French, include_str!("stop/fr.txt")),
    ("it", Algorithm::Italian, include_str!("stop/it.txt")),
    ("pt", Algorithm::Portuguese, include_str!("stop/pt.txt")),
    ("nl", Algorithm::Dutch, include_str!("stop/nl.txt")),
    ("ru", Algorithm::Russian, include_str!("stop/ru.txt")),
    ("pl", Algorithm::Polish, include_str!("stop/pl.txt")),
];

impl Language {
    /// Returns the language of a page. A page is often tagged with the language of its template, so another one that
    /// has far more of the words wins.
    pub(crate) fn of_page(tag: Option<&str>, text: &str) -> &'static Language {
        let counts = Counts::of(text);
        let told = tag.and_then(Self::known);
        let told_count = told.map_or(0, |told| counts.of_language(told));
        match counts.most() {
            Some((seen, count)) if count > 2 * told_count && count * 12 >= counts.words => seen,
            _ => told.unwrap_or(&LANGUAGES[0]),
        }
    }

    /// Returns the language that a query shows by its words, if it does.
    pub(crate) fn of_query(text: &str) -> Option<&'static Language> {
        Counts::of(text).most().map(|(language, _)| language)
    }

    fn known(tag: &str) -> Option<&'static Language> {
        let tag = tag.split(['-', '_']).next().unwrap_or_default();
        LANGUAGES.iter().find(|language| language.tag.eq_ignore_ascii_case(tag))
    }

    /// Returns whether a folded word carries no topic.
    pub(crate) fn is_stop(&self, folded: &str) -> bool {
        STOP.get(folded).is_some_and(|languages| languages & self.bit != 0)
    }

    /// Adds the stem of a word in lower case, without accents.
    pub(crate) fn stem_into(&self, lower: &str, out: &mut String) {
        if lower.bytes().any(|byte| byte.is_ascii_digit()) {
            fold_into(lower, out);
        } else {
            fold_into(&self.stemmer.stem(lower), out);
        }
    }
}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.tag)
    }
}

/// Words at the start of a text that carry no topic, counted by language.
#[derive(Debug, Default)]
struct Counts {
    words: usize,
    counts: [usize; MANY],
}

impl Counts {
    fn of(text: &str) -> Self {
        let mut end = text.len().min(SAMPLE * 16);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut out = Counts::default();
        let (mut lower, mut folded) = (String::new(), String::new());
        words(&text[..end], |word| {
            if word.pair || out.words >= SAMPLE {
                return;
            }
            lower.clear();
            folded.clear();
            lower_into(word.text, &mut lower);
            fold_into(&lower, &mut folded);
            let languages = STOP.get(folded.as_str()).copied().unwrap_or_default();
            for (at, count) in out.counts.iter_mut().enumerate() {
                *count += usize::from(languages >> at & 1);
            }
            out.words += 1;
        });
        out
    }

    fn of_language(&self, language: &Language) -> usize {
        self.counts.get(language.bit.trailing_zeros() as usize).copied().unwrap_or_default()
    }

    /// Returns the language with most of the words, the first of several, and how many.
    fn most(&self) -> Option<(&'static Language, usize)> {
        let counted = LANGUAGES.iter().zip(self.counts).rev();
        counted.max_by_key(|(_, count)| *count).filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_a_text_is_seen() {
        for (tag, text, expected) in [
            (None, "The weather turns wet on Friday, and the wind comes from the west.", "en"),
            (None, "Das Wetter wird am Freitag nass, und der Wind kommt aus dem Westen.", "de"),
            (None, "El tiempo se vuelve húmedo el viernes y el viento viene del oeste.", "es"),
            (Some("en"), "Le temps devient humide vendredi et le vent vient de l'ouest, dans la nuit.", "fr"),
            (Some("de-AT"), "Preise 2026", "de"),
            (Some("xx"), "Preise 2026", "en"),
            (None, "Погода в пятницу станет дождливой, и ветер не с запада.", "ru"),
        ] {
            assert_eq!(Language::of_page(tag, text).tag, expected, "{text}");
        }
        assert!(Language::of_query("rust borrow checker").is_none());
        assert_eq!(Language::of_query("wie wird das Wetter").unwrap().tag, "de");
    }

    #[test]
    fn stop_words_are_folded() {
        for word in STOP.keys() {
            let (mut lower, mut folded) = (String::new(), String::new());
            lower_into(word, &mut lower);
            fold_into(&lower, &mut folded);
            assert_eq!(*word, folded);
        }
    }
}
