//! Phase 2: decides how the body is processed.

use documents::Kind;
use fetch::{BodyKind, Fetched};
use wire::{FormatKind, Parser, ParserKind, ScrapeOptions};

use crate::{ScrapeError, Target, Tools};

/// How the document is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// A file that the caller wants unprocessed, of any type.
    Bytes,
    /// Parsed as HTML. Includes XML: feeds have HTML equivalents, and of other XML only the text is used.
    Page,
    /// Text: plain text and markdown pass through, JSON becomes a code block.
    Text,
    /// Read in a reader process: PDF, office files, images.
    Document(Kind),
    /// Empty: an error response whose body is a file.
    Nothing,
}

/// Chooses the route by the options and the body.
///
/// # Errors
/// [`ScrapeError::UnsupportedFile`] for an unsupported file. An error response is never rejected, as its status is the
/// information that the caller wants.
pub(crate) fn route(tools: &Tools, target: &Target, fetched: &Fetched) -> Result<Route, ScrapeError> {
    if target.options.wants(FormatKind::RawBase64) {
        return Ok(Route::Bytes);
    }
    if is_mail(fetched) {
        return Ok(Route::Page);
    }
    match fetched.kind {
        BodyKind::Xml if kind(fetched, target.file.as_deref()).is_some() => of_file(tools, target, fetched),
        BodyKind::Html | BodyKind::Xml => Ok(Route::Page),
        BodyKind::Json | BodyKind::Markdown => Ok(Route::Text),
        BodyKind::Text | BodyKind::Pdf | BodyKind::Image | BodyKind::Other => of_file(tools, target, fetched),
    }
}

/// Chooses the route of a file. The bytes decide its type; only the name tells CSV from plain text.
fn of_file(tools: &Tools, target: &Target, fetched: &Fetched) -> Result<Route, ScrapeError> {
    let is_text = fetched.kind == BodyKind::Text;
    let unsupported = |advice| Err(ScrapeError::UnsupportedFile { content_type: name(fetched), advice });
    match kind(fetched, target.file.as_deref()) {
        Some(Kind::Pdf) if !reads(&target.options, ParserKind::Pdf) => Ok(Route::Bytes),
        _ if !fetched.is_loaded() => Ok(if is_text { Route::Text } else { Route::Nothing }),
        Some(Kind::Image(_)) if !reads(&target.options, ParserKind::Image) => unsupported(LIST_IMAGE),
        Some(kind) if tools.documents.is_some() => Ok(Route::Document(kind)),
        _ if is_text => Ok(Route::Text),
        _ => unsupported(TAKE_RAW),
    }
}

/// Whether the body is a message or an archive of a page, declared as such.
pub(crate) fn is_mail(fetched: &Fetched) -> bool {
    let declared = fetched.content_type.as_deref().unwrap_or_default().split(';').next().unwrap_or_default();
    let declared = declared.trim().to_ascii_lowercase();
    let path = fetched.url.path().to_ascii_lowercase();
    let is_declared =
        MAIL_TYPES.contains(&declared.as_str()) || MAIL_ENDINGS.iter().any(|ending| path.ends_with(ending));
    is_declared && fetched.dom().is_none() && documents::is_mail(&fetched.body)
}

/// Types and endings of messages and archives of pages.
const MAIL_TYPES: [&str; 5] =
    ["message/rfc822", "message/global", "multipart/related", "application/x-mimearchive", "application/mhtml"];
const MAIL_ENDINGS: [&str; 3] = [".eml", ".mht", ".mhtml"];

const TAKE_RAW: &str = "the format rawBase64 returns them unchanged";
const LIST_IMAGE: &str =
    "list `image` in `parsers` to have their text recognised, or get them unchanged with the format rawBase64";

/// Whether a page is a document, a file that a reader can convert to text.
#[must_use]
pub fn is_document(fetched: &Fetched) -> bool {
    kind(fetched, None).is_some()
}

fn kind(fetched: &Fetched, file: Option<&str>) -> Option<Kind> {
    let name = file.unwrap_or_else(|| fetched.url.path());
    let found = documents::detect(&fetched.body, fetched.content_type.as_deref(), Some(name));
    // Damaged beyond recognition: the declared type decides, so that the error is about a broken PDF.
    found.or_else(|| (fetched.kind == BodyKind::Pdf).then_some(Kind::Pdf))
}

/// Whether files of a kind are to be parsed. PDFs are, unless a list omits them (docs/CONTRACT.md, "Options").
pub(crate) fn reads(options: &ScrapeOptions, kind: ParserKind) -> bool {
    match &options.parsers {
        Some(list) => list.iter().map(Parser::kind).any(|listed| listed == kind),
        None => kind == ParserKind::Pdf,
    }
}

/// Whether the caller wants the page itself, so that no document may replace it.
pub(crate) fn wants_page(options: &ScrapeOptions) -> bool {
    let shown = [FormatKind::Screenshot, FormatKind::Branding, FormatKind::RawBase64];
    !options.actions.is_empty() || shown.into_iter().any(|kind| options.wants(kind))
}

