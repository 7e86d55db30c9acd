//! Parser for all formats of sitemaps, from tokens to pages.

use super::encoding::Decoder;
use super::entry::{Tag, plain, words};
use super::scan::{Scanner, Token};
use super::{MAX_SITEMAP_BYTES, MAX_SITEMAP_NESTING, MAX_SITEMAP_URLS, Sitemap, SitemapKind, SitemapUrl};

/// Maximum length of an element's value in bytes; the rest is dropped.
const MAX_VALUE: usize = 8192;
const MAX_TITLE: usize = 300;
const MAX_DESCRIPTION: usize = 500;

/// Incremental parser of a sitemap: XML sitemaps, indexes, RSS, Atom and plain text, in UTF-8 or UTF-16. From malformed
/// input it returns what is readable. Gzip must be decoded before.
#[derive(Debug, Default)]
pub struct SitemapParser {
    found: ParserState,
    decoder: Decoder,
    scanner: Scanner,
    bytes: usize,
    /// Decoded text that is not scanned yet.
    text: Vec<u8>,
    /// Whether the first character was `<`.
    is_xml: bool,
    is_done: bool,
}

/// State and results of the parser.
#[derive(Debug, Default)]
struct ParserState {
    sitemap: Sitemap,
    takes_sitemaps: bool,
    /// The open entry, and whether it is a sitemap of an index.
    entry: Option<(SitemapUrl, bool)>,
    /// Permanent identifier of a feed entry, used as its URL when it has no link.
    guid: Option<String>,
    /// The field whose value is being read.
    field: Option<Field>,
    value: Vec<u8>,
    /// Number of pages already returned.
    taken: usize,
    is_over: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Field {
    Loc,
    Guid,
    Lastmod,
    Priority,
    Title,
    Description,
}

impl SitemapParser {
    /// Creates a parser for a sitemap that was reached through `nesting` indexes. From [`MAX_SITEMAP_NESTING`] on, the
    /// sitemaps that it lists are ignored.
    #[must_use]
    pub fn new(nesting: u8) -> Self {
        let found = ParserState { takes_sitemaps: nesting < MAX_SITEMAP_NESTING, ..Default::default() };
        Self { found, ..Default::default() }
    }

    /// Parses the next piece. Returns false when a limit is reached or the file is not a sitemap, so that the download can
    /// be aborted.
    pub fn feed(&mut self, piece: &[u8]) -> bool {
        if self.is_done {
            return false;
        }
        let room = MAX_SITEMAP_BYTES - self.bytes;
        let piece = if piece.len() > room {
            self.found.sitemap.is_cut = true;
            self.is_done = true;
            &piece[..room]
        } else {
            piece
        };
        self.bytes += piece.len();
        // Split, so that the memory is bounded for pieces of any size.
        for part in piece.chunks(64 * 1024) {
            self.decoder.decode(part, &mut self.text);
            self.scan();
            if self.found.is_over {
                self.is_done = true;
                break;
            }
        }
        !self.is_done
    }

    /// Removes and returns the pages read since the last call, so that a large sitemap needs little memory.
    pub fn take_pages(&mut self) -> Vec<SitemapUrl> {
        self.found.taken += self.found.sitemap.pages.len();
        std::mem::take(&mut self.found.sitemap.pages)
    }

    /// Ends the parser and returns the content, without the pages already taken.
    #[must_use]
    pub fn finish(mut self) -> Sitemap {
        self.decoder.finish(&mut self.text);
        self.text.push(b'\n');
        self.scan();
        if !self.found.is_over {
            self.found.close_field();
            self.found.close_entry();
        }
        self.found.sitemap
    }

    fn scan(&mut self) {
        if self.found.sitemap.kind == SitemapKind::Unknown && !self.is_xml {
            let Some(start) = self.text.iter().position(|byte| !byte.is_ascii_whitespace()) else {
                self.text.clear();
                return;
            };
            self.is_xml = self.text[start] == b'<';
            if !self.is_xml {
                self.found.sitemap.kind = SitemapKind::Text;
            }
        }
        if self.found.sitemap.kind == SitemapKind::Text {
            return self.lines();
        }
        let text = std::mem::take(&mut self.text);
        self.scanner.feed(&text, &mut |token| self.found.take(token));
        self.text = text;
        self.text.clear();
    }

