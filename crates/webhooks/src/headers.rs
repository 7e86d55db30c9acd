//! Headers of a delivery: the caller's custom headers plus the service's own, which callers cannot override.

use std::collections::BTreeMap;

use crate::secret::SigningSecret;
use crate::signature::{sign, standard_sign};

/// Name of the header with the service's signature.
pub const SIGNATURE: &str = "X-Service-Signature";

/// Headers that a caller cannot set, in addition to connection headers: content headers must match the body, and
/// receivers trust the others.
const OURS: &[&str] = &[
    "accept-encoding",
    "content-encoding",
    "content-type",
    "webhook-id",
    "webhook-signature",
    "webhook-timestamp",
    "x-service-signature",
];

/// One attempt at a delivery.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// Delivery id, the same in every attempt.
    pub id: &'a str,
    /// Time of the attempt, in seconds since 1970.
    pub timestamp: i64,
    /// Exact bytes of the body.
    pub body: &'a [u8],
    /// Custom headers of the webhook.
    pub headers: &'a BTreeMap<String, String>,
}

/// Returns every header of an attempt, except connection headers such as `Host`. The first secret signs
/// `X-Service-Signature`, which holds a single signature. All secrets sign `webhook-signature`, so that during a
/// rotation a receiver may know either one.
#[must_use]
pub fn headers(message: &Message<'_>, secrets: &[SigningSecret]) -> Vec<(String, String)> {
    let Message { id, timestamp, body, headers } = *message;
    let mut all: Vec<(String, String)> =
        headers.iter().filter(|(name, _)| !is_ours(name)).map(|(name, value)| (name.clone(), value.clone())).collect();
    let mut add = |name: &str, value: String| all.push((name.to_owned(), value));
    add("Content-Type", "application/json".to_owned());
    add("webhook-id", id.to_owned());
    add("webhook-timestamp", timestamp.to_string());
    if let Some(first) = secrets.first() {
        add(SIGNATURE, sign(first.text(), body));
        let each = secrets.iter().map(|secret| standard_sign(secret.key(), id, timestamp, body));
        add("webhook-signature", each.collect::<Vec<_>>().join(" "));
    }
    if !headers.keys().any(|name| name.eq_ignore_ascii_case("user-agent")) {
        add("User-Agent", concat!("quarry-webhooks/", env!("CARGO_PKG_VERSION")).to_owned());
    }
    all
}

/// Whether a header is reserved for the service. A caller's value for it is discarded.
#[must_use]
pub fn is_ours(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    wire::is_connection_header(&name) || OURS.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::verify;

    fn sent(caller: &[(&str, &str)], secrets: &[SigningSecret]) -> Vec<(String, String)> {
        let caller = caller.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        headers(&Message { id: "m", timestamp: 5, body: b"{}", headers: &caller }, secrets)
    }

    fn values<'a>(sent: &'a [(String, String)], name: &str) -> Vec<&'a str> {
        sent.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str()).collect()
    }

    #[test]
    fn callers_cannot_replace_ours() {
        let secret = SigningSecret::generate([3; 32]);
        let caller = [
            ("x-SERVICE-signature", "sha256=00"),
            ("Content-Length", "1"),
            ("Content-Type", "text/plain"),
            ("content-encoding", "gzip"),
            ("Host", "x"),
            ("Transfer-Encoding", "chunked"),
            ("Webhook-Id", "x"),
            ("webhook-timestamp", "0"),
            ("Webhook-Signature", "v1,x"),
            ("Proxy-Authorization", "x"),
            ("Authorization", "Bearer mine"),
            ("X-Own", "1"),
        ];
        let sent = sent(&caller, std::slice::from_ref(&secret));
        assert_eq!(values(&sent, "authorization"), ["Bearer mine"]);
        assert_eq!(values(&sent, "x-own"), ["1"]);
        assert_eq!(values(&sent, "content-type"), ["application/json"]);
        assert_eq!((values(&sent, "webhook-id"), values(&sent, "webhook-timestamp")), (vec!["m"], vec!["5"]));
        let [signature] = values(&sent, SIGNATURE)[..] else { panic!("{sent:?}") };
        assert!(verify(secret.text(), b"{}", signature));
        for name in ["host", "content-length", "transfer-encoding", "content-encoding", "proxy-authorization"] {
            assert!(values(&sent, name).is_empty(), "{name}");
        }
    }

    #[test]
    fn a_rotation_gives_two_signatures() {
        let secrets = [SigningSecret::generate([1; 32]), SigningSecret::generate([2; 32])];
        let sent = sent(&[], &secrets);
        let [both] = values(&sent, "webhook-signature")[..] else { panic!("{sent:?}") };
        let expect: Vec<String> = secrets.iter().map(|secret| standard_sign(secret.key(), "m", 5, b"{}")).collect();
        assert_eq!(both.split(' ').collect::<Vec<_>>(), expect);
        assert_eq!(values(&sent, SIGNATURE), [sign(secrets[0].text(), b"{}")]);
    }

    #[test]
    fn the_agent_is_named_unless_the_caller_has_one() {
        assert!(values(&sent(&[], &[]), "user-agent")[0].starts_with("quarry-webhooks/"));
        assert_eq!(values(&sent(&[("USER-AGENT", "mine")], &[]), "user-agent"), ["mine"]);
    }
}
