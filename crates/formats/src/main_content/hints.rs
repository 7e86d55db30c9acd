//! Hints in the markup of an element: its tag, role, microdata, and the words in its class and id.

use page::{Element, local_name};

use crate::elements::{COLLAPSED, holds_footnotes};

/// Hint of the markup about an element and its descendants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Hint {
    // Words in class and id.
    Navigation,
    Top,
    Bottom,
    Side,
    Share,
    Related,
    Comment,
    Advert,
    Popup,
    SignUp,
    Byline,
    Hidden,
    Article,
    Body,
    Title,
    Thread,
    Product,
    Card,
    Media,
    Fold,
    Contents,
    Control,
    // Tags and roles.
    Nav,
    Header,
    Footer,
    Aside,
    Main,
    ArticleTag,
    Section,
    Form,
    Table,
    List,
    Figure,
    Quote,
    Details,
    Button,
    Code,
    Paragraph,
    ArticleBody,
    Time,
}

/// Number of hints.
pub(crate) const HINTS: usize = Hint::Time as usize + 1;

/// A set of hints, one bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Hints(u64);

impl Hints {
    /// Names of the hints in their order, for features.
    #[rustfmt::skip]
    pub(crate) const NAMES: [&str; HINTS] = [
        "navigation", "top", "bottom", "side", "share", "related", "comment", "advert", "popup", "sign up", "byline", "hidden", "article",
        "body", "title", "thread", "product", "card", "media", "fold", "contents", "control", "<nav>", "<header>", "<footer>", "<aside>",
        "<main>", "<article>", "<section>", "<form>", "<table>", "<ul>", "<figure>", "<blockquote>", "<details>", "<button>", "<pre>", "<p>",
        "articleBody", "<time>",
    ];

    pub(crate) fn add(&mut self, hint: Hint) {
        self.0 |= 1 << hint as u8;
    }

    pub(crate) fn remove(&mut self, hint: Hint) {
        self.0 &= !(1 << hint as u8);
    }

    pub(crate) fn union(&mut self, other: Hints) {
        self.0 |= other.0;
    }

    pub(crate) fn has(self, hint: Hint) -> bool {
        self.0 & 1 << hint as u8 != 0
    }

    pub(crate) fn bit(self, index: usize) -> bool {
        self.0 >> index & 1 != 0
    }
}

/// Limit on a class or id attribute, in bytes; the rest is ignored.
const MAX_NAMES: usize = 200;

/// Returns the hints in the markup of `element`.
pub(crate) fn hints(element: &Element) -> Hints {
    let mut found = Hints::default();
    // An open dialog is part of the page like any other box.
    let is_open_dialog = element.name.local == local_name!("dialog") && element.attr("open").is_some();
    if !is_open_dialog {
        by_tag(element, &mut found);
    }
    if matches!(element.name.local, local_name!("html") | local_name!("body")) {
        return found;
    }
    for attribute in &element.attrs {
        match attribute.name.local {
            local_name!("class") | local_name!("id") => {
                by_names(&attribute.value, is_open_dialog, &mut found);
            }
            local_name!("role") if is_open_dialog && attribute.value.trim() == "dialog" => {}
            local_name!("role") => by_role(attribute.value.trim(), &mut found),
            local_name!("hidden") => found.add(Hint::Hidden),
            local_name!("style") if hides(&attribute.value) => found.add(Hint::Hidden),
            local_name!("aria-hidden") if &*attribute.value == "true" => found.add(Hint::Hidden),
            local_name!("itemtype") => by_type(attribute.value.trim(), &mut found),
            local_name!("itemprop") => by_property(attribute.value.trim(), &mut found),
            _ => {}
        }
    }
    // Collapsed text: the reader opens it with a control.
    if found.has(Hint::Hidden) && element.attr(COLLAPSED).is_some() {
        found.remove(Hint::Hidden);
    }
    found
}

