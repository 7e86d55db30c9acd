//! Callouts: notes, tips and warnings set apart from the text, recognised by the markup of the programs that write
//! them.

use page::{Element, Index, Page, local_name};

/// Limit on the nodes of a callout: a larger element is a section of the page that happens to have such a class.
const MAX_NODES: usize = 2_000;
/// Number of siblings before an `<aside>` that are searched for a paragraph.
const NEAR: usize = 64;
/// Limit on a class attribute, in bytes; the rest is ignored.
const MAX_CLASS: usize = 300;

/// Kinds of callouts: the label that is written, then the other words by which pages name it.
const KINDS: [&[&str]; 17] = [
    &["Note", "notes", "notice", "default", "primary", "secondary"],
    &["Info", "information", "informational"],
    &["Tip", "tips", "hint", "pro-tip", "protip"],
    &["Important", "key"],
    &["Warning", "warn", "alert-warning"],
    &["Caution", "attention"],
    &["Danger", "error", "critical", "failure", "fail"],
    &["Success", "check", "done"],
    &["Question", "faq", "help"],
    &["Example", "examples"],
    &["Abstract", "summary", "tldr"],
    &["See also", "seealso", "see-also"],
    &["Bug", "issue"],
    &["Todo", "todos"],
    &["Remark", "remarks"],
    &["Deprecated", "deprecation"],
    &["Experimental", "beta", "preview"],
];
/// Words that make a block a callout if they are a class of their own.
const ALONE: [&str; 10] =
    ["note", "tip", "warning", "caution", "danger", "important", "attention", "seealso", "notice", "hint"];
/// Words in classes of callouts on pages of documentation.
pub(crate) const WORDS: [&str; 16] = [
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

/// The words that mean callouts on news and shop pages as well.
pub(crate) const CERTAIN_WORDS: [&str; 8] =
    ["admonition", "admonitionblock", "attention", "caution", "danger", "note", "seealso", "warning"];
/// Classes of the outer element of a callout; the kind is in another class or after a dash.
const FRAMES: [&str; 17] = [
    "admonition",
    "admonitionblock",
    "alert",
    "bd-callout",
    "blockquote-tag",
    "callout",
    "confluence-information-macro",
    "custom-block",
    "custom-container",
    "gl-alert",
    "hint-container",
    "markdown-alert",
    "nextra-callout",
    "notecard",
    "starlight-aside",
    "theme-admonition",
    "awsdocs-note",
];
/// Prefixes of a kind in a class.
const PREFIXES: [&str; 22] = [
    "theme-admonition-",
    "admonition-",
    "admonish-",
    "markdown-alert-",
    "alert--",
    "alert-",
    "starlight-aside--",
    "confluence-information-macro-",
    "bd-callout-",
    "blockquote-tag-",
    "callout--",
    "callout-",
    "callout_",
    "custom-block-",
    "gl-alert-",
    "hint-",
    "is-",
    "notecard-",
    "awsdocs-",
    "macro-",
    "panel-",
    "icon-",
];
/// Attributes with the kind of a callout.
const ATTRIBUTES: [&str; 4] = ["data-callout", "data-callout-type", "data-panel-type", "data-admonition-type"];
/// Words in the classes of a callout's title line.
const TITLES: [&str; 6] = ["title", "heading", "header", "caption", "label", "title-inner"];

/// A callout, with the label of its kind if the page names one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Callout {
    pub(crate) kind: Option<&'static str>,
}

/// Returns the callout at `index`, if the element is one: by the markup of Docusaurus, Starlight, VitePress, MkDocs
/// Material, GitHub, GitLab, Sphinx, Asciidoctor, Bootstrap, Confluence, MDN, Obsidian, Quarto and similar programs, by
/// a class that names one, by `role=note`, or as a short `<aside>` within the text.
pub(crate) fn callout(page: &Page, index: Index) -> Option<Callout> {
    let element = page.element(index).filter(|element| may_be(element))?;
    let name = &element.name.local;
    let found = if element.attrs.is_empty() { None } else { declared(element) };
    let found = found
        .or_else(|| (*name == local_name!("aside") && is_within_text(page, index)).then_some(Callout { kind: None }));
    found.filter(|_| is_of_one_piece(page, index))
}

/// Whether an element can be a callout by its tag. Runs for every element, so it checks nothing else.
fn may_be(element: &Element) -> bool {
    matches!(
        element.name.local,
        local_name!("div")
            | local_name!("aside")
            | local_name!("section")
            | local_name!("p")
            | local_name!("blockquote")
            | local_name!("details")
            | local_name!("dl")
            | local_name!("figure")
    )
}

