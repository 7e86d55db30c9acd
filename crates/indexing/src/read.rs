//! Reading of cached copies: what of a page goes into the index.

mod anchors;
mod dates;
mod pictures;
mod text;

use base::Stop;
use cache::PackedCopy;
use documents::{Kind, Metadata};
use fetch::{BodyKind, Fetched};
use formats::{ContentOptions, Page, PlainText};
use page_index::{IndexedPage, MOST_TEXT, PageKind};
use serde_json::{Map, Value};
use store::cache::CacheEntry;
use url::Url;

/// Most of a page of HTML that is parsed, in bytes; the rest is cut off. Its tree takes up to fifteen times as much memory,
/// beside the scrapes that are served.
const MAX_SOURCE: usize = 2 << 20;
/// Most of a heading list, a title and a description, in bytes.
const MAX_HEADINGS: usize = 8 << 10;
const MAX_TITLE: usize = 500;
const MAX_DESCRIPTION: usize = 2000;

/// Whether a copy may be a page to index: one that has loaded. What its body is shows only when it is opened.
pub(crate) fn is_wanted(entry: &CacheEntry) -> bool {
    (200..300).contains(&entry.status_code)
}

/// Opened copy.
pub(crate) enum Opened {
    /// Page for the index.
    Page(Box<IndexedPage>),
    /// File whose text takes a program of its own to read.
    File(Box<File>),
}

/// PDF, office file or book.
pub(crate) struct File {
    pub(crate) fetched: Fetched,
    pub(crate) kind: Kind,
    /// The file without its text: it is found by its name.
    pub(crate) page: IndexedPage,
}

/// Opens a copy and reads it; `None` for a body that is damaged, or that has no text to find it by. JSON and images are
/// left out.
pub(crate) fn open(copy: PackedCopy, stop: &Stop) -> Option<Opened> {
    let entry = copy.entry().clone();
    let mut fetched = copy.open()?;
    if let Some(kind) = kind(&fetched) {
        let page = IndexedPage { kind: PageKind::Document, ..named(IndexedPage::default(), entry, &fetched.url) };
        return Some(Opened::File(Box::new(File { fetched, kind, page })));
    }
    let page = match fetched.kind {
        BodyKind::Html | BodyKind::Xml => of_html(&mut fetched, stop),
        BodyKind::Text | BodyKind::Markdown => text::page(&fetched.text(), fetched.kind),
        BodyKind::Pdf | BodyKind::Other => IndexedPage { kind: PageKind::Document, ..IndexedPage::default() },
        BodyKind::Json | BodyKind::Image => return None,
    };
    let page = named(page, entry, &fetched.url);
    (!page.text.is_empty() || !page.title.is_empty()).then(|| Opened::Page(Box::new(page)))
}

/// Returns the kind of a file that a reader has to read. The lines of CSV are text already.
fn kind(fetched: &Fetched) -> Option<Kind> {
    if !matches!(fetched.kind, BodyKind::Pdf | BodyKind::Other | BodyKind::Text) {
        return None;
    }
    let found = documents::detect(&fetched.body, fetched.content_type.as_deref(), Some(fetched.url.path()))?;
    (!matches!(found, Kind::Csv | Kind::Image(_))).then_some(found)
}

/// Returns a page with what its row says of it, and with a title.
fn named(page: IndexedPage, entry: CacheEntry, url: &Url) -> IndexedPage {
    let CacheEntry { id, scope, key, final_url, fetched_at, .. } = entry;
    let title = if page.title.is_empty() { text::file_name(url) } else { page.title };
    let fetched = fetched_at.timestamp_millis();
    IndexedPage { copy: id, scope, page_key: key, url: final_url, fetched, title, ..page }
}

