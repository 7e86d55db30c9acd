//! Where deliveries go.

use base::address::cut_credentials;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use url::Url;
use wire::{InvalidUrl, target_url};

/// The address of a receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Without user name, password and fragment, so that it may be shown and logged.
    pub url: Url,
    /// User name and password, as the value of an `Authorization` header (RFC 7617).
    pub authorization: Option<String>,
}

/// Reads the address of a hook: http or https with a host. Whether the host may be connected to is decided at each
/// attempt, on the address that is dialled.
///
/// # Errors
/// [`InvalidUrl`], worded to follow the name of the field.
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
