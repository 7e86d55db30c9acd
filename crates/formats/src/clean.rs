//! The `html` format: the content as cleaned HTML with absolute URLs.

use std::borrow::Cow;

use page::{Element, Index, LocalName, Page, absolute, is_embedded, largest, local_name};
use url::Url;

use crate::content::{Content, Visitor};
use crate::markdown::media::{LAZY_SETS, LAZY_SOURCES, source};

/// Approximate limit on the output, in bytes: every relative link is expanded by the base URL, which may be long.
const MAX_BYTES: usize = 48 << 20;

/// Writes the content as HTML that is safe to display. A whole page is wrapped in `<html><body>`.
///
/// Scripts, styles, `<noscript>` (except its content, if that is the richer text), `<meta>` and `<head>` are removed,
/// and so is every attribute that runs code. URLs are absolute. A responsive image has one source, the largest; images
/// embedded as data are kept.
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
        if *name == local_name!("noscript") {
            return true;
        }
        let Some(element) = self.page.element(index) else {
            return false;
        };
        // Whole elements are left out past the limit, so that every written tag is closed.
        if self.out.len() > MAX_BYTES {
            return false;
        }
        self.out.push('<');
        self.out.push_str(shown_name(name));
        self.attributes(element);
        self.out.push('>');
        if is_void(name) {
            return false;
        }
        if is_opaque(name) {
            self.end_tag(name);
            return false;
        }
        // Parsers drop the first line break in these elements; an additional one preserves the text.
        if drops_line_end(name) && self.starts_with_line_end(index) {
            self.out.push('\n');
        }
        true
    }

    fn text(&mut self, index: Index) {
        if let Some(text) = self.page.text(index)
            && self.out.len() <= MAX_BYTES
        {
            push_escaped(&mut self.out, text, false);
        }
    }

    fn leave(&mut self, index: Index) {
        if let Some(name) = self.page.name(index).filter(|name| **name != local_name!("noscript")) {
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
            let source = if is_picture(&source) { Some(source) } else { absolute(base, &source).map(String::from) };
            source.iter().for_each(|source| self.attribute("src", source));
        }
        for attribute in &element.attrs {
            let name = &*attribute.name.local;
            let value = &*attribute.value;
            // `xlink:href` and `xml:lang` of SVG and MathML keep their prefix: the same name without it may exist as
            // well.
            let shown = attribute.name.prefix.as_ref().filter(|prefix| !prefix.is_empty());
            let shown = shown.map_or(Cow::Borrowed(name), |prefix| format!("{prefix}:{name}").into());
            match name {
                _ if !is_name(&shown) || runs_code(name) => {}
                "src" | "srcset" | "sizes" if is_image => {}
                _ if is_image && (LAZY_SOURCES.contains(&name) || LAZY_SETS.contains(&name)) => {}
                "sizes" if element.name.local == local_name!("source") => {}
                "srcset" | "imagesrcset" => {
                    let best = largest(value).and_then(|url| absolute(base, url));
                    best.iter().for_each(|url| self.attribute(&shown, url.as_str()));
                }
                "href" | "xlink:href" | "src" | "poster" | "action" | "formaction" | "cite" | "data" | "background"
                | "longdesc" => {
                    resolved(base, element, name, value).iter().for_each(|url| self.attribute(&shown, url));
                }
                _ => self.attribute(&shown, value),
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

/// Resolves the URL of an attribute. Text that is not a URL is kept as written; a URL that runs code is dropped.
fn resolved(base: &Url, element: &Element, name: &str, value: &str) -> Option<String> {
    let is_link = matches!(element.name.local, local_name!("a") | local_name!("area"));
    // Parts of an SVG refer to each other by fragment.
    if !is_link && value.starts_with('#') {
        return Some(value.to_owned());
    }
    if let Some(url) = absolute(base, value) {
        return Some(url.into());
    }
    let embedded = is_picture(value) && shows_picture(&element.name.local, name);
    let not_a_url = base.join(value.trim()).is_err() || value.trim().is_empty();
    (embedded || not_a_url).then(|| value.to_owned())
}

/// Whether a `data:` URL is an image, audio or video. Other types may contain a page with scripts.
fn is_picture(url: &str) -> bool {
    let kind = url.trim_start().get(5..).filter(|_| is_embedded(url)).unwrap_or_default().trim_start();
    ["image/", "audio/", "video/"]
        .iter()
        .any(|start| kind.get(..start.len()).is_some_and(|kind| kind.eq_ignore_ascii_case(start)))
}

/// Whether the attribute loads its URL as image, audio or video, never as a page.
fn shows_picture(element: &LocalName, attribute: &str) -> bool {
    match attribute {
        "poster" | "background" => true,
        "src" => matches!(
            *element,
            local_name!("source") | local_name!("audio") | local_name!("video") | local_name!("input")
        ),
        "href" | "xlink:href" => *element == local_name!("image"),
        _ => false,
    }
}

/// Whether an attribute can run code or load hidden resources: event handlers, `srcdoc`, SVG animations of attributes,
/// pings, and sources of plug-ins.
fn runs_code(name: &str) -> bool {
    let starts_with_on = name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("on"));
    starts_with_on
        || ["srcdoc", "attributename", "ping", "codebase", "classid", "archive", "manifest"]
            .iter()
            .any(|other| name.eq_ignore_ascii_case(other))
}

/// Whether a name, written as an attribute, is parsed back as the same name.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control() || "\"'<>/=`".contains(c))
}

/// Returns the tag to write. Elements with unparsed text become `<pre>`, since the output escapes their text.
fn shown_name(name: &LocalName) -> &str {
    match *name {
        local_name!("xmp") | local_name!("plaintext") | local_name!("listing") => "pre",
        _ => name,
    }
}

/// Whether parsers drop a line break at the start of the element.
fn drops_line_end(name: &LocalName) -> bool {
    shown_name(name) == "pre" || *name == local_name!("textarea")
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

/// Whether an element's content is fallback that browsers do not show. Some parsers read it as text, others as markup,
/// so it is removed.
fn is_opaque(name: &LocalName) -> bool {
    matches!(*name, local_name!("iframe") | local_name!("noembed") | local_name!("noframes"))
}

/// Appends `text`, escaped. `<` and `>` are escaped in attributes too, against mutation XSS: a browser may parse the
/// output differently from the source.
pub(crate) fn push_escaped(out: &mut String, text: &str, attribute: bool) {
    let mut plain = 0;
    for (i, byte) in text.bytes().enumerate() {
        let (replacement, length) = match byte {
            b'&' => ("&amp;", 1),
            b'<' => ("&lt;", 1),
            b'>' => ("&gt;", 1),
            b'"' if attribute => ("&quot;", 1),
            0xC2 if text.as_bytes().get(i + 1) == Some(&0xA0) => ("&nbsp;", 2),
            _ => continue,
        };
        out.push_str(&text[plain..i]);
        out.push_str(replacement);
        plain = i + length;
        if out.len() > MAX_BYTES {
            return;
        }
    }
    out.push_str(&text[plain..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::ContentOptions;
    use crate::select::content;

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
    fn what_runs_code_goes() {
        check("<a href=' java\nscript:x' ping=/p xlink:href=vbscript:x>a</a>", "<a>a</a>");
        check("<iframe src='data:text/html,<script>'></iframe>", "<iframe></iframe>");
        check(
            "<embed src=data:image/svg+xml,x><object data=javascript:x classid=y>o</object>",
            "<embed><object>o</object>",
        );
        check(
            "<form action=javascript:x><button formaction=javascript:y>b</button></form>",
            "<form><button>b</button></form>",
        );
        check(
            "<svg><a xlink:href=javascript:x><animate attributeName=href to=javascript:y /></a></svg>",
            "<svg><a><animate to=\"javascript:y\"></animate></a></svg>",
        );
        check("<p title='</noscript><img src=x>'>a", "<p title=\"&lt;/noscript&gt;&lt;img src=x&gt;\">a</p>");
        check("<noscript><p onclick=x>only</p></noscript>", "<p>only</p>");
    }

    #[test]
    fn data_stays_where_it_is_a_picture() {
        let data = "data:image/gif;base64,R0";
        for same in [
            format!("<img src=\"{data}\">"),
            format!("<video poster=\"{data}\"></video>"),
            format!("<svg><image href=\"{data}\"></image></svg>"),
        ] {
            check(&same, &same);
        }
        check(
            &format!(
                "<a href='{data}'>a</a><svg><a xlink:href=x href=y></a><use href='{data}' /><use href='#a' /></svg>"
            ),
            "<a>a</a><svg><a xlink:href=\"https://a.test/d/x\" href=\"https://a.test/d/y\"></a><use></use><use href=\"#a\"></use></svg>",
        );
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
        check("<source srcset='a 1x, b 2x' sizes=9>", "<source srcset=\"https://a.test/d/b\">");
        check("<a href=''>a</a><a href='#x'>b</a>", "<a href=\"\">a</a><a href=\"https://a.test/d/p#x\">b</a>");
    }

    #[test]
    fn text_stays() {
        check("<pre>\n\n a</pre>a&nbsp;&lt;b&gt;", "<pre>\n\n a</pre>a&nbsp;&lt;b&gt;");
        check("<textarea>\n\n\u{c2}\u{a0}é</textarea>", "<textarea>\n\n\u{c2}&nbsp;é</textarea>");
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
