//! The `html` format: the content as HTML without machinery, with absolute URLs.

use dom_query::{Element, LocalName, local_name};
use url::Url;

use crate::content::{Content, Visitor};
use crate::markdown::media::source;
use crate::page::{Index, Page};
use crate::urls::{absolute, is_embedded, largest};

/// Bytes of one document, roughly; a long base URL multiplies with every relative link.
const MAX_BYTES: usize = 48 << 20;

/// The content as HTML: scripts, styles, `<noscript>`, `<meta>` and `<head>` removed, event handlers removed, URLs
/// absolute, responsive images resolved to the largest. A whole page is wrapped in `<html><body>`.
pub fn html(content: &Content) -> String {
    let mut writer = Writer { page: content.page(), out: String::new() };
    content.walk(&mut writer);
    writer.out
}

struct Writer<'p> {
    page: &'p Page,
    out: String,
}

impl Visitor for Writer<'_> {
    fn enter(&mut self, index: Index, name: &LocalName) -> bool {
        let Some(element) = self.page.element(index) else {
            return false;
        };
        if self.out.len() > MAX_BYTES {
            return false;
        }
        self.out.push('<');
        self.out.push_str(shown_name(name));
        self.attributes(&element);
        self.out.push('>');
        if is_void(name) {
            return false;
        }
        if is_opaque(name) {
            self.end_tag(name);
            return false;
        }
        if *name == local_name!("pre") && self.starts_with_line_end(index) {
            // A parser drops the first line end of <pre>.
            self.out.push('\n');
        }
        true
    }

    fn text(&mut self, index: Index) {
        if let Some(text) = self.page.text(index)
            && self.out.len() <= MAX_BYTES
        {
            push_escaped(&mut self.out, &text, false);
        }
    }

    fn leave(&mut self, index: Index) {
        if let Some(name) = self.page.name(index) {
            self.end_tag(name);
        }
    }
}

impl Writer<'_> {
    fn end_tag(&mut self, name: &LocalName) {
        self.out.push_str("</");
        self.out.push_str(shown_name(name));
        self.out.push('>');
    }

    fn starts_with_line_end(&self, index: Index) -> bool {
        self.page
            .children(index)
            .next()
            .and_then(|child| self.page.text(child))
            .is_some_and(|text| text.starts_with('\n'))
    }

    fn attributes(&mut self, element: &Element) {
        let base = self.page.base();
        let is_image = element.name.local == local_name!("img");
        if let Some(source) = source(element).filter(|_| is_image) {
            let source = if is_embedded(&source) { Some(source) } else { absolute(base, &source).map(String::from) };
            source.iter().for_each(|source| self.attribute("src", source));
        }
        for attribute in &element.attrs {
            let name = &*attribute.name.local;
            let value = &*attribute.value;
            match name {
                _ if !is_name(name) || is_handler(name) => {}
                "src" | "sizes" | "data-src" | "data-srcset" if is_image => {}
                "srcset" if is_image => {}
                "srcset" | "imagesrcset" => {
                    let best = largest(value).and_then(|url| absolute(base, url));
                    best.iter().for_each(|url| self.attribute(name, url.as_str()));
                }
                "href" | "src" | "poster" | "action" | "formaction" | "cite" | "data" | "background" | "longdesc" => {
                    resolved(base, name, value).iter().for_each(|url| self.attribute(name, url));
                }
                "srcdoc" => {}
                _ => self.attribute(name, value),
            }
        }
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.out.push(' ');
        self.out.push_str(name);
        self.out.push_str("=\"");
        push_escaped(&mut self.out, value, true);
        self.out.push('"');
    }
}

/// The URL of an attribute made absolute; what cannot be a URL stays as it is, what runs code goes.
fn resolved(base: &Url, name: &str, value: &str) -> Option<String> {
    if let Some(url) = absolute(base, value) {
        return Some(url.into());
    }
    let embedded_media = is_embedded(value) && matches!(name, "src" | "poster");
    let not_a_url = base.join(value.trim()).is_err() || value.trim().is_empty();
    (embedded_media || not_a_url).then(|| value.to_owned())
}

fn is_handler(name: &str) -> bool {
    name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("on"))
}

/// Whether a name can be written as an attribute that reads back as the same one.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control() || "\"'<>/=`".contains(c))
}

