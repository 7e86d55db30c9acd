//! Text styles and roles, from the elements and classes around a text.

use page::{Index, LocalName, Page};

/// Limit on the elements around a text that are examined.
const MAX_UP: usize = 8;

/// Style of a part of a line, from elements and classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct TextStyle {
    pub(super) is_strong: bool,
    /// Smaller or slanted.
    pub(super) is_small: bool,
    /// Raised, as the numbers of notes are.
    pub(super) is_raised: bool,
    /// Whether a class or an attribute names it a price.
    pub(super) is_price: bool,
    /// Whether a class or an attribute names it a name or title.
    pub(super) is_name: bool,
    /// Whether a class or an attribute names it a description.
    pub(super) is_description: bool,
    /// The innermost inline element around the text; 0 if it is directly in its block.
    pub(super) element: Index,
}

impl TextStyle {
    /// The looks of a text node in a block.
    pub(super) fn of(page: &Page, text: Index, block: Index) -> Self {
        let mut looks = TextStyle::default();
        for up in page.ancestors(text).take(MAX_UP).take_while(|&up| up != block) {
            looks.add(page, up);
            if looks.element == 0 {
                looks.element = up;
            }
        }
        // A block's own class speaks for all of its text, unless the text has an element of its own.
        if looks.element == 0 && block > 0 {
            let mut of_block = TextStyle::default();
            of_block.add(page, block);
            looks = TextStyle { is_strong: looks.is_strong, element: 0, ..of_block };
        }
        looks
    }

    /// Returns the roles that classes give the text: name, description, price.
    pub(super) fn role(&self) -> [bool; 3] {
        [self.is_name, self.is_description, self.is_price]
    }

    fn add(&mut self, page: &Page, element: Index) {
        match page.name(element).map(|name| &**name) {
            Some("b" | "strong") => self.is_strong = true,
            Some("small" | "em" | "i") => self.is_small = true,
            Some("sup" | "sub") => self.is_raised = true,
            _ => {}
        }
        // `<abbr title="vegan">V</abbr>` is a mark.
        self.is_raised |= page.attr(element, "title").is_some_and(|title| super::legend::diet_alone(&title).is_some());
        let Some(class) = classes(page, element) else { return };
        self.is_price |=
            class.contains("price") || class.contains("preis") || class.contains("prix") || class.contains("precio");
        self.is_description |= class.contains("desc") || class.contains("ingredient") || class.contains("beschreibung");
        self.is_name |= !self.is_description && (class.contains("name") || class.contains("title"));
    }
}

/// The classes and the microdata property of an element, in lower case.
pub(super) fn classes(page: &Page, index: Index) -> Option<String> {
    let of = |name| page.attr(index, name).map(|value| value.chars().take(200).collect::<String>());
    let class = match (of("class"), of("itemprop")) {
        (Some(class), Some(property)) => format!("{class} {property}"),
        (class, property) => class.or(property)?,
    };
    Some(class.to_lowercase())
}

/// Area of the page that the text of an element belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageArea {
    Content,
    /// A page's header, footer or side bar.
    Aside,
    /// Not shown, or navigation.
    Hidden,
    /// A button.
    Control,
    /// The label of a part of the page of which one is shown at a time.
    Tab,
}

pub(super) fn area_of(page: &Page, at: Index) -> PageArea {
    let Some(name) = page.name(at) else { return PageArea::Content };
    let role = page.attr(at, "role").map(|role| role.to_ascii_lowercase()).unwrap_or_default();
    if role == "tab" {
        return PageArea::Tab;
    }
    if matches!(role.as_str(), "navigation" | "menubar" | "dialog" | "alertdialog" | "search") || is_unseen(page, at) {
        return PageArea::Hidden;
    }
    match &**name {
        "script" | "style" | "template" | "noscript" | "svg" | "select" | "textarea" | "iframe" | "nav" | "del"
        | "s" | "strike" | "head" | "object" | "video" | "audio" | "canvas" | "dialog" | "datalist" => PageArea::Hidden,
        "button" | "input" => button(page, at),
        _ if role == "button" => button(page, at),
        // Sections and cards have headers of their own.
        "header" | "footer" if !is_inside_content(page, at) => PageArea::Aside,
        "aside" => PageArea::Aside,
        _ if matches!(role.as_str(), "banner" | "contentinfo" | "complementary") => PageArea::Aside,
        _ if is_furniture(page, at) => PageArea::Hidden,
        _ => PageArea::Content,
    }
}

/// A card that is one large button is content.
fn button(page: &Page, at: Index) -> PageArea {
    // Forty nodes, or more than 32 letters, or a price: too much for the label of a button.
    if page.subtree(at).len() > 40 {
        return PageArea::Content;
    }
    let text = crate::tags::text(page, at);
    let is_short = text.chars().count() <= 32 && !text.chars().any(|c| c.is_ascii_digit());
    if is_short { PageArea::Control } else { PageArea::Content }
}

fn is_inside_content(page: &Page, at: Index) -> bool {
    page.ancestors(at)
        .any(|up| page.name(up).is_some_and(|name| matches!(&**name, "main" | "article" | "section" | "li")))
}

/// Whether an element is not shown. What a tab shows later is content.
fn is_unseen(page: &Page, at: Index) -> bool {
    let Some(element) = page.element(at) else { return false };
    let mut is_hidden = false;
    for attribute in &element.attrs {
        let value = &*attribute.value;
        match &*attribute.name.local {
            "hidden" => is_hidden = true,
            "aria-hidden" => is_hidden |= value == "true",
            "style" => {
                let style: String = value.chars().filter(|c| !c.is_whitespace()).take(400).collect();
                is_hidden |= style.contains("display:none") || style.contains("visibility:hidden");
            }
            "class" => {
                // Only one of several tabs is shown at a time, but all of them are the menu.
                if value.contains("tab") || value.contains("accordion") || value.contains("collaps") {
                    return false;
                }
                let is_for_readers =
                    |class| matches!(class, "sr-only" | "visually-hidden" | "screen-reader-text" | "visuallyhidden");
                is_hidden |= value.split_ascii_whitespace().any(is_for_readers);
            }
            "role" if value == "tabpanel" => return false,
            _ => {}
        }
    }
    is_hidden
}

fn is_furniture(page: &Page, at: Index) -> bool {
    let Some(class) = page.attr(at, "class") else { return false };
    let is_mark =
        |class: &str| matches!(class, "breadcrumb" | "breadcrumbs" | "cookie-banner" | "cookie-notice" | "old-price");
    class.split_ascii_whitespace().any(is_mark)
}

/// Whether an element begins a line of its own.
pub(super) fn is_block(name: &LocalName) -> bool {
    !matches!(
        &**name,
        "a" | "abbr"
            | "b"
            | "bdi"
            | "bdo"
            | "big"
            | "br"
            | "cite"
            | "code"
            | "data"
            | "dfn"
            | "em"
            | "font"
            | "i"
            | "img"
            | "ins"
            | "kbd"
            | "label"
            | "mark"
            | "meta"
            | "link"
            | "picture"
            | "q"
            | "small"
            | "source"
            | "span"
            | "strong"
            | "sub"
            | "sup"
            | "time"
            | "tt"
            | "u"
            | "var"
            | "wbr"
    )
}