fn declared(element: &Element) -> Option<Callout> {
    let (mut class, mut role, mut by_attribute) = ("", "", None);
    for attribute in &element.attrs {
        match &*attribute.name.local {
            "class" => class = &attribute.value,
            "role" => role = attribute.value.trim(),
            name if ATTRIBUTES.contains(&name) => by_attribute = Some(kind(&attribute.value)),
            _ => {}
        }
    }
    let class = &class[..class.floor_char_boundary(MAX_CLASS)];
    let names = || class.split_ascii_whitespace();
    let named = || by_attribute.flatten().or_else(|| names().find_map(kind_in));
    // Docusaurus styles every collapsible element with the colours of a callout.
    let is_coloured =
        element.name.local == local_name!("details") && class.contains("alert--") && !class.contains("admonition");
    if by_attribute.is_some() || names().any(|name| may_mean_callout(name) && is_frame(name)) && !is_coloured {
        return Some(Callout { kind: named() });
    }
    let is_alone = |name: &&str| may_mean_callout(name) && ALONE.iter().any(|known| name.eq_ignore_ascii_case(known));
    if let Some(name) = names().find(is_alone) {
        return Some(Callout { kind: kind(name) });
    }
    matches!(role, "note" | "doc-tip" | "doc-notice").then(|| Callout { kind: named() })
}

/// Fast filter by the first letters of a class: nearly all classes mean something else.
fn may_mean_callout(name: &str) -> bool {
    let begins = |start: &str| name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    match name.as_bytes()[0].to_ascii_lowercase() {
        b'a' => begins("ad") || begins("alert") || begins("att") || begins("aws"),
        b'b' => begins("bd-") || begins("blockquote-tag"),
        b'c' => begins("call") || begins("caut") || begins("conf") || begins("cust"),
        b'd' => begins("dang"),
        b'g' => begins("gl-"),
        b'h' => begins("hint"),
        b'i' => begins("impo"),
        b'm' => begins("mark"),
        b'n' => begins("not") || begins("nextra"),
        b's' => begins("star") || begins("see"),
        b't' => begins("theme-") || begins("tip"),
        b'w' => begins("warn"),
        _ => false,
    }
}

/// Whether a class marks the outer element of a callout, rather than a part of it.
fn is_frame(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    FRAMES.contains(&&*lower)
        // CSS modules add a hash: `admonition_xJq3`.
        || lower.strip_prefix("admonition_").is_some_and(|rest| !rest.contains(['_', '-']))
        || lower.starts_with("callout_") && kind_in(&lower).is_some()
        || ["admonition-", "callout-", "starlight-aside--", "admonish-", "hint-"].iter().any(|start| lower.starts_with(start)) && kind_in(&lower).is_some()
}

/// Returns the kind of callout that a class names, with or without one of [`PREFIXES`].
fn kind_in(name: &str) -> Option<&'static str> {
    let rest = PREFIXES.iter().find_map(|prefix| {
        name.get(..prefix.len()).filter(|start| start.eq_ignore_ascii_case(prefix)).map(|start| &name[start.len()..])
    });
    rest.and_then(kind).or_else(|| kind(name))
}

/// Returns the kind of callout that a word means.
pub(crate) fn kind(word: &str) -> Option<&'static str> {
    let word = word.trim().trim_end_matches([':', '!', '.']);
    let is_it = |kind: &&&[&'static str]| kind.iter().any(|known| known.eq_ignore_ascii_case(word));
    KINDS.iter().find(is_it).map(|kind| kind[0])
}

/// Whether an element inside a callout is its title line.
pub(crate) fn is_title(element: &Element) -> bool {
    element.attr("class").is_some_and(|class| {
        class.split_ascii_whitespace().any(|name| {
            let name = name.to_ascii_lowercase();
            // `admonition-title`, `starlight-aside__title`, `admonitionHeading_Gvgb`.
            let words = name.split(['-', '_']).filter(|word| !word.is_empty());
            words
                .into_iter()
                .any(|word| TITLES.iter().any(|title| word == *title || word.strip_prefix("admonition") == Some(title)))
        })
    })
}

