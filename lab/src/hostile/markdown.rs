//! Elements of rendered markdown: links, headings, tables (CommonMark 0.31 and tables of GitHub).

use pulldown_cmark::{Event, Options, Parser, Tag};

/// Parts of markdown that cases check.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct MarkdownParts {
    /// Link targets in order, without images.
    pub(crate) links: Vec<String>,
    /// Number of headings.
    pub(crate) headings: usize,
    /// Number of columns of each table.
    pub(crate) columns: Vec<usize>,
}

/// Parses a text.
pub(crate) fn parse_markdown(text: &str) -> MarkdownParts {
    let mut seen = MarkdownParts::default();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => seen.links.push(dest_url.into_string()),
            Event::Start(Tag::Heading { .. }) => seen.headings += 1,
            Event::Start(Tag::Table(columns)) => seen.columns.push(columns.len()),
            _ => {}
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, links: &[&str], headings: usize, columns: &[usize]) {
        let links = links.iter().map(ToString::to_string).collect();
        assert_eq!(parse_markdown(text), MarkdownParts { links, headings, columns: columns.to_vec() }, "{text}");
    }

    #[test]
    fn sees_what_a_reader_sees() {
        check("[a](http://x/1) and [b](<http://x/a b>)", &["http://x/1", "http://x/a b"], 0, &[]);
        check("[a\\](http://evil.test) \\[b](http://x/)", &["http://x/"], 0, &[]);
        check("# one\n\ntwo\n===\n\n\\# none", &[], 2, &[]);
        check("````\n```\n# none\n```\n````", &[], 0, &[]);
        check("```\n```\n# a heading\n```\n```", &[], 1, &[]);
        check("| a\\|b |\n| --- |\n| c d\\|e |", &[], 0, &[1]);
        check("![x](y) `[a](b)`", &[], 0, &[]);
    }
}