    /// Parses plain text: one URL per line.
    fn lines(&mut self) {
        let end = self.text.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
        for line in self.text[..end].split(|byte| matches!(byte, b'\n' | b'\r')) {
            let loc = String::from_utf8_lossy(line.trim_ascii());
            if is_address(&loc) && loc.len() <= MAX_VALUE && !loc.contains(char::is_whitespace) {
                self.found.add_page(SitemapUrl { loc: loc.into_owned(), ..Default::default() });
            }
        }
        self.text.drain(..end);
        // An overlong line is not a URL and must not grow the buffer.
        if self.text.len() > MAX_VALUE {
            self.text.truncate(MAX_VALUE + 1);
        }
    }
}

impl ParserState {
    fn take(&mut self, token: Token<'_>) -> bool {
        match token {
            Token::Text(text) if self.field.is_some() => {
                let room = MAX_VALUE.saturating_sub(self.value.len());
                self.value.extend_from_slice(&text[..text.len().min(room)]);
            }
            Token::Text(_) => {}
            Token::Tag(raw) => {
                let raw = String::from_utf8_lossy(raw);
                self.tag(&Tag::parse(&raw));
            }
        }
        !self.is_over
    }

    fn tag(&mut self, tag: &Tag<'_>) {
        self.close_field();
        if self.sitemap.kind == SitemapKind::Unknown && !tag.is_end {
            self.root(&tag.name);
        }
        if tag.is_media() {
            return;
        }
        match (tag.name.as_str(), tag.is_end) {
            ("url" | "sitemap" | "item" | "entry", true) => self.close_entry(),
            ("item" | "entry", false) => self.open_entry(false),
            // The image of a feed has a `<url>` too.
            ("url", false) if !self.is_feed() => self.open_entry(false),
            ("sitemap", false) => self.open_entry(true),
            ("loc", false) => self.open_field(Field::Loc),
            ("lastmod" | "pubdate" | "updated" | "modified" | "date", false) => self.open_field(Field::Lastmod),
            ("priority", false) => self.open_field(Field::Priority),
            ("title", false) => self.open_field(Field::Title),
            ("description" | "summary", false) => self.open_field(Field::Description),
            ("guid", false) if tag.attribute("isPermaLink").is_none_or(|value| value != "false") => {
                self.open_field(Field::Guid);
            }
            ("link", false) => self.link(tag),
            _ => {}
        }
    }

    /// Sets the format by the root element.
    fn root(&mut self, name: &str) {
        self.sitemap.kind = match name {
            "sitemapindex" => SitemapKind::Index,
            "rss" | "rdf" | "channel" => SitemapKind::Rss,
            "feed" => SitemapKind::Atom,
            "html" | "head" | "body" | "title" | "meta" | "script" | "div" | "p" | "h1" | "a" | "center" => {
                SitemapKind::Html
            }
            _ => SitemapKind::UrlSet,
        };
        self.is_over = self.sitemap.kind == SitemapKind::Html;
    }

    fn open_entry(&mut self, is_sitemap: bool) {
        // The previous entry may not have been closed.
        self.close_entry();
        self.entry = Some((SitemapUrl::default(), is_sitemap));
    }

    fn open_field(&mut self, field: Field) {
        // The title and link of a feed itself are not those of a page, but a `<loc>` outside any entry of a sitemap counts.
        if self.entry.is_some() || (field == Field::Loc && !self.is_feed()) {
            self.field = Some(field);
        }
    }

    /// Handles `<link>`: contains a URL in RSS, has it as an attribute in Atom, and is another language in a sitemap.
    fn link(&mut self, tag: &Tag<'_>) {
        let Some(href) = tag.attribute("href") else {
            if self.sitemap.kind == SitemapKind::Rss {
                self.open_field(Field::Loc);
            }
            return;
        };
        let relation = tag.attribute("rel").unwrap_or_else(|| "alternate".to_owned());
        if !relation.split_whitespace().any(|word| word.eq_ignore_ascii_case("alternate")) || href.is_empty() {
            return;
        }
        let is_feed = self.is_feed();
        match &mut self.entry {
            Some((entry, false)) if is_feed && entry.loc.is_empty() => entry.loc = href,
            Some((_, true)) => self.add_sitemap(href),
            Some((_, false)) if !is_feed => self.add_alternate(href),
            _ => {}
        }
    }

    fn is_feed(&self) -> bool {
        matches!(self.sitemap.kind, SitemapKind::Atom | SitemapKind::Rss)
    }

