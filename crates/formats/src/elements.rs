//! Elements by what browsers make of them.

use page::{LocalName, local_name};

/// Attribute of what a rendered page hides until a control of it is used; the crate `browser` writes it.
pub(crate) const COLLAPSED: &str = "data-collapsed";

/// Elements that begin a new line in a browser and are nothing but a box there: no heading, list, table row or control.
pub(crate) fn is_box(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("address")
            | local_name!("article")
            | local_name!("aside")
            | local_name!("blockquote")
            | local_name!("body")
            | local_name!("caption")
            | local_name!("center")
            | local_name!("dd")
            | local_name!("details")
            | local_name!("dialog")
            | local_name!("div")
            | local_name!("dl")
            | local_name!("fieldset")
            | local_name!("figcaption")
            | local_name!("figure")
            | local_name!("footer")
            | local_name!("form")
            | local_name!("header")
            | local_name!("hgroup")
            | local_name!("main")
            | local_name!("nav")
            | local_name!("noscript")
            | local_name!("option")
            | local_name!("p")
            | local_name!("section")
            | local_name!("table")
            | local_name!("tbody")
            | local_name!("tfoot")
            | local_name!("thead")
    )
}

/// Headings, `h1` to `h6`.
pub(crate) fn is_heading(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("h1")
            | local_name!("h2")
            | local_name!("h3")
            | local_name!("h4")
            | local_name!("h5")
            | local_name!("h6")
    )
}

/// Elements that name what is below or beside them: headings, terms, heads of tables, captions, summaries.
pub(crate) fn is_label(name: &LocalName) -> bool {
    is_heading(name)
        || matches!(
            *name,
            local_name!("dt")
                | local_name!("th")
                | local_name!("caption")
                | local_name!("figcaption")
                | local_name!("summary")
        )
}
