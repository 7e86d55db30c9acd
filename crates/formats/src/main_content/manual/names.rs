//! Names in classes and ids that documentation uses, and words of its furniture.

use page::Element;

/// What a class or an id says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// A program that writes documentation made the page.
    Generator,
    /// A part of the site, whatever it holds.
    Site,
    /// Mostly a part of the site, where it holds links.
    Place,
    /// Text that opens.
    Opens,
    /// The head of the site, where the title stands elsewhere.
    Top,
    LineNumber,
    Comment,
    /// Posts of a forum, or comments kept by another site.
    Thread,
}

/// Bytes of names that are looked at.
const MAX_NAMES: usize = 400;

/// The classes and ids of an element.
pub(super) fn tokens(element: &Element) -> impl Iterator<Item = &str> {
    let names = element.attrs.iter().filter(|attribute| matches!(&*attribute.name.local, "class" | "id"));
    names
        .filter(|attribute| attribute.value.len() <= MAX_NAMES)
        .flat_map(|attribute| attribute.value.split_ascii_whitespace())
}

/// What a name says, whatever its case.
pub(super) fn mark(token: &str) -> Option<Mark> {
    let mut lower = [0_u8; 40];
    let lower = lower.get_mut(..token.len())?;
    lower.copy_from_slice(token.as_bytes());
    lower.make_ascii_lowercase();
    let lower = &*lower;
    let known = MARKS.binary_search_by(|(known, _)| known.as_bytes().cmp(lower)).ok().map(|at| MARKS[at].1);
    known.or_else(|| is_compound_place(lower).then_some(Mark::Place))
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
    let mut lower = [0_u8; 40];
    let Some(lower) = lower.get_mut(..token.len()) else { return false };
    lower.copy_from_slice(token.as_bytes());
    lower.make_ascii_lowercase();
    let mut words = lower.split(|byte| !byte.is_ascii_alphanumeric());
    words.any(|word| CALLOUTS.iter().any(|known| known.as_bytes() == word))
}

/// Whether a line is made of nothing but words that lead around a manual.
pub(super) fn is_way(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(|word| WAYS.iter().any(|way| way.eq_ignore_ascii_case(word)))
}

/// Whether a short line is a label of the site, such as "On this page".
pub(super) fn is_label(text: &str) -> bool {
    let text = text.trim().trim_end_matches(['?', '!', '.', ':', '…', '↑', '→']).trim_end().to_lowercase();
    LABELS.contains(&&*text)
}

/// Whether a line at the end of a page is about the page or who made it.
pub(super) fn is_note_of_site(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '©' && c != '(').to_lowercase();
    NOTES.iter().any(|note| text.starts_with(note))
}

const PLACES: [&str; 15] = [
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
    "sidebar",
    "toc",
];

const CALLOUTS: [&str; 16] = [
    "admonition",
    "admonitionblock",
    "alert",
    "attention",
    "callout",
    "caution",
    "danger",
    "hint",
    "important",
    "info",
    "note",
    "notice",
    "seealso",
    "tip",
    "warning",
    "warn",
];

const WAYS: [&str; 24] = ["back", "chapter", "contact", "contacts", "contents", "forward", "home", "index", "main", "map", "next", "of", "overview", "page", "prev", "previous", "site", "sitemap", "table", "the", "to", "toc", "top", "up"];

