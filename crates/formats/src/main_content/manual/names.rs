//! Names in classes and ids that documentation uses, and words of its furniture.

use page::{Element, LocalName, local_name};

use crate::callout::WORDS;

/// What a class or an id says of a part of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// A part of the site, whatever it holds.
    Site,
    /// Mostly a part of the site, where it holds links.
    Place,
    /// Text that opens.
    Opens,
    /// The head of the site, where the title stands elsewhere.
    Top,
    LineNumber,
}

/// What a class or an id says of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// A program that writes documentation made it.
    Generator,
    Comment,
    /// A comment, or a remark of the author.
    Remark,
    /// Posts of a forum, or comments kept by another site.
    Thread,
}

/// Bytes of names that are looked at.
const MAX_NAMES: usize = 400;

/// The classes and ids of an element.
pub(super) fn tokens(element: &Element) -> impl Iterator<Item = &str> {
    let is_name = |name: &LocalName| matches!(*name, local_name!("class") | local_name!("id"));
    let names = element.attrs.iter().filter(move |attribute| is_name(&attribute.name.local));
    names
        .filter(|attribute| attribute.value.len() <= MAX_NAMES)
        .flat_map(|attribute| attribute.value.split_ascii_whitespace())
}

/// What a name says of its element, whatever its case.
pub(super) fn mark(token: &str) -> Option<Mark> {
    let mut lower = [0; MAX_NAME];
    let lower = lowered(token, &mut lower)?;
    find(&MARKS, lower).or_else(|| is_compound_place(lower).then_some(Mark::Place))
}

/// What a name says of the page, whatever its case.
pub(super) fn sign(token: &str) -> Option<Sign> {
    // This is asked of every name of every page.
    let first = token.as_bytes().first()?.to_ascii_lowercase();
    if token.len() > MAX_NAME || LENGTHS[usize::from(first)] >> token.len() & 1 == 0 {
        return None;
    }
    let mut lower = [0; MAX_NAME];
    find(&SIGNS, lowered(token, &mut lower)?)
}

/// Bytes of the longest name that is known.
const MAX_NAME: usize = 40;

/// For each first letter, the lengths of the [`SIGNS`] that begin with it, as bits.
const LENGTHS: [u64; 256] = {
    let mut lengths = [0; 256];
    let mut at = 0;
    while at < SIGNS.len() {
        let name = SIGNS[at].0.as_bytes();
        lengths[name[0] as usize] |= 1 << name.len();
        at += 1;
    }
    lengths
};

fn lowered<'l>(token: &str, lower: &'l mut [u8; MAX_NAME]) -> Option<&'l [u8]> {
    let lower = lower.get_mut(..token.len())?;
    lower.copy_from_slice(token.as_bytes());
    lower.make_ascii_lowercase();
    Some(lower)
}

fn find<T: Copy>(names: &[(&str, T)], lower: &[u8]) -> Option<T> {
    names.binary_search_by(|(known, _)| known.as_bytes().cmp(lower)).ok().map(|at| names[at].1)
}

/// `page-sidebar`, `site_footer`, `bd-sidebar-primary`: one of the parts says what it is.
fn is_compound_place(lower: &[u8]) -> bool {
    let mut parts = lower.split(|byte| matches!(byte, b'-' | b'_')).filter(|part| part.len() < lower.len());
    parts.any(|part| PLACES.iter().any(|place| place.as_bytes() == part))
}

/// The words of a name: `see-also`, `seeAlso`.
pub(super) fn parts(token: &str) -> impl Iterator<Item = &str> {
    token.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty())
}

/// Whether a class is that of a note, a warning or the like within a text.
pub(super) fn is_callout(token: &str) -> bool {
    let mut lower = [0; MAX_NAME];
    let Some(lower) = lowered(token, &mut lower) else { return false };
    let mut words = lower.split(|byte| !byte.is_ascii_alphanumeric());
    words.any(|word| WORDS.iter().any(|known| known.as_bytes() == word))
}

/// Whether a line is made of nothing but words that lead around a manual.
pub(super) fn is_way(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(|word| WAYS.iter().any(|way| way.eq_ignore_ascii_case(word)))
}

/// Whether a short line is a label of the site, such as "On this page".
pub(super) fn is_label(text: &str) -> bool {
    let text = plain(text);
    LABELS.contains(&&*text) || is_question(&text)
}

