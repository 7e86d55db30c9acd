//! Classification of a page as documentation.

use page::{Element, LocalName, Page, local_name};

use super::names::{self, Sign};

/// Least elements of code and definitions with which a page counts as documentation despite previews, data for search
/// engines, or a link to a social network.
const CODE: u32 = 5;
/// Limit on the images of a page; one with more elements of code may have as many images as those.
const IMAGES: u32 = 12;
/// Limit on scripts from other sites: news and shop pages have dozens.
const FOREIGN: u32 = 2;

/// Namespace of HTML elements, as opposed to SVG and MathML.
const HTML: &str = "http://www.w3.org/1999/xhtml";
/// Limit on social networks that a documentation page links to.
const NETWORKED: u32 = 2;
/// Limit on the articles, and on the comments, of a documentation page.
const MANY: u32 = 3;

/// Counts that separate documentation from news, blogs, forums and shops.
#[derive(Debug, Default)]
struct Signs {
    /// Whether a documentation program generated the page.
    known: bool,
    /// Whether a general content management system generated the page.
    general: bool,
    /// Links to each of [`NETWORKS`], as bits.
    networks: u32,
    /// Number of Open Graph properties.
    previews: u32,
    says_article: bool,
    data: u32,
    foreign: u32,
    fields: u32,
    articles: u32,
    times: u32,
    images: u32,
    code: u32,
    comments: u32,
    /// Number of comments that may be remarks of the author.
    remarks: u32,
}

/// Social networks that news, shop and blog pages link to.
const NETWORKS: [&str; 9] = [
    "facebook.com",
    "twitter.com",
    "instagram.com",
    "linkedin.com",
    "pinterest.com",
    "youtube.com",
    "x.com",
    "t.me",
    "vk.com",
];

/// Documentation programs, by their name in `<meta name="generator">`, in lower case.
const GENERATORS: [&str; 32] = [
    "antora",
    "asciidoc",
    "docbook",
    "docfx",
    "docusaurus",
    "docutils",
    "dokuwiki",
    "doxygen",
    "exdoc",
    "gitbook",
    "gtk-doc",
    "haddock",
    "javadoc",
    "latex2html",
    "linuxdoc",
    "makeinfo",
    "mdbook",
    "mediawiki",
    "mintlify",
    "mkdocs",
    "nextra",
    "odoc",
    "pandoc",
    "pkgdown",
    "quarto",
    "rdoc",
    "rustdoc",
    "sphinx",
    "starlight",
    "texi2html",
    "vitepress",
    "yard",
];

/// General content management systems, by their name in `<meta name="generator">`, in lower case.
const SYSTEMS: [&str; 16] = [
    "blogger",
    "contao",
    "drupal",
    "ghost",
    "government site builder",
    "joomla",
    "magento",
    "open journal systems",
    "prestashop",
    "shopify",
    "squarespace",
    "typo3",
    "webflow",
    "weebly",
    "wix",
    "wordpress",
];

/// Whether the page is documentation by its markup.
pub(super) fn is_manual(page: &Page) -> bool {
    let mut signs = Signs::default();
    for index in page.positions() {
        if let Some(element) = page.element(index) {
            signs.add(element);
            if signs.known || signs.are_clear() {
                return signs.known;
            }
        }
    }
    signs.are_of_a_manual()
}

impl Signs {
    /// Whether the page is certainly not documentation, so that the scan can end early.
    fn are_clear(&self) -> bool {
        self.general || self.networks.count_ones() > NETWORKED || self.articles > MANY || self.comments > MANY
    }

    fn are_of_a_manual(&self) -> bool {
        if self.known {
            return true;
        }
        let is_quiet = self.networks == 0 && self.previews == 0 && self.data == 0 && self.foreign <= FOREIGN;
        // Documentation may call its own remarks comments, but has more code than those.
        let are_remarks = is_quiet && self.comments == self.remarks;
        let comments = if are_remarks { (self.code / 2).clamp(1, MANY) } else { 1 };
        let alone = self.articles <= 1 && self.times <= 1 && self.fields == 0 && self.comments <= comments;
        let is_technical = self.code >= CODE && self.networks.count_ones() <= 1 && !self.says_article;
        alone && !self.general && self.images <= IMAGES.max(self.code) && (is_quiet || is_technical)
    }

    fn add(&mut self, element: &Element) {
        let name = &element.name.local;
        match *name {
            local_name!("meta") => self.meta(element),
            local_name!("a") => {
                let href = element.attrs.iter().find(|attribute| attribute.name.local == local_name!("href"));
                if let Some(network) = href.and_then(|href| network(&href.value)) {
                    self.networks |= 1 << network;
                }
            }
            local_name!("script") => {
                self.data += u32::from(element.attr("type").is_some_and(|kind| &*kind == "application/ld+json"));
                self.foreign += u32::from(element.attr("src").is_some_and(|source| is_foreign(&source)));
            }
            local_name!("textarea") => self.fields += 1,
            local_name!("article") => self.articles += 1,
            local_name!("time") => self.times += 1,
            local_name!("img") => self.images += 1,
            local_name!("pre") | local_name!("code") | local_name!("tt") | local_name!("dl") => self.code += 1,
            _ => {}
        }
        if is_box_like(name) {
            for token in names::tokens(element) {
                match names::sign(token) {
                    Some(Sign::Generator) => self.known = true,
                    // Class names in SVG have other meanings.
                    _ if &*element.name.ns != HTML => {}
                    Some(Sign::Comment) => self.comments += 1,
                    Some(Sign::Remark) => {
                        self.comments += 1;
                        self.remarks += 1;
                    }
                    Some(Sign::Thread) => self.comments += 2,
                    None => {}
                }
            }
        }
    }

