//! One walk over the page: where everything is that the other parts look at.

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
    /// The scripts, but for those of JSON-LD.
    pub(crate) scripts: Vec<Index>,
    /// The `<h1>` elements.
    pub(crate) headings: Vec<Index>,
    pub(crate) title: String,
    pub(crate) canonical: Option<Url>,
    /// The elements whose class or id says that they hold a price, and those that name themselves buttons.
    pub(crate) body: Option<Index>,
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
            body: None,
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
            local_name!("body") => self.body = self.body.or(Some(node)),
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