/// Whether a short line stands over a list of the page's own parts.
pub(super) fn opens_contents(text: &str) -> bool {
    matches!(
        &*plain(text),
        "contents" | "in this article" | "in this section" | "on this page" | "page contents" | "table of contents"
    )
}

/// Whether a short line asks readers what they think of the page.
pub(super) fn is_question(text: &str) -> bool {
    let text = plain(text);
    (text.starts_with("was this") || text.starts_with("did this") || text.starts_with("is this"))
        && ["helpful", "help you", "useful"].iter().any(|word| text.contains(word))
}

/// Whether a line is an answer to such a question.
pub(super) fn is_answer(text: &str) -> bool {
    matches!(
        &*plain(text),
        "" | "yes"
            | "no"
            | "yes no"
            | "👍"
            | "👎"
            | "submit"
            | "send feedback"
            | "thank you"
            | "thanks for your feedback"
    )
}

fn plain(text: &str) -> String {
    text.trim().trim_end_matches(['?', '!', '.', ':', '…', '↑', '→']).trim_end().to_lowercase()
}

/// Whether a line at the end of a page is about the page or who made it.
pub(super) fn is_note_of_site(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '©' && c != '(').to_lowercase();
    NOTES.iter().any(|note| text.starts_with(note))
}

const PLACES: [&str; 19] = [
    "breadcrumb",
    "breadcrumbs",
    "cookie",
    "cookies",
    "feedback",
    "footer",
    "menu",
    "nav",
    "navbar",
    "navigation",
    "newsletter",
    "pager",
    "pagination",
    "related",
    "share",
    "sharing",
    "sidebar",
    "social",
    "toc",
];

const WAYS: [&str; 24] = [
    "back", "chapter", "contact", "contacts", "contents", "forward", "home", "index", "main", "map", "next", "of",
    "overview", "page", "prev", "previous", "site", "sitemap", "table", "the", "to", "toc", "top", "up",
];

const LABELS: [&str; 34] = [
    "back to top",
    "copied",
    "copy",
    "copy code",
    "copy page",
    "copy to clipboard",
    "edit",
    "edit on github",
    "edit on gitlab",
    "edit page",
    "edit source",
    "edit this page",
    "edit this page on github",
    "go to top",
    "in this article",
    "on this page",
    "permalink",
    "print",
    "print this page",
    "report an issue",
    "report issue",
    "return to top",
    "scroll to top",
    "show source",
    "skip navigation links",
    "skip to content",
    "skip to main content",
    "skip to navigation",
    "source",
    "suggest edits",
    "view page source",
    "view source",
    "was this helpful",
    "was this page helpful",
];

const NOTES: [&str; 30] = [
    "(c) ",
    "all rights reserved",
    "built with",
    "copyright",
    "created with",
    "created using",
    "documentation generated",
    "edit on ",
    "edit this page",
    "found a",
    "generated by",
    "generated on",
    "generated using",
    "improve this page",
    "last change",
    "last modified",
    "last revised",
    "last update",
    "made with",
    "page last",
    "powered by",
    "produced by",
    "rendered by",
    "report a bug",
    "report an issue",
    "suggest edit",
    "this document was generated",
    "this page last",
    "this page was",
    "©",
];

