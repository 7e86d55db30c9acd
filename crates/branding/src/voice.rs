//! The voice of a page: plain word-counting rules over its text, which stay silent if there is too little evidence.

use page::{Page, local_name};
use serde_json::{Map, Value};

/// Limit on the text that is read, in bytes.
const MAX_TEXT: usize = 20_000;
/// Least number of words for a judgement.
const MIN_WORDS: usize = 30;
/// Least share of common English words in an English text.
const MIN_ENGLISH: f64 = 0.1;
/// Least number of words that point to an audience.
const MIN_MET: usize = 4;

const ENGLISH: [&str; 14] =
    ["the", "and", "of", "to", "a", "in", "is", "for", "with", "on", "that", "you", "it", "are"];
const FORMAL: [&str; 14] = [
    "shall",
    "must",
    "therefore",
    "furthermore",
    "however",
    "hereby",
    "pursuant",
    "specification",
    "specifies",
    "regarding",
    "compliance",
    "policy",
    "accordance",
    "defined",
];
const CASUAL: [&str; 14] = [
    "awesome", "hey", "hi", "cool", "love", "fun", "yeah", "super", "stuff", "grab", "amazing", "happy", "enjoy", "wow",
];

/// Target audiences with the words that point to them.
const AUDIENCES: [(&str, &[&str]); 6] = [
    (
        "developers",
        &[
            "api",
            "apis",
            "code",
            "install",
            "library",
            "function",
            "functions",
            "framework",
            "cli",
            "command",
            "documentation",
            "docs",
            "developers",
            "javascript",
            "python",
            "rust",
            "css",
            "html",
            "source",
            "configuration",
            "server",
            "package",
            "modules",
            "module",
            "struct",
            "plugin",
            "plugins",
            "repository",
            "github",
            "compiler",
            "programming",
        ],
    ),
    (
        "businesses",
        &[
            "enterprise",
            "business",
            "businesses",
            "customers",
            "teams",
            "team",
            "pricing",
            "sales",
            "solutions",
            "revenue",
            "roi",
            "workflow",
            "clients",
            "companies",
            "company",
            "marketing",
            "demo",
        ],
    ),
    (
        "shoppers",
        &[
            "cart",
            "shop",
            "shipping",
            "sale",
            "basket",
            "checkout",
            "price",
            "delivery",
            "returns",
            "sizes",
            "collection",
            "buy",
        ],
    ),
    (
        "readers of news",
        &["news", "reuters", "politics", "opinion", "editorial", "reporter", "minister", "election", "subscribe"],
    ),
    (
        "learners",
        &["course", "courses", "students", "lesson", "lessons", "learn", "teachers", "school", "university", "exam"],
    ),
    ("patients", &["health", "patients", "doctor", "doctors", "clinic", "treatment", "symptoms", "medical", "care"]),
];

/// Counts of words and marks in a text.
#[derive(Debug, Default)]
struct Counts {
    words: usize,
    english: usize,
    formal: usize,
    casual: usize,
    contractions: usize,
    sentences: usize,
    exclamations: usize,
    emoji: usize,
    audiences: [usize; AUDIENCES.len()],
}

/// The voice of a page.
pub(crate) struct Voice {
    counts: Counts,
}

/// Visual traits that influence the tone.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct VisualTraits {
    /// Whether its texts are set in a serif font.
    pub(crate) serif: bool,
    /// Number of distinct hues.
    pub(crate) hues: usize,
    /// Whether its headings are large and heavy.
    pub(crate) heavy: bool,
}

impl Voice {
    pub(crate) fn of(page: &Page) -> Voice {
        Voice { counts: count(&visible_text(page)) }
    }

    /// Returns the members `voice` and `emojiUsage`.
    pub(crate) fn tone(&self) -> Map<String, Value> {
        let mut tone = Map::new();
        if let Some(voice) = self.voice() {
            tone.insert("voice".into(), voice.into());
        }
        if self.counts.words >= MIN_WORDS {
            let emoji = match self.counts.emoji * 1_000 / self.counts.words {
                0 if self.counts.emoji == 0 => "none",
                0..10 => "minimal",
                _ => "frequent",
            };
            tone.insert("emojiUsage".into(), emoji.into());
        }
        tone
    }