fn by_tag(element: &Element, found: &mut Hints) {
    let hint = match element.name.local {
        local_name!("nav") => Hint::Nav,
        local_name!("header") => Hint::Header,
        local_name!("footer") | local_name!("aside") if holds_footnotes(element) => Hint::Section,
        local_name!("footer") => Hint::Footer,
        local_name!("aside") => Hint::Aside,
        local_name!("main") => Hint::Main,
        local_name!("article") => Hint::ArticleTag,
        local_name!("section") => Hint::Section,
        local_name!("form") | local_name!("fieldset") => Hint::Form,
        local_name!("table") => Hint::Table,
        local_name!("ul") | local_name!("ol") | local_name!("menu") => Hint::List,
        local_name!("figure") | local_name!("figcaption") => Hint::Figure,
        local_name!("blockquote") => Hint::Quote,
        local_name!("details") => Hint::Details,
        local_name!("button") | local_name!("label") | local_name!("select") | local_name!("option") => Hint::Button,
        local_name!("pre") => Hint::Code,
        local_name!("p") => Hint::Paragraph,
        local_name!("dialog") => Hint::Popup,
        local_name!("time") => Hint::Time,
        _ => return,
    };
    found.add(hint);
}

fn by_role(role: &str, found: &mut Hints) {
    let hint = match role {
        "navigation" | "menu" | "menubar" | "search" | "tablist" => Hint::Nav,
        "banner" => Hint::Header,
        "contentinfo" => Hint::Footer,
        "complementary" => Hint::Aside,
        "main" => Hint::Main,
        "article" => Hint::ArticleTag,
        "dialog" | "alertdialog" | "alert" => Hint::Popup,
        "button" => Hint::Button,
        _ => return,
    };
    found.add(hint);
}

fn by_property(property: &str, found: &mut Hints) {
    match property {
        "articleBody" | "text" | "mainEntity" | "mainContentOfPage" => found.add(Hint::ArticleBody),
        "headline" => found.add(Hint::Title),
        "author" | "datePublished" | "dateModified" => found.add(Hint::Byline),
        "comment" | "commentText" => found.add(Hint::Comment),
        "suggestedAnswer" | "acceptedAnswer" => found.add(Hint::Thread),
        _ => {}
    }
}

/// Adds the hint for the last segment of a schema.org URL.
fn by_type(kind: &str, found: &mut Hints) {
    let hint = match kind.rsplit('/').next().unwrap_or_default() {
        "Comment" | "UserComments" => Hint::Comment,
        "Answer" | "Question" | "DiscussionForumPosting" => Hint::Thread,
        "Article" | "NewsArticle" | "BlogPosting" => Hint::ArticleTag,
        "Product" | "Review" | "Offer" => Hint::Product,
        "WPSideBar" => Hint::Aside,
        "WPHeader" => Hint::Header,
        "WPFooter" => Hint::Footer,
        "SiteNavigationElement" | "BreadcrumbList" => Hint::Nav,
        _ => return,
    };
    found.add(hint);
}

/// Whether a `style` attribute hides the element.
pub(super) fn hides(style: &str) -> bool {
    style.split(';').filter_map(|declaration| declaration.split_once(':')).any(|(name, value)| {
        let (name, value) = (name.trim(), value.trim());
        name.eq_ignore_ascii_case("display") && value.starts_with("none")
            || name.eq_ignore_ascii_case("visibility") && value.starts_with("hidden")
    })
}

fn by_names(names: &str, is_open_dialog: bool, found: &mut Hints) {
    let mut end = names.len().min(MAX_NAMES);
    while !names.is_char_boundary(end) {
        end -= 1;
    }
    for word in words(&names[..end]) {
        if is_open_dialog && word.eq_ignore_ascii_case("dialog") {
            continue;
        }
        if let Some(hint) = of_word(word) {
            found.add(hint);
        }
    }
}

