//! The plain text of a letter, made of its HTML.

/// Width of a line in columns.
const WIDTH: usize = 78;

/// Makes plain text of the HTML of a [`crate::Content`], which nests no deeper than its template. Links become notes.
pub(crate) fn plain(html: &str) -> String {
    let text = html2text::config::plain().no_link_wrapping().string_from_read(html.as_bytes(), WIDTH);
    // Only a width that is too small for the indentation fails.
    text.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;
    use crate::{Content, Part};

    #[test]
    fn long_links_are_not_broken() {
        let url = Url::parse(&format!("https://quarry.example.com/confirm?token={}", "abc123".repeat(60))).unwrap();
        let content = Content::new("s").with(Part::Button { text: "Confirm".to_owned(), url: url.clone() });
        let text = plain(&content.html());
        assert!(text.contains(url.as_str()), "{text}");
    }

    #[test]
    fn links_and_lines_are_kept() {
        let url = Url::parse("https://quarry.example.com/confirm?token=abc.def").unwrap();
        let content = Content::new("s")
            .with(Part::Text("A < b & c".to_owned()))
            .with(Part::Lines("-old  price\n+new  price".to_owned()))
            .with(Part::Button { text: "Confirm".to_owned(), url });
        let text = plain(&content.html());
        for expected in ["A < b & c", "-old  price\n+new  price", "https://quarry.example.com/confirm?token=abc.def"] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }
}
