//! What is known of a language: its stemmer, and lists of its words.

use std::collections::HashSet;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};

/// The words of a language that mean something to the scores, all folded (see [`crate::words::fold`]).
pub(crate) struct Language {
    pub(crate) tag: &'static str,
    stemmer: Option<Stemmer>,
    /// Words that carry no topic.
    stop: HashSet<String>,
    /// Words that ask.
    pub(crate) ask: HashSet<String>,
    /// Nouns that say which kind of thing is asked for, and little of what it is about.
    pub(crate) vague: HashSet<String>,
    pub(crate) who: Vec<String>,
    pub(crate) when: Vec<String>,
    pub(crate) wher: Vec<String>,
    pub(crate) why: Vec<String>,
    pub(crate) many: Vec<String>,
    pub(crate) year: Vec<String>,
    pub(crate) months: HashSet<String>,
    pub(crate) near: HashSet<String>,
    pub(crate) because: HashSet<String>,
    pub(crate) numbers: HashSet<String>,
    /// Words of calls to action.
    pub(crate) action: HashSet<String>,
    abbreviations: HashSet<String>,
}

const SOURCES: [(&str, &str, Option<Algorithm>); 12] = [
    ("en", include_str!("words/en.txt"), Some(Algorithm::English)),
    ("de", include_str!("words/de.txt"), Some(Algorithm::German)),
    ("es", include_str!("words/es.txt"), Some(Algorithm::Spanish)),
    ("fr", include_str!("words/fr.txt"), Some(Algorithm::French)),
    ("it", include_str!("words/it.txt"), Some(Algorithm::Italian)),
    ("pt", include_str!("words/pt.txt"), Some(Algorithm::Portuguese)),
    ("nl", include_str!("words/nl.txt"), Some(Algorithm::Dutch)),
    ("ru", include_str!("words/ru.txt"), Some(Algorithm::Russian)),
    ("pl", include_str!("words/pl.txt"), Some(Algorithm::Polish)),
    ("zh", include_str!("words/zh.txt"), None),
    ("ja", include_str!("words/ja.txt"), None),
    ("ko", include_str!("words/ko.txt"), None),
];

static LANGUAGES: LazyLock<Vec<Language>> =
    LazyLock::new(|| SOURCES.iter().map(|(tag, words, stemmer)| Language::read(tag, words, *stemmer)).collect());

/// How many of the languages are written with blanks between words: those have lists by which they are told apart.
const SPACED: usize = 9;

fn sample_of_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.take(600).map(crate::words::fold).collect()
}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.tag)
    }
}

impl Language {
    fn read(tag: &'static str, words: &str, stemmer: Option<Algorithm>) -> Self {
        let line =
            |name: &str| words.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap_or_default();
        let set = |name| line(name).split_whitespace().map(crate::words::fold).collect::<HashSet<_>>();
        // A line with a comma holds phrases; others hold words.
        let list = |name| {
            let line = line(name);
            let parts: Vec<&str> =
                if line.contains(',') { line.split(", ").collect() } else { line.split_whitespace().collect() };
            parts.into_iter().map(crate::words::fold).collect::<Vec<_>>()
        };
        Language {
            tag,
            stemmer: stemmer.map(Stemmer::new),
            stop: set("stop"),
            ask: set("ask"),
            vague: set("vague"),
            who: list("who"),
            when: list("when"),
            wher: list("where"),
            why: list("why"),
            many: list("many"),
            year: list("year"),
            months: set("months"),
            near: set("near"),
            because: set("because"),
            numbers: set("numbers"),
            action: set("action"),
            abbreviations: set("abbreviations"),
        }
    }

    /// Returns the language of a tag such as `pt-BR`, if it is one of ours.
    pub(crate) fn known(tag: &str) -> Option<&'static Language> {
        let tag = tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        LANGUAGES.iter().find(|language| language.tag == tag)
    }

    /// Returns the language of a text: by its script, or the one whose stop words it has most of.
    pub(crate) fn of_text(text: &str) -> Option<&'static Language> {
        let sample = text.chars().take(4000);
        let (mut han, mut kana, mut hangul, mut letters) = (0, 0, 0, 0);
        for c in sample {
            match c {
                '\u{4e00}'..='\u{9fff}' => han += 1,
                '\u{3040}'..='\u{30ff}' => kana += 1,
                '\u{ac00}'..='\u{d7a3}' => hangul += 1,
                c if c.is_alphabetic() => letters += 1,
                _ => {}
            }
        }
        if kana > 0 && kana * 5 > han + kana + letters {
            return Self::known("ja");
        }
        if hangul > letters {
            return Self::known("ko");
        }
        if han * 2 > letters {
            return Self::known("zh");
        }
        let words = sample_of_words(text);
        let best = LANGUAGES.iter().take(SPACED).rev().max_by_key(|language| language.common(&words))?;
        (best.common(&words) * 8 >= words.len().max(1)).then_some(best)
    }

    /// Returns the language of a page whose tag says `tag`: pages are often tagged with the language of their template,
    /// so a language that is far more in the text wins.
    pub(crate) fn of_page(tag: &str, text: &str) -> &'static Language {
        let words = sample_of_words(text);
        match (Self::known(tag), Self::of_text(text)) {
            (Some(told), Some(seen)) if seen.common(&words) < 2 * told.common(&words) => told,
            (_, Some(seen)) => seen,
            (Some(told), None) => told,
            (None, None) => &LANGUAGES[0],
        }
    }

    /// Returns the language that a question is in, which need not be that of the page.
    pub(crate) fn of_question(text: &str, page: &'static Language) -> &'static Language {
        let words = sample_of_words(text);
        Self::of_text(text).filter(|seen| seen.common(&words) > page.common(&words)).unwrap_or(page)
    }

    /// Returns how many of some words carry no topic or ask.
    fn common(&self, words: &[String]) -> usize {
        words.iter().filter(|word| self.is_empty(word)).count()
    }

    /// Returns whether a folded word carries no topic or asks.
    pub(crate) fn is_empty(&self, folded: &str) -> bool {
        self.stop.contains(folded) || self.ask.contains(folded)
    }

    pub(crate) fn is_abbreviation(&self, word: &str) -> bool {
        self.abbreviations.contains(&crate::words::fold(word))
    }

    /// Returns whether the language writes ordinals as a number and a dot.
    pub(crate) fn has_dotted_ordinals(&self) -> bool {
        matches!(self.tag, "de" | "pl")
    }

    /// Returns whether one of the characters of a pair carries no topic.
    pub(crate) fn is_empty_pair(&self, pair: &str) -> bool {
        pair.chars().any(|c| self.stop.contains(&*c.encode_utf8(&mut [0; 4])))
    }

    /// Returns whether words are often made of several others.
    pub(crate) fn has_compounds(&self) -> bool {
        matches!(self.tag, "de" | "nl")
    }

    /// Returns whether the script has no capital letters.
    pub(crate) fn has_no_capitals(&self) -> bool {
        matches!(self.tag, "zh" | "ja" | "ko")
    }

    /// Returns whether every noun is written with a capital.
    pub(crate) fn has_capital_nouns(&self) -> bool {
        self.tag == "de"
    }

    /// Returns the folded stem of a word in lower case.
    pub(crate) fn stem(&self, word: &str) -> String {
        match self.stemmer {
            Some(stemmer) if !word.is_ascii() || !word.bytes().any(|byte| byte.is_ascii_digit()) => {
                crate::words::fold(&stemmer.stem(word))
            }
            _ => crate::words::fold(word),
        }
    }
}