/// Whether an element is small enough for a callout and contains no page-level elements.
fn is_of_one_piece(page: &Page, index: Index) -> bool {
    let is_page = |name: &page::LocalName| {
        matches!(
            *name,
            local_name!("h1") | local_name!("main") | local_name!("article") | local_name!("nav") | local_name!("form")
        )
    };
    page.end(index) - index <= MAX_NODES && !page.subtree(index).any(|at| page.name(at).is_some_and(is_page))
}

/// Whether an `<aside>` stands among paragraphs of the content, rather than being a side column of the page.
fn is_within_text(page: &Page, index: Index) -> bool {
    let Some(parent) = page.parent(index) else { return false };
    let in_content = || {
        page.ancestors(index)
            .any(|above| page.is(above, &local_name!("article")) || page.is(above, &local_name!("main")))
    };
    let is_text = |at: Index| page.is(at, &local_name!("p"));
    let is_list = |at: Index| {
        matches!(
            page.name(at),
            Some(
                &(local_name!("ul")
                    | local_name!("ol")
                    | local_name!("h2")
                    | local_name!("h3")
                    | local_name!("h4")
                    | local_name!("aside"))
            )
        )
    };
    let follows_text = || page.children(parent).take_while(|&at| at < index).take(NEAR).any(is_text);
    in_content() && follows_text() && !page.subtree(index).skip(1).any(is_list)
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    fn check(html: &str, expect: Option<Option<&str>>) {
        let page = Page::parse(html, &Url::parse("https://a.test/").unwrap());
        let found = (0..page.node_count()).find_map(|index| callout(&page, index));
        assert_eq!(found.map(|callout| callout.kind), expect, "{html}");
    }

    #[test]
    fn callouts_of_many_programs() {
        for (html, kind) in [
            ("<div class='theme-admonition theme-admonition-tip admonition_xJq3 alert alert--success'>x", "Tip"),
            ("<div class='admonition admonition-note alert alert--secondary'>x", "Note"),
            ("<aside aria-label=Danger class='starlight-aside starlight-aside--danger'>x", "Danger"),
            ("<div class='warning custom-block'>x", "Warning"),
            ("<div class='hint-container tip'>x", "Tip"),
            ("<div class='admonition seealso'>x", "See also"),
            ("<details class='admonition bug'>x", "Bug"),
            ("<details class='alert alert-warning'>x", "Warning"),
            ("<details class='theme-admonition theme-admonition-tip alert alert--success'>x", "Tip"),
            ("<blockquote class='blockquote-tag blockquote-tag-important'>x", "Important"),
            ("<details class=note><summary>a</summary>x</details>", "Note"),
            ("<div class='markdown-alert markdown-alert-caution'>x", "Caution"),
            ("<div class='gl-alert gl-alert-info'>x", "Info"),
            ("<div class='admonitionblock important'><table><tr><td>x</table>", "Important"),
            ("<div class='alert alert-danger' role=alert>x", "Danger"),
            ("<div class='confluence-information-macro confluence-information-macro-warning'>x", "Warning"),
            ("<div data-panel-type=error>x", "Danger"),
            ("<div class=callout data-callout=example>x", "Example"),
            ("<div class='callout callout-style-default callout-tip'>x", "Tip"),
            ("<blockquote class='callout callout_warn'>x", "Warning"),
            ("<div class='notecard warning'>x", "Warning"),
            ("<div class=NOTE>x", "Note"),
            ("<p class=note>x", "Note"),
            ("<dl class='section warning'><dt>x", "Warning"),
        ] {
            check(html, Some(Some(kind)));
        }
        for html in [
            "<blockquote class=blockquote-tag>x",
            "<div role=note>x",
            "<div class=alert>x",
            "<main><p>a<aside>x</aside><p>b</main>",
        ] {
            check(html, Some(None));
        }
    }

    #[test]
    fn what_is_none() {
        for html in [
            "<div class=admonition-content>x",
            "<div class='callout-title'>x",
            "<div class=admonitionContent_BuS1>x",
            "<aside>x",
            "<main><p>a</p><aside><ul><li>x</ul></aside></main>",
            "<div class=aside>x",
            "<div class='note'><h1>x",
            "<span class=note>x",
            "<div class=info>x",
            "<details class='alert alert--info'><summary>x",
            "<details class='details_lb9f alert alert--warning details_b_Ee' data-collapsed=true><summary>x",
            "<details class='alert--secondary alert'><summary>x",
            "<blockquote class=blockquote-tag-title>x",
            "<div class=note-list>x",
        ] {
            check(html, None);
        }
    }
}
