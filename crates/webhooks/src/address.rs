//! Receiver URLs.

use base::address::cut_credentials;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use url::Url;
use wire::{InvalidUrl, target_url};

/// Receiver of deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// URL without user name, password and fragment, safe to show and log.
    pub url: Url,
    /// User name and password as the value of an `Authorization` header (RFC 7617).
    pub authorization: Option<String>,
}

/// Parses a receiver URL: http or https with a host. Whether the host may be contacted is decided at each attempt, on
/// the address that is dialled.
///
/// # Errors
/// [`InvalidUrl`], worded to follow the field name.
pub fn address(text: &str) -> Result<Address, InvalidUrl> {
    let mut url = target_url(text)?;
    url.set_fragment(None);
    let (name, password) = (url.username(), url.password().unwrap_or_default());
    if name.is_empty() && password.is_empty() {
        return Ok(Address { url, authorization: None });
    }
    let decoded = |text: &str| percent_decode_str(text).collect::<Vec<u8>>();
    let pair = [decoded(name), b":".to_vec(), decoded(password)].concat();
    cut_credentials(&mut url);
    Ok(Address { url, authorization: Some(format!("Basic {}", STANDARD.encode(pair))) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let check = |text: &str, expect: Option<(&str, Option<&str>)>| {
            let found = address(text).ok();
            let found = found.as_ref().map(|found| (found.url.as_str(), found.authorization.as_deref()));
            assert_eq!(found, expect, "{text}");
        };
        check("https://hook.test/a?b=c#d", Some(("https://hook.test/a?b=c", None)));
        check("http://me:p%40ss@hook.test:81/", Some(("http://hook.test:81/", Some("Basic bWU6cEBzcw=="))));
        check("http://127.0.0.1:8080/", Some(("http://127.0.0.1:8080/", None)));
        for text in ["", "ftp://hook.test/", "file:///etc/passwd", "http://", "http://a b/", "hook", "http://x:0/"] {
            check(text, None);
        }
    }
}
