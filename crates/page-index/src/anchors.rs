//! Texts of links to pages that may come, in bounded memory.

use std::collections::HashMap;

use crate::schema::Identity;

/// Most texts that are kept for a target.
const OF_A_TARGET: usize = 6;
/// Longest text of a link that says something of its target, in bytes.
const LONGEST: usize = 100;
/// Most links that are read of one page.
const OF_A_PAGE: usize = 300;
/// Most targets of a generation.
const TARGETS: usize = 40_000;

/// Texts of links by their targets. There are two generations: when the young one is full it becomes the old one, so
/// the targets that were longest not linked to are forgotten.
#[derive(Debug, Default)]
pub(crate) struct Anchors {
    young: HashMap<Identity, Vec<String>>,
    old: HashMap<Identity, Vec<String>>,
}

impl Anchors {
    /// Remembers the links of a page.
    pub(crate) fn add(&mut self, links: impl Iterator<Item = (Identity, String)>) {
        for (target, text) in links.take(OF_A_PAGE) {
            let text = text.trim();
            if text.is_empty() || text.len() > LONGEST {
                continue;
            }
            if self.young.len() >= TARGETS && !self.young.contains_key(&target) {
                self.old = std::mem::take(&mut self.young);
            }
            let old = &mut self.old;
            let texts = self.young.entry(target).or_insert_with(|| old.remove(&target).unwrap_or_default());
            if texts.len() < OF_A_TARGET && !texts.iter().any(|known| known == text) {
                texts.push(text.to_owned());
            }
        }
    }

    /// Returns the texts of the links to a page.
    pub(crate) fn of(&self, target: &Identity) -> &[String] {
        self.young.get(target).or_else(|| self.old.get(target)).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(number: usize) -> Identity {
        Identity::of("team", &number.to_string())
    }

    #[test]
    fn texts_of_links_are_kept_within_bounds() {
        let mut anchors = Anchors::default();
        let texts = ["a guide", " a guide ", "", "guide two", "3", "4", "5", "6", "7"];
        anchors.add(texts.iter().map(|text| (identity(0), (*text).to_owned())));
        assert_eq!(anchors.of(&identity(0)), ["a guide", "guide two", "3", "4", "5", "6"]);

        for number in 1..=2 * TARGETS {
            anchors.add([(identity(number), "text".to_owned())].into_iter());
            if number % 1000 == 0 {
                anchors.add([(identity(7), "seven".to_owned())].into_iter());
            }
        }
        assert!(anchors.of(&identity(0)).is_empty());
        assert_eq!(anchors.of(&identity(7)), ["text", "seven"]);
        assert_eq!(anchors.of(&identity(2 * TARGETS)), ["text"]);
        assert!(anchors.young.len() <= TARGETS && anchors.old.len() <= TARGETS);
    }
}