fn name(fetched: &Fetched) -> String {
    let declared = fetched.content_type.as_deref().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    // The declared type is ignored for images and archives sent as `text/html`.
    match fetched.kind {
        BodyKind::Pdf => "application/pdf".to_owned(),
        BodyKind::Image if !declared.starts_with("image/") => "image".to_owned(),
        _ if declared.is_empty() || declared.starts_with("text/") => "unknown".to_owned(),
        _ => declared.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use documents::ImageKind;
    use reader::Pool;
    use serde_json::{Value, json};
    use tokio::time::Instant;
    use url::Url;

    use super::*;
    use crate::Cpu;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
    const PDF: &[u8] = b"%PDF-1.4";

    fn fetched(status: u16, content_type: &str, body: &'static [u8]) -> Fetched {
        let content_type = (!content_type.is_empty()).then(|| content_type.to_owned());
        Fetched::new(Url::parse("http://a/report").unwrap(), status, content_type, body.into())
    }

    fn tools(has_readers: bool) -> Tools {
        let pool = || Arc::new(Pool::new(reader::Settings::default()).unwrap());
        let documents = has_readers.then(pool);
        Tools { documents, ..Tools::new(Vec::new(), Cpu::new(1)) }
    }

    fn target(options: Value) -> Target {
        let options = wire::decode_options(options).unwrap();
        Target::new(Url::parse("http://a/report").unwrap(), Arc::new(options), Instant::now())
    }

    fn route_of(options: Value, has_readers: bool, fetched: &Fetched) -> Result<Route, ScrapeError> {
        route(&tools(has_readers), &target(options), fetched)
    }

    #[tokio::test]
    async fn routes() {
        let check = |status, content_type, body, expect| {
            let found = route_of(json!({}), true, &fetched(status, content_type, body)).ok();
            assert_eq!(found, Some(expect), "{status} {content_type}");
        };
        check(200, "text/html", b"x", Route::Page);
        check(200, "application/atom+xml", b"<feed>", Route::Page);
        check(200, "application/json", b"{}", Route::Text);
        check(200, "text/markdown", b"# x", Route::Text);
        check(200, "text/plain", b"a,b", Route::Text);
        check(404, "image/png", PNG, Route::Nothing);
        check(500, "application/pdf", PDF, Route::Nothing);
        check(404, "text/csv", b"a,b", Route::Text);
        check(200, "application/pdf", b"<html>", Route::Page);
        let pdf = Route::Document(Kind::Pdf);
        check(200, "application/pdf", PDF, pdf);
        check(200, "text/html", PDF, pdf);
        check(200, "application/octet-stream", b"junk\n%PDF-1.4\n", pdf);
        check(200, "application/pdf", b"junk\n%PDF-x", pdf);
        check(200, "text/csv", b"a,b", Route::Document(Kind::Csv));
        check(200, "message/rfc822", b"From: a\nTo: b\n\nx", Route::Page);
        check(200, "text/plain", b"From: a\nTo: b\n\nx", Route::Text);
        let flat = b"<office:document office:mimetype=\"application/vnd.oasis.opendocument.text\"/>";
        check(200, "text/xml", flat, Route::Document(Kind::Odt));
        check(200, "text/plain", b"{\\rtf1 x}", Route::Document(Kind::Rtf));
    }

    #[tokio::test]
    async fn names_tell_what_bytes_do_not() {
        let csv = fetched(200, "text/plain", b"a,b");
        let named = Target { file: Some("prices.CSV".to_owned()), ..target(json!({})) };
        assert_eq!(route(&tools(true), &named, &csv).unwrap(), Route::Document(Kind::Csv));
        assert_eq!(route(&tools(false), &named, &csv).unwrap(), Route::Text, "without a reader");
        let at = Fetched { url: Url::parse("http://a/prices.csv?x=1").unwrap(), ..csv };
        assert_eq!(route_of(json!({}), true, &at).unwrap(), Route::Document(Kind::Csv));
    }

    #[tokio::test]
    async fn pictures_are_read_where_they_are_listed() {
        let png = fetched(200, "image/png", PNG);
        let listed = json!({ "parsers": ["pdf", "image"] });
        assert_eq!(route_of(listed.clone(), true, &png).unwrap(), Route::Document(Kind::Image(ImageKind::Png)));
        let error = route_of(json!({}), true, &png).unwrap_err();
        assert!(error.to_string().contains("list `image` in `parsers`"), "{error}");
        let svg = fetched(200, "image/svg+xml", b"<svg xmlns='x'/>");
        let error = route_of(listed, true, &svg).unwrap_err();
        assert!(error.to_string().contains("image/svg+xml"), "{error}");
    }

    #[tokio::test]
    async fn files_are_refused_by_name() {
        let check = |content_type, body, expect: &str| {
            let error =
                route_of(json!({ "parsers": ["pdf", "image"] }), false, &fetched(200, content_type, body)).unwrap_err();
            assert!(
                matches!(&error, ScrapeError::UnsupportedFile { content_type, .. } if content_type == expect),
                "{error}"
            );
        };
        check("application/pdf", PDF, "application/pdf");
        check("application/octet-stream", PDF, "application/pdf");
        check("image/png; x=y", PNG, "image/png");
        check("text/html", PNG, "image");
        check("application/zip", b"PK\x03\x04", "application/zip");
        check("text/html", b"PK\x03\x04", "unknown");
        check("video/mp4", b"\0\0\0 ftypisom", "video/mp4");
    }

    #[tokio::test]
    async fn the_caller_may_take_files_as_they_are() {
        let pdf = fetched(200, "application/pdf", PDF);
        for parsers in [json!([]), json!(["image"])] {
            assert_eq!(route_of(json!({ "parsers": parsers }), true, &pdf).unwrap(), Route::Bytes);
        }
        assert_eq!(route_of(json!({ "parsers": ["pdf"] }), true, &pdf).unwrap(), Route::Document(Kind::Pdf));
        for content_type in ["application/pdf", "text/html", "image/png", "video/mp4"] {
            let raw = route_of(json!({ "formats": ["rawBase64"] }), true, &fetched(200, content_type, PNG));
            assert_eq!(raw.unwrap(), Route::Bytes);
        }
    }
}
