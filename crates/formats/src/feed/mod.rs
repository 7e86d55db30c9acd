//! Conversion of feeds and sitemaps to HTML pages, which every format can read.
//!
//! Parsed directly as HTML they would lose most of their content: `<title>` is not shown there, and `<link>` is empty.

mod entry;
mod source;

use base::Stop;
use url::Url;

use crate::clean::push_escaped;
use entry::{Dialect, Entry};
use source::{FeedReader, Tag, attribute};

/// Limit on the entries of one feed; the sitemaps.org protocol allows no more in a sitemap.
const MAX_ENTRIES: usize = 50_000;
/// Limit on the entries as HTML, in bytes; further ones are left out.
const MAX_BYTES: usize = 48 << 20;

/// Converts a feed to an HTML page: a heading with its title, then an article with title, link, date, author, text and
/// files of each entry. Supports RSS (0.9 to 2.0, including RDF), Atom (RFC 4287), and sitemaps, which become a list of
/// links. Returns `None` for other XML.
///
/// ```
/// let url = url::Url::parse("https://a.test/feed").unwrap();
/// let rss = "<rss><channel><title>News</title><item><title>Ice</title><link>/ice</link></item></channel></rss>";
/// let html = formats::feed_page(rss, &url, &base::Stop::new()).unwrap();
/// assert!(html.contains(r#"<article><h2><a href="/ice">Ice</a></h2></article>"#));
/// ```
pub fn feed_page(xml: &str, url: &Url, stop: &Stop) -> Option<String> {
    let mut source = FeedReader::new(xml);
    let Tag::Start(root) = source.next()? else { return None };
    let dialect = Dialect::of(root.local_name().as_ref())?;
    let mut language = attribute(&root, "lang");
    let (mut about, mut entries) = (Entry::default(), Entries::default());
    let mut entry: Option<Entry> = None;
    while let Some(tag) = source.next().filter(|_| !stop.is_set() && entries.has_room()) {
        match tag {
            Tag::Start(start) if start.local_name().as_ref() == dialect.entry => {
                // An unclosed entry ends where the next one begins.
                entries.add(entry.replace(Entry::default()), dialect, url, stop);
            }
            Tag::Start(start) if entry.is_none() && start.local_name().as_ref() == b"language" => {
                language = Some(source.inner(&start, dialect.around).text);
            }
            Tag::Start(start) => entry.as_mut().unwrap_or(&mut about).read(&start, dialect, &mut source),
            Tag::End(name) if name == dialect.entry => entries.add(entry.take(), dialect, url, stop),
            Tag::End(_) => {}
        }
    }
    entries.add(entry, dialect, url, stop);
    let list = if dialect.is_list { ("<ul>", "</ul>") } else { ("", "") };
    let entries = [list.0, &entries.html, list.1].concat();
    Some(page(&about, language.as_deref().map(str::trim), &entries, url, stop))
}

/// The entries read so far, as HTML.
#[derive(Default)]
struct Entries {
    html: String,
    count: usize,
}

impl Entries {
    fn has_room(&self) -> bool {
        self.count < MAX_ENTRIES && self.html.len() < MAX_BYTES
    }

    fn add(&mut self, entry: Option<Entry>, dialect: &Dialect, url: &Url, stop: &Stop) {
        if let Some(entry) = entry.filter(|_| self.has_room()) {
            self.count += 1;
            match dialect.is_list {
                true => entry.write_line(&mut self.html, url),
                false => entry.write_article(&mut self.html, url, stop),
            }
        }
    }
}

