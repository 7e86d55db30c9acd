//! Names, attributes and values of the elements of a sitemap.

use std::borrow::Cow;

/// A parsed tag.
pub(super) struct Tag<'a> {
    /// Local name in lower case.
    pub(super) name: String,
    /// Namespace prefix of the name.
    pub(super) prefix: &'a str,
    pub(super) is_end: bool,
    attributes: &'a str,
}

impl<'a> Tag<'a> {
    /// Parses the text between `<` and `>`.
    pub(super) fn parse(raw: &'a str) -> Self {
        let (raw, is_end) = match raw.strip_prefix('/') {
            Some(rest) => (rest, true),
            None => (raw, false),
        };
        let end = raw.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(raw.len());
        let (qualified, attributes) = raw.split_at(end);
        let (prefix, name) = qualified.split_once(':').unwrap_or(("", qualified));
        Self { name: name.to_ascii_lowercase(), prefix, is_end, attributes }
    }

    /// Returns whether the element belongs to a vocabulary for files of a page and not for pages: `image:loc`.
    pub(super) fn is_media(&self) -> bool {
        ["image", "video", "media", "pagemap"].iter().any(|prefix| self.prefix.eq_ignore_ascii_case(prefix))
    }

    /// Returns the value of an attribute, with entities resolved.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let mut rest = self.attributes;
        while let Some((before, after)) = rest.split_once('=') {
            let found = before.split_whitespace().last().unwrap_or_default();
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '\'')).unwrap_or(' ');
            let value = after.strip_prefix(quote).unwrap_or(after);
            let end = value.find(quote).unwrap_or(value.len());
            if found.eq_ignore_ascii_case(name) {
                return Some(plain(&value[..end]).trim().to_owned());
            }
            rest = value.get(end + 1..).unwrap_or_default();
        }
        None
    }
}

/// Resolves numeric entities and the five predefined ones of XML. Others, which a DTD would define, are kept.
pub(super) fn plain(raw: &str) -> Cow<'_, str> {
    if !raw.contains('&') {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        // The longest entity that is known is &#x10FFFF;
        let end = rest.bytes().take(10).position(|byte| byte == b';');
        match end.and_then(|end| Some((end, entity(&rest[1..end])?))) {
            Some((end, c)) => {
                text.push(c);
                rest = &rest[end + 1..];
            }
            None => {
                text.push('&');
                rest = &rest[1..];
            }
        }
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Cleans a title or description: removes markup, resolves entities, collapses white space, truncates to `most` characters.
pub(super) fn words(raw: &str, most: usize) -> String {
    let resolved = plain(raw);
    let mut text = String::new();
    let mut in_tag = false;
    for c in resolved.chars() {
        match c {
            '<' => in_tag = true,
            '>' if in_tag => {
                in_tag = false;
                text.push(' ');
            }
            c if !in_tag => text.push(c),
            _ => {}
        }
    }
    // Feeds escape their markup twice, including entities.
    let text = plain(&text).into_owned();
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    folded.chars().take(most).collect()
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities() {
        for (raw, expect) in [
            ("a?x=1&amp;y=2", "a?x=1&y=2"),
            ("a?x=1&y=2", "a?x=1&y=2"),
            ("&#233;&#xe9;&lt;&apos;", "éé<'"),
            ("&nbsp;&;&#x110000;&amp", "&nbsp;&;&#x110000;&amp"),
            ("&é;", "&é;"),
        ] {
            assert_eq!(plain(raw), expect, "{raw}");
        }
    }

    #[test]
    fn tags() {
        let tag = Tag::parse("xhtml:LINK rel=\"alternate\"\n hreflang = 'de' href='/a?b=1&amp;c=2' x=y/");
        assert_eq!((tag.name.as_str(), tag.prefix, tag.is_end), ("link", "xhtml", false));
        assert_eq!(tag.attribute("href").as_deref(), Some("/a?b=1&c=2"));
        assert_eq!(tag.attribute("Hreflang").as_deref(), Some("de"));
        assert_eq!(tag.attribute("title"), None);
        let end = Tag::parse("/url ");
        assert_eq!((end.name.as_str(), end.is_end), ("url", true));
    }

    #[test]
    fn text_of_a_description() {
        assert_eq!(words(" &lt;p&gt;Fish &amp;amp; <b>chips</b>&lt;/p&gt;\n", 50), "Fish & chips");
        assert_eq!(words("abcdef", 3), "abc");
    }
}
