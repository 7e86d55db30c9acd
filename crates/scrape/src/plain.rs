//! Bodies that are text already, as markdown and as HTML.

/// `source` as a fenced code block (CommonMark 4.5). The fence is longer than any run of backticks inside, so that the
/// body cannot end it.
pub(crate) fn fenced(source: &str, language: &str) -> String {
    let longest = source.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{language}\n{}\n{fence}", source.trim_end())
}

/// `source` as browsers show plain text.
pub(crate) fn preformatted(source: &str) -> String {
    let mut html = String::with_capacity(source.len() + 16);
    html.push_str("<pre>");
    // A parser drops the first new line of a <pre>.
    if source.starts_with('\n') {
        html.push('\n');
    }
    for c in source.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            other => html.push(other),
        }
    }
    html.push_str("</pre>");
    html
}

/// Markdown with the bytes of embedded images taken out, as in markdown made from HTML: `![alt](<Base64-Image-Removed>)`.
pub(crate) fn without_embedded_images(source: &str) -> String {
    const START: &str = "](data:image/";
    let mut kept = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find(START) {
        let (before, image) = rest.split_at(at);
        kept.push_str(before);
        let end =
            image.find([')', '\n']).filter(|end| image[*end..].starts_with(')') && image[..*end].contains(";base64,"));
        let (text, skipped) = match end {
            Some(end) => ("](<Base64-Image-Removed>)", end + 1),
            None => (START, START.len()),
        };
        kept.push_str(text);
        rest = &image[skipped..];
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_cannot_leave_its_fence() {
        assert_eq!(fenced("{\"a\": 1}\n", "json"), "```json\n{\"a\": 1}\n```");
        assert_eq!(fenced("\"```\"", "json"), "````json\n\"```\"\n````");
        assert_eq!(fenced("", "json"), "```json\n\n```");
    }

    #[test]
    fn plain_text_is_escaped() {
        assert_eq!(preformatted("a<b>&c"), "<pre>a&lt;b&gt;&amp;c</pre>");
        assert_eq!(preformatted("\nx"), "<pre>\n\nx</pre>");
    }

    #[test]
    fn embedded_images() {
        let check = |source: &str, expect: &str| assert_eq!(without_embedded_images(source), expect);
        check("a ![x](data:image/png;base64,AAAA) b", "a ![x](<Base64-Image-Removed>) b");
        check(
            "![](data:image/png;base64,A)![](data:image/gif;base64,B)",
            "![](<Base64-Image-Removed>)![](<Base64-Image-Removed>)",
        );
        check("![x](/a.png)", "![x](/a.png)");
        check("![x](data:image/png;base64,AA\n)", "![x](data:image/png;base64,AA\n)");
        check("![x](data:image/svg+xml,<svg>)", "![x](data:image/svg+xml,<svg>)");
        check("![x](data:image/", "![x](data:image/");
    }
}