/// Names of parts of pages, in lower case and sorted.
#[rustfmt::skip]
const MARKS: [(&str, Mark); 250] = [
    ("accordion", Mark::Opens), ("accordion-body", Mark::Opens), ("accordion-collapse", Mark::Opens),
    ("accordion-content", Mark::Opens), ("accordion-panel", Mark::Opens), ("actions", Mark::Place),
    ("ads", Mark::Place), ("anchor-link", Mark::Site), ("anchorjs-link", Mark::Site), ("article-footer", Mark::Site),
    ("back-to-top", Mark::Site), ("back-to-top-button", Mark::Site), ("banner", Mark::Top),
    ("bd-header-article", Mark::Site), ("bd-toc", Mark::Site), ("blob-num", Mark::LineNumber),
    ("bottomlang", Mark::Site), ("bottomnav", Mark::Site), ("breadcrumb", Mark::Place), ("breadcrumbs", Mark::Place),
    ("catlinks", Mark::Site), ("class-metadata", Mark::Site), ("clipboard-button", Mark::Site),
    ("code-line-number", Mark::LineNumber), ("collapse", Mark::Opens), ("collapsed-content", Mark::Opens),
    ("collapsible", Mark::Opens), ("consent-banner", Mark::Site), ("content-icon-container", Mark::Site),
    ("contentsub", Mark::Site), ("cookie", Mark::Place), ("cookie-banner", Mark::Site),
    ("cookie-consent", Mark::Site), ("cookie-notice", Mark::Site), ("cookies", Mark::Place),
    ("copy-button", Mark::Site), ("copy-code-button", Mark::Site), ("copybtn", Mark::Site),
    ("doc-feedback", Mark::Site), ("doc-footer", Mark::Site), ("doc-nav", Mark::Place), ("docnav", Mark::Site),
    ("docs-footer", Mark::Site), ("docs-nav", Mark::Place), ("edit-link", Mark::Site), ("edit-on-github", Mark::Site),
    ("edit-page-link", Mark::Site), ("edit-this-page", Mark::Site), ("editsection", Mark::Site),
    ("expandable", Mark::Opens), ("faq-answer", Mark::Opens), ("feedback", Mark::Place),
    ("feedback-toolbar", Mark::Site), ("feedback-widget", Mark::Site), ("file-metadata", Mark::Site),
    ("footer", Mark::Place), ("footer-relations", Mark::Site), ("footer-wrapper", Mark::Site),
    ("gdpr-banner", Mark::Site), ("github-edit-link", Mark::Site), ("gutter", Mark::LineNumber),
    ("gutter-line-number", Mark::LineNumber), ("hash-link", Mark::Site), ("header-anchor", Mark::Site),
    ("header-wrapper", Mark::Site), ("headerlink", Mark::Site), ("helpful-widget", Mark::Site),
    ("helpfulness", Mark::Site), ("hljs-ln-numbers", Mark::LineNumber), ("in-page-nav", Mark::Place),
    ("jump-to-nav", Mark::Site), ("left-nav", Mark::Place), ("left-sidebar", Mark::Place),
    ("line-num", Mark::LineNumber), ("line-number", Mark::LineNumber), ("line-numbers-rows", Mark::LineNumber),
    ("line-numbers-wrapper", Mark::LineNumber), ("lineno", Mark::LineNumber), ("linenodiv", Mark::Site),
    ("linenos", Mark::LineNumber), ("linenumber", Mark::LineNumber), ("linenumbers", Mark::LineNumber),
    ("link-list", Mark::Place), ("ln", Mark::LineNumber), ("ln-num", Mark::LineNumber), ("lnt", Mark::LineNumber),
    ("localtoc", Mark::Place), ("mainleft", Mark::Site), ("mainmenu", Mark::Site), ("masthead", Mark::Top),
    ("md-content__button", Mark::Site), ("md-feedback", Mark::Site), ("md-footer", Mark::Site),
    ("md-header", Mark::Site), ("md-path", Mark::Site), ("md-sidebar", Mark::Site), ("md-source-file", Mark::Site),
    ("md-tabs", Mark::Site), ("mdbook-help-container", Mark::Site), ("menu", Mark::Place), ("menu-bar", Mark::Site),
    ("metadata", Mark::Place), ("method-click-advice", Mark::Site), ("minitoc", Mark::Place),
    ("mobile-nav-chapters", Mark::Site), ("more-content", Mark::Opens), ("msearchbox", Mark::Site),
    ("msearchresultswindow", Mark::Site), ("msearchselectwindow", Mark::Site), ("mw-editsection", Mark::Site),
    ("mw-jump-link", Mark::Site), ("nav", Mark::Place), ("nav-links", Mark::Site), ("nav-next", Mark::Site),
    ("nav-panel", Mark::Site), ("nav-path", Mark::Site), ("nav-previous", Mark::Site),
    ("nav-wide-wrapper", Mark::Site), ("nav-wrapper", Mark::Site), ("nav_wrap", Mark::Site), ("navbar", Mark::Place),
    ("navbox", Mark::Site), ("navfooter", Mark::Site), ("navheader", Mark::Site), ("navigation", Mark::Place),
    ("navigationbar", Mark::Site), ("navigationlinks", Mark::Place), ("navpanel", Mark::Site), ("navrow", Mark::Site),
    ("navrow1", Mark::Site), ("navrow2", Mark::Site), ("navrow3", Mark::Site), ("navrow4", Mark::Site),
    ("navrow5", Mark::Site), ("newsletter", Mark::Place), ("on-this-page", Mark::Place), ("onthispage", Mark::Place),
    ("package-header", Mark::Site), ("page-feedback", Mark::Site), ("page-footer", Mark::Place),
    ("page-header", Mark::Top), ("page-helpful", Mark::Site), ("page-menu", Mark::Place), ("page-nav", Mark::Site),
    ("page-navigation", Mark::Site), ("page-toc", Mark::Place), ("pageheader", Mark::Top), ("pageinfo", Mark::Place),
    ("pager", Mark::Place), ("pagination", Mark::Place), ("pagination-links", Mark::Site),
    ("pagination-nav", Mark::Site), ("panel-collapse", Mark::Opens), ("post-navigation", Mark::Site),
    ("prev-next", Mark::Site), ("prev-next-area", Mark::Site), ("prev-next-bottom", Mark::Site),
    ("prev-next-footer", Mark::Site), ("prevnext", Mark::Place), ("printfooter", Mark::Site),
    ("project-metadata", Mark::Site), ("project-navigation", Mark::Site), ("promo", Mark::Place),
    ("quickview", Mark::Place), ("rail", Mark::Place), ("react-syntax-highlighter-line-number", Mark::LineNumber),
    ("read-more", Mark::Opens), ("related", Mark::Place), ("related-links", Mark::Place), ("right-nav", Mark::Place),
    ("right-sidebar", Mark::Place), ("rouge-gutter", Mark::LineNumber), ("rst-breadcrumbs-buttons", Mark::Site),
    ("rst-footer-buttons", Mark::Site), ("rst-versions", Mark::Site), ("search", Mark::Place),
    ("search-box", Mark::Place), ("search-wrapper", Mark::Site), ("searchbox", Mark::Place),
    ("searchmenu", Mark::Site), ("selflink", Mark::Site), ("share", Mark::Place), ("share-buttons", Mark::Site),
    ("sharebuttons", Mark::Site), ("show-more", Mark::Opens), ("side-nav", Mark::Site), ("sidebar", Mark::Place),
    ("site-footer", Mark::Place), ("site-header", Mark::Top), ("sitesub", Mark::Site), ("skip-link", Mark::Site),
    ("skip-nav", Mark::Site), ("skip-to-content", Mark::Site), ("skip-to-main", Mark::Site),
    ("skiptocontent", Mark::Site), ("sl-anchor-link", Mark::Site), ("social", Mark::Place),
    ("social-share", Mark::Site), ("sphinxsidebar", Mark::Site), ("spoiler", Mark::Opens),
    ("spoiler-content", Mark::Opens), ("sponsor", Mark::Place), ("sponsors", Mark::Place), ("sub-nav", Mark::Site),
    ("submenu", Mark::Site), ("subnav", Mark::Site), ("subscribe", Mark::Place), ("summary_toggle", Mark::Site),
    ("tab-content", Mark::Opens), ("tab-pane", Mark::Opens), ("tab-panel", Mark::Opens),
    ("tabbed-block", Mark::Opens), ("tabcontent", Mark::Opens), ("table-of-contents", Mark::Place),
    ("tableofcontents", Mark::Place), ("tabpanel", Mark::Opens), ("tabs__item", Mark::Opens),
    ("tagline", Mark::Place), ("theme-doc-breadcrumbs", Mark::Site), ("theme-doc-footer", Mark::Site),
    ("theme-doc-toc-desktop", Mark::Site), ("theme-doc-toc-mobile", Mark::Site),
    ("theme-doc-version-badge", Mark::Site), ("theme-edit-this-page", Mark::Site), ("theme-last-updated", Mark::Site),
    ("titlearea", Mark::Site), ("toc", Mark::Place), ("toggle-content", Mark::Opens), ("toggle-source", Mark::Site),
    ("top-nav", Mark::Site), ("toplang", Mark::Site), ("topnav", Mark::Site), ("validator-badges", Mark::Site),
    ("version-dropdown", Mark::Site), ("version-picker", Mark::Site), ("version-selector", Mark::Site),
    ("version-switcher", Mark::Site), ("versionid", Mark::Site), ("viewcode-back", Mark::Site),
    ("viewcode-link", Mark::Site), ("vpdocaside", Mark::Site), ("vpdocasideoutline", Mark::Site),
    ("vpdocfooter", Mark::Site), ("vplocalnav", Mark::Site), ("vpnav", Mark::Site), ("vpsidebar", Mark::Site),
    ("was-this-helpful", Mark::Site), ("wy-breadcrumbs", Mark::Site), ("wy-nav-side", Mark::Site),
    ("wy-nav-top", Mark::Site),
];

