//! Survey of a page: one walk that finds the nodes that the other parts read.

use page::{Index, Page, local_name};
use url::Url;

use crate::subject::Subject;
use crate::tags::{attribute, squeezed, text};
use crate::words;

/// Limit on the texts that are kept of one kind.
const MAX_KEPT: usize = 64;

/// A `<meta>` element.
#[derive(Debug)]
pub(crate) struct Meta<'p> {
    pub(crate) name: &'p str,
    pub(crate) content: &'p str,
}

/// The parts of a page.
pub(crate) struct Survey<'p> {
    pub(crate) page: &'p Page,
    pub(crate) metas: Vec<Meta<'p>>,
    /// Scripts other than JSON-LD.
    pub(crate) scripts: Vec<Index>,
    /// The `<h1>` elements.
    pub(crate) headings: Vec<Index>,
    pub(crate) title: String,
    pub(crate) canonical: Option<Url>,
    /// Fields of forms that name the product to buy.
    fields: Vec<Index>,
}

impl<'p> Survey<'p> {
    pub(crate) fn of(page: &'p Page) -> Self {
        let mut survey = Survey {
            page,
            metas: Vec::new(),
            scripts: Vec::new(),
            headings: Vec::new(),
            title: String::new(),
            canonical: None,
            fields: Vec::new(),
        };
        for node in page.positions() {
            survey.add(node);
        }
        survey
    }

    fn add(&mut self, node: Index) {
        let page = self.page;
        let Some(name) = page.name(node) else { return };
        match *name {
            local_name!("meta") => self.add_meta(node),
            local_name!("script") => self.scripts.push(node),
            local_name!("h1") if self.headings.len() < MAX_KEPT => self.headings.push(node),
            local_name!("title") if self.title.is_empty() => self.title = text(page, node),
            local_name!("input") if self.fields.len() < MAX_KEPT && names_product(page, node) => self.fields.push(node),
            local_name!("link") if self.canonical.is_none() && attribute(page, node, "rel") == Some("canonical") => {
                self.canonical = attribute(page, node, "href").and_then(|href| page::absolute(page.base(), href));
            }
            _ => {}
        }
    }

    fn add_meta(&mut self, node: Index) {
        let of = |name| attribute(self.page, node, name);
        let content = of("content").map(str::trim).filter(|content| !content.is_empty());
        if let (Some(name), Some(content)) = (of("property").or(of("name")).or(of("itemprop")), content) {
            self.metas.push(Meta { name, content });
        }
    }

    /// Returns the content of the first `<meta>` called one of `names`; names that come first count first.
    pub(crate) fn meta(&self, names: &[&str]) -> Option<&'p str> {
        names
            .iter()
            .find_map(|name| self.metas.iter().find(|meta| meta.name.eq_ignore_ascii_case(name)))
            .map(|m| m.content)
    }

    /// Returns the texts of the headings.
    pub(crate) fn heading_texts(&self) -> impl Iterator<Item = String> + '_ {
        self.headings.iter().map(|&node| squeezed(&text(self.page, node))).filter(|text| !text.is_empty())
    }

    /// Returns the id of the product: what the form behind the heading sends, else what the URL has.
    pub(crate) fn product_id(&self, subject: &Subject) -> Option<String> {
        let heading = self.headings.first().copied().unwrap_or(0);
        let value = |&node: &Index| attribute(self.page, node, "value").and_then(words::code);
        let in_url = self.fields.iter().filter_map(value).find(|code| subject.has_code(code));
        let of_form = || self.fields.iter().filter(|&&node| node > heading).find_map(value);
        in_url.or_else(|| self.id_in_url()).or_else(of_form)
    }

    /// Returns the last part of the path that is a number, or that stands behind `dp` in the URLs of Amazon.
    fn id_in_url(&self) -> Option<String> {
        let path = self.page.url().path();
        let asin = path.split_once("/dp/").or_else(|| path.split_once("/gp/product/")).map(|pair| pair.1);
        let asin = asin.and_then(|rest| rest.split('/').next()).filter(|asin| asin.len() == 10);
        let is_number = |part: &&str| (MIN_ID..=20).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        let number = || path.rsplit(|c: char| !c.is_ascii_alphanumeric()).find(is_number);
        asin.or_else(number).map(str::to_owned)
    }
}

/// Digits that a number in a URL must have to be an id: shorter ones are sizes, years and pages.
const MIN_ID: usize = 5;

/// Whether a field of a form names the product to buy, in the shop systems that are common.
fn names_product(page: &Page, node: Index) -> bool {
    const NAMES: [&str; 10] = [
        "product_id",
        "productid",
        "product",
        "add-to-cart",
        "id_product",
        "asin",
        "itemid",
        "item_id",
        "prodid",
        "products_id",
    ];
    let name = attribute(page, node, "name").unwrap_or_default();
    NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
        && attribute(page, node, "value").is_some_and(|value| value.bytes().any(|b| b.is_ascii_digit()))
}
