//! Capabilities: optional features of a server, depending on its configuration and installed programs.

use crate::words::{Word, words};

words! {
    /// Optional feature of a server.
    pub enum Capability {
        /// Browser that runs the scripts of pages.
        Browser = "browser",
        /// Document readers: PDF and office files.
        Documents = "documents",
        /// Text recognition in images (OCR).
        Ocr = "ocr",
        /// Language model.
        Model = "model",
        /// Answers to questions, highlights and summaries: by a language model or from the page's own sentences.
        Answers = "answers",
        /// Extraction of audio and video.
        Media = "media",
        /// Redaction of personal data.
        Redaction = "redaction",
        /// Threat protection: rating sites before they are visited.
        Threats = "threats",
        /// Catalog of provider tools.
        Catalog = "catalog",
        /// Browser profiles: cookies and storage kept between scrapes.
        Profiles = "profiles",
        /// Check of pages for prompt injection.
        Injection = "injection",
    }
}

/// Set of capabilities; empty by default.
///
/// ```
/// use wire::{Capabilities, Capability};
///
/// let own: Capabilities = [Capability::Browser].into_iter().collect();
/// assert!(own.has(Capability::Browser) && !own.has(Capability::Model));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities(u32);

impl Capabilities {
    /// Whether the set contains `capability`.
    #[must_use]
    pub fn has(self, capability: Capability) -> bool {
        self.0 & bit(capability) != 0
    }

    /// Returns the capabilities in the set, in declaration order.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::WORDS.iter().map(|(_, capability)| *capability).filter(move |one| self.has(*one))
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<I: IntoIterator<Item = Capability>>(capabilities: I) -> Self {
        Self(capabilities.into_iter().fold(0, |set, capability| set | bit(capability)))
    }
}

// The discriminants count from 0, so each capability has a bit of its own; `u32` has room for 32.
fn bit(capability: Capability) -> u32 {
    1 << capability as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in() {
        let all: Capabilities = Capability::WORDS.iter().map(|(_, capability)| *capability).collect();
        assert_eq!(all.iter().count(), Capability::WORDS.len());
        let some: Capabilities = [Capability::Catalog, Capability::Browser, Capability::Browser].into_iter().collect();
        assert_eq!(some.iter().collect::<Vec<_>>(), [Capability::Browser, Capability::Catalog]);
        assert_eq!(Capabilities::default().iter().count(), 0);
    }
}
