//! The `attributes` format: values of one attribute on the elements that match a selector.

use page::Page;

/// Returns the values of `attribute` on every element that matches the CSS `selector`, as written, in document order,
/// with duplicates. A selector that [`page::check_selector`] refuses matches nothing. If [`Page::is_out_of_steps`] is
/// true afterwards, the result is wrong.
pub fn attributes(page: &Page, selector: &str, attribute: &str) -> Vec<String> {
    let name = attribute.trim().to_ascii_lowercase();
    page.select(&[selector.to_owned()])
        .into_iter()
        .filter_map(|index| page.attr(index, &name).or_else(|| page.attr(index, attribute.trim())))
        .take_while(|value| page.may_return(value.len()))
        .map(String::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_document_order() {
        let url = url::Url::parse("https://a.test/").unwrap();
        let page = Page::parse("<p data-v=1><i><p data-v='' class=x><a data-v=1></a><svg viewBox='0 0'>", &url);
        assert_eq!(attributes(&page, "p, a, i", "DATA-V"), ["1", "", "1"]);
        assert_eq!(attributes(&page, "svg", "viewBox"), ["0 0"]);
        assert_eq!(attributes(&page, "p >", "data-v"), [""; 0]);
    }
}
