//! A body while it is processed, and the formats made of it.

use std::cell::{Cell, OnceCell};

use base::Stop;
use base::address::is_route;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use branding::{Sample, Sheet};
use extract_product::Missing;
use fetch::{BodyKind, Fetched, Verdict, Why};
use formats::{Content, ContentOptions, Hidden, MarkdownOptions, Page, Rendering};
use serde::Deserialize as _;
use serde_json::{Map, Value};
use url::Url;
use wire::{AttributeValues, AttributesFormat, Branding, Document, Format, Menu, Product, ScrapeOptions};

use crate::document::Read;
use crate::needs_scripts::{asks_for_scripts, has_scripts, needs_scripts, says_more_without_scripts};
use crate::plain;

/// Body, by how it is processed. A new kind of body is a new variant.
pub(crate) enum Source<'a> {
    /// A parsed page.
    Page(Box<PageSource<'a>>),
    /// Text: JSON, markdown, plain text.
    Text(TextSource<'a>),
    /// Document from a reader.
    Document(&'a Read),
    /// Unprocessed file; every text format contains it in base64.
    Bytes(&'a [u8]),
}

/// Adds one format to the document. The match is exhaustive on purpose: a new format does not compile without a line
/// here. Formats that need more than the body are made in a later phase; those that this server does not support were
/// rejected before.
///
/// Returns the warning for a format that the body does not have.
pub(crate) fn add(format: &Format, source: &Source<'_>, document: &mut Document) -> Option<String> {
    match format {
        Format::Markdown => document.markdown = Some(source.markdown()),
        Format::Html => document.html = Some(source.html()),
        Format::RawHtml => document.raw_html = source.unread(),
        Format::RawBase64 => document.raw_base64 = source.unread(),
        Format::Links => document.links = Some(source.links()),
        Format::Images => document.images = Some(source.images()),
        Format::Attributes(wanted) => document.attributes = Some(source.attributes(wanted)),
        Format::Branding => document.branding = Some(source.branding()),
        Format::Product => match source.product() {
            Ok(product) => document.product = Some(product),
            Err(reason) => return Some(format!("no product found: {reason}")),
        },
        Format::Menu => match source.menu() {
            Ok(menu) => document.menu = Some(menu),
            Err(reason) => return Some(format!("no menu found: {reason}")),
        },
        Format::Summary
        | Format::Screenshot(_)
        | Format::Json(_)
        | Format::Audio
        | Format::Video
        | Format::Query(_)
        | Format::Question(_)
        | Format::Highlights(_)
        | Format::ChangeTracking(_) => {}
    }
    None
}

impl Source<'_> {
    pub(crate) fn markdown(&self) -> String {
        match self {
            Self::Page(page) => page.markdown(),
            Self::Text(text) => text.markdown(),
            Self::Document(read) => read.markdown(),
            Self::Bytes(bytes) => STANDARD.encode(bytes),
        }
    }

    /// Whether it is a parsed page.
    pub(crate) fn is_page(&self) -> bool {
        matches!(self, Self::Page(_))
    }

    fn html(&self) -> String {
        match self {
            Self::Page(page) => formats::html(page.content()),
            Self::Text(text) => plain::preformatted(text.text),
            Self::Document(read) => read.html(),
            Self::Bytes(bytes) => STANDARD.encode(bytes),
        }
    }

    /// Returns a raw file in base64, or the HTML of a document. Raw text is not copied here: it is moved into the
    /// document when no format needs it any more.
    fn unread(&self) -> Option<String> {
        match self {
            Self::Page(_) | Self::Text(_) => None,
            Self::Document(read) => Some(read.html()),
            Self::Bytes(bytes) => Some(STANDARD.encode(bytes)),
        }
    }

    pub(crate) fn links(&self) -> Vec<String> {
        match self {
            Self::Page(page) => page.links(),
            Self::Text(TextSource { text, url, stop, .. }) => formats::text_links(text, url, stop),
            Self::Document(read) => read.links(),
            Self::Bytes(_) => Vec::new(),
        }
    }

    fn images(&self) -> Vec<String> {
        match self {
            Self::Page(page) => formats::images(page.page),
            Self::Text(_) | Self::Document(_) | Self::Bytes(_) => Vec::new(),
        }
    }

    /// Returns one entry per requested selector, even if nothing matches.
    fn attributes(&self, wanted: &AttributesFormat) -> Vec<AttributeValues> {
        let find = |selector: &str, attribute: &str| match self {
            Self::Page(page) => formats::attributes(page.page, selector, attribute),
            Self::Text(_) | Self::Document(_) | Self::Bytes(_) => Vec::new(),
        };
        let entry = |one: &wire::AttributeSelector| AttributeValues {
            selector: one.selector.clone(),
            attribute: one.attribute.clone(),
            values: find(&one.selector, &one.attribute),
        };
        wanted.selectors.iter().map(entry).collect()
    }

    /// Returns the branding from computed styles, else from declared ones. Texts and files have none.
    fn branding(&self) -> Branding {
        match self {
            Self::Page(page) => page.branding(),
            Self::Text(_) | Self::Document(_) | Self::Bytes(_) => Branding::default(),
        }
    }

    /// Returns the product of a page, or the reason for none.
    fn product(&self) -> Result<Product, Missing> {
        match self {
            Self::Page(page) => extract_product::product(page.page),
            Self::Text(_) | Self::Document(_) | Self::Bytes(_) => Err(Missing::Other),
        }
    }

    /// Returns the menu of a page, or the reason for none.
    fn menu(&self) -> Result<Menu, Missing> {
        match self {
            Self::Page(page) => extract_product::menu(page.page),
            Self::Text(_) | Self::Document(_) | Self::Bytes(_) => Err(Missing::Other),
        }
    }

    /// Returns the page's own metadata.
    pub(crate) fn metadata(&self) -> Map<String, Value> {
        match self {
            Self::Page(page) => formats::metadata(page.page),
            Self::Document(read) => read.metadata(),
            Self::Text(text) if text.kind == BodyKind::Markdown => plain::about(text.text),
            Self::Text(_) | Self::Bytes(_) => Map::new(),
        }
    }

    /// Returns the warnings for the caller about the formats made so far.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let page = match self {
            Self::Page(page) => page,
            Self::Document(read) => return read.warnings(),
            Self::Text(_) | Self::Bytes(_) => return Vec::new(),
        };
        let cut = page.page.truncated().then_some(CUT);
        let bare = if page.origin == Origin::Rendered { BARE_FOR_GOOD } else { BARE };
        let declared = page.is_declared.get().then_some(DECLARED);
        cut.into_iter().chain(page.is_bare.get().then_some(bare)).chain(declared).map(str::to_owned).collect()
    }

    /// Whether another step may bring more of the page.
    pub(crate) fn verdict(&self) -> Verdict {
        match self {
            Self::Page(page) => page.verdict(),
            Self::Text(_) | Self::Document(_) | Self::Bytes(_) => Verdict::Good,
        }
    }
}