    fn meta(&mut self, element: &Element) {
        let value = element.attr("content").unwrap_or_default();
        let Some(name) = element.attr("name").or_else(|| element.attr("property")) else { return };
        if name.eq_ignore_ascii_case("generator") {
            let made_by = value.get(..value.len().min(200)).unwrap_or_default().to_ascii_lowercase();
            self.known |= GENERATORS.iter().any(|known| made_by.starts_with(known));
            self.general |= SYSTEMS.iter().any(|known| made_by.starts_with(known));
        } else if name.starts_with("og:") {
            self.previews += 1;
            self.says_article |= &*name == "og:type" && value.starts_with("article");
        }
    }
}

/// Returns the position in [`NETWORKS`] of the site that a link leads to.
fn network(href: &str) -> Option<usize> {
    let href = href.trim_start();
    let behind = ["https://", "http://", "//"].into_iter().find_map(|start| href.strip_prefix(start))?;
    let host = behind.strip_prefix("www.").unwrap_or(behind);
    let ends = |behind: &str| behind.is_empty() || behind.starts_with(['/', '?', '#', ':']);
    NETWORKS.iter().position(|known| host.strip_prefix(known).is_some_and(ends))
}

/// Whether a URL has a host. Pages mostly load scripts of their own site by path.
fn is_foreign(source: &str) -> bool {
    source.starts_with("//") || source.starts_with("http:") || source.starts_with("https:")
}

/// Whether an element's class and id are evidence about the page; those of inline elements, headings and code are not.
fn is_box_like(name: &LocalName) -> bool {
    !matches!(
        *name,
        local_name!("a")
            | local_name!("b")
            | local_name!("code")
            | local_name!("em")
            | local_name!("h1")
            | local_name!("h2")
            | local_name!("h3")
            | local_name!("h4")
            | local_name!("i")
            | local_name!("img")
            | local_name!("p")
            | local_name!("pre")
            | local_name!("span")
            | local_name!("strong")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str, expect: bool) {
        let page = Page::parse(html, &url::Url::parse("https://a.test/").unwrap());
        assert_eq!(is_manual(&page), expect, "{html}");
    }

    #[test]
    fn a_page_without_signs_of_the_press_is_a_manual() {
        check("<h1>Saw</h1><p>Cut along the line.", true);
        check("<meta property=og:title content=Saw><h1>Saw</h1><p>Cut along the line.", false);
        check("<h1>Saw</h1><p>Cut along the line.<a href='https://www.facebook.com/saws'>Follow us</a>", false);
        check("<h1>Saw</h1><p>Cut.<form><textarea></textarea></form>", false);
        check(&"<script src=//ads.test/a.js></script>".repeat(3), false);
        check("<article>One</article><article>Two</article>", false);
        check("<p>Cut.<div class=comments><div class=comment>First!</div></div>", false);
    }

    #[test]
    fn a_few_remarks_that_a_manual_calls_comments_do_not_make_it_a_forum() {
        let remarks = "<div class=comment>Mind the blade.</div>".repeat(2);
        let code = "<pre>saw</pre>".repeat(4);
        check(&format!("{remarks}{code}"), true);
        check(&format!("<svg>{}</svg>", "<text class=comment>blade</text>".repeat(9)), true);
        check(&format!("<div id=mdbook-menu-bar-hover-placeholder></div>{}", remarks.repeat(4)), true);
        check(&format!("{remarks}{remarks}{code}"), false);
        check(&format!("{remarks}{code}<form><textarea></textarea></form>"), false);
        check(&format!("{remarks}<pre>saw</pre>"), false);
        check(&format!("<div class=comments><div class=comment>First!</div></div>{code}"), false);
        check(&format!("<div id=disqus_thread></div>{code}"), false);
    }

    #[test]
    fn code_outweighs_one_link_to_a_network() {
        let code = "<code>saw</code>".repeat(5);
        check(&format!("<meta property=og:title content=Saw>{code}<a href=//twitter.com/saws>News</a>"), true);
        check(&format!("{code}<a href=//twitter.com/saws>News</a><a href=//facebook.com/saws>News</a>"), false);
    }

    #[test]
    fn the_program_that_made_a_page_is_known() {
        check("<meta name=generator content='Docutils 0.19'><meta property=og:title content=Saw><p>Cut.", true);
        check("<meta name=generator content='WordPress 6'><p>Cut.", false);
        check("<meta property=og:type content=article><div class='vp-doc _guide'><p>Cut.</div>", true);
    }

    #[test]
    fn programs_are_sorted() {
        assert!(GENERATORS.is_sorted() && SYSTEMS.is_sorted());
    }
}
