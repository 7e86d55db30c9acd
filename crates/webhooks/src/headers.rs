//! The headers of a delivery: the caller's, except those that are ours, and then ours.

use std::collections::BTreeMap;

use crate::secret::SigningSecret;
use crate::signature::{sign, standard_sign};

/// The name of our signature's header.
pub const SIGNATURE: &str = "X-Service-Signature";

/// Headers that a caller cannot set, besides those of the connection: those of the content would not fit the body, and the
/// rest is what a receiver trusts.
const OURS: &[&str] = &[
    "accept-encoding",
    "content-encoding",
    "content-type",
    "webhook-id",
    "webhook-signature",
    "webhook-timestamp",
    "x-service-signature",
];

/// One attempt at telling somebody something.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// The id of the delivery, the same at every attempt.
    pub id: &'a str,
    /// When this attempt is made, in seconds since 1970.
    pub timestamp: i64,
    /// The exact bytes of the body.
    pub body: &'a [u8],
    /// What the hook's owner wants to be sent along.
    pub headers: &'a BTreeMap<String, String>,
}

/// Every header of an attempt except `Host` and the framing, which belong to the connection. The first secret signs
/// `X-Service-Signature`, which has room for one; all of them sign `webhook-signature`, so that during a rotation a
/// receiver may know either.
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

/// Whether a header of this name is ours to set: what a caller gives for it is left out.
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