/// Elements whose text is not parsed as markup are written as one whose text is.
fn shown_name(name: &LocalName) -> &str {
    match *name {
        local_name!("xmp") | local_name!("plaintext") | local_name!("listing") => "pre",
        _ => name,
    }
}

fn is_void(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("area")
            | local_name!("br")
            | local_name!("col")
            | local_name!("embed")
            | local_name!("hr")
            | local_name!("img")
            | local_name!("input")
            | local_name!("param")
            | local_name!("source")
            | local_name!("track")
            | local_name!("wbr")
            | local_name!("frame")
            | local_name!("keygen")
            | local_name!("basefont")
            | local_name!("bgsound")
    )
}

/// Elements whose content browsers do not show; it would be read as text by some parsers and as markup by others.
fn is_opaque(name: &LocalName) -> bool {
    matches!(*name, local_name!("iframe") | local_name!("noembed") | local_name!("noframes"))
}

fn push_escaped(out: &mut String, text: &str, attribute: bool) {
    let mut plain = 0;
    for (i, c) in text.char_indices() {
        let replacement = match c {
            '&' => "&amp;",
            '\u{a0}' => "&nbsp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' if attribute => "&quot;",
            _ => continue,
        };
        out.push_str(&text[plain..i]);
        out.push_str(replacement);
        plain = i + c.len_utf8();
        if out.len() > MAX_BYTES {
            return;
        }
    }
    out.push_str(&text[plain..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{ContentOptions, content};

    fn clean(html_in: &str, options: &ContentOptions) -> String {
        let page = Page::parse(html_in, &Url::parse("https://a.test/d/p").unwrap());
        html(&content(&page, options))
    }

    fn check(source: &str, expect: &str) {
        let options = ContentOptions { only_main_content: false, ..ContentOptions::default() };
        let expect = format!("<html><body>{expect}</body></html>");
        assert_eq!(clean(source, &options), expect, "{source}");
    }

    #[test]
    fn machinery_goes() {
        check(
            "<head><title>t</title><style>x</style></head><p onclick=x OnLoad=y id=a>x<script>y</script><noscript>z</noscript><link href=x>",
            "<p id=\"a\">x</p>",
        );
        check("<svg onload=x><script>y</script><style>z</style><g/></svg>", "<svg><g></g></svg>");
        check(
            "<a href='javascript:x'>a</a><iframe src=/f srcdoc='<script>'>&lt;script></iframe>",
            "<a>a</a><iframe src=\"https://a.test/f\"></iframe>",
        );
        check("<xmp><b></xmp>", "<pre>&lt;b&gt;</pre>");
    }

    #[test]
    fn urls_become_absolute() {
        check("<base href=/b/><a href='x?a=1&b=2'>a</a>", "<a href=\"https://a.test/b/x?a=1&amp;b=2\">a</a>");
        check(
            "<img src=s.jpg srcset='a.jpg 1x, b.jpg 2x' sizes=1 alt='\"'>",
            "<img src=\"https://a.test/d/b.jpg\" alt=\"&quot;\">",
        );
        check("<img src='data:image/gif;base64,R0' data-src=l.jpg>", "<img src=\"https://a.test/d/l.jpg\">");
        check("<img src='data:image/gif;base64,R0'>", "<img src=\"data:image/gif;base64,R0\">");
        check("<source srcset='a 1x, b 2x'>", "<source srcset=\"https://a.test/d/b\">");
        check("<a href=''>a</a><a href='#x'>b</a>", "<a href=\"\">a</a><a href=\"https://a.test/d/p#x\">b</a>");
    }

    #[test]
    fn text_stays() {
        check("<pre>\n\n a</pre>a&nbsp;&lt;b&gt;", "<pre>\n\n a</pre>a&nbsp;&lt;b&gt;");
    }

    #[test]
    fn selectors_are_obeyed() {
        let options = ContentOptions {
            only_main_content: false,
            include_tags: vec!["div".into(), ".b".into()],
            exclude_tags: vec!["i".into()],
        };
        assert_eq!(
            clean("<div>1<div class=b>2</div><i>3</i></div><p class=b>4<p>5", &options),
            "<div>1<div class=\"b\">2</div></div><p class=\"b\">4</p>"
        );
        let nothing = ContentOptions { include_tags: vec!["table".into()], ..options };
        assert_eq!(clean("<p>x", &nothing), "");
    }
}
