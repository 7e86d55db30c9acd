//! Recognition of elements without text content: icons written as words, permalinks, copy buttons.

use page::{Element, Index, Page, local_name};

use crate::elements::is_label;

/// Classes of icon fonts: the text of the element is the name of the icon.
const ICONS: [&str; 12] = [
    "material-icons",
    "material-icons-outlined",
    "material-icons-round",
    "material-icons-sharp",
    "material-icons-extended",
    "material-symbols-outlined",
    "material-symbols-rounded",
    "material-symbols-sharp",
    "google-material-icons",
    "google-symbols",
    "mat-icon",
    "mdc-icon-button__icon",
];
/// Classes of permalinks: links to their own position.
const PERMALINKS: [&str; 20] = [
    "anchor",
    "anchor-link",
    "anchorjs-link",
    "direct-link",
    "doc-anchor",
    "hash-link",
    "header-anchor",
    "header-link",
    "headerlink",
    "heading-anchor",
    "heading-anchor-link",
    "heading-link",
    "headinglink",
    "permalink",
    "plink",
    "section-link",
    "self-link",
    "selflink",
    "sl-anchor-link",
    "subheading-anchor",
];
/// Complete texts of permalinks, for screen readers.
const SAYS: [&str; 9] = [
    "permalink",
    "permanent link",
    "direct link",
    "anchor",
    "anchor link",
    "copy link",
    "copy direct link",
    "heading link",
    "copied",
];
/// Beginnings of texts of permalinks that continue with the name of the heading.
const BEGINS: [&str; 14] = [
    "permalink to ",
    "permalink for ",
    "permalink:",
    "permanent link to ",
    "permanent link for ",
    "direct link to ",
    "anchor link to ",
    "anchor link for ",
    "copy link to ",
    "copy direct link to ",
    "link to this",
    "link to heading",
    "link to section",
    "section titled",
];
/// Signs used as the text of permalinks.
const SIGNS: [&str; 10] = ["#", "##", "¶", "§", "🔗", "∞", "⚓", "⚓︎", "🔗︎", "link"];
/// Classes of copy buttons.
const COPY: [&str; 14] = [
    "copy",
    "copybtn",
    "copy-btn",
    "btn-copy",
    "btn-clipboard",
    "copy-button",
    "button-copy",
    "copy-code",
    "copy-code-button",
    "copy-to-clipboard",
    "copy-to-clipboard-button",
    "clipboard",
    "clipboard-copy",
    "clip-button",
];

/// Limit on the nodes of a permalink.
const MAX_NODES: usize = 40;
/// Limit on the text of a permalink, in bytes.
const MAX_TEXT: usize = 200;
/// Number of ancestors of a link that are searched for a heading or another label.
const MAX_AROUND: usize = 8;
/// Number of nodes of that label that are searched for other text.
const MAX_BESIDE: usize = 200;

/// Whether an element has one of the classes `names`, case-insensitively.
pub(crate) fn holds_any(element: &Element, names: &[&str]) -> bool {
    element.attr("class").is_some_and(|class| names_any(&class, names))
}

fn names_any(class: &str, names: &[&str]) -> bool {
    class.split_ascii_whitespace().any(|name| names.iter().any(|known| name.eq_ignore_ascii_case(known)))
}