/// Splits class names into words: `site-mainNav__item` → site, main, Nav, item. Utility classes (`md:hidden`) are
/// skipped.
fn words(names: &str) -> impl Iterator<Item = &str> {
    names
        .split_ascii_whitespace()
        .filter(|name| !name.contains(':'))
        .flat_map(|name| name.split(|c: char| !c.is_ascii_alphabetic()))
        .flat_map(|part| {
            let mut rest = part;
            std::iter::from_fn(move || {
                let hump = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
                let end = rest.as_bytes().windows(2).position(hump).map_or(rest.len(), |i| i + 1);
                let (word, after) = rest.split_at(end);
                rest = after;
                (!word.is_empty()).then_some(word)
            })
        })
}

/// Length limit of a word in bytes: the longest in [`WORDS`] fits, so lower-casing needs no allocation.
const MAX_WORD: usize = 16;

fn of_word(word: &str) -> Option<Hint> {
    let mut lower = [0_u8; MAX_WORD];
    let lower = lower.get_mut(..word.len())?;
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    let lower = &*lower;
    WORDS.binary_search_by(|(known, _)| known.as_bytes().cmp(lower)).ok().map(|at| WORDS[at].1)
}

/// Words in class names and ids with their hints, sorted for binary search.
#[rustfmt::skip]
const WORDS: [(&str, Hint); 361] = [
    ("accordion", Hint::Fold), ("action", Hint::Control), ("actions", Hint::Control), ("ad", Hint::Advert),
    ("add", Hint::Product), ("addthis", Hint::Share), ("addtoany", Hint::Share), ("ads", Hint::Advert),
    ("adsbygoogle", Hint::Advert), ("adslot", Hint::Advert), ("advert", Hint::Advert),
    ("advertisement", Hint::Advert), ("advertising", Hint::Advert), ("adverts", Hint::Advert), ("alert", Hint::Popup),
    ("also", Hint::Related), ("answer", Hint::Thread), ("answers", Hint::Thread), ("article", Hint::Article),
    ("articlebody", Hint::Body), ("aside", Hint::Side), ("assistive", Hint::Hidden), ("audio", Hint::Media),
    ("author", Hint::Byline), ("authors", Hint::Byline), ("badge", Hint::Control), ("banner", Hint::Top),
    ("basket", Hint::Product), ("bio", Hint::Byline), ("blog", Hint::Article), ("blogpost", Hint::Article),
    ("body", Hint::Body), ("bottom", Hint::Bottom), ("brand", Hint::Top), ("branding", Hint::Top),
    ("breadcrumb", Hint::Navigation), ("breadcrumbs", Hint::Navigation), ("btn", Hint::Control),
    ("button", Hint::Control), ("buttons", Hint::Control), ("buy", Hint::Product), ("byline", Hint::Byline),
    ("caption", Hint::Media), ("card", Hint::Card), ("cards", Hint::Card), ("carousel", Hint::Related),
    ("cart", Hint::Product), ("categories", Hint::Byline), ("category", Hint::Byline), ("checkout", Hint::Product),
    ("col", Hint::Card), ("collapse", Hint::Fold), ("collapsible", Hint::Fold), ("colophon", Hint::Bottom),
    ("cols", Hint::Card), ("column", Hint::Side), ("comentario", Hint::Comment), ("comentarios", Hint::Comment),
    ("comment", Hint::Comment), ("commentaire", Hint::Comment), ("commentaires", Hint::Comment),
    ("commentary", Hint::Comment), ("commentbody", Hint::Comment), ("commenter", Hint::Comment),
    ("commentform", Hint::Comment), ("commenti", Hint::Comment), ("commenting", Hint::Comment),
    ("commentlist", Hint::Comment), ("commento", Hint::Comment), ("comments", Hint::Comment),
    ("commenttext", Hint::Comment), ("consent", Hint::Popup), ("content", Hint::Body), ("contents", Hint::Contents),
    ("controls", Hint::Control), ("cookie", Hint::Popup), ("cookies", Hint::Popup), ("copy", Hint::Body),
    ("copyright", Hint::Bottom), ("counter", Hint::Control), ("credits", Hint::Byline), ("crumb", Hint::Navigation),
    ("crumbs", Hint::Navigation), ("cta", Hint::Control), ("date", Hint::Byline), ("dateline", Hint::Byline),
    ("description", Hint::Body), ("dfp", Hint::Advert), ("dialog", Hint::Popup), ("discuss", Hint::Comment),
    ("discussion", Hint::Comment), ("disqus", Hint::Comment), ("donate", Hint::SignUp), ("drawer", Hint::Popup),
    ("dropdown", Hint::Navigation), ("edit", Hint::Control), ("editor", Hint::Body), ("entry", Hint::Article),
    ("entrycontent", Hint::Body), ("excerpt", Hint::Body), ("expandable", Hint::Fold), ("facebook", Hint::Share),
    ("faq", Hint::Fold), ("faqs", Hint::Fold), ("fbcomments", Hint::Comment), ("feed", Hint::Card),
    ("figure", Hint::Media), ("filter", Hint::Control), ("filters", Hint::Control), ("flyout", Hint::Popup),
    ("follow", Hint::Share), ("foot", Hint::Bottom), ("footer", Hint::Bottom), ("form", Hint::SignUp),
    ("forum", Hint::Thread), ("gallery", Hint::Media), ("gdpr", Hint::Popup), ("globalnav", Hint::Navigation),
    ("gpt", Hint::Advert), ("grid", Hint::Card), ("head", Hint::Top), ("header", Hint::Top), ("heading", Hint::Title),
    ("headline", Hint::Title), ("hentry", Hint::Article), ("hero", Hint::Top), ("hidden", Hint::Hidden),
    ("hide", Hint::Hidden), ("icon", Hint::Control), ("icons", Hint::Control), ("image", Hint::Media),
    ("images", Hint::Media), ("img", Hint::Media), ("infinite", Hint::Related), ("info", Hint::Byline),
    ("instagram", Hint::Share), ("intro", Hint::Body), ("invisible", Hint::Hidden), ("item", Hint::Card),
    ("items", Hint::Card), ("komentar", Hint::Comment), ("komentarze", Hint::Comment), ("kommentar", Hint::Comment),
    ("kommentare", Hint::Comment), ("kommentarer", Hint::Comment), ("label", Hint::Byline), ("labels", Hint::Byline),
    ("latest", Hint::Related), ("lead", Hint::Body), ("left", Hint::Side), ("leftcol", Hint::Side),
    ("legal", Hint::Bottom), ("leserkommentare", Hint::Comment), ("lightbox", Hint::Popup), ("likes", Hint::Control),
    ("link", Hint::Control), ("linkedin", Hint::Share), ("links", Hint::Control), ("list", Hint::Card),
    ("listing", Hint::Card), ("livefyre", Hint::Comment), ("login", Hint::SignUp), ("logo", Hint::Top),
    ("mailchimp", Hint::SignUp), ("main", Hint::Body), ("markdown", Hint::Body), ("masthead", Hint::Top),
    ("media", Hint::Media), ("megamenu", Hint::Navigation), ("menu", Hint::Navigation), ("menubar", Hint::Navigation),
    ("menuitem", Hint::Navigation), ("message", Hint::Thread), ("messages", Hint::Thread), ("meta", Hint::Byline),
    ("modal", Hint::Popup), ("more", Hint::Related), ("morefrom", Hint::Related), ("morestories", Hint::Related),
    ("mostpopular", Hint::Related), ("mostread", Hint::Related), ("nav", Hint::Navigation),
    ("navbar", Hint::Navigation), ("navigation", Hint::Navigation), ("navmenu", Hint::Navigation),
    ("news", Hint::Article), ("newsletter", Hint::SignUp), ("nextarticle", Hint::Related),
    ("nextpost", Hint::Related), ("noprint", Hint::Hidden), ("notice", Hint::Popup), ("offcanvas", Hint::Popup),
    ("offscreen", Hint::Hidden), ("onetrust", Hint::Popup), ("opinie", Hint::Comment), ("optin", Hint::SignUp),
    ("outbrain", Hint::Advert), ("outline", Hint::Contents), ("overlay", Hint::Popup), ("page", Hint::Body),
    ("pager", Hint::Navigation), ("pagination", Hint::Navigation), ("paging", Hint::Navigation),
    ("panel", Hint::Fold), ("paragraph", Hint::Body), ("paywall", Hint::Popup), ("permalink", Hint::Control),
    ("photo", Hint::Media), ("photos", Hint::Media), ("picture", Hint::Media), ("pinterest", Hint::Share),
    ("player", Hint::Media), ("popover", Hint::Popup), ("popular", Hint::Related), ("popup", Hint::Popup),
    ("post", Hint::Article), ("postbody", Hint::Thread), ("postcontent", Hint::Body), ("posted", Hint::Byline),
    ("postmeta", Hint::Byline), ("posts", Hint::Thread), ("price", Hint::Product), ("prices", Hint::Product),
    ("print", Hint::Control), ("product", Hint::Product), ("products", Hint::Product), ("promo", Hint::Related),
    ("promos", Hint::Related), ("prose", Hint::Body), ("published", Hint::Byline), ("quantity", Hint::Product),
    ("question", Hint::Thread), ("questions", Hint::Thread), ("rail", Hint::Side), ("rating", Hint::Product),
    ("ratings", Hint::Product), ("reactie", Hint::Comment), ("reacties", Hint::Comment), ("reactions", Hint::Comment),
    ("readmore", Hint::Related), ("readnext", Hint::Related), ("recent", Hint::Related), ("recirc", Hint::Related),
    ("recirculation", Hint::Related), ("recommendation", Hint::Related), ("recommendations", Hint::Related),
    ("recommended", Hint::Related), ("register", Hint::SignUp), ("related", Hint::Related),
    ("relateds", Hint::Related), ("replies", Hint::Comment), ("reply", Hint::Comment), ("respond", Hint::Comment),
    ("response", Hint::Comment), ("responses", Hint::Comment), ("result", Hint::Card), ("results", Hint::Card),
    ("review", Hint::Product), ("reviews", Hint::Product), ("richtext", Hint::Body), ("right", Hint::Side),
    ("rightcol", Hint::Side), ("row", Hint::Card), ("rows", Hint::Card), ("rte", Hint::Body),
    ("screenreader", Hint::Hidden), ("search", Hint::SignUp), ("searchform", Hint::SignUp), ("secondary", Hint::Side),
    ("select", Hint::Control), ("share", Hint::Share), ("sharebar", Hint::Share), ("sharedaddy", Hint::Share),
    ("sharing", Hint::Share), ("shipping", Hint::Product), ("shop", Hint::Product), ("side", Hint::Side),
    ("sidebar", Hint::Side), ("sidecolumn", Hint::Side), ("sidenav", Hint::Navigation), ("signin", Hint::SignUp),
    ("signup", Hint::SignUp), ("similar", Hint::Related), ("single", Hint::Article), ("sitemap", Hint::Navigation),
    ("skip", Hint::Navigation), ("skiplink", Hint::Navigation), ("sku", Hint::Product), ("slick", Hint::Related),
    ("slider", Hint::Related), ("social", Hint::Share), ("socials", Hint::Share), ("sort", Hint::Control),
    ("sponsor", Hint::Advert), ("sponsored", Hint::Advert), ("sponsors", Hint::Advert), ("sr", Hint::Hidden),
    ("sronly", Hint::Hidden), ("stock", Hint::Product), ("story", Hint::Article), ("storybody", Hint::Body),
    ("subheading", Hint::Title), ("submenu", Hint::Navigation), ("subnav", Hint::Navigation),
    ("subscribe", Hint::SignUp), ("subscription", Hint::SignUp), ("subtitle", Hint::Title),
    ("suggested", Hint::Related), ("suggestions", Hint::Related), ("summary", Hint::Body), ("swatch", Hint::Product),
    ("swiper", Hint::Related), ("tab", Hint::Fold), ("tableofcontents", Hint::Contents), ("taboola", Hint::Advert),
    ("tabpanel", Hint::Fold), ("tabs", Hint::Fold), ("tag", Hint::Byline), ("tagcloud", Hint::Byline),
    ("tags", Hint::Byline), ("talkback", Hint::Comment), ("teaser", Hint::Related), ("teasers", Hint::Related),
    ("text", Hint::Body), ("thread", Hint::Thread), ("thumb", Hint::Media), ("thumbnail", Hint::Media),
    ("tile", Hint::Card), ("tiles", Hint::Card), ("time", Hint::Byline), ("timestamp", Hint::Byline),
    ("title", Hint::Title), ("toast", Hint::Popup), ("toc", Hint::Contents), ("toggle", Hint::Fold),
    ("tool", Hint::Control), ("toolbar", Hint::Control), ("tools", Hint::Control), ("tooltip", Hint::Popup),
    ("top", Hint::Top), ("topbar", Hint::Top), ("topic", Hint::Thread), ("topics", Hint::Thread),
    ("topnav", Hint::Navigation), ("trending", Hint::Related), ("twitter", Hint::Share), ("upnext", Hint::Related),
    ("upsell", Hint::Related), ("variant", Hint::Product), ("variants", Hint::Product), ("video", Hint::Media),
    ("visually", Hint::Hidden), ("visuallyhidden", Hint::Hidden), ("vote", Hint::Control), ("votes", Hint::Control),
    ("weitere", Hint::Related), ("whatsapp", Hint::Share), ("widget", Hint::Side), ("widgets", Hint::Side),
    ("wishlist", Hint::Product), ("wysiwyg", Hint::Body),
];

