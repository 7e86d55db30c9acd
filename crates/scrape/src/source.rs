//! A body while it is read, and what each format takes of it.

use std::cell::{Cell, OnceCell};

use base::Stop;
use base::address::is_route;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use branding::{Sample, Sheet};
use fetch::{BodyKind, Fetched, Verdict, Why};
use formats::{Content, ContentOptions, MarkdownOptions, Page};
use serde::Deserialize as _;
use serde_json::{Map, Value};
use url::Url;
use wire::{AttributeValues, AttributesFormat, Branding, Document, Format, ScrapeOptions};

use crate::document::Read;
use crate::needs_scripts::{asks_for_scripts, has_scripts, needs_scripts, says_more_without_scripts};
use crate::plain;

/// The body, by how it is read. A kind of body that is read in a new way is one more of these.
pub(crate) enum Source<'a> {
    /// A parsed page.
    Page(Box<PageSource<'a>>),
    /// Text already: JSON, markdown, plain text.
    Text(TextSource<'a>),
    /// A document that a reader has read.
    Document(&'a Read),
    /// A file that is not read: in base64 it stands for every text format.
    Bytes(&'a [u8]),
}

/// Adds one format to the document: the table of all there are. One without a line here does not compile; one that needs
/// more than the body is made in a later phase, and those that this server lacks the means for were refused before.
pub(crate) fn add(format: &Format, source: &Source<'_>, document: &mut Document) {
    match format {
        Format::Markdown => document.markdown = Some(source.markdown()),
        Format::Html => document.html = Some(source.html()),
        Format::RawHtml => document.raw_html = source.unread(),
        Format::RawBase64 => document.raw_base64 = source.unread(),
        Format::Links => document.links = Some(source.links()),
        Format::Images => document.images = Some(source.images()),
        Format::Attributes(wanted) => document.attributes = Some(source.attributes(wanted)),
        Format::Branding => document.branding = Some(source.branding()),
        Format::Summary
        | Format::Screenshot(_)
        | Format::Json(_)
        | Format::Product
        | Format::Menu
        | Format::Audio
        | Format::Video
        | Format::Query(_)
        | Format::Question(_)
        | Format::Highlights(_)
        | Format::ChangeTracking(_) => {}
    }
}

impl Source<'_> {
    fn markdown(&self) -> String {
        match self {
            Self::Page(page) => page.markdown(),
            Self::Text(text) => text.markdown(),
            Self::Document(read) => read.markdown(),
            Self::Bytes(bytes) => STANDARD.encode(bytes),
        }
    }

    fn html(&self) -> String {
        match self {
            Self::Page(page) => formats::html(page.content()),
            Self::Text(text) => plain::preformatted(text.text),
            Self::Document(read) => read.html(),
            Self::Bytes(bytes) => STANDARD.encode(bytes),
        }
    }

    /// A file as it came, in base64; of a document that was read, the page that stands for it. Text as it came is not copied
    /// here: it is moved into the document once no format reads it any more.
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

    /// One entry per selector that was asked for, also when nothing matches.
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

    /// What somebody has seen of the page, else what it declares. A text or a file has no look of its own.
    fn branding(&self) -> Branding {
        match self {
            Self::Page(page) => page.branding(),
            Self::Text(_) | Self::Document(_) | Self::Bytes(_) => Branding::default(),
        }
    }

    /// What the page says about itself.
    pub(crate) fn metadata(&self) -> Map<String, Value> {
        match self {
            Self::Page(page) => formats::metadata(page.page),
            Self::Document(read) => read.metadata(),
            Self::Text(text) if text.kind == BodyKind::Markdown => plain::about(text.text),
            Self::Text(_) | Self::Bytes(_) => Map::new(),
        }
    }

    /// What the caller should know about what was made of it so far.
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

    /// Whether another way to the page may bring more.
    pub(crate) fn verdict(&self) -> Verdict {
        match self {
            Self::Page(page) => page.verdict(),
            Self::Text(_) | Self::Document(_) | Self::Bytes(_) => Verdict::Good,
        }
    }
}

/// Said with a page that has nothing to show.
const BARE: &str = "the page shows nothing until its scripts run: only its title and description are given";
/// The same where its scripts have run.
const BARE_FOR_GOOD: &str = "the page shows nothing: only its title and description are given";
/// Said with branding that was not seen.
const DECLARED: &str = "branding is what the page declares: no browser has told which styles are in force";
/// Said with a page that was not read to its end.
const CUT: &str = "the page is too large to be read whole: a part of it was left out";

/// A parsed page, and the part of it that was asked for, which is chosen when the first format needs it.
pub(crate) struct PageSource<'a> {
    page: &'a Page,
    options: &'a ScrapeOptions,
    origin: Origin,
    besides: Besides,
    content: OnceCell<Content<'a>>,
    /// Whether its markdown was made, and is only what the page says about itself.
    is_bare: Cell<bool>,
    /// Whether its branding was made, and is only what the page declares.
    is_declared: Cell<bool>,
}

/// How a page was come by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// As the server sent it, with this status.
    Sent(u16),
    /// As its scripts have made it.
    Rendered,
    /// As it was sent, and no script can add anything: XML.
    Plain,
}

/// What is known of a page besides its body.
#[derive(Default)]
pub(crate) struct Besides {
    /// What a browser has seen of its styles.
    styles: Option<Sample>,
    /// The style sheets that it links to.
    sheets: Vec<Sheet>,
    /// Where windows were to go that it wanted to open.
    windows: Vec<String>,
    /// Whether its address names a route (`#/…`, `#!…`), which only its scripts know.
    is_route: bool,
}

impl Besides {
    /// Takes what `fetched` brought besides a body.
    pub(crate) fn of(fetched: &mut Fetched, sheets: Vec<Sheet>) -> Self {
        let is_route = fetched.url.fragment().is_some_and(is_route);
        let Some(rendered) = &mut fetched.rendered else { return Self { sheets, is_route, ..Self::default() } };
        // A sample that cannot be read says no more than none.
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
        let text = formats::markdown(self.content(), &how);
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

    /// Those of the page, and those that only its scripts know: windows that it wanted to open.
    fn links(&self) -> Vec<String> {
        let mut links = formats::links(self.page);
        let others: Vec<_> = self.besides.windows.iter().filter(|url| !links.contains(url)).cloned().collect();
        links.extend(others);
        links
    }

    /// The page is judged as a whole, whatever parts of it were asked for.
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

    /// Where the caller chose the parts of a page, nothing may be what was asked for.
    fn may_be_bare(&self) -> bool {
        self.options.include_tags.is_empty() && self.options.exclude_tags.is_empty()
    }
}

/// The main content; the whole page when nothing of the main content is left. What a page keeps for readers without scripts
/// stands in where its scripts have shown nothing.
fn content<'p>(page: &'p Page, options: &ScrapeOptions, origin: Origin) -> Content<'p> {
    // A browser that runs scripts shows nothing of it.
    let unseen = (origin == Origin::Rendered).then(|| "noscript".to_owned());
    let mut which = ContentOptions {
        // No frame stands around what is no page.
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

/// A body that is text already.
pub(crate) struct TextSource<'a> {
    pub(crate) text: &'a str,
    pub(crate) kind: BodyKind,
    /// Where it was found.
    pub(crate) url: &'a Url,
    /// Whether embedded images stay in markdown.
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
