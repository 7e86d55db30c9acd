//! Conversion of markdown to HTML, and its links.

use std::collections::HashSet;
use std::ops::Range;

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// Markdown and its derived results.
pub(super) struct OfficeOutput {
    pub markdown: String,
    pub html: String,
    /// Absolute addresses, without duplicates.
    pub links: Vec<String>,
}

/// Converts markdown to HTML. Links that would run code in a browser are reduced to their text, in both.
///
/// The markdown has a few HTML tags where it has no equivalent, for breaks, anchors, raised and lowered text; any other tag was text in the
/// document and is escaped.
pub(super) fn written(markdown: String) -> OfficeOutput {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES | Options::ENABLE_MATH;
    let (mut links, mut seen, mut cuts) = (Vec::new(), HashSet::new(), Cuts::default());
    let events = Parser::new_ext(&markdown, options).into_offset_iter().filter_map(|(event, range)| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) if runs_code(&dest_url) => {
            cuts.begin(range);
            None
        }
        Event::End(TagEnd::Link | TagEnd::Image) if cuts.ends(&range) => None,
        other => {
            cuts.keep(&range);
            if let Event::Start(Tag::Link { dest_url, .. }) = &other
                && is_absolute(dest_url)
                && seen.insert(dest_url.to_string())
            {
                links.push(dest_url.to_string());
            }
            Some(match other {
                Event::Html(text) | Event::InlineHtml(text) => allowed(text),
                other => other,
            })
        }
    });
    let mut html = String::with_capacity(markdown.len() * 2);
    html::push_html(&mut html, events);
    let markdown = if cuts.done.is_empty() { markdown } else { cuts.of(&markdown) };
    OfficeOutput { markdown, html, links }
}

/// Links that are reduced to their text.
#[derive(Default)]
struct Cuts {
    /// Open links: their range, and the range of their text.
    open: Vec<(Range<usize>, Option<Range<usize>>)>,
    done: Vec<(Range<usize>, Range<usize>)>,
}

impl Cuts {
    fn begin(&mut self, range: Range<usize>) {
        self.open.push((range, None));
    }

    fn keep(&mut self, range: &Range<usize>) {
        for (_, words) in &mut self.open {
            let start = words.as_ref().map_or(range.start, |words| words.start);
            *words = Some(start..range.end);
        }
    }

    fn ends(&mut self, range: &Range<usize>) -> bool {
        let ended = self.open.pop_if(|(whole, _)| whole == range);
        let is_cut = ended.is_some();
        self.done.extend(ended.map(|(whole, words)| {
            let words = words.unwrap_or(whole.start..whole.start);
            (whole, words)
        }));
        is_cut
    }

    fn of(&self, markdown: &str) -> String {
        let (mut out, mut at) = (String::with_capacity(markdown.len()), 0);
        for (whole, words) in self.done.iter().filter(|(whole, words)| words.end <= whole.end) {
            if whole.start >= at {
                out.push_str(&markdown[at..whole.start]);
                out.push_str(&markdown[words.clone()]);
                at = whole.end;
            }
        }
        out.push_str(&markdown[at..]);
        out
    }
}

fn allowed(tag: CowStr<'_>) -> Event<'_> {
    let is_anchor = |tag: &str| tag.strip_prefix("<a id=\"").is_some_and(|rest| rest.find('"') == rest.rfind('"'));
    let is_known = matches!(&*tag, "<br>" | "</a>" | "<sup>" | "</sup>" | "<sub>" | "</sub>");
    if is_known || is_anchor(&tag) { Event::InlineHtml(tag) } else { Event::Text(tag) }
}

/// Whether the address has a known scheme and so needs no base.
fn is_absolute(address: &str) -> bool {
    let scheme = address.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https" | "ftp" | "mailto" | "tel")
    })
}

/// Whether the address runs code. Browsers ignore white space and control characters in a scheme.
fn runs_code(address: &str) -> bool {
    let plain = address.chars().filter(|letter| !letter.is_whitespace() && !letter.is_control());
    let start: String = plain.take(11).flat_map(char::to_lowercase).collect();
    ["javascript:", "vbscript:", "data:"].iter().any(|scheme| start.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(markdown: &str) -> String {
        written(markdown.to_owned()).html
    }

    #[test]
    fn links_are_found_once() {
        let markdown = "[a](https://a.example/) [c](b.html) <br> [a](https://a.example/)";
        let all = written(markdown.to_owned());
        assert_eq!((all.links, all.markdown.as_str()), (vec!["https://a.example/".to_owned()], markdown));
        assert!(all.html.contains("<a href=\"b.html\">c</a>") && all.html.contains("<br>"), "{}", all.html);
    }

    #[test]
    fn no_link_runs_code() {
        let all =
            written("x [*b* c](JavaScript:x) [d](<data:text/html,x>) ![e](vbscript:y) [](javascript:z) f".to_owned());
        assert_eq!(all.markdown, "x *b* c d e  f");
        assert!(!all.html.contains("cript:") && !all.html.contains("data:"), "{}", all.html);
        assert!(all.html.contains("<em>b</em> c d e"), "{}", all.html);
    }

    #[test]
    fn text_does_not_become_markup() {
        let html = html("a <script>x</script>\n\n<div onclick=x>\n\n<a id=\"x\" onclick=\"y\">b</a>\n");
        assert!(!html.contains("<script") && !html.contains("<div") && !html.contains("<a id"), "{html}");
    }

    #[test]
    fn tables_notes_and_anchors_stay() {
        let html = html("<a id=\"x\"></a>n[^1] m<sup>2</sup>\n\n| a |\n| --- |\n| b<br>c |\n\n[^1]: note\n");
        for part in ["m<sup>2</sup>", "<a id=\"x\"></a>", "<th>a</th>", "<td>b<br>c</td>", "note"] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}