#[cfg(test)]
mod tests {
    use page::Page;

    use super::*;

    #[test]
    fn names_are_split_into_words() {
        let check = |names: &str, expect: &str| assert_eq!(words(names).collect::<Vec<_>>().join(" "), expect);
        check("site-mainNav__item md:hidden", "site main Nav item");
        check("ABTest navBAR é-x", "ABTest nav BAR x");
    }

    #[test]
    fn words_are_sorted_and_found() {
        assert!(WORDS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(WORDS.iter().all(|(word, hint)| word.len() <= MAX_WORD && of_word(word) == Some(*hint)));
        assert_eq!(of_word("SideBar"), Some(Hint::Side));
        assert_eq!(of_word("articlebodyarticlebody"), None);
        assert_eq!(of_word("navy"), None);
    }

    #[test]
    fn elements_give_hints() {
        let check = |html: &str, expect: &[Hint]| {
            let page = Page::parse(html, &url::Url::parse("https://a.test/").unwrap());
            let found = hints(page.element(page.select(&["body > *".to_owned()])[0]).unwrap());
            let mut expected = Hints::default();
            expect.iter().for_each(|&hint| expected.add(hint));
            assert_eq!(found, expected, "{html}");
        };
        check("<nav>", &[Hint::Nav]);
        check("<div class='c-cookie-bar' role=dialog>", &[Hint::Popup]);
        check("<p style='color: red; display : none'>", &[Hint::Paragraph, Hint::Hidden]);
        check("<p hidden>", &[Hint::Paragraph, Hint::Hidden]);
        check("<p style='display: block; overflow: hidden'>", &[Hint::Paragraph]);
        check("<aside class='footnote brackets' role=doc-footnote>", &[Hint::Section]);
        check("<aside class=notes>", &[Hint::Aside]);
        check("<footer id=colophon>", &[Hint::Footer, Hint::Bottom]);
        check("<div itemprop=articleBody>", &[Hint::ArticleBody]);
        check("<div class='navy adhesive'>", &[]);
        check("<p hidden data-collapsed style='display: none'>", &[Hint::Paragraph]);
        check("<dialog>", &[Hint::Popup]);
        check("<dialog open class=my-dialog role=dialog>", &[]);
        check("<dialog open class=cookie-dialog>", &[Hint::Popup]);
    }
}
