//! Tests of the mapping of Chromium's errors and of content types.

use super::visited::as_utf8;
use super::{BrowserError, named};

#[test]
fn errors_of_chromium_are_told_by_their_kind() {
    let of = |error: &str| named(error, "https://site.test:444/x");
    for reason in ["ERR_CERT_DATE_INVALID", "ERR_SSL_PROTOCOL_ERROR"] {
        let is_certificate = reason.contains("CERT");
        let known = net::Error::Tls { host: "site.test".to_owned(), reason: reason.to_owned(), is_certificate };
        assert!(matches!(of(&format!("net::{reason}")), BrowserError::Net(error) if error == known), "{reason}");
    }
    let redirects = of("net::ERR_TOO_MANY_REDIRECTS");
    assert!(matches!(redirects, BrowserError::Net(net::Error::TooManyRedirects { .. })), "{redirects}");
    let other = of("net::ERR_EMPTY_RESPONSE");
    assert!(matches!(&other, BrowserError::Site { reason } if reason == "ERR_EMPTY_RESPONSE"), "{other}");
}

#[test]
fn only_the_charset_is_replaced() {
    assert_eq!(as_utf8("text/html; Charset=iso-8859-1"), "text/html; charset=utf-8");
    assert_eq!(as_utf8("text/html"), "text/html; charset=utf-8");
    assert_eq!(as_utf8("text/html;charset=x ; level=1"), "text/html; level=1; charset=utf-8");
}
