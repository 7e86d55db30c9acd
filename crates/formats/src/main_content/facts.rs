//! What a page says about itself, and what it is made of: hints to the kind of page that it is.

use page::{Index, Page, local_name};
use url::Url;

/// Facts of one page.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) title: String,
    pub(crate) description: String,
    segments: f32,
    longest_segment: f32,
    hyphens: f32,
    digits: f32,
    articles: f32,
    titles: f32,
    paragraphs: f32,
    items: f32,
    tables: f32,
    forms: f32,
    code: f32,
    images: f32,
}

impl Facts {
    pub(crate) fn of(page: &Page) -> Facts {
        let mut facts = Facts::default();
        facts.address(page.url());
        for index in page.positions() {
            let Some(name) = page.name(index) else { continue };
            match *name {
                local_name!("title") if facts.title.is_empty() => facts.title = page.text_of(index),
                local_name!("meta") => facts.meta(page, index),
                local_name!("article") => facts.articles += 1.0,
                local_name!("h1") => facts.titles += 1.0,
                local_name!("p") => facts.paragraphs += 1.0,
                local_name!("li") => facts.items += 1.0,
                local_name!("table") => facts.tables += 1.0,
                local_name!("form") => facts.forms += 1.0,
                local_name!("pre") => facts.code += 1.0,
                local_name!("img") => facts.images += 1.0,
                _ => {}
            }
        }
        facts
    }

    /// Hands `out` the features of the page.
    pub(crate) fn write(&self, out: &mut impl FnMut(&'static str, f32)) {
        out("url_segments", self.segments);
        out("url_longest", self.longest_segment);
        out("url_hyphens", self.hyphens);
        out("url_digits", self.digits);
        out("page_articles", self.articles);
        out("page_titles", self.titles);
        out("page_paragraphs", self.paragraphs);
        out("page_items", self.items);
        out("page_tables", self.tables);
        out("page_forms", self.forms);
        out("page_code", self.code);
        out("page_images", self.images);
    }

    fn address(&mut self, url: &Url) {
        let segments: Vec<&str> = url.path_segments().into_iter().flatten().filter(|part| !part.is_empty()).collect();
        self.segments = segments.len() as f32;
        self.longest_segment = segments.iter().map(|part| part.len()).max().unwrap_or(0) as f32;
        self.hyphens = segments.last().map_or(0, |part| part.matches(['-', '_']).count()) as f32;
        self.digits = url.path().bytes().filter(u8::is_ascii_digit).count() as f32;
    }

    fn meta(&mut self, page: &Page, index: Index) {
        let Some(name) = page.attr(index, "name").or_else(|| page.attr(index, "property")) else { return };
        if !matches!(&*name, "description" | "og:description") {
            return;
        }
        if let Some(content) = page.attr(index, "content").filter(|content| content.len() <= MAX_DESCRIPTION) {
            self.description.push(' ');
            self.description.push_str(&content);
        }
    }
}

/// Bytes of a description; longer ones are not descriptions.
const MAX_DESCRIPTION: usize = 4096;