const LABELS: [&str; 29] = [
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
    "edit this page",
    "edit this page on github",
    "go to top",
    "in this article",
    "on this page",
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
    "suggest edits",
    "view page source",
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

/// Names, in lower case and sorted. The programs that use the first kind are known by them.
#[rustfmt::skip]
const MARKS: [(&str, Mark); 287] = [
    ("accordion", Mark::Opens), ("accordion-body", Mark::Opens), ("accordion-collapse", Mark::Opens),
    ("accordion-content", Mark::Opens), ("accordion-panel", Mark::Opens), ("actions", Mark::Place),
    ("ads", Mark::Place), ("anchor-link", Mark::Site), ("anchorjs-link", Mark::Site), ("article-footer", Mark::Site),
    ("back-to-top", Mark::Site), ("back-to-top-button", Mark::Site), ("banner", Mark::Top),
    ("bd-article-container", Mark::Generator), ("bd-header-article", Mark::Site), ("bd-toc", Mark::Site),
    ("blockpost", Mark::Thread), ("bodywrapper", Mark::Generator), ("bottomlang", Mark::Site),
    ("bottomnav", Mark::Site), ("breadcrumb", Mark::Place), ("breadcrumbs", Mark::Place), ("catlinks", Mark::Site),
    ("class-metadata", Mark::Site), ("clipboard-button", Mark::Site), ("collapse", Mark::Opens),
    ("collapsed-content", Mark::Opens), ("collapsible", Mark::Opens), ("comment", Mark::Comment),
    ("comment-body", Mark::Comment), ("comment-content", Mark::Comment), ("comment-list", Mark::Comment),
    ("comment-text", Mark::Comment), ("comment-wrapper", Mark::Comment), ("commentarea", Mark::Comment),
    ("commentlist", Mark::Comment), ("comments", Mark::Comment), ("comments-area", Mark::Comment),
    ("consent-banner", Mark::Site), ("content-icon-container", Mark::Site), ("contentsub", Mark::Site),
    ("cookie", Mark::Place), ("cookie-banner", Mark::Site), ("cookie-consent", Mark::Site),
    ("cookie-notice", Mark::Site), ("cookies", Mark::Place), ("copy-button", Mark::Site),
    ("copy-code-button", Mark::Site), ("copybtn", Mark::Site), ("disqus_thread", Mark::Thread),
    ("doc-feedback", Mark::Site), ("doc-footer", Mark::Site), ("doc-nav", Mark::Place), ("docbook", Mark::Generator),
    ("docnav", Mark::Site), ("docs-footer", Mark::Site), ("docs-nav", Mark::Place), ("docs-story", Mark::Generator),
    ("documentwrapper", Mark::Generator), ("dokuwiki", Mark::Generator), ("doxygen-awesome", Mark::Generator),
    ("edit-page-link", Mark::Site), ("edit-this-page", Mark::Site), ("editsection", Mark::Site),
    ("expandable", Mark::Opens), ("faq-answer", Mark::Opens), ("feedback", Mark::Place),
    ("feedback-toolbar", Mark::Site), ("feedback-widget", Mark::Site), ("file-metadata", Mark::Site),
    ("footer", Mark::Place), ("footer-relations", Mark::Site), ("footer-wrapper", Mark::Site),
    ("forumpost", Mark::Thread), ("gdpr-banner", Mark::Site), ("gitbook-root", Mark::Generator),
    ("gutter-line-number", Mark::LineNumber), ("hash-link", Mark::Site), ("header-anchor", Mark::Site),
    ("header-wrapper", Mark::Site), ("headerlink", Mark::Site), ("headertitle", Mark::Generator),
    ("helpfulness", Mark::Site), ("hljs-ln-numbers", Mark::LineNumber), ("in-page-nav", Mark::Place),
    ("jump-to-nav", Mark::Site), ("left-nav", Mark::Place), ("left-sidebar", Mark::Place),
    ("line-number", Mark::LineNumber), ("line-numbers-rows", Mark::LineNumber),
    ("line-numbers-wrapper", Mark::LineNumber), ("lineno", Mark::LineNumber), ("linenodiv", Mark::Site),
    ("linenos", Mark::LineNumber), ("linenumber", Mark::LineNumber), ("linenumbers", Mark::LineNumber),
    ("link-list", Mark::Place), ("ln-num", Mark::LineNumber), ("localtoc", Mark::Place), ("mainleft", Mark::Site),
    ("mainmenu", Mark::Site), ("markdown-section", Mark::Generator), ("masthead", Mark::Top),
    ("md-content__button", Mark::Site), ("md-content__inner", Mark::Generator), ("md-feedback", Mark::Site),
    ("md-footer", Mark::Site), ("md-header", Mark::Site), ("md-main", Mark::Generator), ("md-path", Mark::Site),
    ("md-sidebar", Mark::Site), ("md-source-file", Mark::Site), ("md-tabs", Mark::Site),
    ("mdbook-help-container", Mark::Site), ("mdx-content", Mark::Generator), ("menu", Mark::Place),
    ("menu-bar", Mark::Site), ("metadata", Mark::Place), ("method-click-advice", Mark::Site),
    ("minitoc", Mark::Place), ("mobile-nav-chapters", Mark::Site), ("more-content", Mark::Opens),
    ("msearchbox", Mark::Site), ("msearchresultswindow", Mark::Site), ("msearchselectwindow", Mark::Site),
    ("mw-content-text", Mark::Generator), ("mw-editsection", Mark::Site), ("mw-jump-link", Mark::Site),
    ("mw-parser-output", Mark::Generator), ("nav", Mark::Place), ("nav-links", Mark::Site), ("nav-next", Mark::Site),
    ("nav-panel", Mark::Site), ("nav-path", Mark::Site), ("nav-previous", Mark::Site),
    ("nav-wide-wrapper", Mark::Site), ("nav-wrapper", Mark::Site), ("nav_wrap", Mark::Site), ("navbar", Mark::Place),
    ("navbox", Mark::Site), ("navfooter", Mark::Site), ("navheader", Mark::Site), ("navigation", Mark::Place),
    ("navigationbar", Mark::Site), ("navigationlinks", Mark::Place), ("navpanel", Mark::Site), ("navrow", Mark::Site),
    ("navrow1", Mark::Site), ("navrow2", Mark::Site), ("navrow3", Mark::Site), ("navrow4", Mark::Site),
    ("navrow5", Mark::Site), ("newsletter", Mark::Place), ("nextra-content", Mark::Generator),
    ("odoc", Mark::Generator), ("odoc-content", Mark::Generator), ("on-this-page", Mark::Place),
    ("onthispage", Mark::Place), ("package-header", Mark::Site), ("page-feedback", Mark::Site),
    ("page-footer", Mark::Place), ("page-header", Mark::Top), ("page-menu", Mark::Place), ("page-nav", Mark::Site),
    ("page-navigation", Mark::Site), ("page-toc", Mark::Place), ("pageheader", Mark::Top), ("pageinfo", Mark::Place),
    ("pager", Mark::Place), ("pagination", Mark::Place), ("pagination-links", Mark::Site),
    ("pagination-nav", Mark::Site), ("panel-collapse", Mark::Opens), ("post-body", Mark::Thread),
    ("post-content-wrapper", Mark::Thread), ("post-navigation", Mark::Site), ("postbody", Mark::Thread),
    ("postleft", Mark::Thread), ("postlist", Mark::Thread), ("postprofile", Mark::Thread),
    ("postright", Mark::Thread), ("prev-next", Mark::Site), ("prev-next-area", Mark::Site),
    ("prev-next-bottom", Mark::Site), ("prev-next-footer", Mark::Site), ("prevnext", Mark::Place),
    ("printfooter", Mark::Site), ("project-metadata", Mark::Site), ("project-navigation", Mark::Site),
    ("promo", Mark::Place), ("quickview", Mark::Place), ("rail", Mark::Place),
    ("react-syntax-highlighter-line-number", Mark::LineNumber), ("read-more", Mark::Opens),
    ("refentry", Mark::Generator), ("related", Mark::Place), ("related-links", Mark::Place),
    ("right-nav", Mark::Place), ("right-sidebar", Mark::Place), ("rouge-gutter", Mark::LineNumber),
    ("rst-breadcrumbs-buttons", Mark::Site), ("rst-content", Mark::Generator), ("rst-footer-buttons", Mark::Site),
    ("rst-versions", Mark::Site), ("rustdoc", Mark::Generator), ("search", Mark::Place), ("search-box", Mark::Place),
    ("search-wrapper", Mark::Site), ("searchbox", Mark::Place), ("searchmenu", Mark::Site),
    ("sect1", Mark::Generator), ("selflink", Mark::Site), ("share", Mark::Place), ("share-buttons", Mark::Site),
    ("sharebuttons", Mark::Site), ("show-more", Mark::Opens), ("side-nav", Mark::Site), ("sidebar", Mark::Place),
    ("site-footer", Mark::Place), ("site-header", Mark::Top), ("sitesub", Mark::Site), ("skip-link", Mark::Site),
    ("skip-nav", Mark::Site), ("skip-to-content", Mark::Site), ("skip-to-main", Mark::Site),
    ("skiptocontent", Mark::Site), ("sl-anchor-link", Mark::Site), ("sl-markdown-content", Mark::Generator),
    ("social", Mark::Place), ("social-share", Mark::Site), ("sphinxsidebar", Mark::Site),
    ("sphinxsidebarwrapper", Mark::Generator), ("spoiler", Mark::Opens), ("spoiler-content", Mark::Opens),
    ("sponsor", Mark::Place), ("sponsors", Mark::Place), ("sub-nav", Mark::Site), ("submenu", Mark::Site),
    ("subnav", Mark::Site), ("subscribe", Mark::Place), ("summary_toggle", Mark::Site), ("tab-content", Mark::Opens),
    ("tab-pane", Mark::Opens), ("tab-panel", Mark::Opens), ("tabbed-block", Mark::Opens), ("tabcontent", Mark::Opens),
    ("table-of-contents", Mark::Place), ("tableofcontents", Mark::Place), ("tabpanel", Mark::Opens),
    ("tabs__item", Mark::Opens), ("tagline", Mark::Top), ("theme-doc-breadcrumbs", Mark::Site),
    ("theme-doc-footer", Mark::Site), ("theme-doc-markdown", Mark::Generator),
    ("theme-doc-sidebar-container", Mark::Generator), ("theme-doc-toc-desktop", Mark::Site),
    ("theme-doc-toc-mobile", Mark::Site), ("theme-edit-this-page", Mark::Site), ("theme-last-updated", Mark::Site),
    ("titlearea", Mark::Site), ("titlepage", Mark::Generator), ("toc", Mark::Place),
    ("toctree-wrapper", Mark::Generator), ("toggle-content", Mark::Opens), ("toggle-source", Mark::Site),
    ("top-nav", Mark::Site), ("topic-body", Mark::Thread), ("toplang", Mark::Site),
    ("topnav", Mark::Site), ("usercomment", Mark::Comment), ("validator-badges", Mark::Site),
    ("versionid", Mark::Site), ("viewcode-back", Mark::Site), ("viewcode-link", Mark::Site),
    ("vp-doc", Mark::Generator), ("vpdoc", Mark::Generator), ("vpdocaside", Mark::Site),
    ("vpdocasideoutline", Mark::Site), ("vpdocfooter", Mark::Site), ("vplocalnav", Mark::Site), ("vpnav", Mark::Site),
    ("vpsidebar", Mark::Site), ("wiki-content", Mark::Generator), ("wy-breadcrumbs", Mark::Site),
    ("wy-nav-content", Mark::Generator), ("wy-nav-side", Mark::Site), ("wy-nav-top", Mark::Site),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_fit() {
        assert!(MARKS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(MARKS.iter().all(|(name, _)| name.len() <= 40 && !name.contains(|c: char| c.is_ascii_uppercase())));
    }

    #[test]
    fn lines_of_the_site_are_known_by_their_words() {
        assert!(is_way("Next: | Previous | Up"));
        assert!(!is_way("Next steps") && !is_way("--"));
        assert!(is_label(" Was this page helpful? ") && is_label("On this page"));
        assert!(!is_label("Copy the file"));
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
