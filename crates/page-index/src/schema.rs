//! Fields of the index.

use sha2::{Digest, Sha256};
use tantivy::Term;
use tantivy::schema::{
    BytesOptions, FAST, Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};

/// Name of the tokenizer that reads encoded terms.
pub(crate) const DECODER: &str = "encoded";

/// Fields of a page.
///
/// Values that queries filter and count by are in columns (`fast`), the terms that they match in lists of pages, and the
/// texts of answers in the compressed store.
#[derive(Debug, Clone)]
pub(crate) struct Fields {
    /// Terms of all parts of the page, each weighed by its part.
    pub(crate) words: Field,
    pub(crate) title_words: Field,
    pub(crate) url_words: Field,
    pub(crate) image_words: Field,
    /// Facts of the page: see [`Fact`].
    pub(crate) facts: Field,
    pub(crate) copy: Field,
    pub(crate) identity: Field,
    pub(crate) scope: Field,
    /// Registrable domain, as a hash: see [`site_number`].
    pub(crate) site: Field,
    pub(crate) published: Field,
    pub(crate) fetched: Field,
    /// Kind of the page, and whether it is news: see [`crate::flags`].
    pub(crate) flags: Field,
    pub(crate) simhash: Field,
    pub(crate) url: Field,
    pub(crate) title: Field,
    pub(crate) description: Field,
    pub(crate) text: Field,
    pub(crate) language: Field,
    /// Images in JSON.
    pub(crate) images: Field,
}

impl Fields {
    /// Returns the schema and its fields.
    pub(crate) fn make() -> (Schema, Fields) {
        let mut schema = Schema::builder();
        let encoded = |option, lengths| {
            let indexing = TextFieldIndexing::default().set_tokenizer(DECODER);
            TextOptions::default().set_indexing_options(indexing.set_index_option(option).set_fieldnorms(lengths))
        };
        let fields = Fields {
            words: schema.add_text_field("words", encoded(IndexRecordOption::WithFreqsAndPositions, true)),
            title_words: schema.add_text_field("title_words", encoded(IndexRecordOption::WithFreqsAndPositions, true)),
            url_words: schema.add_text_field("url_words", encoded(IndexRecordOption::WithFreqsAndPositions, false)),
            image_words: schema.add_text_field("image_words", encoded(IndexRecordOption::WithFreqs, true)),
            facts: schema.add_text_field("facts", STRING),
            copy: schema.add_text_field("copy", STRING | STORED),
            identity: schema.add_bytes_field("identity", BytesOptions::default().set_indexed()),
            scope: schema.add_text_field("scope", TextOptions::default().set_fast("raw")),
            site: schema.add_u64_field("site", FAST),
            published: schema.add_i64_field("published", FAST),
            fetched: schema.add_i64_field("fetched", FAST),
            flags: schema.add_u64_field("flags", FAST),
            simhash: schema.add_u64_field("simhash", FAST),
            url: schema.add_text_field("url", STORED),
            title: schema.add_text_field("title", STORED),
            description: schema.add_text_field("description", STORED),
            text: schema.add_text_field("text", STORED),
            language: schema.add_text_field("language", STORED),
            images: schema.add_text_field("images", STORED),
        };
        (schema.build(), fields)
    }

    /// Returns the term of a fact.
    pub(crate) fn fact(&self, fact: Fact<'_>) -> Term {
        Term::from_field_text(self.facts, &fact.term())
    }
}

/// Fact of a page that a query can demand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fact<'a> {
    /// The page is of this host or one below it.
    Site(&'a str),
    /// The address ends in this file name ending.
    FileType(&'a str),
    /// The page is stemmed as this language.
    Language(&'a str),
}

impl Fact<'_> {
    pub(crate) fn term(self) -> String {
        match self {
            Fact::Site(host) => format!("site:{host}"),
            Fact::FileType(ending) => format!("type:{ending}"),
            Fact::Language(tag) => format!("language:{tag}"),
        }
    }
}

/// Bits of the column `flags`.
pub(crate) mod flags {
    /// The page is a document.
    pub(crate) const DOCUMENT: u64 = 1;
    /// The page is an article with a date.
    pub(crate) const NEWS: u64 = 2;
}

/// Returns the number by which the column `site` knows a registrable domain.
pub(crate) fn site_number(site: &str) -> u64 {
    let mut start = [0; 8];
    start.copy_from_slice(&Sha256::digest(site)[..8]);
    u64::from_be_bytes(start)
}

/// Scope and key of a page, as a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Identity([u8; 16]);

impl Identity {
    pub(crate) fn of(scope: &str, page_key: &str) -> Self {
        let hash = Sha256::new().chain_update(scope).chain_update([0_u8]).chain_update(page_key).finalize();
        let mut identity = [0; 16];
        identity.copy_from_slice(&hash[..16]);
        Identity(identity)
    }

    pub(crate) fn term(self, fields: &Fields) -> Term {
        Term::from_field_bytes(fields.identity, &self.0)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
