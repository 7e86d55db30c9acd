//! Visible text of a page, summarized for the wait.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::seen::Seen;
use super::snapshot::{Document, Kind, Node, Snapshot};

/// Maximum length of a loading notice, in characters.
const MAX_NOTICE_CHARS: usize = 60;
/// Beginnings of loading notices.
const NOTICES: &[&str] = &[
    "loading",
    "please wait",
    "one moment",
    "just a moment",
    "fetching",
    "redirecting",
    "installing",
    "placeholder",
    "connecting",
    "initiali",
    "preparing",
    "processing",
    "checking",
    "starting",
    "hold on",
    "wird geladen",
    "laden",
    "lädt",
    "bitte warten",
    "chargement",
    "cargando",
    "carregando",
    "caricamento",
    "загрузка",
    "加载中",
    "読み込み中",
    "로딩",
];
/// Maximum length of a loading notice that does not end with dots: `Processing`, but not `Processing of personal data`.
const MAX_CURT_CHARS: usize = 20;
/// Minimum number of words of a sentence; labels have fewer.
const SENTENCE: usize = 12;
/// Parts of class names of loading placeholders.
const PLACEHOLDERS: &[&str] = &["skeleton", "shimmer", "spinner"];

/// Summary of the visible text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text {
    /// Hash of all words, in order.
    pub(crate) hash: u64,
    /// Hash of all words without digits, which is stable while clocks and counters run.
    pub(crate) hash_without_digits: u64,
    /// Number of words.
    pub(crate) words: usize,
    /// Whether one text node is long enough for a sentence.
    pub(crate) has_sentence: bool,
    /// Whether a visible element announces that content is loading.
    pub(crate) is_loading: bool,
    /// Whether any frame has scripts.
    pub(crate) has_scripts: bool,
}

impl Snapshot {
    /// Summarizes the visible text of all frames.
    pub(crate) fn text(&self) -> Text {
        let mut reader = Reader::default();
        for document in &self.documents {
            reader.read(self, document);
        }
        let Reader { all, without_digits, text } = reader;
        Text { hash: all.finish(), hash_without_digits: without_digits.finish(), ..text }
    }
}

#[derive(Default)]
struct Reader {
    all: DefaultHasher,
    without_digits: DefaultHasher,
    text: Text,
}

impl Reader {
    fn read(&mut self, snapshot: &Snapshot, document: &Document) {
        let seen = Seen::of(snapshot, document);
        for (node, kind) in document.kinds().into_iter().enumerate() {
            match kind {
                Kind::Element => self.element(snapshot, document, &seen, node),
                Kind::Text if seen.own[node] => self.words(snapshot.value(document, node)),
                _ => {}
            }
        }
    }

    fn element(&mut self, snapshot: &Snapshot, document: &Document, seen: &Seen, node: Node) {
        let name = snapshot.name(document, node);
        if name == "script" {
            self.text.has_scripts |= snapshot.attribute(document, node, "type").is_none_or(is_script);
        }
        for (name, value) in snapshot.attributes(document, node) {
            match name {
                "aria-busy" => self.text.is_loading |= value == "true",
                "role" => self.text.is_loading |= value == "progressbar" && seen.is_laid[node],
                "class" => self.text.is_loading |= seen.is_laid[node] && is_placeholder(value),
                _ => self.text.has_scripts |= name.starts_with("on"),
            }
        }
    }

    fn words(&mut self, text: &str) {
        let before = self.text.words;
        for word in text.split_whitespace() {
            word.hash(&mut self.all);
            let letters = word.split(|c: char| c.is_ascii_digit());
            letters.for_each(|part| self.without_digits.write(part.as_bytes()));
            self.text.words += 1;
        }
        self.text.has_sentence |= self.text.words - before >= SENTENCE;
        self.text.is_loading |= is_notice(text);
    }
}

/// Whether a script with this `type` is executed.
fn is_script(kind: &str) -> bool {
    let kind = kind.trim().to_ascii_lowercase();
    kind.is_empty() || kind == "module" || kind.contains("javascript") || kind.contains("ecmascript")
}

fn is_placeholder(class: &str) -> bool {
    let class = class.to_ascii_lowercase();
    PLACEHOLDERS.iter().any(|part| class.contains(part))
}

fn is_notice(text: &str) -> bool {
    let text = text.trim();
    if text.len() > MAX_NOTICE_CHARS * 4 || text.chars().count() > MAX_NOTICE_CHARS {
        return false;
    }
    let text = text.to_lowercase();
    let is_curt = text.chars().count() <= MAX_CURT_CHARS || text.ends_with('…') || text.ends_with("...");
    is_curt && NOTICES.iter().any(|notice| text.starts_with(notice))
        || text.contains("please wait")
        || text.split(|c: char| !c.is_alphanumeric()).any(|word| word == "loading")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_are_short_and_say_that_more_is_coming() {
        for text in ["Loading …", " Please wait while we set up", "Placeholder ledger", "Frame is loading"] {
            assert!(is_notice(text), "{text}");
        }
        for text in [
            "The ship was loaded in Oslo",
            "Loaded 3 notes",
            "Downloading",
            "Processing of personal data",
            "",
            &"Loading the ships took hours ".repeat(3),
        ] {
            assert!(!is_notice(text), "{text}");
        }
    }

    #[test]
    fn data_in_script_elements_does_not_run() {
        assert!(is_script("") && is_script("module") && is_script("text/JavaScript"));
        assert!(!is_script("application/json") && !is_script("application/ld+json") && !is_script("importmap"));
    }
}
