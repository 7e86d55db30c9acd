//! An entry of a feed, or the feed itself: reading its elements and writing it as HTML.

use base::Stop;
use page::{Page, absolute};
use quick_xml::events::BytesStart;
use url::Url;

use super::source::{FeedReader, Inner, attribute};
use crate::clean::{html, push_escaped};
use crate::content::ContentOptions;
use crate::select::content;

/// Element names and conventions of a kind of feed.
pub(super) struct Dialect {
    /// Name of the element of an entry.
    pub(super) entry: &'static [u8],
    /// Names of container elements; their end also closes every unclosed element in them.
    pub(super) around: &'static [&'static [u8]],
    /// Whether texts without a `type` are HTML.
    has_markup: bool,
    /// Whether entries are only URLs: a sitemap.
    pub(super) is_list: bool,
}

const RSS: Dialect =
    Dialect { entry: b"item", around: &[b"item", b"channel", b"rss", b"RDF"], has_markup: true, is_list: false };
const ATOM: Dialect = Dialect { entry: b"entry", around: &[b"entry", b"feed"], has_markup: false, is_list: false };
const URLS: Dialect = Dialect { entry: b"url", around: &[b"url", b"urlset"], has_markup: false, is_list: true };
const SITEMAPS: Dialect =
    Dialect { entry: b"sitemap", around: &[b"sitemap", b"sitemapindex"], has_markup: false, is_list: true };

impl Dialect {
    /// Returns the dialect for the name of the root element.
    pub(super) fn of(root: &[u8]) -> Option<&'static Self> {
        Some(match root {
            b"rss" | b"RDF" | b"channel" => &RSS,
            b"feed" => &ATOM,
            b"urlset" => &URLS,
            b"sitemapindex" => &SITEMAPS,
            _ => return None,
        })
    }
}

/// Namespace prefixes whose names mean the same as those of the feeds: Dublin Core, RSS content, Atom, RSS 1.0.
const OWN_PREFIXES: [&[u8]; 4] = [b"dc", b"content", b"atom", b"rss"];
/// Elements that describe something other than the entry.
const FOREIGN: [&[u8]; 4] = [b"image", b"textInput", b"textinput", b"source"];

/// The known members of an entry. Texts are as written in the feed.
#[derive(Default)]
pub(super) struct Entry {
    title: Option<String>,
    link: Option<String>,
    date: Option<String>,
    author: Option<String>,
    /// HTML.
    summary: Option<String>,
    /// HTML.
    text: Option<String>,
    files: Vec<String>,
}

impl Entry {
    /// Reads the element that was started last, if it describes this entry.
    pub(super) fn read(&mut self, start: &BytesStart<'_>, dialect: &Dialect, source: &mut FeedReader<'_>) {
        let name = start.local_name();
        let prefix = start.name().prefix().map(|prefix| prefix.as_ref().to_vec());
        let is_own = prefix.is_none_or(|prefix| OWN_PREFIXES.contains(&prefix.as_slice()));
        let mut inner = || source.inner(start, dialect.around);
        // Elements of other vocabularies (such as `media:title`) never replace a known value.
        let set = |slot: &mut Option<String>, value: String| {
            if !value.trim().is_empty() && (is_own || slot.is_none()) {
                *slot = Some(value);
            }
        };
        match name.as_ref() {
            b"title" => set(&mut self.title, markup(start, inner(), dialect)),
            b"link" => self.read_link(start, &inner().text),
            b"loc" if is_own => set(&mut self.link, inner().text),
            b"guid" if attribute(start, "isPermaLink").is_none_or(|value| value != "false") => {
                let id = inner().text;
                if self.link.is_none() && id.trim_start().starts_with("http") {
                    self.link = Some(id);
                }
            }
            b"updated" | b"modified" | b"date" if self.date.is_some() => drop(inner()),
            b"pubDate" | b"published" | b"issued" | b"date" | b"updated" | b"modified" | b"lastmod" => {
                set(&mut self.date, inner().text);
            }
            b"author" | b"creator" => set(&mut self.author, person(inner())),
            b"description" | b"summary" | b"subtitle" | b"tagline" => {
                set(&mut self.summary, markup(start, inner(), dialect));
            }
            b"content" | b"encoded" if is_own => self.read_text(start, inner(), dialect),
            b"enclosure" => self.files.extend(attribute(start, "url")),
            other if FOREIGN.contains(&other) => drop(inner()),
            _ => {}
        }
    }

    /// Reads a link: Atom has the URL in an attribute, RSS in the text.
    fn read_link(&mut self, start: &BytesStart<'_>, text: &str) {
        let relation = attribute(start, "rel");
        let target = attribute(start, "href").unwrap_or_else(|| text.to_owned());
        match relation.as_deref() {
            _ if target.trim().is_empty() => {}
            Some("enclosure") => self.files.push(target),
            None | Some("alternate") => self.link = self.link.take().or(Some(target)),
            Some(_) => {}
        }
    }

