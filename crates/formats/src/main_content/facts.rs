//! Page-level features: metadata, URL and counts of elements, which indicate the kind of page.

use page::{Index, Page, local_name};
use url::Url;

/// Page-level features of one page.
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
    fields: f32,
    times: f32,
    /// Number of mentions of each of [`TYPES`] in the page's JSON-LD.
    types: [f32; TYPES.len()],
    /// Position of its `og:type` in [`OPEN_GRAPH`], from 1.
    open_graph: f32,
}

/// Groups of schema.org types, with the name of their feature.
const TYPES: [(&str, &[&str]); 6] = [
    (
        "type_article",
        &["Article", "NewsArticle", "BlogPosting", "ReportageNewsArticle", "TechArticle", "LiveBlogPosting"],
    ),
    ("type_thread", &["DiscussionForumPosting", "QAPage", "Question", "Answer"]),
    ("type_comment", &["Comment", "UserComments"]),
    ("type_product", &["Product", "Offer", "AggregateOffer", "ProductGroup"]),
    ("type_list", &["ItemList", "CollectionPage", "ListItem", "SearchResultsPage"]),
    ("type_service", &["Organization", "Service", "LocalBusiness", "SoftwareApplication", "WebSite"]),
];
const OPEN_GRAPH: [&str; 3] = ["website", "article", "product"];
/// Limit on a JSON-LD script, in bytes.
const MAX_SCRIPT: usize = 1 << 16;
/// Limit on the types in one script.
const MAX_TYPES: usize = 100;

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
                local_name!("textarea") => facts.fields += 1.0,
                local_name!("time") => facts.times += 1.0,
                local_name!("script")
                    if page.attr(index, "type").is_some_and(|kind| &*kind == "application/ld+json") =>
                {
                    page.children(index).filter_map(|text| page.text(text)).for_each(|text| facts.linked_data(text));
                }
                _ => {}
            }
        }
        facts
    }

    /// Passes the features of the page to `out`.
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
        out("page_fields", self.fields);
        out("page_times", self.times);
        TYPES.iter().zip(self.types).for_each(|((name, _), count)| out(name, count));
        out("og_type", self.open_graph);
    }

    fn address(&mut self, url: &Url) {
        let segments: Vec<&str> = url.path_segments().into_iter().flatten().filter(|part| !part.is_empty()).collect();
        self.segments = segments.len() as f32;
        self.longest_segment = segments.iter().map(|part| part.len()).max().unwrap_or(0) as f32;
        self.hyphens = segments.last().map_or(0, |part| part.matches(['-', '_']).count()) as f32;
        self.digits = url.path().bytes().filter(u8::is_ascii_digit).count() as f32;
    }

    /// Counts the types by text search, without parsing the JSON: much of it is invalid.
    fn linked_data(&mut self, script: &str) {
        let mut end = script.len().min(MAX_SCRIPT);
        while !script.is_char_boundary(end) {
            end -= 1;
        }
        for behind in script[..end].split("\"@type\"").skip(1).take(MAX_TYPES) {
            let Some(name) = behind.split('"').nth(1) else { continue };
            for (count, (_, names)) in self.types.iter_mut().zip(TYPES) {
                *count += f32::from(u8::from(names.contains(&name)));
            }
        }
    }

    fn meta(&mut self, page: &Page, index: Index) {
        let Some(name) = page.attr(index, "name").or_else(|| page.attr(index, "property")) else { return };
        if &*name == "og:type" {
            let kind = page.attr(index, "content").unwrap_or_default();
            self.open_graph =
                OPEN_GRAPH.iter().position(|known| kind.starts_with(known)).map_or(0.0, |at| at as f32 + 1.0);
        }
        if !matches!(&*name, "description" | "og:description") {
            return;
        }
        if let Some(content) = page.attr(index, "content").filter(|content| content.len() <= MAX_DESCRIPTION) {
            self.description.push(' ');
            self.description.push_str(&content);
        }
    }
}

/// Length limit of a description, in bytes; longer texts are not descriptions.
const MAX_DESCRIPTION: usize = 4096;
