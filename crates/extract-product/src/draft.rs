//! Drafts: the data of one source about one product, before the sources are merged.

use std::collections::BTreeMap;

use page::Index;
use wire::{Picture, Price};

/// A product as one source describes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Draft {
    pub(crate) title: Option<String>,
    pub(crate) brand: Option<String>,
    pub(crate) category: Option<String>,
    pub(crate) description: Option<String>,
    /// Absolute URL.
    pub(crate) url: Option<String>,
    pub(crate) codes: Codes,
    pub(crate) images: Vec<Picture>,
    /// Variants that can be bought.
    pub(crate) variants: Vec<VariantDraft>,
    /// Element that describes the product.
    pub(crate) node: Option<Index>,
}

/// The codes of a product or a variant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Codes {
    pub(crate) sku: Option<String>,
    pub(crate) gtin: Option<String>,
    pub(crate) mpn: Option<String>,
    /// Id of the shop.
    pub(crate) id: Option<String>,
}

/// A variant that can be bought.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct VariantDraft {
    pub(crate) title: Option<String>,
    pub(crate) codes: Codes,
    pub(crate) values: BTreeMap<String, String>,
    pub(crate) price: Option<Price>,
    pub(crate) original: Option<Price>,
    pub(crate) in_stock: Option<bool>,
    pub(crate) stock_text: Option<String>,
    pub(crate) images: Vec<Picture>,
    pub(crate) url: Option<String>,
}

impl Codes {
    /// Returns the codes, best known first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        [&self.gtin, &self.sku, &self.mpn, &self.id].into_iter().flatten().map(String::as_str)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    /// Takes the codes that are missing.
    pub(crate) fn complete(&mut self, other: &Codes) {
        let pairs = [
            (&mut self.sku, &other.sku),
            (&mut self.gtin, &other.gtin),
            (&mut self.mpn, &other.mpn),
            (&mut self.id, &other.id),
        ];
        for (own, theirs) in pairs {
            complete(own, theirs);
        }
    }
}

impl Draft {
    /// Whether a price is known.
    pub(crate) fn has_price(&self) -> bool {
        self.variants.iter().any(|line| line.price.is_some())
    }
}

/// Takes a field that is missing.
pub(crate) fn complete<T: Clone>(own: &mut Option<T>, other: &Option<T>) {
    if own.is_none() {
        own.clone_from(other);
    }
}
