//! The objects of a state that are the page's product.

use url::Url;

use super::reader::Reader;
use super::{keys, modules, variants};
use crate::draft::{Codes, Draft, VariantDraft};
use crate::money::{self, Style};
use crate::subject::Subject;
use crate::value::Value;
use crate::words;

/// Limit on the products of one value.
const MAX_PRODUCTS: usize = 60;

/// Returns the products in a value that are named like the page or stand in its URL.
pub(super) fn products(value: &Value<'_>, subject: &Subject, style: Style, base: &Url) -> Vec<Draft> {
    let mut finder = Finder { subject, style, base, found: Vec::new() };
    if let Some(draft) = modules::product(&finder.reader(None), value).filter(|draft| subject.is_named(draft)) {
        return vec![draft];
    }
    finder.walk(value, None);
    finder.found
}

struct Finder<'a> {
    subject: &'a Subject,
    style: Style,
    base: &'a Url,
    found: Vec<Draft>,
}

impl<'a> Finder<'a> {
    fn reader(&self, currency: Option<&'static str>) -> Reader<'a> {
        Reader { style: self.style, base: self.base, currency }
    }

    fn walk(&mut self, value: &Value<'_>, currency: Option<&'static str>) {
        match value {
            Value::List(items) => items.iter().for_each(|item| self.walk(item, currency)),
            Value::Object(members) => {
                let own = members.iter().find(|member| keys::CURRENCY.iter().any(|key| keys::is(&member.name, key)));
                let currency = own.and_then(|member| money::currency_of(member.value.text()?)).or(currency);
                if self.found.len() < MAX_PRODUCTS && may_be_product(value) {
                    let reader = self.reader(currency);
                    if self.is_named(&reader, value) {
                        self.found.extend(draft(&reader, value).filter(|draft| self.subject.is_named(draft)));
                    }
                }
                members.iter().for_each(|member| self.walk(&member.value, currency));
            }
            _ => {}
        }
    }

    /// Whether the name or a code of an object fits the page: most objects of a state fail here.
    fn is_named(&self, reader: &Reader<'_>, value: &Value<'_>) -> bool {
        let title = reader.text(value, keys::TITLE);
        title.is_some_and(|title| self.subject.closeness(&title) > 0.3)
            || [keys::ID, keys::SKU]
                .iter()
                .any(|names| reader.text(value, names).is_some_and(|code| self.subject.has_code(&code)))
    }
}

/// Whether an object has a name and a price or variants.
fn may_be_product(value: &Value<'_>) -> bool {
    let members = value.members();
    let priced = |name: &str| name.contains("rice") || keys::is(name, "variants") || keys::is(name, "offers");
    let named = |name: &str| keys::TITLE.iter().any(|key| keys::is(name, key));
    members.len() <= 2000
        && members.iter().any(|member| priced(&member.name))
        && members.iter().any(|member| named(&member.name))
}

/// Reads a product; `None` for one without a price.
fn draft(reader: &Reader<'_>, value: &Value<'_>) -> Option<Draft> {
    let currency = reader.text(value, keys::CURRENCY).and_then(|text| money::currency_of(&text)).or(reader.currency);
    let reader = Reader { currency, ..*reader };
    let mut draft = Draft {
        title: reader.text(value, keys::TITLE).and_then(|text| words::name(&text)),
        brand: reader.text(value, keys::BRAND).and_then(|text| words::name(&text)),
        category: reader.text(value, keys::CATEGORY).filter(|text| text.len() > 2).and_then(|text| words::name(&text)),
        description: reader.text(value, keys::DESCRIPTION).and_then(|text| words::description(&text)),
        url: reader.url(value),
        codes: reader.codes(value),
        images: reader.images(value),
        variants: Vec::new(),
        node: None,
    };
    draft.variants = variants::lines(&reader, value);
    if draft.variants.is_empty() {
        draft.variants = vec![VariantDraft { codes: Codes::default(), ..reader.line(value) }];
    }
    draft.has_price().then_some(draft)
}
