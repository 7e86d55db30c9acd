//! Validation of caller-supplied request headers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::read::Field;

/// Maximum number of headers per request.
pub const MAX_HEADERS: usize = 100;
/// Maximum size of all header names and values together, in bytes.
pub const MAX_HEADER_BYTES: usize = 64 * 1024;

/// Headers of the connection (RFC 9110 section 7.6.1, RFC 9112 section 6). Refused, because a caller could use them to
/// smuggle a second request or to reach a host that the egress guard has not checked.
const CONNECTION_HEADERS: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Whether a header belongs to the connection. `name` must be lower case.
///
/// ```
/// assert!(wire::is_connection_header("host") && wire::is_connection_header("proxy-authorization"));
/// assert!(!wire::is_connection_header("cookie"));
/// ```
#[must_use]
pub fn is_connection_header(name: &str) -> bool {
    CONNECTION_HEADERS.contains(&name) || name.starts_with("proxy-")
}

/// Reads the `headers` option. Names keep their case.
pub(crate) fn read(mut field: Field<'_>) -> Option<BTreeMap<String, String>> {
    let Value::Object(given) = field.value.take() else {
        return field.refuse("must be an object of strings");
    };
    match collect(given) {
        Ok(headers) => Some(headers),
        Err(reason) => field.refuse(reason),
    }
}

fn collect(given: Map<String, Value>) -> Result<BTreeMap<String, String>, String> {
    let mut headers = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut bytes = 0;
    for (name, value) in given.into_iter().filter(|(_, value)| !value.is_null()) {
        let text = check(&name, &value)?.to_owned();
        bytes += name.len() + text.len();
        if headers.len() == MAX_HEADERS || bytes > MAX_HEADER_BYTES {
            return Err(format!("must not have more than {MAX_HEADERS} headers or {MAX_HEADER_BYTES} bytes in total"));
        }
        if !seen.insert(name.to_ascii_lowercase()) {
            return Err(format!("must not have `{name}` twice (names are case-insensitive)"));
        }
        headers.insert(name, text);
    }
    Ok(headers)
}

fn check<'a>(name: &str, value: &'a Value) -> Result<&'a str, String> {
    if !is_token(name) {
        // The name is not echoed: it is untrusted and may contain anything.
        return Err("contains an invalid header name (RFC 9110 section 5.1)".to_owned());
    }
    let lower = name.to_ascii_lowercase();
    if is_connection_header(&lower) {
        return Err(format!("must not set `{lower}`: it belongs to the connection"));
    }
    let Value::String(text) = value else {
        return Err(format!("must have a string as value of `{lower}`"));
    };
    if text.chars().any(|c| c != '\t' && c.is_control()) {
        return Err(format!("must not have control characters in `{lower}`"));
    }
    Ok(text)
}

/// Whether a name is a token (RFC 9110 section 5.6.2) and short enough for an error message.
fn is_token(name: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (1..=256).contains(&name.len()) && name.bytes().all(token)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::read::body;

    fn check(headers: &Value, want: Result<usize, &str>) {
        let got = body(json!({ "headers": headers }), |fields| fields.take("headers").and_then(read));
        let got = got.map(|headers| headers.len()).map_err(|invalid| invalid.message);
        match want {
            Ok(count) => assert_eq!(got, Ok(count), "{headers}"),
            Err(part) => assert!(got.as_ref().is_err_and(|text| text.contains(part)), "{got:?} lacks {part}"),
        }
    }

    #[test]
    fn accepted() {
        check(&json!({}), Ok(0));
        check(&json!({ "Cookie": "a=b; c=ü", "User-Agent": "x", "X-Empty": "", "X-Null": null, "X": "a\tb" }), Ok(4));
        let many: BTreeMap<String, &str> = (0..MAX_HEADERS).map(|i| (format!("X-{i}"), "1")).collect();
        check(&json!(many), Ok(MAX_HEADERS));
        check(&json!({ "X": "y".repeat(MAX_HEADER_BYTES - 1) }), Ok(1));
    }

    #[test]
    fn refused() {
        check(&json!(["a"]), Err("`headers` must be an object of strings"));
        check(&json!({ "Bad Name": "1" }), Err("invalid header name"));
        check(&json!({ "": "1" }), Err("invalid header name"));
        check(&json!({ "X\r\nY": "1" }), Err("invalid header name"));
        check(&json!({ "Über": "1" }), Err("invalid header name"));
        check(&json!({ "X": "a\u{0}b" }), Err("control characters in `x`"));
        check(&json!({ "X": "a\r\nSet-Cookie: b=c" }), Err("control characters"));
        check(&json!({ "X": 1 }), Err("string as value of `x`"));
        check(&json!({ "X": "1", "x": "2" }), Err("twice"));
        for name in [
            "Host",
            "content-length",
            "Transfer-Encoding",
            "Connection",
            "Upgrade",
            "TE",
            "Trailer",
            "Proxy-Authorization",
        ] {
            check(&json!({ name: "0" }), Err("belongs to the connection"));
        }
        let many: BTreeMap<String, &str> = (0..=MAX_HEADERS).map(|i| (format!("X-{i}"), "1")).collect();
        check(&json!(many), Err("more than 100 headers"));
        check(&json!({ "X": "y".repeat(MAX_HEADER_BYTES) }), Err("65536 bytes"));
    }
}