fn page(about: &Entry, language: Option<&str>, entries: &str, url: &Url, stop: &Stop) -> String {
    let mut out = String::with_capacity(entries.len() + 1024);
    out.push_str("<!doctype html><html");
    if let Some(language) = language.filter(|language| !language.is_empty()) {
        out.push_str(" lang=\"");
        push_escaped(&mut out, language, true);
        out.push('"');
    }
    out.push_str("><head>");
    about.write_head(&mut out, url);
    out.push_str("</head><body><main>");
    about.write_heading(&mut out, url, stop);
    out.push_str(entries);
    out.push_str("</main></body></html>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContentOptions, MarkdownOptions, Page, content, links, markdown, metadata};

    fn url() -> Url {
        Url::parse("https://a.test/news/feed.xml").unwrap()
    }

    fn read(xml: &str) -> String {
        feed_page(xml, &url(), &Stop::new()).unwrap()
    }

    fn check(xml: &str, expect: &str) {
        let page = Page::parse(&read(xml), &url());
        let whole = ContentOptions { only_main_content: false, ..ContentOptions::default() };
        let text = markdown(&content(&page, &whole), &MarkdownOptions::default());
        assert_eq!(text, expect, "{xml}\n{}", read(xml));
    }

    #[test]
    fn rss_keeps_titles_and_links() {
        check(
            "<?xml version='1.0'?><rss version='2.0' xmlns:atom='http://www.w3.org/2005/Atom' xmlns:content='c' xmlns:dc='d'>
            <channel><title>News of the quarry</title><link>https://a.test/</link><atom:link href='/feed' rel='self'/>
            <description>What happened</description><language>en-gb</language>
            <image><title>Logo</title><url>/logo.png</url><link>/elsewhere</link></image>
            <item><title>Lake &amp;amp; ice &lt;i&gt;frozen&lt;/i&gt;</title><link> /lake?a=1&amp;b=2 </link>
              <pubDate>Mon, 23 Nov 2026 10:00:00 GMT</pubDate><dc:creator>I. Wexcombe</dc:creator>
              <description>Short</description><content:encoded><![CDATA[<p>Four <b>inches</b> & <a href=\"more\">more</a>]]></content:encoded>
              <enclosure url='https://a.test/ice.mp3' type='audio/mpeg'/></item>
            <item><guid>https://a.test/second</guid><description>Only &lt;em&gt;this&lt;/em&gt; &amp;eacute;</description></item>
            <item><title>No link</title><guid isPermaLink='false'>x1</guid></item></channel></rss>",
            "# [News of the quarry](https://a.test/)\n\nWhat happened\n\n\
            ## [Lake & ice frozen](https://a.test/lake?a=1&b=2)\n\nMon, 23 Nov 2026 10:00:00 GMT, I. Wexcombe\n\n\
            Four **inches** & [more](https://a.test/news/more)\n\n[https://a.test/ice.mp3](https://a.test/ice.mp3)\n\n\
            ## [https://a.test/second](https://a.test/second)\n\nOnly _this_ é\n\n## No link",
        );
    }

    #[test]
    fn atom_knows_kinds_of_text() {
        check(
            "<feed xmlns='http://www.w3.org/2005/Atom' xml:lang='de'><title type='text'>A &lt;b&gt; tag</title>
            <link rel='self' href='/feed'/><link href='/'/><subtitle>Notes</subtitle>
            <entry><title type='html'>One &lt;b&gt;bold&lt;/b&gt;</title><link rel='alternate' href='one'/>
              <link rel='enclosure' href='one.pdf'/><author><name>Ada</name><uri>x</uri></author><updated>2026-11-23</updated>
              <summary>1 &lt; 2</summary></entry>
            <entry><title>Two</title><id>urn:x</id><content type='xhtml'><div xmlns='x'><p>In <em>place</em></p></div></content></entry>
            </feed>",
            "# [A &lt;b> tag](https://a.test/)\n\nNotes\n\n## [One bold](https://a.test/news/one)\n\n2026-11-23, Ada\n\n1 < 2\n\n\
            [https://a.test/news/one.pdf](https://a.test/news/one.pdf)\n\n## Two\n\nIn _place_",
        );
    }

    #[test]
    fn sitemaps_are_lists_of_links() {
        let xml = "<urlset xmlns='x'><url><loc>https://a.test/1?a&amp;b</loc><lastmod>2026-01-02</lastmod></url>
            <url><loc>/2</loc><image:image><image:loc>/p.png</image:loc><image:title>p</image:title></image:image></url></urlset>";
        check(xml, "- [https://a.test/1?a&b](https://a.test/1?a&b) 2026-01-02\n- [/2](https://a.test/2)");
        check("<sitemapindex><sitemap><loc>/s.xml</loc></sitemap></sitemapindex>", "- [/s.xml](https://a.test/s.xml)");
        assert_eq!(links(&Page::parse(&read(xml), &url())), ["https://a.test/1?a&b", "https://a.test/2"]);
    }

    #[test]
    fn careless_feeds_keep_what_they_can() {
        // A bare ampersand, an unclosed entry and title, a text that is cut off inside a tag.
        check(
            "<rss><channel><title>A & B</title><item><title>Salt & pepper</title><description>&lt;p&gt;cut &lt;a href='/x</description></item>
            <item><title>Two<item><title>Three</title></item></channel>",
            "# A & B\n\n## Salt & pepper\n\ncut\n\n## TwoThree",
        );
        check("<rss><channel><item><title>One</title><link/></item><item></ite", "## One");
        let page =
            Page::parse(&read("<RDF><channel><title>T</title></channel><item><title>I</title></item></RDF>"), &url());
        assert_eq!(metadata(&page)["title"], "T");
        for other in ["<book><title>x</title></book>", "", "<rss", "text", "</rss>"] {
            assert_eq!(feed_page(other, &url(), &Stop::new()), None, "{other}");
        }
    }

    #[test]
    fn one_entry_cannot_swallow_the_next() {
        let bad = ["&lt;!--", "&lt;plaintext&gt;", "&lt;textarea&gt;", "&lt;/article&gt;&lt;/main&gt;&lt;script&gt;"];
        for bad in bad {
            let xml = format!(
                "<rss><channel><item><description>{bad}</description></item><item><title>Next</title></item></channel></rss>"
            );
            let page = Page::parse(&read(&xml), &url());
            let text = markdown(&content(&page, &ContentOptions::default()), &MarkdownOptions::default());
            assert!(text.ends_with("## Next"), "{xml}\n{text}");
        }
    }
}