    fn close_field(&mut self) {
        let Some(field) = self.field.take() else { return };
        let value = std::mem::take(&mut self.value);
        let value = String::from_utf8_lossy(&value);
        let text = || Some(plain(value.trim()).trim().to_owned()).filter(|text| !text.is_empty());
        if self.entry.is_none() {
            // A URL outside any entry: the tag of the entry is missing.
            self.entry = Some((SitemapUrl::default(), self.sitemap.kind == SitemapKind::Index));
        }
        let Some((entry, _)) = &mut self.entry else { return };
        match field {
            // A second URL in an entry: the tags between the two are missing.
            Field::Loc if !entry.loc.is_empty() && self.sitemap.kind != SitemapKind::Rss => {
                let loc = text().unwrap_or_default();
                let is_sitemap = self.sitemap.kind == SitemapKind::Index;
                self.open_entry(is_sitemap);
                if let Some((entry, _)) = &mut self.entry {
                    entry.loc = loc;
                }
            }
            Field::Loc if entry.loc.is_empty() => entry.loc = text().unwrap_or_default(),
            Field::Loc => {}
            Field::Guid => self.guid = text().filter(|guid| is_address(guid)),
            Field::Lastmod => entry.lastmod = text().or(entry.lastmod.take()),
            Field::Priority => {
                entry.priority = value.trim().parse().ok().filter(|number| (0.0..=1.0).contains(number));
            }
            Field::Title => entry.title = Some(words(&value, MAX_TITLE)).filter(|title| !title.is_empty()),
            Field::Description => {
                entry.description = Some(words(&value, MAX_DESCRIPTION)).filter(|text| !text.is_empty());
            }
        }
    }

    fn close_entry(&mut self) {
        let guid = self.guid.take();
        let Some((mut entry, is_sitemap)) = self.entry.take() else { return };
        if let Some(guid) = guid.filter(|_| entry.loc.is_empty()) {
            entry.loc = guid;
        }
        if entry.loc.is_empty() || entry.loc.len() >= MAX_VALUE {
            return;
        }
        if is_sitemap { self.add_sitemap(entry.loc) } else { self.add_page(entry) }
    }

    fn add_page(&mut self, page: SitemapUrl) {
        if self.taken + self.sitemap.pages.len() < MAX_SITEMAP_URLS {
            self.sitemap.pages.push(page);
        } else {
            self.sitemap.is_cut = true;
            self.is_over = true;
        }
    }

    fn add_sitemap(&mut self, loc: String) {
        if self.takes_sitemaps && self.sitemap.sitemaps.len() < MAX_SITEMAP_URLS {
            self.sitemap.sitemaps.push(loc);
        } else {
            self.sitemap.is_cut = true;
        }
    }

    fn add_alternate(&mut self, loc: String) {
        if self.sitemap.alternates.len() < MAX_SITEMAP_URLS {
            self.sitemap.alternates.push(loc);
        } else {
            self.sitemap.is_cut = true;
        }
    }
}

fn is_address(text: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| text.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, kind: SitemapKind, pages: &[&str]) -> Sitemap {
        let whole = Sitemap::parse(input.as_bytes(), 0);
        let found: Vec<&str> = whole.pages.iter().map(|page| page.loc.as_str()).collect();
        assert_eq!((whole.kind, found.as_slice()), (kind, pages), "{input}");
        for size in [1, 5] {
            let mut parser = SitemapParser::new(0);
            input.as_bytes().chunks(size).for_each(|piece| {
                parser.feed(piece);
            });
            assert_eq!(parser.finish(), whole, "{input} in pieces of {size}");
        }
        whole
    }

    #[test]
    fn url_sets() {
        let found = check(
            "<?xml version='1.0'?>\n<urlset xmlns='x'><url>\n<loc> https://a.test/?x=1&amp;y=2 </loc>\
             <lastmod>2024-01-02</lastmod><priority>0.8</priority>\
             <image:image><image:loc>https://a.test/i.png</image:loc><image:title>No</image:title></image:image></url>\
             <url><loc><![CDATA[ https://a.test/?x=1&y=2 ]]></loc><priority>7</priority>\
             <news:news><news:title>News &amp; more</news:title></news:news></url></urlset>",
            SitemapKind::UrlSet,
            &["https://a.test/?x=1&y=2", "https://a.test/?x=1&y=2"],
        );
        assert_eq!(found.pages[0].lastmod.as_deref(), Some("2024-01-02"));
        assert_eq!((found.pages[0].priority, found.pages[1].priority), (Some(0.8), None));
        assert_eq!((found.pages[0].title.as_deref(), found.pages[1].title.as_deref()), (None, Some("News & more")));
    }

