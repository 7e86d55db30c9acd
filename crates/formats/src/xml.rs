//! Conversion of XML to an HTML page: XHTML by its own parsing rules, any other document as the texts of its elements.

use base::Stop;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;

use crate::clean::push_escaped;

/// Limit on the page, in bytes; the rest is left out.
const MAX_BYTES: usize = 48 << 20;
/// Nesting depth of elements that are written; of deeper ones only the text is kept.
const MAX_DEPTH: usize = 512;
/// Namespaces whose elements have the same meaning in HTML.
const KNOWN: [&[u8]; 3] =
    [b"http://www.w3.org/1999/xhtml", b"http://www.w3.org/2000/svg", b"http://www.w3.org/1998/Math/MathML"];
/// Void elements of HTML: no content and no end tag.
const VOID: [&str; 14] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];

/// Converts an XML document to an HTML page. Elements of XHTML, SVG and MathML are kept, with `<script/>`, `<a
/// id="x"/>` and `CDATA` read by the rules of XML. Of other elements only the text is kept: an element with text of its
/// own becomes a paragraph, others become boxes. Returns `None` if the text is not XML, or is XHTML that is not
/// well-formed.
///
/// ```
/// let page = formats::xml_page("<stock><wood>Oak</wood><cm>120</cm></stock>", &base::Stop::new()).unwrap();
/// assert_eq!(page, "<!doctype html><div><p>Oak</p><p>120</p></div>");
/// ```
pub fn xml_page(xml: &str, stop: &Stop) -> Option<String> {
    let shapes = shapes(xml, stop)?;
    let mut writer = Writer { out: "<!doctype html>".to_owned(), open: Vec::new(), deep: 0, in_raw: false };
    let mut reader = reader(xml);
    let mut at = 0;
    while writer.out.len() < MAX_BYTES && !stop.is_set() {
        match reader.read_resolved_event() {
            Ok((namespace, Event::Start(start))) => {
                let is_known = is_known(&namespace, &start, shapes.is_html);
                writer.start(&start, is_known, shapes.of.get(at).copied().unwrap_or_default());
                at += 1;
            }
            Ok((_, Event::End(_))) => writer.end(),
            Ok((_, Event::Text(text))) => writer.text(&String::from_utf8_lossy(&text)),
            Ok((_, Event::CData(text))) => writer.plain(&String::from_utf8_lossy(&text)),
            Ok((_, Event::GeneralRef(name))) => {
                writer.text(&format!("&{};", String::from_utf8_lossy(&name)));
            }
            Ok((_, Event::Eof)) | Err(_) => break,
            Ok(_) => {}
        }
    }
    while !writer.open.is_empty() {
        writer.end();
    }
    Some(writer.out)
}

/// Kinds of content of an element.
#[derive(Debug, Clone, Copy, Default)]
struct Shape {
    has_text: bool,
    has_elements: bool,
}

/// The shapes of all elements in document order.
struct Shapes {
    of: Vec<Shape>,
    is_html: bool,
}

