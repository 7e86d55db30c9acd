//! Survey of a page: one walk that finds the nodes that the other parts read.

use page::{Index, Page, local_name};
use url::Url;

use crate::tags::{attribute, squeezed, text};

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
    pub(crate) fields: Vec<Index>,
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
}

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
