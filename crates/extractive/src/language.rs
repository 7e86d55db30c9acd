//! What is known of a language: its stemmer, and lists of its words.

use std::collections::{HashMap, HashSet};
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

const SOURCES: [(&str, &str, Option<Algorithm>); MANY] = [
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

/// Number of languages.
const MANY: usize = 12;
/// How many of the languages are written with blanks between words: those have lists by which they are told apart.
const SPACED: usize = 9;
/// Number of words of a text from which its language is detected.
const SAMPLE: usize = 200;

/// Words that carry no topic or ask, folded, with the languages in which they do: a bit for each of [`LANGUAGES`].
static EMPTY: LazyLock<HashMap<&'static str, u16>> = LazyLock::new(|| {
    let mut out = HashMap::new();
    for (at, language) in LANGUAGES.iter().enumerate() {
        for word in language.stop.iter().chain(&language.ask) {
            *out.entry(word.as_str()).or_default() |= 1 << at;
        }
    }
    out
});

/// Words at the start of a text that carry no topic or ask, counted by language.
#[derive(Debug, Default)]
struct Counts {
    words: usize,
    counts: [usize; MANY],
}

impl Counts {
    fn of(text: &str) -> Self {
        let mut out = Counts::default();
        let mut folded = String::new();
        let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
        for word in words.take(SAMPLE) {
            folded.clear();
            crate::words::fold_into(word, &mut folded);
            let languages = EMPTY.get(folded.as_str()).copied().unwrap_or_default();
            for (at, count) in out.counts.iter_mut().enumerate() {
                *count += usize::from(languages >> at & 1);
            }
            out.words += 1;
        }
        out
    }

    fn of_language(&self, language: &Language) -> usize {
        let counted = LANGUAGES.iter().zip(self.counts).find(|(counted, _)| counted.tag == language.tag);
        counted.map_or(0, |(_, count)| count)
    }

    /// Returns the language with most of the words, the first of several, if it has enough of them.
    fn most(&self) -> Option<&'static Language> {
        let counted = LANGUAGES.iter().zip(self.counts).take(SPACED).rev();
        let (language, count) = counted.max_by_key(|(_, count)| *count)?;
        (count * 8 >= self.words.max(1)).then_some(language)
    }
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
    fn seen(text: &str, counts: &Counts) -> Option<&'static Language> {
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
        counts.most()
    }

    /// Returns the language of a page whose tag says `tag`: pages are often tagged with the language of their template,
    /// so a language that is far more in the text wins.
    pub(crate) fn of_page(tag: &str, text: &str) -> &'static Language {
        let counts = Counts::of(text);
        match (Self::known(tag), Self::seen(text, &counts)) {
            (Some(told), Some(seen)) if counts.of_language(seen) < 2 * counts.of_language(told) => told,
            (_, Some(seen)) => seen,
            (Some(told), None) => told,
            (None, None) => &LANGUAGES[0],
        }
    }

    /// Returns the language that a question is in, which need not be that of the page.
    pub(crate) fn of_question(text: &str, page: &'static Language) -> &'static Language {
        let counts = Counts::of(text);
        let is_more = |seen: &&Language| counts.of_language(seen) > counts.of_language(page);
        Self::seen(text, &counts).filter(is_more).unwrap_or(page)
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
