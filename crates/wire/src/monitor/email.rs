//! Addresses of recipients: the dot-atom form of RFC 5322, which can add nothing to the header of a mail.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{MAX_RECIPIENTS, SubscriptionStatus};
use crate::error::Invalid;
use crate::query::{self, QueryParams};
use crate::read::{self, Field};
use crate::search::host_name;

/// Maximum length of an address (RFC 5321 section 4.5.3.1.3, without the angle brackets).
const MAX_ADDRESS: usize = 254;
/// Maximum length of the part before `@` (RFC 5321 section 4.5.3.1.1).
const MAX_LOCAL: usize = 64;
/// Maximum length of a token, in characters.
const MAX_TOKEN_CHARS: usize = 2048;

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

/// Reads a list of addresses. Repeats are dropped.
pub(crate) fn addresses(field: Field<'_>) -> Option<Vec<String>> {
    let list = field.list(0..=MAX_RECIPIENTS, |item| item.parse(address))?;
    let mut unique: Vec<String> = Vec::new();
    for address in list {
        if !unique.iter().any(|known| known.eq_ignore_ascii_case(&address)) {
            unique.push(address);
        }
    }
    Some(unique)
}

/// Body of `POST /v2/monitor/email/confirm` and `/unsubscribe`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct EmailToken {
    /// Token of the link in a mail.
    pub token: String,
}

/// Query parameters of the links in mails.
#[derive(Debug, Clone, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EmailTokenQuery {
    /// Token of the link
    pub token: Option<String>,
}

impl QueryParams for EmailTokenQuery {
    fn decode(query: &str) -> Result<Self, Invalid> {
        query::decode(query, |fields| Some(Self { token: fields.take("token").and_then(token) }))
    }
}

/// Recipient of a team's mails after its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EmailSubscription {
    /// Address.
    pub email: String,
    /// Whether it gets mails.
    pub status: SubscriptionStatus,
}

/// Decodes the body of `POST /v2/monitor/email/confirm` and `/unsubscribe`.
///
/// # Errors
/// [`Invalid`] with every fault.
pub fn decode_email_token(body: Value) -> Result<EmailToken, Invalid> {
    read::body(body, |fields| {
        let token = fields.need("token").and_then(token);
        fields.ignore_rest();
        Some(EmailToken { token: token? })
    })
}

/// Reads a token of any text; its signature is checked later.
fn token(field: Field<'_>) -> Option<String> {
    field.text(0..=MAX_TOKEN_CHARS)
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