fn reader(xml: &str) -> NsReader<&[u8]> {
    let mut reader = NsReader::from_str(xml.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']));
    let config = reader.config_mut();
    (config.allow_dangling_amp, config.expand_empty_elements) = (true, true);
    reader
}

/// Reads the document in a first pass, to learn the shape of each element before it is written. `None` if it has no
/// element, or is XHTML that is not well-formed.
fn shapes(xml: &str, stop: &Stop) -> Option<Shapes> {
    let mut reader = reader(xml);
    let mut shapes = Shapes { of: Vec::new(), is_html: false };
    let mut open: Vec<usize> = Vec::new();
    // Number of open elements beyond the nesting limit.
    let mut deep = 0_usize;
    let whole = loop {
        if stop.is_set() {
            return None;
        }
        match reader.read_resolved_event() {
            Ok((_, Event::Start(start))) => {
                if shapes.of.is_empty() {
                    shapes.is_html = start.local_name().as_ref() == b"html";
                }
                if let Some(&above) = open.last() {
                    shapes.of[above].has_elements = true;
                }
                if open.len() < MAX_DEPTH {
                    open.push(shapes.of.len());
                } else {
                    deep += 1;
                }
                shapes.of.push(Shape::default());
            }
            Ok((_, Event::End(_))) if deep > 0 => deep -= 1,
            Ok((_, Event::End(_))) => {
                open.pop();
            }
            Ok((_, Event::Text(text))) if text.iter().all(u8::is_ascii_whitespace) => {}
            Ok((_, Event::Text(_) | Event::CData(_) | Event::GeneralRef(_))) => {
                if let Some(&above) = open.last() {
                    shapes.of[above].has_text = true;
                }
            }
            Ok((_, Event::Eof)) => break open.is_empty(),
            Ok(_) => {}
            Err(_) => break false,
        }
    };
    (!shapes.of.is_empty() && (whole || !shapes.is_html)).then_some(shapes)
}

/// Whether an element is kept as HTML. XHTML without a namespace declaration counts as well.
fn is_known(namespace: &ResolveResult<'_>, start: &BytesStart<'_>, in_html: bool) -> bool {
    match namespace {
        ResolveResult::Bound(namespace) => KNOWN.contains(&namespace.as_ref()),
        ResolveResult::Unbound => in_html,
        ResolveResult::Unknown(_) => in_html && start.name().prefix().is_none(),
    }
}

/// Writer of the HTML page.
struct Writer {
    out: String,
    /// The open elements.
    open: Vec<OpenElement>,
    /// Number of open elements beyond the nesting limit.
    deep: usize,
    /// Whether the next text is that of a script or a style.
    in_raw: bool,
}

/// An open element.
struct OpenElement {
    /// The end tag.
    end: String,
    /// Whether the element mixes text and elements, so that elements in it are written inline.
    is_mixed: bool,
}

impl Writer {
    fn start(&mut self, start: &BytesStart<'_>, is_known: bool, shape: Shape) {
        if self.open.len() >= MAX_DEPTH {
            self.deep += 1;
            return;
        }
        let in_line = self.open.last().is_some_and(|above| above.is_mixed);
        if is_known {
            return self.start_known(start);
        }
        let is_mixed = shape.has_text && shape.has_elements;
        let name = match shape {
            Shape { has_text: true, .. } if in_line => "span",
            Shape { has_text: true, .. } => "p",
            Shape { has_elements: true, .. } => "div",
            Shape { .. } => "span",
        };
        self.out.extend(["<", name, ">"]);
        self.open.push(OpenElement { end: format!("</{name}>"), is_mixed: is_mixed || in_line && shape.has_text });
    }

    fn start_known(&mut self, start: &BytesStart<'_>) {
        let local = start.local_name();
        let name = String::from_utf8_lossy(local.as_ref()).into_owned();
        self.out.push('<');
        self.out.push_str(&name);
        for attribute in start.attributes().with_checks(false).flatten() {
            let key = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
            if key == "xmlns" || key.starts_with("xmlns:") {
                continue;
            }
            let key = if key == "xml:lang" { "lang" } else { &key };
            self.out.extend([" ", key, "=\""]);
            self.out.push_str(&String::from_utf8_lossy(&attribute.value).replace('"', "&quot;"));
            self.out.push('"');
        }
        self.out.push('>');
        self.in_raw = matches!(&*name, "script" | "style");
        let end = if VOID.contains(&&*name) { String::new() } else { format!("</{name}>") };
        self.open.push(OpenElement { end, is_mixed: false });
    }

    fn end(&mut self) {
        if self.deep > 0 {
            self.deep -= 1;
            return;
        }
        if let Some(open) = self.open.pop() {
            self.out.push_str(&open.end);
        }
        self.in_raw = false;
    }

    /// Writes escaped text as it is: HTML decodes it like XML.
    fn text(&mut self, text: &str) {
        if !self.open.is_empty() {
            self.out.push_str(text);
        }
    }

    /// Writes the literal text of a CDATA section, escaped. In a script or style, `</` is broken up so that it cannot
    /// end the element.
    fn plain(&mut self, text: &str) {
        if self.open.is_empty() {
            return;
        }
        match self.in_raw {
            true => self.out.push_str(&text.replace("</", "<\\/")),
            false => push_escaped(&mut self.out, text, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;
    use crate::{ContentOptions, MarkdownOptions, Page, content, markdown};

    fn check(xml: &str, expect: &str) {
        let page = xml_page(xml, &Stop::new()).unwrap();
        let parsed = Page::parse(&page, &Url::parse("https://a.test/").unwrap());
        let whole = ContentOptions { only_main_content: false, ..ContentOptions::default() };
        assert_eq!(markdown(&content(&parsed, &whole), &MarkdownOptions::default()), expect, "{xml}\n{page}");
    }

    #[test]
    fn texts_of_unknown_elements_stand_apart() {
        check("<?xml version='1.0'?><s><w>Oak</w><l u='cm'>120</l></s>", "Oak\n\n120");
        check(
            "<d><para>Some <em>new</em>er text &amp; <x><y/>more</x>.</para><n/><p>&#65;<![CDATA[<b>]]></p></d>",
            "Some newer text & more.\n\nA&lt;b>",
        );
        check("<a><script>one</script><title>two</title><style>three</style></a>", "one\n\ntwo\n\nthree");
        check("<d xmlns:h='http://www.w3.org/1999/xhtml'><t>a</t><h:p>b <h:b>c</h:b></h:p></d>", "a\n\nb **c**");
        check("<a><b>kept</b><c>cut", "kept\n\ncut");
    }

    #[test]
    fn of_elements_nested_too_deep_only_the_text_is_kept() {
        let xml = format!("{}x{}<b>y</b>", "<a>".repeat(5_000), "</a>".repeat(4_999));
        let page = xml_page(&format!("{xml}</a>"), &Stop::new()).unwrap();
        assert!(page.len() < 12 * MAX_DEPTH && page.contains('x') && page.ends_with("<p>y</p></div>"));
    }

    #[test]
    fn xhtml_is_read_by_its_own_rules() {
        let page = |body: &str| {
            format!(
                "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head><title/><script src='x'/></head><body>{body}</body></html>"
            )
        };
        check(&page("<p>a<a id='x'/>b</p><div/><p>c<br/>d</p>"), "ab\n\nc  \nd");
        check(
            &page("<p><![CDATA[1 < 2 <i>]]></p><style><![CDATA[p>a{}]]></style><textarea/><p>&nbsp;x &lt;</p>"),
            "1 < 2 &lt;i>\n\nx <",
        );
        check(&page("<p title='\"'>x</p><iframe/><p>y</p>"), "x\n\ny");
        check("<html><p>a<i/>b</p></html>", "ab");
        assert_eq!(xml_page(&page("<p>not closed"), &Stop::new()), None);
        assert_eq!(xml_page("no xml", &Stop::new()), None);
        assert_eq!(xml_page("", &Stop::new()), None);
    }
}