    /// Returns the members `tone`, `energy` and `targetAudience`.
    pub(crate) fn personality(&self, look: VisualTraits) -> Map<String, Value> {
        if self.counts.words < MIN_WORDS {
            return Map::new();
        }
        let energy = self.energy();
        let tone = match (self.voice(), energy) {
            (Some("casual"), "high" | "medium") => "playful",
            (_, "high") => "bold",
            _ if look.serif => "traditional",
            _ if look.heavy && look.hues > 2 => "bold",
            _ if look.hues == 0 => "minimalist",
            (Some("friendly" | "casual"), _) => "modern",
            _ => "professional",
        };
        let members = [("tone", tone), ("energy", energy), ("targetAudience", self.audience())];
        members.into_iter().map(|(name, word)| (name.to_owned(), word.into())).collect()
    }

    /// Returns how formal the text is; `None` if it is too short or not English.
    fn voice(&self) -> Option<&'static str> {
        let Counts { words, english, formal, casual, contractions, .. } = self.counts;
        if words < MIN_WORDS || (english as f64) < words as f64 * MIN_ENGLISH {
            return None;
        }
        // Per thousand words; a casual word counts as much as two contractions.
        let loose = (casual * 2 + contractions) * 1_000 / words;
        let strict = formal * 1_000 / words;
        Some(match (loose, strict) {
            (loose, strict) if loose >= 15 && loose > strict => "casual",
            (loose, strict) if strict >= 8 && strict > loose => "formal",
            (5.., _) => "friendly",
            _ => "neutral",
        })
    }

    fn energy(&self) -> &'static str {
        let Counts { sentences, exclamations, emoji, words, .. } = self.counts;
        // Exclamation marks and emoji per 100 sentences. Texts without full stops count a sentence per 20 words.
        match (exclamations + emoji) * 100 / sentences.max(words / 20).max(1) {
            0..4 => "low",
            4..15 => "medium",
            _ => "high",
        }
    }

    fn audience(&self) -> &'static str {
        let most =
            self.counts.audiences.iter().enumerate().max_by_key(|&(place, met)| (*met, std::cmp::Reverse(place)));
        // At least one word in 150 must point to the audience.
        let named = most.filter(|(_, met)| **met >= MIN_MET && **met * 150 >= self.counts.words);
        named.map_or("general public", |(place, _)| AUDIENCES[place].0)
    }
}

fn count(text: &str) -> Counts {
    let mut counts = Counts::default();
    for word in text.split_whitespace() {
        counts.emoji += word.chars().filter(|c| is_emoji(*c)).count();
        let end = word.trim_end_matches(['"', '\'', ')', '”', '’']).chars().last();
        counts.exclamations += usize::from(end == Some('!'));
        counts.sentences += usize::from(matches!(end, Some('.' | '!' | '?' | '。' | '！')));
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        if word.is_empty() {
            continue;
        }
        let word = word.as_str();
        counts.words += 1;
        counts.english += usize::from(ENGLISH.contains(&word));
        counts.formal += usize::from(FORMAL.contains(&word));
        counts.casual += usize::from(CASUAL.contains(&word));
        counts.contractions += usize::from(is_contraction(word));
        for (met, (_, words)) in counts.audiences.iter_mut().zip(AUDIENCES) {
            *met += usize::from(words.contains(&word));
        }
    }
    counts
}

fn is_contraction(word: &str) -> bool {
    let Some((_, end)) = word.split_once(['\'', '’']) else { return false };
    matches!(end, "re" | "ll" | "ve" | "d" | "m" | "t")
        || matches!(word, "let's" | "it's" | "that's" | "let’s" | "it’s" | "that’s")
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f300}'..='\u{1faff}' | '\u{2728}' | '\u{2764}' | '\u{2b50}' | '\u{26a1}' | '\u{2705}')
}