impl File {
    /// Returns the file with the text and the metadata that a reader has found, the text in HTML.
    pub(crate) fn with_text(self, html: &str, metadata: &Metadata, stop: &Stop) -> IndexedPage {
        let source = &html[..html.floor_char_boundary(MAX_SOURCE)];
        let read = Page::parse_until(source, &self.fetched.url, stop);
        // All of a document is content: it has no frame as pages of sites have.
        let options = ContentOptions { only_main_content: false, ..ContentOptions::default() };
        let PlainText { text, headings } = formats::plain_text(&formats::content(&read, &options), MOST_TEXT);
        let said = |value: &Option<String>| value.as_deref().map(str::trim).unwrap_or_default().to_owned();
        let titles = [said(&metadata.title), headings.lines().next().unwrap_or_default().to_owned(), self.page.title];
        let title = titles.into_iter().find(|title| !title.is_empty()).unwrap_or_default();
        IndexedPage {
            title: cut(&title, MAX_TITLE),
            headings: cut(&headings, MAX_HEADINGS),
            description: cut(&said(&metadata.subject), MAX_DESCRIPTION),
            language: metadata.language.clone().filter(|language| !language.is_empty()),
            text,
            ..self.page
        }
    }
}

/// Reads a page of HTML, or of XML that is made into HTML as scrapes do.
fn of_html(fetched: &mut Fetched, stop: &Stop) -> IndexedPage {
    let is_rendered = fetched.rendered.is_some();
    let is_xml = fetched.kind == BodyKind::Xml;
    let is_sent_as_xml = !is_rendered && (is_xml || fetched.is_sent_as_xml());
    // A copy, so that a large page is not held whole while it is parsed.
    let source = cut(&fetched.take_text().as_str(), MAX_SOURCE);
    let made = is_xml.then(|| formats::feed_page(&source, &fetched.url, stop)).flatten();
    let made = made.or_else(|| is_sent_as_xml.then(|| formats::xml_page(&source, stop)).flatten());
    let page = Page::parse_until(made.as_deref().unwrap_or(&source), &fetched.url, stop);
    of_page(&page)
}

fn of_page(page: &Page) -> IndexedPage {
    let content = formats::content(page, &ContentOptions::default());
    let PlainText { text, headings } = formats::plain_text(&content, MOST_TEXT);
    let metadata = formats::metadata(page);
    let published = dates::published(page, &metadata);
    let (title, description) = (word(&metadata, "title"), word(&metadata, "description"));
    IndexedPage {
        title: cut(&title, MAX_TITLE),
        headings: cut(&headings, MAX_HEADINGS),
        description: cut(&description, MAX_DESCRIPTION),
        language: Some(word(&metadata, "language")).filter(|language| !language.is_empty()),
        is_news: published.is_article && published.at.is_some(),
        published: published.at,
        images: pictures::of(page, &metadata, &title),
        links: anchors::of(page),
        text,
        ..IndexedPage::default()
    }
}

/// Returns the first text of a key of the metadata, or an empty one.
fn word(metadata: &Map<String, Value>, key: &str) -> String {
    let value = match metadata.get(key) {
        Some(Value::Array(values)) => values.first(),
        value => value,
    };
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns the beginning of a text, of at most this many bytes.
fn cut(text: &str, max_bytes: usize) -> String {
    text[..text.floor_char_boundary(max_bytes)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARTICLE: &str = "<html lang=en-GB><title>Granite saws</title><meta name=description content='Of saws'>
        <meta property=og:type content=article><meta property=article:published_time content=2024-05-06T07:08:09Z>
        <nav><a href=/shop>The shop</a></nav><main><h1>Granite</h1>
        <p>The saw cuts granite with a wet blade of diamond, which lasts for years when it is kept clean and cool.
        <p>It was first built in 1904 and has been sold in many countries, among them Norway and Japan.
        <img src=saw.jpg alt='A wet saw' width=640 height=480></main>";

    #[test]
    fn a_page_is_read_whole() {
        let url = url::Url::parse("https://a.test/news/saws").unwrap();
        let page = of_page(&Page::parse(ARTICLE, &url));
        assert_eq!((page.title.as_str(), page.description.as_str()), ("Granite saws", "Of saws"));
        assert_eq!((page.headings.as_str(), page.language.as_deref()), ("Granite", Some("en-GB")));
        assert!(page.text.contains("wet blade of diamond") && !page.text.contains("The shop"), "{}", page.text);
        assert_eq!((page.is_news, page.published), (true, Some(1_714_979_289_000)));
        assert_eq!(page.images.len(), 1);
        assert_eq!((page.images[0].url.as_str(), page.images[0].width), ("https://a.test/news/saw.jpg", Some(640)));
        assert_eq!((page.links.len(), page.links[0].text.as_str()), (1, "The shop"));
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!((cut("aé", 2).as_str(), cut("aé", 3).as_str()), ("a", "aé"));
    }
}
