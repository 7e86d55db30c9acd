//! Addresses of recipients: the dot-atom form of RFC 5322, which can add nothing to the header of a mail.

use crate::search::host_name;

/// Maximum length of an address (RFC 5321 section 4.5.3.1.3, without the angle brackets).
const MAX_ADDRESS: usize = 254;
/// Maximum length of the part before `@` (RFC 5321 section 4.5.3.1.1).
const MAX_LOCAL: usize = 64;

/// Reads an address. The host is in lower case and as it is in URLs (`xn--…`).
pub(super) fn address(text: &str) -> Result<String, String> {
    const EXPECTED: &str = "must be an e-mail address, such as `name@example.com`";
    let refused = || EXPECTED.to_owned();
    let (local, host) = text.trim().rsplit_once('@').ok_or_else(refused)?;
    let atom = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
    let is_local = local.len() <= MAX_LOCAL && local.split('.').all(|part| !part.is_empty() && part.bytes().all(atom));
    let host = host_name(host).map_err(|_| refused())?;
    let is_host = host.contains('.') && host.bytes().any(|byte| byte.is_ascii_alphabetic()) && !host.starts_with('[');
    let address = format!("{local}@{host}");
    if is_local && is_host && address.len() <= MAX_ADDRESS { Ok(address) } else { Err(refused()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_only() {
        for (text, expect) in [
            ("ops@example.com", "ops@example.com"),
            (" First.Last+tag@Sub.Example.ORG ", "First.Last+tag@sub.example.org"),
            ("o'neil@bücher.example", "o'neil@xn--bcher-kva.example"),
        ] {
            assert_eq!(address(text).as_deref(), Ok(expect), "{text}");
        }
        let long = format!("{}@example.com", "a".repeat(65));
        let host = format!("a@{}.com", "b.".repeat(125));
        for text in [
            "",
            "ops",
            "@example.com",
            "ops@",
            "ops@localhost",
            "ops@127.0.0.1",
            "ops@[::1]",
            "a..b@example.com",
            ".a@example.com",
            "a b@example.com",
            "a@b@example.com",
            "a,b@example.com",
            "<a@example.com>",
            "\"a b\"@example.com",
            "a@example.com\r\nBcc: b@example.com",
            "a\n@example.com",
            "ä@example.com",
            &long,
            &host,
        ] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