    fn read_text(&mut self, start: &BytesStart<'_>, inner: Inner<'_>, dialect: &Dialect) {
        self.files.extend(attribute(start, "src"));
        let is_file = attribute(start, "type")
            .is_some_and(|kind| kind.contains('/') && !kind.starts_with("text/") && !kind.ends_with("xml"));
        if !is_file {
            let encoded = start.local_name().as_ref() == b"encoded";
            self.text = Some(if encoded { raw(inner) } else { markup(start, inner, dialect) });
        }
    }

    /// Writes the title and description for the `<head>` of the page.
    pub(super) fn write_head(&self, out: &mut String, url: &Url) {
        if let Some(title) = &self.title {
            out.push_str("<title>");
            push_escaped(out, &plain(title, url), false);
            out.push_str("</title>");
        }
        if let Some(summary) = &self.summary {
            out.push_str("<meta name=\"description\" content=\"");
            push_escaped(out, &plain(summary, url), true);
            out.push_str("\">");
        }
    }

    /// Writes the heading and description above all entries.
    pub(super) fn write_heading(&self, out: &mut String, url: &Url, stop: &Stop) {
        self.write_title(out, "h1", url);
        if let Some(summary) = &self.summary {
            out.push_str("<div>");
            out.push_str(&fragment(summary, url, stop));
            out.push_str("</div>");
        }
    }

    pub(super) fn write_article(&self, out: &mut String, url: &Url, stop: &Stop) {
        out.push_str("<article>");
        self.write_title(out, "h2", url);
        let about: Vec<&str> = [&self.date, &self.author].into_iter().flatten().map(|text| text.trim()).collect();
        if !about.is_empty() {
            out.push_str("<p>");
            push_escaped(out, &about.join(", "), false);
            out.push_str("</p>");
        }
        if let Some(text) = self.text.as_ref().or(self.summary.as_ref()) {
            out.push_str("<div>");
            out.push_str(&fragment(text, url, stop));
            out.push_str("</div>");
        }
        for file in &self.files {
            out.push_str("<p>");
            let shown = absolute(url, file).map_or_else(|| file.clone(), String::from);
            write_link(out, file, &shown);
            out.push_str("</p>");
        }
        out.push_str("</article>");
    }

    /// Writes an entry of a sitemap as an item of a list.
    pub(super) fn write_line(&self, out: &mut String, url: &Url) {
        let Some(link) = &self.link else { return };
        out.push_str("<li>");
        let title = self.title.as_ref().map(|title| plain(title, url));
        write_link(out, link, title.as_deref().unwrap_or(link.trim()));
        if let Some(date) = &self.date {
            out.push(' ');
            push_escaped(out, date.trim(), false);
        }
        out.push_str("</li>");
    }

    fn write_title(&self, out: &mut String, tag: &str, url: &Url) {
        let title = self.title.as_ref().map(|title| plain(title, url));
        let Some(title) = title.as_deref().or(self.link.as_deref().map(str::trim)) else { return };
        out.extend(["<", tag, ">"]);
        match &self.link {
            Some(link) => write_link(out, link, title),
            None => push_escaped(out, title, false),
        }
        out.extend(["</", tag, ">"]);
    }
}

fn write_link(out: &mut String, target: &str, text: &str) {
    out.push_str("<a href=\"");
    push_escaped(out, target.trim(), true);
    out.push_str("\">");
    push_escaped(out, text, false);
    out.push_str("</a>");
}

/// Returns the content of an element as HTML: by its `type`, else by the convention of the dialect.
fn markup(start: &BytesStart<'_>, inner: Inner<'_>, dialect: &Dialect) -> String {
    let kind = attribute(start, "type");
    match kind.as_deref() {
        _ if inner.markup.is_some() => raw(inner),
        Some("html" | "text/html" | "xhtml") => inner.text,
        None if dialect.has_markup => inner.text,
        _ => {
            let mut escaped = String::new();
            push_escaped(&mut escaped, &inner.text, false);
            escaped
        }
    }
}

fn raw(inner: Inner<'_>) -> String {
    inner.markup.map_or(inner.text, str::to_owned)
}

/// Returns the name of a person: Atom has it in an element of its own, beside URLs.
fn person(inner: Inner<'_>) -> String {
    let Some(markup) = inner.markup else { return inner.text };
    let name = markup.split_once("<name>").and_then(|(_, rest)| rest.split_once("</name>"));
    name.map_or(inner.text, |(name, _)| name.to_owned())
}

/// Returns the text of a piece of HTML on one line.
fn plain(markup: &str, url: &Url) -> String {
    let text = if markup.contains(['<', '&']) {
        let page = Page::parse(markup, url);
        page.text_of(0)
    } else {
        markup.to_owned()
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a piece of HTML with all its tags closed, so that it cannot swallow the next entry.
fn fragment(markup: &str, url: &Url, stop: &Stop) -> String {
    let page = Page::parse_until(markup, url, stop);
    let body =
        ContentOptions { only_main_content: false, include_tags: vec!["body".to_owned()], exclude_tags: Vec::new() };
    let html = html(&content(&page, &body));
    let inside = html.split_once('>').map_or("", |(_, inside)| inside);
    inside.strip_suffix("</body>").unwrap_or(inside).to_owned()
}
