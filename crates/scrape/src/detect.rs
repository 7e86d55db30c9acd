//! Phase 2: what to do with the body that arrived.

use fetch::{BodyKind, Fetched};
use wire::{FormatKind, Parser, ScrapeOptions};

use crate::ScrapeError;

/// How the document is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// A file that the caller wants unread, whatever it is.
    Bytes,
    /// Parsed as HTML; XML too, as its text is all that is wanted of it.
    Page,
    /// Text already: plain text and markdown pass through, JSON becomes a code block.
    Text,
    /// Nothing to read: an error answer whose body is a file.
    Nothing,
}

/// Decides by what was asked for and what arrived.
///
/// # Errors
/// [`ScrapeError::UnsupportedFile`] for a file that is not read. An error answer is never refused: its status is
/// what the caller wants to know.
pub(crate) fn route(fetched: &Fetched, options: &ScrapeOptions) -> Result<Route, ScrapeError> {
    if options.wants(FormatKind::RawBase64) {
        return Ok(Route::Bytes);
    }
    match fetched.kind {
        BodyKind::Html | BodyKind::Xml => Ok(Route::Page),
        BodyKind::Json | BodyKind::Text | BodyKind::Markdown => Ok(Route::Text),
        BodyKind::Pdf if leaves_pdf(options) => Ok(Route::Bytes),
        BodyKind::Pdf | BodyKind::Image | BodyKind::Other if !fetched.is_loaded() => Ok(Route::Nothing),
        BodyKind::Pdf | BodyKind::Image | BodyKind::Other => {
            Err(ScrapeError::UnsupportedFile { content_type: name(fetched) })
        }
    }
}

/// `parsers` without a pdf entry returns the file (docs/CONTRACT.md, "Options").
fn leaves_pdf(options: &ScrapeOptions) -> bool {
    options.parsers.as_ref().is_some_and(|list| !list.iter().any(|parser| matches!(parser, Parser::Pdf(_))))
}

fn name(fetched: &Fetched) -> String {
    let declared = fetched.content_type.as_deref().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    // A picture or archive that calls itself text/html is named by its bytes.
    match fetched.kind {
        BodyKind::Pdf => "application/pdf".to_owned(),
        BodyKind::Image if !declared.starts_with("image/") => "image".to_owned(),
        _ if declared.is_empty() || declared.starts_with("text/") => "unknown".to_owned(),
        _ => declared.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use url::Url;
    use wire::Format;

    use super::*;

    fn fetched(status: u16, content_type: &str, body: &'static [u8]) -> Fetched {
        Fetched::new(Url::parse("http://a/").unwrap(), status, Some(content_type.to_owned()), body.into())
    }

    #[test]
    fn routes() {
        let check = |status, content_type, body, expect| {
            assert_eq!(route(&fetched(status, content_type, body), &ScrapeOptions::default()).ok(), Some(expect));
        };
        check(200, "text/html", b"x", Route::Page);
        check(200, "application/atom+xml", b"<feed>", Route::Page);
        check(200, "application/json", b"{}", Route::Text);
        check(200, "text/markdown", b"# x", Route::Text);
        check(404, "image/png", b"\x89PNG\r\n\x1a\n", Route::Nothing);
        check(500, "application/pdf", b"%PDF-1.4", Route::Nothing);
        check(200, "application/pdf", b"<html>", Route::Page);
    }

    #[test]
    fn files_are_refused_by_name() {
        let check = |content_type, body, expect: &str| {
            let error = route(&fetched(200, content_type, body), &ScrapeOptions::default()).unwrap_err();
            assert!(
                matches!(&error, ScrapeError::UnsupportedFile { content_type } if content_type == expect),
                "{error}"
            );
        };
        check("application/pdf", b"%PDF-1.4", "application/pdf");
        check("application/octet-stream", b"%PDF-1.4", "application/pdf");
        check("image/png; x=y", b"\x89PNG\r\n\x1a\n", "image/png");
        check("text/html", b"\x89PNG\r\n\x1a\n", "image");
        check("application/zip", b"PK\x03\x04", "application/zip");
        check("text/html", b"PK\x03\x04", "unknown");
        check("video/mp4", b"\0\0\0 ftypisom", "video/mp4");
    }

    #[test]
    fn the_caller_may_take_files_as_they_are() {
        let pdf = fetched(200, "application/pdf", b"%PDF-1.4");
        let with = |parsers| route(&pdf, &ScrapeOptions { parsers, ..ScrapeOptions::default() }).ok();
        assert_eq!(with(Some(Vec::new())), Some(Route::Bytes));
        assert_eq!(with(Some(vec![Parser::Image])), Some(Route::Bytes));
        assert_eq!(with(Some(vec![Parser::Pdf(wire::PdfParser::default())])), None);
        let raw = ScrapeOptions { formats: vec![Format::RawBase64], ..ScrapeOptions::default() };
        for content_type in ["application/pdf", "text/html", "image/png", "video/mp4"] {
            assert_eq!(route(&fetched(200, content_type, b"\x89PNG\r\n\x1a\n"), &raw).unwrap(), Route::Bytes);
        }
    }
}
