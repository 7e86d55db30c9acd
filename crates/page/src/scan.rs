//! Where comments, scripts and other raw text of HTML source end, told the way the tokenizer of the HTML standard tells it.

use memchr::{memchr, memchr_iter, memchr2};

/// The position after the comment whose text starts at `start`, just after `<!--`.
pub(crate) fn comment_end(html: &str, start: usize) -> usize {
    let bytes = html.as_bytes();
    memchr_iter(b'>', &bytes[start..])
        .map(|found| start + found)
        .find(|&at| {
            // The dashes of `<!-->` and `<!--->` serve as both, those of `<!--!>` do not.
            let before = &bytes[start - 2..at];
            before.ends_with(b"--") || at >= start + 3 && before.ends_with(b"--!")
        })
        .map_or(bytes.len(), |at| at + 1)
}

/// The position after the next `>`.
pub(crate) fn bracket_end(html: &str, start: usize) -> usize {
    memchr(b'>', &html.as_bytes()[start..]).map_or(html.len(), |found| start + found + 1)
}

/// The next end tag of `name` (in lower case), where the tokenizer reads nothing else as markup.
pub(crate) fn raw_end(html: &str, start: usize, name: &str) -> usize {
    let bytes = html.as_bytes();
    memchr_iter(b'<', &bytes[start..])
        .map(|found| start + found)
        .find(|&at| bytes.get(at + 1) == Some(&b'/') && is_tag(&bytes[at + 2..], name))
        .unwrap_or(bytes.len())
}

/// The end tag of the script that starts at `start`. In a comment, a script inside the script hides its own end tag.
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
            // The dashes may close the comment too.
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

/// Whether the text starts with `name` and what ends the name of a tag.
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
