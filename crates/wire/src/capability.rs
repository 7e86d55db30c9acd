//! What a server can do beyond what every server can: it depends on what it was given to work with.

use crate::words::{Word, words};

words! {
    /// Something that not every server has.
    pub enum Capability {
        /// A browser, which runs the scripts of pages.
        Browser = "browser",
        /// Readers of documents: PDF and office files.
        Documents = "documents",
        /// Readers that take text off pictures.
        Ocr = "ocr",
        /// A language model.
        Model = "model",
        /// Products and menus told apart from the page around them.
        Products = "products",
        /// Comparing a page with what it was before.
        Changes = "changes",
        /// Sound and video out of pages.
        Media = "media",
        /// Taking personal data out of text.
        Redaction = "redaction",
        /// Judging where a request may go.
        Threats = "threats",
        /// The catalog of provider tools.
        Catalog = "catalog",
        /// Cookies and storage of a browser, kept from one scrape to the next.
        Profiles = "profiles",
    }
}

/// A set of capabilities; the default is none.
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
    /// Whether this one is among them.
    #[must_use]
    pub fn has(self, capability: Capability) -> bool {
        self.0 & bit(capability) != 0
    }

    /// All of them, in the order of their declaration.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::WORDS.iter().map(|(_, capability)| *capability).filter(move |one| self.has(*one))
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<I: IntoIterator<Item = Capability>>(capabilities: I) -> Self {
        Self(capabilities.into_iter().fold(0, |set, capability| set | bit(capability)))
    }
}

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