/// Names that tell what a page is, in lower case and sorted.
#[rustfmt::skip]
const SIGNS: [(&str, Sign); 59] = [
    ("bd-article-container", Sign::Generator), ("blockpost", Sign::Thread), ("bodywrapper", Sign::Generator),
    ("comment", Sign::Remark), ("comment-body", Sign::Comment), ("comment-content", Sign::Comment),
    ("comment-list", Sign::Comment), ("comment-text", Sign::Comment), ("comment-wrapper", Sign::Comment),
    ("commentarea", Sign::Comment), ("commentlist", Sign::Comment), ("comments", Sign::Comment),
    ("comments-area", Sign::Comment), ("disqus_thread", Sign::Thread), ("docbook", Sign::Generator),
    ("docs-story", Sign::Generator), ("documentwrapper", Sign::Generator), ("dokuwiki", Sign::Generator),
    ("doxygen-awesome", Sign::Generator), ("forumpost", Sign::Thread), ("gitbook-root", Sign::Generator),
    ("headertitle", Sign::Generator), ("markdown-section", Sign::Generator), ("md-content__inner", Sign::Generator),
    ("md-main", Sign::Generator), ("mdbook-body-container", Sign::Generator),
    ("mdbook-help-container", Sign::Generator), ("mdbook-menu-bar-hover-placeholder", Sign::Generator),
    ("mdx-content", Sign::Generator), ("menu-bar-hover-placeholder", Sign::Generator),
    ("mw-content-text", Sign::Generator), ("mw-parser-output", Sign::Generator), ("nextra-content", Sign::Generator),
    ("odoc", Sign::Generator), ("odoc-content", Sign::Generator), ("post-body", Sign::Thread),
    ("post-content-wrapper", Sign::Thread), ("postbody", Sign::Thread), ("postleft", Sign::Thread),
    ("postlist", Sign::Thread), ("postprofile", Sign::Thread), ("postright", Sign::Thread),
    ("refentry", Sign::Generator), ("rst-content", Sign::Generator), ("rustdoc", Sign::Generator),
    ("sect1", Sign::Generator), ("sidebar-scrollbox", Sign::Generator), ("sl-markdown-content", Sign::Generator),
    ("sphinxsidebarwrapper", Sign::Generator), ("theme-doc-markdown", Sign::Generator),
    ("theme-doc-sidebar-container", Sign::Generator), ("titlepage", Sign::Generator),
    ("toctree-wrapper", Sign::Generator), ("topic-body", Sign::Thread), ("usercomment", Sign::Comment),
    ("vp-doc", Sign::Generator), ("vpdoc", Sign::Generator), ("wiki-content", Sign::Generator),
    ("wy-nav-content", Sign::Generator),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_fit() {
        assert!(MARKS.is_sorted_by(|a, b| a.0 < b.0) && SIGNS.is_sorted_by(|a, b| a.0 < b.0));
        let mut names = MARKS.iter().map(|(name, _)| name).chain(SIGNS.iter().map(|(name, _)| name));
        assert!(names.all(|name| name.len() <= MAX_NAME && !name.contains(|c: char| c.is_ascii_uppercase())));
    }

    #[test]
    fn lines_of_the_site_are_known_by_their_words() {
        assert!(is_way("Next: | Previous | Up"));
        assert!(!is_way("Next steps") && !is_way("--"));
        assert!(is_label(" Was this page helpful? ") && is_label("On this page"));
        assert!(is_label("Did this page help you?") && is_answer("Yes") && opens_contents("On this page"));
        assert!(!is_label("Copy the file") && !is_label("This is useful") && !is_answer("Yes, it is"));
        assert!(is_note_of_site("© 2024 The authors") && is_note_of_site("Last updated on Monday"));
        assert!(!is_note_of_site("The copyright of a file"));
    }

    #[test]
    fn callouts_are_known_by_a_word_of_their_class() {
        assert!(
            ["admonition", "alert--success", "markdown-alert-note", "theme-admonition", "starlight-aside--tip"]
                .into_iter()
                .all(is_callout)
        );
        assert!(!["notebook", "content", "alerts-page-x"].into_iter().any(is_callout));
    }
}
