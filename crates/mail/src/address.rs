//! Addresses of recipients.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Longest address (RFC 5321, 4.5.3.1.3).
const MAX_LENGTH: usize = 254;

/// Address of one recipient in ASCII, such as `ops@example.com`, without a name, quotes or comments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address(lettre::Address);

/// The text is not an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("expected an address such as ops@example.com")]
pub struct AddressError;

impl Address {
    /// Returns the address in lower case, under which it is the same as other spellings.
    #[must_use]
    pub fn key(&self) -> String {
        self.to_string().to_ascii_lowercase()
    }

    pub(crate) fn inner(&self) -> &lettre::Address {
        &self.0
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let is_plain = text.len() <= MAX_LENGTH
            && text
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'(' | b')' | b',' | b':' | b';'))
            && text.split_once('@').is_some_and(|(_, domain)| domain.contains('.') && !domain.starts_with('['));
        if !is_plain {
            return Err(AddressError);
        }
        text.parse().map(Self).map_err(|_| AddressError)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bare_addresses_are_accepted() {
        for text in ["ops@example.com", "A.b+c@sub.example.co.uk", "o'neil_a=b{c}|~@xn--bcher-kva.example"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        assert_eq!("Ops@Example.COM".parse::<Address>().unwrap().key(), "ops@example.com");
        for text in [
            "",
            "ops",
            "@example.com",
            "ops@",
            "ops@localhost",
            "ops@[127.0.0.1]",
            "Ops <ops@example.com>",
            "ops@example.com, other@example.com",
            "ops@example.com\r\nBcc: all@example.com",
            "ops@example.com\n",
            "\"a b\"@example.com",
            "a@b@example.com",
            "ops@exa mple.com",
            "ops(x)@example.com",
            "öps@example.com",
            "ops@-example.com",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
        assert!(format!("{}@example.com", "a".repeat(300)).parse::<Address>().is_err());
    }
}