/// Returns the visible text, without code.
fn visible_text(page: &Page) -> String {
    let mut text = String::new();
    let mut hidden_end = 0;
    for index in page.positions() {
        if text.len() >= MAX_TEXT {
            break;
        }
        if index >= hidden_end && is_hidden(page, index) {
            hidden_end = page.end(index);
        }
        if index >= hidden_end
            && let Some(part) = page.text(index)
        {
            text.push_str(&part[..part.floor_char_boundary(MAX_TEXT - text.len())]);
            text.push(' ');
        }
    }
    text
}

fn is_hidden(page: &Page, index: usize) -> bool {
    let Some(name) = page.name(index) else { return false };
    matches!(
        *name,
        local_name!("script")
            | local_name!("style")
            | local_name!("noscript")
            | local_name!("template")
            | local_name!("svg")
            | local_name!("head")
            | local_name!("pre")
            | local_name!("code")
            | local_name!("select")
            | local_name!("textarea")
    ) || page.attr(index, "hidden").is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use url::Url;

    use super::*;

    fn voice(html: &str) -> Voice {
        Voice::of(&Page::parse(html, &Url::parse("https://a.test/").unwrap()))
    }

    fn check(text: &str, tone: &Value, personality: &Value) {
        // Repeated five times, so that there are enough words.
        let found = voice(&format!("<p>{}", text.repeat(5)));
        assert_eq!(&Value::Object(found.tone()), tone, "{text}");
        assert_eq!(
            &Value::Object(found.personality(VisualTraits { hues: 1, ..VisualTraits::default() })),
            personality,
            "{text}"
        );
    }

    #[test]
    fn voices() {
        check(
            "Install the library and call the function. The documentation of the API is for you. ",
            &json!({ "voice": "neutral", "emojiUsage": "none" }),
            &json!({ "tone": "professional", "energy": "low", "targetAudience": "developers" }),
        );
        check(
            "Hey, we love to cook and it's fun! You're going to enjoy the awesome food 🎉. ",
            &json!({ "voice": "casual", "emojiUsage": "frequent" }),
            &json!({ "tone": "playful", "energy": "high", "targetAudience": "general public" }),
        );
        check(
            "The parties shall act in accordance with the policy, and must therefore inform the authority of it. ",
            &json!({ "voice": "formal", "emojiUsage": "none" }),
            &json!({ "tone": "professional", "energy": "low", "targetAudience": "general public" }),
        );
        check(
            "Der Warenkorb ist leer und wartet auf dich, sagt der Wirt am Morgen. ",
            &json!({ "emojiUsage": "none" }),
            &json!({ "tone": "professional", "energy": "low", "targetAudience": "general public" }),
        );
        check("Too short. ", &json!({}), &json!({}));
    }

    #[test]
    fn looks_colour_the_tone() {
        let long = voice(&format!("<p>{}", "The text of a page in plain words. ".repeat(9)));
        let check = |look: VisualTraits, tone: &str| assert_eq!(long.personality(look)["tone"], tone, "{look:?}");
        check(VisualTraits { serif: true, hues: 2, heavy: false }, "traditional");
        check(VisualTraits { serif: false, hues: 0, heavy: false }, "minimalist");
        check(VisualTraits { serif: false, hues: 4, heavy: true }, "bold");
        check(VisualTraits { serif: false, hues: 2, heavy: false }, "professional");
    }

    #[test]
    fn only_what_is_read_counts() {
        let page = "<title>a</title><style>b</style><p>c<code>d</code><p hidden>e<p>f<script>g</script>";
        assert_eq!(visible_text(&Page::parse(page, &Url::parse("https://a.test/").unwrap())), "c f ");
        let long = format!("<p>{}", "ö".repeat(MAX_TEXT));
        assert!(visible_text(&Page::parse(&long, &Url::parse("https://a.test/").unwrap())).len() <= MAX_TEXT + 1);
    }
}