/// Warning for a page that shows nothing without scripts.
const BARE: &str = "the page shows nothing until its scripts run; only its title and description are returned";
/// Warning for a page that shows nothing even after its scripts have run.
const BARE_FOR_GOOD: &str = "the page shows nothing; only its title and description are returned";
/// Warning for branding from declared styles.
const DECLARED: &str = "branding is taken from the declared styles, as no browser has computed the styles in force";
/// Warning for a page that was not parsed to its end.
const CUT: &str = "the page is too large to be parsed whole: a part of it was left out";

/// Parsed page and its requested part, which is selected when the first format needs it.
pub(crate) struct PageSource<'a> {
    pub(crate) page: &'a Page,
    options: &'a ScrapeOptions,
    origin: Origin,
    besides: Besides,
    content: OnceCell<Content<'a>>,
    /// Whether the markdown was made and contains only the page's title and description.
    is_bare: Cell<bool>,
    /// Whether the branding was made from declared styles only.
    is_declared: Cell<bool>,
}

/// How the page was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// As the server sent it, with this status.
    Sent(u16),
    /// After its scripts have run.
    Rendered,
    /// As the server sent it, without scripts that could add anything: XML.
    Plain,
}

/// Facts about a page besides its body.
#[derive(Default)]
pub(crate) struct Besides {
    /// Computed styles from a browser.
    styles: Option<Sample>,
    /// Linked style sheets.
    sheets: Vec<Sheet>,
    /// Targets of the windows that the page tried to open.
    windows: Vec<String>,
    /// Whether the URL names a route (`#/…`, `#!…`), which only scripts can show.
    is_route: bool,
}

