//! Lists of words, and their search in texts.

use std::collections::HashSet;
use std::sync::LazyLock;

/// A list of words in lower case.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Whole texts and whole words.
    whole: HashSet<&'static str>,
    /// Beginnings of words, sorted.
    beginnings: Vec<&'static str>,
    /// Parts of texts.
    parts: Vec<&'static str>,
}

/// All lists of `words.txt`, by the purpose they serve.
#[derive(Debug)]
pub(super) struct Lists {
    /// Words for a menu, in titles, headings and URLs.
    pub(super) menu: Words,
    /// Words for a place that serves food or drink, in names and titles.
    pub(super) place: Words,
    /// Headings of the sections of a menu.
    pub(super) section: Words,
    /// Dishes, drinks and what they are made of.
    pub(super) dish: Words,
    /// Services, rooms, tickets and goods.
    pub(super) service: Words,
    /// Words of offers that are no dishes, even where they name one.
    pub(super) never: Words,
    /// Words for a shop, in titles.
    pub(super) shop: Words,
    /// Words for a recipe, in titles and headings.
    pub(super) recipe: Words,
    /// Labels of buttons that put goods in a basket.
    pub(super) cart: Words,
    /// Names of charges and goods that are listed beside a menu.
    pub(super) charge: Words,
    /// Headings that only menus have.
    pub(super) course: Words,
    /// Words of directories and articles about places.
    pub(super) plural: Words,
    /// Sizes and portions.
    pub(super) size: Words,
    /// Whole texts that say that an item is sold out.
    pub(super) sold_out: Words,
    /// Whole texts that praise an item and describe nothing.
    pub(super) badge: Words,
}

/// The lists, read on first use.
pub(super) static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let of = |name| Words::read(include_str!("words.txt"), name);
    Lists {
        menu: of("[menu]"),
        place: of("[place]"),
        section: of("[section]"),
        dish: of("[dish]"),
        service: of("[service]"),
        never: of("[never]"),
        shop: of("[shop]"),
        recipe: of("[recipe]"),
        cart: of("[cart]"),
        charge: of("[charge]"),
        course: of("[course]"),
        plural: of("[plural]"),
        size: of("[size]"),
        sold_out: of("[sold_out]"),
        badge: of("[badge]"),
    }
});

impl Words {
    fn read(lists: &'static str, heading: &str) -> Self {
        let mut words = Words::default();
        let lines = lists.lines().skip_while(|line| *line != heading).skip(1);
        let lines = lines.take_while(|line| !line.starts_with('[')).filter(|line| !line.starts_with('#'));
        for entry in lines.flat_map(|line| line.split(',')).map(str::trim).filter(|entry| !entry.is_empty()) {
            match entry.as_bytes()[0] {
                b'=' => _ = words.whole.insert(&entry[1..]),
                b'*' => words.parts.push(&entry[1..]),
                _ => words.beginnings.push(entry),
            }
        }
        words.beginnings.sort_unstable();
        words
    }

    /// Whether one of the words occurs in `text`, in any case.
    pub(super) fn occur_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        tokens(&text).any(|token| self.whole.contains(token) || self.begin(token))
            || self.parts.iter().any(|part| text.contains(part))
    }

    /// Whether `text` is one of the whole entries, in any case and with a sign after it.
    pub(super) fn are_all_of(&self, text: &str) -> bool {
        let text =
            text.trim_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '.' | '!' | '*' | '(' | ')' | '-'));
        text.len() < 40 && self.whole.contains(text.to_lowercase().as_str())
    }

    /// Whether all words of `text` are of the list, or numbers; false for a text without words.
    pub(super) fn are_all_words_of(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        // `0,2l` is a number with its unit.
        let is_known = |token: &str| {
            let word = token.trim_start_matches(|c: char| c.is_ascii_digit());
            word.is_empty() || self.whole.contains(word)
        };
        text.len() < 60 && tokens(&text).next().is_some() && tokens(&text).all(is_known)
    }

    /// Whether a word begins with one of the beginnings.
    fn begin(&self, token: &str) -> bool {
        // Every beginning of `token` sorts at or before it; those that sort between share its first letters.
        let after = self.beginnings.partition_point(|entry| *entry <= token);
        let first = token.chars().next();
        self.beginnings[..after]
            .iter()
            .rev()
            .take_while(|entry| entry.chars().next() == first)
            .any(|entry| token.starts_with(entry))
    }
}

/// Returns the words of a text. An apostrophe ends a word: `l'entrecôte` has two.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_match_words_beginnings_or_parts() {
        let dish = &LISTS.dish;
        for text in ["Two Pizzas", "TAGESSUPPE", "L'Entrecôte", "Ham & eggs", "特製ラーメン"] {
            assert!(dish.occur_in(text), "{text}");
        }
        for text in ["Hammer", "Chamfered edge", "Fenster", ""] {
            assert!(!dish.occur_in(text), "{text}");
        }
        assert!(LISTS.sold_out.are_all_of(" Sold out! ") && !LISTS.sold_out.are_all_of("not sold out"));
        assert!(LISTS.badge.are_all_of("NEW"));
    }
}
