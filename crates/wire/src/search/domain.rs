//! Host names in lists of domains.

use url::Host;

/// Maximum length of a host name (RFC 1035 section 2.3.4).
const MAX_HOST: usize = 253;

/// Reads a host name, in lower case and as it is in URLs (`xn--…`), without a final dot.
pub(crate) fn host_name(text: &str) -> Result<String, String> {
    const EXPECTED: &str = "must be a host name, such as `example.com`, without scheme, path, port or wildcard";
    let text = text.trim().trim_end_matches('.');
    let host = Host::parse(text).map_err(|_| EXPECTED.to_owned())?;
    if let Host::Domain(name) = &host {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let has_labels = name.split('.').all(|label| (1..=63).contains(&label.len()));
        if name.len() > MAX_HOST || !has_labels || !name.bytes().all(is_name) {
            return Err(EXPECTED.to_owned());
        }
    }
    Ok(host.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_names_only() {
        for (text, expect) in [
            ("Example.COM", "example.com"),
            (" docs.example.com. ", "docs.example.com"),
            ("münchen.example", "xn--mnchen-3ya.example"),
            ("localhost", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]", "[::1]"),
            ("a_b.example", "a_b.example"),
        ] {
            assert_eq!(host_name(text).as_deref(), Ok(expect), "{text}");
        }
        for text in [
            "",
            ".",
            "https://example.com",
            "example.com/path",
            "example.com:80",
            "*.example.com",
            "a b",
            "a..b",
            "user@example.com",
            "example.com?x",
            &format!("{}.com", "a".repeat(64)),
        ] {
            assert!(host_name(text).is_err(), "{text}");
        }
    }
}