impl Besides {
    /// Takes these facts out of `fetched`.
    pub(crate) fn of(fetched: &mut Fetched, sheets: Vec<Sheet>) -> Self {
        let is_route = fetched.url.fragment().is_some_and(is_route);
        let Some(rendered) = &mut fetched.rendered else { return Self { sheets, is_route, ..Self::default() } };
        // An unreadable sample is treated as none.
        let styles = rendered.styles.take().and_then(|styles| Sample::deserialize(styles).ok());
        let windows = std::mem::take(&mut rendered.windows).into_iter().map(String::from).collect();
        Self { styles, sheets, windows, is_route }
    }
}

impl Origin {
    pub(crate) fn of(fetched: &Fetched) -> Self {
        match fetched.kind {
            _ if fetched.dom().is_some() => Self::Rendered,
            BodyKind::Html => Self::Sent(fetched.status),
            _ => Self::Plain,
        }
    }
}

impl<'a> PageSource<'a> {
    pub(crate) fn new(page: &'a Page, options: &'a ScrapeOptions, origin: Origin, besides: Besides) -> Self {
        let (is_bare, is_declared) = (Cell::new(false), Cell::new(false));
        Self { page, options, origin, besides, content: OnceCell::new(), is_bare, is_declared }
    }

    fn content(&self) -> &Content<'a> {
        self.content.get_or_init(|| content(self.page, self.options, self.origin))
    }

    fn markdown(&self) -> String {
        let remove_base64_images = self.options.remove_base64_images;
        let how = MarkdownOptions { remove_base64_images, ..MarkdownOptions::default() };
        self.or_about(formats::markdown(self.content(), &how))
    }

    /// Finds what readers do not see.
    pub(crate) fn hidden(&self) -> Hidden {
        let is_rendered = self.origin == Origin::Rendered;
        formats::hidden(self.content(), if is_rendered { Rendering::Browser } else { Rendering::None })
    }

    /// Returns markdown of what readers see, without embedded images. `made` is the markdown of the whole content, where
    /// it was made: often it is the same.
    pub(crate) fn seen_markdown(&self, hidden: &Hidden, made: Option<&str>) -> String {
        let made = made.filter(|_| self.options.remove_base64_images);
        if let Some(made) = made.filter(|_| self.content().is_all_seen(hidden)) {
            return made.to_owned();
        }
        let how = MarkdownOptions { only_seen: true, ..MarkdownOptions::default() };
        self.or_about(formats::markdown(&self.content().without(hidden), &how))
    }

    /// Returns the title and description of a page without visible text.
    fn or_about(&self, text: String) -> String {
        if !text.is_empty() || !self.may_be_bare() {
            return text;
        }
        let about = formats::about(self.page);
        self.is_bare.set(!about.is_empty());
        about
    }

    fn branding(&self) -> Branding {
        self.is_declared.set(self.besides.styles.is_none());
        match &self.besides.styles {
            Some(sample) => branding::computed(sample, self.page),
            None => branding::declared(self.page, &self.besides.sheets),
        }
    }

    /// Returns the links of the page, and those known only to its scripts: windows that it tried to open.
    fn links(&self) -> Vec<String> {
        self.with_windows(formats::links(self.page))
    }

    /// Returns the links and images that readers see.
    pub(crate) fn seen_links(&self, hidden: &Hidden) -> Vec<String> {
        let mut links = self.with_windows(formats::links_without(self.page, hidden));
        links.extend(formats::images_without(self.page, hidden));
        links
    }

    fn with_windows(&self, mut links: Vec<String>) -> Vec<String> {
        let others: Vec<_> = self.besides.windows.iter().filter(|url| !links.contains(url)).cloned().collect();
        links.extend(others);
        links
    }

    /// Judges the page as a whole, whichever parts were requested.
    fn verdict(&self) -> Verdict {
        match self.origin {
            Origin::Sent(_) if self.besides.is_route && has_scripts(self.page) => {
                Verdict::Better(Why::NeedsScripts("route"))
            }
            Origin::Sent(status) => match needs_scripts(self.page, status) {
                Some(mark) => Verdict::Better(Why::NeedsScripts(mark)),
                None => Verdict::Good,
            },
            Origin::Rendered | Origin::Plain => Verdict::Good,
        }
    }

    /// Whether empty markdown means an empty page. Where the caller selects parts, an empty result may be correct.
    fn may_be_bare(&self) -> bool {
        self.options.include_tags.is_empty() && self.options.exclude_tags.is_empty()
    }
}

