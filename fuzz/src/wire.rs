//! What callers send: bodies and URLs.

use ::wire::{ScrapeBody, decode_scrape};
use serde_json::Value;

/// The body of `POST /v2/scrape`.
pub fn decode(input: &[u8]) {
    let Ok(body) = serde_json::from_slice::<Value>(input) else {
        return;
    };
    match decode_scrape(body) {
        Ok(ScrapeBody::Page(request)) => {
            let _known = request.needs();
            assert!(matches!(request.url.scheme(), "http" | "https"));
        }
        Ok(ScrapeBody::Tools(_)) => {}
        Err(invalid) => {
            assert!(!invalid.message.is_empty());
            assert!(invalid.details().to_string().len() < 100_000, "the refusal is too long");
        }
    }
}

/// A URL as a caller writes it. What is accepted reads back as itself.
pub fn target_url(input: &[u8]) {
    if let Ok(url) = ::wire::target_url(&String::from_utf8_lossy(input)) {
        assert!(matches!(url.scheme(), "http" | "https") && url.has_host());
        assert_eq!(::wire::target_url(url.as_str()).as_ref(), Ok(&url), "{url}");
    }
}