    #[test]
    fn other_languages_are_links() {
        let found = check(
            "<urlset><url><loc>https://a.test/en</loc><xhtml:link rel='alternate' hreflang='de' href='https://a.test/de'/>\
             </url><sitemap><loc>s.xml.gz</loc></sitemap></urlset>",
            SitemapKind::UrlSet,
            &["https://a.test/en"],
        );
        assert_eq!(found.alternates, ["https://a.test/de"]);
        assert_eq!(found.sitemaps, ["s.xml.gz"]);
    }

    #[test]
    fn indexes() {
        let input = "<sitemapindex><sitemap><loc>/a.xml</loc></sitemap><sitemap>\n<loc><![CDATA[/b.xml]]></loc>";
        assert_eq!(check(input, SitemapKind::Index, &[]).sitemaps, ["/a.xml", "/b.xml"]);
        let deep = Sitemap::parse(input.as_bytes(), MAX_SITEMAP_NESTING);
        assert!(deep.sitemaps.is_empty() && deep.is_cut);
    }

    #[test]
    fn feeds() {
        let found = check(
            "<rss><channel><title>Feed</title><link>https://a.test/</link><atom:link rel='self' href='/f.rss'/>\
             <item><title>One &lt;b&gt;1&lt;/b&gt;</title><description><![CDATA[<p>Words</p>]]></description>\
             <link>https://a.test/1</link><guid isPermaLink='false'>x</guid><pubDate>Sun, 06 Nov 1994</pubDate></item>\
             <item><guid>https://a.test/2</guid></item></channel></rss>",
            SitemapKind::Rss,
            &["https://a.test/1", "https://a.test/2"],
        );
        assert_eq!(found.pages[0].title.as_deref(), Some("One 1"));
        assert_eq!(found.pages[0].description.as_deref(), Some("Words"));
        check(
            "<feed><link href='https://a.test/'/><entry><link rel='edit' href='/edit'/><link href='/1'/></entry>\
             <entry><link rel='self' href='/2'/></entry><entry><link rel='alternate' href='/3'/></entry></feed>",
            SitemapKind::Atom,
            &["/1", "/3"],
        );
    }

    #[test]
    fn plain_text() {
        check(
            "\u{feff}https://a.test/1\r\n  HTTPS://a.test/2 \nnot one\n/3\nhttps://a.test/4",
            SitemapKind::Text,
            &["https://a.test/1", "HTTPS://a.test/2", "https://a.test/4"],
        );
        check("{\"a\": 1}", SitemapKind::Text, &[]);
        check("", SitemapKind::Unknown, &[]);
    }

    #[test]
    fn broken_xml() {
        check("<urlset><url><loc>/a<url><loc>/b</loc>", SitemapKind::UrlSet, &["/a", "/b"]);
        check("<urlset><loc>/a</loc><loc>/b</loc></urlset>", SitemapKind::UrlSet, &["/a", "/b"]);
        check("<urlset><url><loc>/a</loc></url><url><loc>/b</lo", SitemapKind::UrlSet, &["/a", "/b"]);
        check("<URLSET><ns:url><ns:LOC>/a</ns:LOC></ns:url>&bad;<url/><url><loc/></url>", SitemapKind::UrlSet, &["/a"]);
        check("<html><body><urlset><url><loc>/a</loc></url>", SitemapKind::Html, &[]);
        check("<!DOCTYPE html><title>404</title>", SitemapKind::Html, &[]);
    }

    #[test]
    fn entities_of_a_document_type_are_not_resolved() {
        check(
            "<!DOCTYPE l [<!ENTITY a 'lol'><!ENTITY b '&a;&a;'>]><urlset><url><loc>/&b;</loc></url></urlset>",
            SitemapKind::UrlSet,
            &["/&b;"],
        );
    }

    #[test]
    fn limits() {
        let mut many = SitemapParser::new(0);
        let mut count = 0;
        while many.feed(b"<url><loc>/a</loc></url>") {
            count += many.take_pages().len();
            assert!(count <= MAX_SITEMAP_URLS);
        }
        assert!(count == MAX_SITEMAP_URLS && many.finish().is_cut);
        let mut endless = SitemapParser::new(0);
        let piece = vec![b'x'; 1 << 20];
        assert_eq!((0..100).take_while(|_| endless.feed(&piece)).count(), 50);
        assert!(endless.finish().is_cut);
    }
}
