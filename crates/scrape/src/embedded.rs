//! Pages that are only a frame around a PDF. The PDF is scraped instead.

use formats::Page;
use page::{Index, LocalName, absolute, local_name};
use url::Url;

/// Words that such a page may have beside the PDF, for example a title and a download link.
const MAX_WORDS: usize = 20;

/// Warning that a PDF replaces the page around it.
pub(crate) const WARNING: &str = "the page shows nothing but one PDF, which was scraped instead";

/// Returns the PDF if the page embeds exactly one, and otherwise has almost no text.
pub(crate) fn pdf(page: &Page) -> Option<Url> {
    let (mut words, mut found, mut at) = (0, None, 0);
    while at < page.node_count() {
        if let Some(text) = page.text(at) {
            words += text.split_whitespace().count();
            if words > MAX_WORDS {
                return None;
            }
            at += 1;
            continue;
        }
        match page.name(at) {
            Some(name) if is_unseen(name) => at = page.end(at),
            Some(name) if is_frame(name) => {
                // The content of a frame is the fallback for browsers that cannot show it.
                let url = target(page, at)?;
                if found.replace(url.clone()).is_some_and(|before| before != url) {
                    return None;
                }
                at = page.end(at);
            }
            Some(name) if is_content(name) => return None,
            _ => at += 1,
        }
    }
    found
}

fn is_unseen(name: &LocalName) -> bool {
    [local_name!("head"), local_name!("script"), local_name!("style"), local_name!("noscript"), local_name!("template")]
        .contains(name)
}

fn is_frame(name: &LocalName) -> bool {
    [local_name!("iframe"), local_name!("embed"), local_name!("object"), local_name!("frame")].contains(name)
}

/// Whether the element is content without words.
fn is_content(name: &LocalName) -> bool {
    [local_name!("video"), local_name!("audio"), local_name!("canvas"), local_name!("form"), local_name!("table")]
        .contains(name)
}

/// Returns the target of a frame if it is a PDF by its type or its name.
fn target(page: &Page, at: Index) -> Option<Url> {
    let link = page.attr(at, "src").or_else(|| page.attr(at, "data"))?;
    let url = absolute(page.base(), &link).filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let kind = page.attr(at, "type").unwrap_or_default();
    let is_pdf = match kind.split(';').next().unwrap_or_default().trim() {
        "" => url.path().to_ascii_lowercase().ends_with(".pdf"),
        kind => kind.eq_ignore_ascii_case("application/pdf"),
    };
    is_pdf.then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_around_a_pdf() {
        let check = |html: &str, expect: Option<&str>| {
            let page = Page::parse(html, &Url::parse("https://a.test/view/1").unwrap());
            assert_eq!(pdf(&page).as_ref().map(Url::as_str), expect, "{html}");
        };
        let there = Some("https://a.test/x.pdf");
        check("<title>A long title of many words</title><iframe src=/x.pdf></iframe>", there);
        check("<iframe src='/x.PDF#page=2'></iframe>", Some("https://a.test/x.PDF#page=2"));
        check("<h1>Annual report</h1><embed src=/x.pdf width=100%>", there);
        check("<embed src=/get?id=1 type=application/pdf>", Some("https://a.test/get?id=1"));
        check(
            "<object data=../x.pdf type='Application/PDF'><p>Your browser cannot show it, so here is a link to it.</object>",
            there,
        );
        check("<object data=/x.pdf><embed src=/x.pdf></object><a href=/x.pdf>Download</a>", there);
        check("<iframe src=/x.pdf></iframe><iframe src=/x.pdf></iframe>", there);
        check("<base href=https://b.test/d/><iframe src=x.pdf></iframe>", Some("https://b.test/d/x.pdf"));
        let article = "word ".repeat(21);
        check(&format!("<p>{article}<iframe src=/x.pdf></iframe>"), None);
        check(&format!("<iframe src=/x.pdf></iframe><p>{article}"), None);
        for other in [
            "",
            "<iframe src=/x.html></iframe>",
            "<iframe src=/x.pdf></iframe><iframe src=/y.pdf></iframe>",
            "<iframe src=/x.pdf></iframe><iframe src=/ad.html></iframe>",
            "<iframe src=/x.pdf></iframe><video src=a.mp4></video>",
            "<iframe src=/x.pdf type=text/html></iframe>",
            "<iframe src=data:application/pdf;base64,AA></iframe>",
            "<embed type=application/pdf src=about:blank>",
            "<iframe srcdoc='<p>x'></iframe>",
            "<a href=/x.pdf>x</a>",
        ] {
            check(other, None);
        }
    }
}