/// Selects the main content, or the whole page if that is empty. The `noscript` content is used where the scripts have
/// shown almost nothing.
fn content<'p>(page: &'p Page, options: &ScrapeOptions, origin: Origin) -> Content<'p> {
    // A browser that runs scripts shows no `noscript`.
    let unseen = (origin == Origin::Rendered).then(|| "noscript".to_owned());
    let mut which = ContentOptions {
        // XML has no navigation around its content.
        only_main_content: options.only_main_content && origin != Origin::Plain,
        include_tags: options.include_tags.clone(),
        exclude_tags: options.exclude_tags.iter().cloned().chain(unseen).collect(),
    };
    let found = content_or_all(page, &mut which);
    let is_bare = || found.is_empty() || says_more_without_scripts(page);
    if origin != Origin::Rendered || asks_for_scripts(page) || !is_bare() {
        return found;
    }
    which.only_main_content = options.only_main_content;
    which.exclude_tags.pop();
    content_or_all(page, &mut which)
}

fn content_or_all<'p>(page: &'p Page, which: &mut ContentOptions) -> Content<'p> {
    let content = formats::content(page, which);
    if !which.only_main_content || !content.is_empty() {
        return content;
    }
    which.only_main_content = false;
    formats::content(page, which)
}

/// Body that is text.
pub(crate) struct TextSource<'a> {
    pub(crate) text: &'a str,
    pub(crate) kind: BodyKind,
    /// URL of the text, for relative links.
    pub(crate) url: &'a Url,
    /// Whether embedded images stay in the markdown.
    pub(crate) keeps_images: bool,
    pub(crate) stop: &'a Stop,
}

impl TextSource<'_> {
    fn markdown(&self) -> String {
        match self.kind {
            BodyKind::Json => plain::fenced(self.text, "json"),
            BodyKind::Markdown if !self.keeps_images => plain::without_embedded_images(self.text),
            _ => self.text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(html: &str, origin: Origin) -> String {
        let page = Page::parse(html, &Url::parse("https://a.test/").unwrap());
        let options = ScrapeOptions::default();
        formats::markdown(&content(&page, &options, origin), &MarkdownOptions::default())
    }

    #[test]
    fn noscript_stands_in_where_scripts_have_shown_next_to_nothing() {
        let post = "<p>I have always used linseed oil for my bench, and wonder what others of this forum take for theirs, and why.</p>";
        let check = |html: &str, expect: bool| {
            assert_eq!(shown(html, Origin::Rendered).contains("linseed"), expect, "{html}");
        };
        check(&format!("<div id=app></div><noscript>{post}</noscript>"), true);
        check(&format!("<div id=app>Loading</div><noscript>{post}</noscript>"), true);
        check(&format!("<p>{}</p><noscript>{post}{post}</noscript>", "The page itself. ".repeat(10)), false);
        check("<div id=app>Seen</div><noscript>linseed</noscript>", false);
        check("<div id=app></div><noscript>You need to enable JavaScript for linseed.</noscript>", false);
    }
}
