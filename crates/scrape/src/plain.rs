//! Bodies that are already text, converted to markdown and HTML.

use serde_json::{Map, Value};

/// Returns `source` as a fenced code block (CommonMark 4.5). The fence is longer than any run of backticks inside, so
/// that the body cannot close it.
pub(crate) fn fenced(source: &str, language: &str) -> String {
    let longest = source.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{language}\n{}\n{fence}", source.trim_end())
}

/// Returns `source` as HTML, like browsers show plain text.
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

/// Removes the data of embedded images from markdown, as in markdown made from HTML: `![alt](<Base64-Image-Removed>)`.
pub(crate) fn without_embedded_images(source: &str) -> String {
    const START: &str = "](data:image/";
    /// Bytes from the start of an image within which `;base64,` must come.
    const TYPE: usize = 256;
    let mut kept = String::with_capacity(source.len());
    // `end` is kept across matches: images that begin before it share it, so that the text is scanned only once.
    let (mut written, mut end) = (0, 0);
    for (at, _) in source.match_indices(START) {
        if at < written {
            continue;
        }
        if end <= at {
            end = memchr::memchr2(b')', b'\n', &source.as_bytes()[at..]).map_or(source.len(), |end| at + end);
        }
        let kind = &source.as_bytes()[at..end.min(at + TYPE)];
        if source[end..].starts_with(')') && memchr::memmem::find(kind, b";base64,").is_some() {
            kept.push_str(&source[written..at]);
            kept.push_str("](<Base64-Image-Removed>)");
            written = end + 1;
        }
    }
    kept.push_str(&source[written..]);
    kept
}

/// Removes what a reader of rendered markdown does not see: HTML comments and link definitions, outside of code blocks.
pub(crate) fn without_comments(source: &str) -> String {
    let mut kept = String::with_capacity(source.len());
    let (mut fence, mut is_comment) = (None, false);
    for line in source.split_inclusive('\n') {
        let start = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| start.starts_with(marker) && !is_comment);
        match (fence, marker) {
            (Some(open), Some(marker)) if open == marker => fence = None,
            (None, Some(marker)) => fence = Some(marker),
            (None, None) => {
                if is_comment || !is_definition(start) {
                    is_comment = push_without_comments(&mut kept, line, is_comment);
                }
                continue;
            }
            (Some(_), _) => {}
        }
        kept.push_str(line);
    }
    kept
}

/// Writes a line without comments. Returns whether one goes on in the next line.
fn push_without_comments(kept: &mut String, line: &str, is_comment: bool) -> bool {
    let (mut left, mut is_comment) = (line, is_comment);
    loop {
        let mark = if is_comment { "-->" } else { "<!--" };
        let Some((before, after)) = left.split_once(mark) else { break };
        kept.push_str(if is_comment { "" } else { before });
        (left, is_comment) = (after, !is_comment);
    }
    kept.push_str(if is_comment { "" } else { left });
    is_comment
}

/// Whether a line defines a link for use elsewhere: `[name]: target`. Footnotes are text.
fn is_definition(line: &str) -> bool {
    line.starts_with('[') && !line.starts_with("[^") && line.find("]:").is_some_and(|end| !line[1..end].contains(']'))
}

/// Lines of a markdown text that are searched for metadata.
const MAX_LINES_ABOUT: usize = 200;

/// Returns the metadata of a markdown text: title, description and language of its front matter, else its first heading
/// as title.
pub(crate) fn about(text: &str) -> Map<String, Value> {
    let mut about = Map::new();
    let mut lines = text.trim_start_matches('\u{feff}').lines().take(MAX_LINES_ABOUT).peekable();
    if lines.next_if(|line| line.trim_end() == "---").is_some() {
        for line in lines.by_ref().take_while(|line| line.trim_end() != "---") {
            let Some((key, value)) = line.split_once(':') else { continue };
            let value = value.trim().trim_matches(['"', '\'']);
            if matches!(key, "title" | "description" | "language") && !value.is_empty() {
                about.insert(key.to_owned(), value.into());
            }
        }
    }
    let heading =
        lines.find_map(|line| line.strip_prefix("# ")).map(|text| text.trim().trim_end_matches('#').trim_end());
    if let Some(heading) = heading.filter(|text| !text.is_empty() && !about.contains_key("title")) {
        about.insert("title".to_owned(), heading.into());
    }
    about
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
        check("](data:image/png;base64,A](data:image/png;base64,B)c", "](<Base64-Image-Removed>)c");
        check("](data:image/x](data:image/png;base64,B)c", "](<Base64-Image-Removed>)c");
    }

    #[test]
    fn comments_in_markdown() {
        let check = |source: &str, expect: &str| assert_eq!(without_comments(source), expect, "{source}");
        check("# A\n\n[//]: # (note)\n[c]: <> (x)\nb\n", "# A\n\nb\n");
        check("a<!-- b\nc --> d <!-- e -->f\n", "a d f\n");
        check("```\n<!-- a -->\n[b]: c\n```\nx", "```\n<!-- a -->\n[b]: c\n```\nx");
        check("[^1]: a\n[b](c): d\n<!--", "[^1]: a\n[b](c): d\n");
    }

    #[test]
    fn images_that_never_end_are_read_once() {
        let began = std::time::Instant::now();
        let source = "](data:image/".repeat(1 << 18);
        assert_eq!(without_embedded_images(&source), source);
        without_embedded_images(&format!("{source})"));
        assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
    }

    #[test]
    fn markdown_says_what_it_is_about() {
        for (text, expect) in [
            ("# Saws #\n\ntext", json!({"title": "Saws"})),
            (
                "---\ntitle: \"Saws: all\"\ndescription: Of the shop\ntags: a\n---\n# Other",
                json!({"title": "Saws: all", "description": "Of the shop"}),
            ),
            ("---\ndescription: x\n---\n\n# Saws", json!({"description": "x", "title": "Saws"})),
            ("text\n---\ntitle: no", json!({})),
        ] {
            assert_eq!(Value::Object(about(text)), expect, "{text}");
        }
    }
}
