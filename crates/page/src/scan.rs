//! Ends of comments, scripts and other raw text in HTML source, by the rules of the HTML standard's tokenizer.

use memchr::{memchr, memchr_iter, memchr2};

/// Returns the position after the comment whose text starts at `start`, just after `<!--`.
pub(crate) fn comment_end(html: &str, start: usize) -> usize {
    let bytes = html.as_bytes();
    memchr_iter(b'>', &bytes[start..])
        .map(|found| start + found)
        .find(|&at| {
            // The dashes of `<!-->` and `<!--->` both open and close the comment; those of `<!--!>` do not close it.
            let before = &bytes[start - 2..at];
            before.ends_with(b"--") || at >= start + 3 && before.ends_with(b"--!")
        })
        .map_or(bytes.len(), |at| at + 1)
}

/// Returns the position after the next `>`.
pub(crate) fn bracket_end(html: &str, start: usize) -> usize {
    memchr(b'>', &html.as_bytes()[start..]).map_or(html.len(), |found| start + found + 1)
}

/// Returns the position of the next end tag of `name` (in lower case), for raw text, where only that tag is markup.
pub(crate) fn raw_end(html: &str, start: usize, name: &str) -> usize {
    let bytes = html.as_bytes();
    memchr_iter(b'<', &bytes[start..])
        .map(|found| start + found)
        .find(|&at| bytes.get(at + 1) == Some(&b'/') && is_tag(&bytes[at + 2..], name))
        .unwrap_or(bytes.len())
}

/// Returns the position of the end tag of the script whose text starts at `start`. After `<!--` in a script, a nested
/// `<script>` consumes the next end tag (the "script data double escaped state" of the HTML standard).
pub(crate) fn script_end(html: &str, start: usize) -> usize {
    let first = raw_end(html, start, "script");
    if !html[start..first].contains("<!--") {
        return first;
    }
    let bytes = html.as_bytes();
    let (mut in_comment, mut inside) = (false, false);
    let mut at = start;
    while let Some(found) = memchr2(b'<', b'-', &bytes[at..]) {
        at += found;
        let rest = &bytes[at..];
        let ends = rest.starts_with(b"</") && is_tag(&rest[2..], "script");
        if ends && !inside {
            return at;
        }
        if !in_comment && rest.starts_with(b"<!--") {
            in_comment = true;
            // Only past `<!`: the same dashes may close the comment, as in `<!-->`.
            at += 2;
        } else if in_comment && rest.starts_with(b"-->") {
            (in_comment, inside) = (false, false);
            at += 3;
        } else {
            inside = inside && !ends || in_comment && rest[0] == b'<' && is_tag(&rest[1..], "script");
            at += 1;
        }
    }
    bytes.len()
}

/// Whether the text starts with `name`, followed by a byte that ends a tag name.
fn is_tag(text: &[u8], name: &str) -> bool {
    text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
        && text.get(name.len()).is_some_and(|&b| ends_name(b))
}

/// Whether a byte ends the name of a tag.
pub(crate) fn ends_name(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b' ' | b'/' | b'>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_end_where_the_tokenizer_says() {
        let check = |html: &str, comment: &str| assert_eq!(&html[..comment_end(html, 4)], comment, "{html}");
        check("<!-- > -- --!>x", "<!-- > -- --!>");
        check("<!-->x", "<!-->");
        check("<!--->x-->", "<!--->");
        check("<!--!>x-->y", "<!--!>x-->");
        check("<!---!>x-->y", "<!---!>x-->");
        check("<!----!>x", "<!----!>");
        check("<!--a--->x", "<!--a--->");
        check("<!--é", "<!--é");
    }

    #[test]
    fn scripts_end_where_the_tokenizer_says() {
        let check = |html: &str, script: &str| assert_eq!(&html[..script_end(html, 0)], script, "{html}");
        check("a</script>b", "a");
        check("a</scripts></SCRIPT >b", "a</scripts>");
        check("a</script", "a</script");
        check("<!--<script></script>--></script>b", "<!--<script></script>-->");
        check("<!--<script></script></script>b", "<!--<script></script>");
        check("<!--></script>b", "<!-->");
        check("<!--<script>--></script>b", "<!--<script>-->");
        check("<!--<scripts></script>b", "<!--<scripts>");
        check("<!--<script>", "<!--<script>");
        assert_eq!(raw_end("x</b></TITLE\n>", 0, "title"), 5);
    }
}