/// Whether an element shows an icon whose name is its text, such as `expand_more`. `class` is its class attribute.
pub(crate) fn is_icon(page: &Page, index: Index, class: &str) -> bool {
    let is_name = |text: &str| {
        text.len() <= 40 && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    // A fast check first: every class in the list contains one of these.
    let may_be = class.contains("mat") || class.contains("symbols") || class.contains("icon");
    may_be && names_any(class, &ICONS) && page.end(index) - index <= 3 && is_name(page.text_of(index).trim())
}

/// Whether an element is a row of tabs by its role, or by its class in MkDocs Material.
pub(crate) fn is_row_of_tabs(element: &Element) -> bool {
    element.attrs.iter().any(|attribute| match attribute.name.local {
        local_name!("role") => &*attribute.value == "tablist",
        local_name!("class") => attribute.value.starts_with("tabbed-labels"),
        _ => false,
    })
}

/// Whether an element is a copy button.
pub(crate) fn is_copy_control(element: &Element) -> bool {
    let says_copy = |value: &str| {
        let value = value.trim().to_ascii_lowercase();
        value == "copy" || value.ends_with("to clipboard")
    };
    element.attrs.iter().any(|attribute| match &*attribute.name.local {
        // A fast check first: most classes contain neither word.
        "class" => {
            (attribute.value.contains("copy") || attribute.value.contains("clip")) && names_any(&attribute.value, &COPY)
        }
        "data-clipboard-text" | "data-clipboard-target" => true,
        "title" | "aria-label" | "data-title" => says_copy(&attribute.value),
        _ => false,
    })
}

/// Whether an element inside a code block is a copy button. There, titles and the bare classes `copy` and `clipboard`
/// may be about the code itself, so they count only on buttons.
pub(crate) fn is_copy_control_in_code(element: &Element) -> bool {
    let is_control = matches!(&*element.name.local, "button" | "clipboard-copy")
        || element.attr("role").is_some_and(|role| role.trim().eq_ignore_ascii_case("button"))
        || element.attrs.iter().any(|attribute| attribute.name.local.starts_with("data-clipboard"));
    if is_control {
        return is_copy_control(element);
    }
    element.attr("class").is_some_and(|class| {
        let mut names = class.split_ascii_whitespace().filter(|name| !matches!(*name, "copy" | "clipboard"));
        (class.contains("copy") || class.contains("clip")) && names.any(|name| names_any(name, &COPY))
    })
}

/// Whether the link at `index` is a permalink to its own position. `named` says whether it is inside a label: a
/// heading, a term, a caption.
pub(crate) fn is_permalink(page: &Page, index: Index, named: impl Fn() -> bool) -> bool {
    let Some(element) = page.element(index) else { return false };
    let Some(href) = element.attr("href") else { return false };
    let leads_to_place = href.contains('#');
    let marked = || holds_any(element, &PERMALINKS);
    if page.end(index) - index > MAX_NODES || !leads_to_place && !marked() {
        return false;
    }
    let text = shown_text(page, index);
    if text.is_empty() {
        return leads_to_place && !shows_picture(page, index, &named);
    }
    let says = |text: &str| {
        let text = text.to_lowercase();
        SAYS.contains(&text.trim_end_matches(['!', '.', ':'])) || BEGINS.iter().any(|start| text.starts_with(start))
    };
    let is_address = text.starts_with('#') && *text == *href.trim();
    let is_sign = is_address || SIGNS.contains(&&*text) || leads_to_place && text.len() < MAX_TEXT && says(&text);
    is_sign && (named() || marked()) && stands_beside_text(page, index)
}

/// Whether the label around a link shows anything other than the link. If it does not, the link is the text of the
/// label. True for links outside labels.
fn stands_beside_text(page: &Page, index: Index) -> bool {
    let Some(around) = page.ancestors(index).take(MAX_AROUND).find(|&above| names_a_place(page, above)) else {
        return true;
    };
    let end = page.end(around).min(around + MAX_BESIDE);
    let mut at = around + 1;
    while at < end {
        let is_skipped = at == index
            || matches!(page.name(at), Some(&(local_name!("svg") | local_name!("style") | local_name!("script"))));
        if is_skipped {
            at = page.end(at);
            continue;
        }
        let is_picture = matches!(page.name(at), Some(&(local_name!("img") | local_name!("math"))));
        let is_shown = |text: &str| text.chars().any(|c| !c.is_whitespace() && !is_invisible(c));
        if is_picture || page.text(at).is_some_and(is_shown) {
            return true;
        }
        at += 1;
    }
    // A label longer than the searched part has other text.
    end < page.end(around)
}

fn names_a_place(page: &Page, index: Index) -> bool {
    page.name(index).is_some_and(|name| is_label(name) || *name == local_name!("legend"))
}

/// Returns the text of an element without icons and invisible characters.
pub(crate) fn shown_text(page: &Page, index: Index) -> String {
    let (mut text, mut at) = (String::new(), index + 1);
    while at < page.end(index) {
        let skipped = page.element(at).is_some_and(|element| {
            matches!(element.name.local, local_name!("svg") | local_name!("style") | local_name!("script"))
                || element.attr("class").is_some_and(|class| is_icon(page, at, &class))
        });
        if skipped {
            at = page.end(at);
            continue;
        }
        text.push_str(page.text(at).unwrap_or_default());
        at += 1;
    }
    text.chars().filter(|c| !is_invisible(*c)).collect::<String>().trim().to_owned()
}

/// Whether a character has no width, or is in the Private Use Area, which icon fonts use.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}' | '\u{e000}'..='\u{f8ff}')
}

/// Whether a link shows an image other than the icon of a permalink.
fn shows_picture(page: &Page, index: Index, named: impl Fn() -> bool) -> bool {
    let alt = |at: Index| page.attr(at, "alt").unwrap_or_default().trim().to_lowercase();
    let is_sign = |at: Index| {
        let alt = alt(at);
        let says = || SAYS.iter().chain(&BEGINS).any(|start| alt.starts_with(start));
        named() && (alt.is_empty() || alt == "link" || says())
    };
    let mut pictures = page.subtree(index).filter(|&at| {
        matches!(
            page.name(at),
            Some(&(local_name!("img") | local_name!("video") | local_name!("iframe") | local_name!("math")))
        )
    });
    pictures.any(|at| !is_sign(at))
}
