//! Selection of the content of a page: by the caller's selectors, and then its main content.

use page::Page;

use crate::content::{Content, ContentOptions, selected};
use crate::{furniture, main_content};

/// Selects the content of `page`.
///
/// If the page has text, the result is empty only if the selectors exclude everything: without a recognisable main
/// content the whole body is taken, and `<noscript>` counts if it has more text than the rest.
pub fn content<'p>(page: &'p Page, options: &ContentOptions) -> Content<'p> {
    let mut content = selected(page, options);
    if options.only_main_content {
        main_content::keep_main(&mut content, options.include_tags.is_empty());
        furniture::remove(&mut content);
    }
    content
}
