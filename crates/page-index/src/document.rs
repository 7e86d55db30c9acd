//! Pages as the index stores them.

use tantivy::TantivyDocument;
use url::Url;

use crate::address::{file_type, home_names, host, joined, site, url_words, with_parents};
use crate::encode::Encoder;
use crate::language::Language;
use crate::schema::{Fact, Fields, Identity, flags, site_number};
use crate::simhash::simhash;
use crate::{IndexedPage, MOST_IMAGES, MOST_TEXT, PageImage, PageKind};

/// Weight of a term in each part of a page; in the text it is 1.
mod weight {
    pub(super) const TITLE: u8 = 3;
    pub(super) const HEADINGS: u8 = 2;
    pub(super) const DESCRIPTION: u8 = 1;
    pub(super) const TEXT: u8 = 1;
    pub(super) const ANCHORS: u8 = 2;
    pub(super) const URL: u8 = 1;
    /// Names of a page: its whole title, and on a start page those of its host.
    pub(super) const NAMES: u8 = 6;
    pub(super) const ALT: u8 = 2;
}

/// Most bytes of a title, a description and the headings.
const MOST_TITLE: usize = 1 << 10;
const MOST_HEADINGS: usize = 16 << 10;
/// Most bytes of an address of an image.
const MOST_ADDRESS: usize = 2 << 10;
/// Most bytes of a name of a page.
pub(crate) const MOST_NAME: usize = 64;
/// Marks a term that is a name of the page, which no word has.
pub(crate) const NAMED: &str = "named:";

/// Makes the document of a page. `anchors` are texts of links to it.
pub(crate) fn document(
    fields: &Fields,
    encoder: &mut Encoder,
    page: &IndexedPage,
    anchors: &[String],
) -> TantivyDocument {
    let text = cut(&page.text, MOST_TEXT);
    let title = cut(&page.title, MOST_TITLE);
    let url = Url::parse(&page.url).ok();
    let language = Language::of_page(page.language.as_deref(), text);
    encoder.speak(language);
    let mut document = TantivyDocument::default();

    let address = url.as_ref().map(|url| add_address(fields, url, encoder, &mut document)).unwrap_or_default();
    encoder.section(weight::TEXT, text);
    let body = encoder.take();
    document.add_u64(fields.simhash, simhash(body.get(3..).unwrap_or_default()));
    encoder.section(1, title);
    document.add_text(fields.title_words, encoder.take());

    encoder.section(weight::TITLE, title);
    encoder.section(weight::HEADINGS, cut(&page.headings, MOST_HEADINGS));
    encoder.section(weight::DESCRIPTION, cut(&page.description, MOST_TITLE));
    encoder.push(body.trim_end_matches(' '));
    for anchor in anchors {
        encoder.section(weight::ANCHORS, anchor);
    }
    encoder.section(weight::URL, &address);
    encoder.start(weight::NAMES);
    for name in names(title, url.as_ref()) {
        encoder.push(&format!("{NAMED}{name}"));
    }
    document.add_text(fields.words, encoder.take());
    document.add_text(fields.facts, Fact::Language(language.tag).term());

    add_images(fields, page, encoder, &mut document);
    add_columns(fields, page, &mut document);
    let description = cut(&page.description, MOST_TITLE);
    let language = page.language.as_deref().unwrap_or_default();
    for (field, text) in [
        (fields.url, page.url.as_str()),
        (fields.title, title),
        (fields.description, description),
        (fields.text, text),
        (fields.language, language),
    ] {
        document.add_text(field, text);
    }
    document
}

/// Adds what the address says, and returns its words.
fn add_address(fields: &Fields, url: &Url, encoder: &mut Encoder, document: &mut TantivyDocument) -> String {
    let mut address = String::new();
    encoder.start(1);
    url_words(url, |word| {
        encoder.push(word);
        address.push_str(word);
        address.push(' ');
    });
    document.add_text(fields.url_words, encoder.take());
    document.add_u64(fields.site, site_number(site(host(url))));
    for parent in with_parents(url.host_str().unwrap_or_default()) {
        document.add_text(fields.facts, Fact::Site(parent).term());
    }
    if let Some(ending) = file_type(url) {
        document.add_text(fields.facts, Fact::FileType(&ending).term());
    }
    address
}

/// Returns the names by which a page is asked for: its title, with and without what follows the last dash or bar, and
/// those of its host if it is the start page. Letters and digits alone.
fn names(title: &str, url: Option<&Url>) -> Vec<String> {
    let mut names = url.map(home_names).unwrap_or_default();
    let parts = [" - ", " | ", " — ", " – ", " · "].iter().filter_map(|sign| title.rsplit_once(sign));
    let shorter = parts.map(|(start, _)| start).max_by_key(|start| start.len());
    names.extend([Some(title), shorter].into_iter().flatten().map(joined));
    names.retain(|name| (1..=MOST_NAME).contains(&name.len()));
    names.sort();
    names.dedup();
    names
}

fn add_images(fields: &Fields, page: &IndexedPage, encoder: &mut Encoder, document: &mut TantivyDocument) {
    let fits = |image: &&PageImage| image.url.len() <= MOST_ADDRESS;
    let images: Vec<PageImage> = page.images.iter().filter(fits).take(MOST_IMAGES).map(shortened).collect();
    if images.is_empty() {
        return;
    }
    for image in &images {
        encoder.section(weight::ALT, &image.alt);
        encoder.section(1, &file_words(&image.url));
    }
    encoder.section(1, cut(&page.title, MOST_TITLE));
    document.add_text(fields.image_words, encoder.take());
    if let Ok(json) = serde_json::to_string(&images) {
        document.add_text(fields.images, json);
    }
}

fn shortened(image: &PageImage) -> PageImage {
    PageImage { alt: cut(&image.alt, MOST_TITLE).to_owned(), ..image.clone() }
}

/// Returns the words of the file name of an address.
pub(crate) fn file_words(url: &str) -> String {
    let Ok(url) = Url::parse(url) else { return String::new() };
    let name = url.path().rsplit('/').next().unwrap_or_default();
    let name = name.rsplit_once('.').map_or(name, |(name, _)| name);
    percent_encoding::percent_decode_str(name).decode_utf8_lossy().into_owned()
}

fn add_columns(fields: &Fields, page: &IndexedPage, document: &mut TantivyDocument) {
    document.add_text(fields.copy, &page.copy);
    document.add_bytes(fields.identity, Identity::of(&page.scope, &page.page_key).bytes());
    document.add_text(fields.scope, &page.scope);
    if let Some(published) = page.published {
        document.add_i64(fields.published, published);
    }
    document.add_i64(fields.fetched, page.fetched);
    let kind = if page.kind == PageKind::Document { flags::DOCUMENT } else { 0 };
    let news = if page.is_news && page.published.is_some() { flags::NEWS } else { 0 };
    document.add_u64(fields.flags, kind | news);
}

/// Returns the start of a text, at most `most` bytes long, cut between words where possible.
fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let start = &text[..end];
    start.rfind(char::is_whitespace).filter(|blank| *blank > most / 2).map_or(start, |blank| &start[..blank])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_names() {
        let url = Url::parse("https://www.kettle.io/").unwrap();
        assert_eq!(
            names("Welcome - tea & more | Kettle", Some(&url)),
            ["kettle", "kettleio", "welcometeamore", "welcometeamorekettle"]
        );
        assert_eq!(names("…", None), Vec::<String>::new());
    }

    #[test]
    fn texts_are_cut_between_words() {
        assert_eq!(cut("one two three", 9), "one two");
        assert_eq!(cut("one two three", 13), "one two three");
        assert_eq!(cut("éééééé", 5), "éé");
        assert_eq!(file_words("https://a.org/i/red%20car_1.jpg?w=3"), "red car_1");
    }
}
