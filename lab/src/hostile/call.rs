//! Conversion of a case's `input` into the bytes of a request.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::case::{Case, Object};

/// Known members of `input`.
const KNOWN: &[&str] = &[
    "headers", "json", "method", "path", "raw", "raw_b64", "raw_gen", "read", "scenario", "sql", "times", "together",
    "tool",
];

/// Returns the first unknown member of `input`.
pub(crate) fn unknown(input: &Object) -> Option<&str> {
    input.keys().map(String::as_str).find(|key| !KNOWN.contains(key))
}

/// Returns the bytes of the request. A case without an Authorization header sends the team's key; cases about
/// authorization send exactly their own headers. A header of the case replaces the runner's header of the same name,
/// case-insensitively; a null header is not sent.
pub(crate) fn request(case: &Case, addr: SocketAddr, key: &str) -> Result<Vec<u8>> {
    let (method, path) = (case.input_text("method"), target(case.input_text("path")));
    let mut head = format!("{method} {path} HTTP/1.1\r\n");
    let headers = case.input.get("headers").and_then(Value::as_object);
    let given = |name: &str| headers.is_some_and(|headers| headers.keys().any(|own| own.eq_ignore_ascii_case(name)));
    let body = body(&case.input)?;
    let length = body.len().to_string();
    if !given("host") {
        head.extend(["Host: ", &addr.to_string(), "\r\n"]);
    }
    if !given("connection") {
        head.push_str("Connection: close\r\n");
    }
    for (name, value) in headers.into_iter().flatten().filter(|(_, value)| !value.is_null()) {
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for value in values {
            head.extend([name, ": ", value.as_str().context("a header value is no text")?, "\r\n"]);
        }
    }
    if !given("authorization") && case.kind != "auth" {
        head.extend(["Authorization: Bearer ", key, "\r\n"]);
    }
    if method != "GET" {
        for (name, value) in [("Content-Type", "application/json"), ("Content-Length", &length)] {
            if !given(name) {
                head.extend([name, ": ", value, "\r\n"]);
            }
        }
    }
    head.push_str("\r\n");
    Ok([head.into_bytes(), body].concat())
}

/// Percent-encodes characters that are not allowed in a request line, and keeps everything else.
fn target(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_graphic() { out.push(char::from(byte)) } else { out.push_str(&format!("%{byte:02X}")) }
    }
    out
}

fn body(input: &Object) -> Result<Vec<u8>> {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    if let Some(raw) = text("raw") {
        return Ok(raw.as_bytes().to_vec());
    }
    if let Some(raw) = text("raw_b64") {
        return STANDARD.decode(raw).context("raw_b64 is not base64");
    }
    match (input.get("raw_gen"), input.get("json")) {
        (Some(generator), _) => generated(generator),
        (None, None | Some(Value::Null)) => Ok(Vec::new()),
        (None, Some(json)) => Ok(json.to_string().into_bytes()),
    }
}

fn generated(generator: &Value) -> Result<Vec<u8>> {
    let object = generator.as_object().context("raw_gen is no object")?;
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    if let Some(key) = object.keys().find(|key| !["prefix", "repeat", "count", "suffix"].contains(&key.as_str())) {
        bail!("raw_gen.{key} is not known");
    }
    let count = object.get("count").and_then(Value::as_u64).context("raw_gen has no count")?;
    let units = text("repeat").repeat(usize::try_from(count)?);
    Ok([text("prefix"), &units, text("suffix")].concat().into_bytes())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(kind: &str, input: &Value, expect: &str) {
        let case =
            json!({"id": "x", "kind": kind, "setup": {}, "input": input, "expected": {}, "note": "", "source": ""});
        let case: Case = serde_json::from_value(case).unwrap();
        let bytes = request(&case, "127.0.0.1:1".parse().unwrap(), "K").unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), expect.replace("HOST", "Host: 127.0.0.1:1\r\nConnection: close"));
    }

    #[test]
    fn writes_the_request_of_a_case() {
        check(
            "api",
            &json!({"method": "GET", "path": "/v2/crawl/' OR 1"}),
            "GET /v2/crawl/'%20OR%201 HTTP/1.1\r\nHOST\r\nAuthorization: Bearer K\r\n\r\n",
        );
        check(
            "auth",
            &json!({"method": "GET", "path": "/x", "headers": {"Authorization": ["a", "b"]}}),
            "GET /x HTTP/1.1\r\nHOST\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n",
        );
        let own = json!({"hOST": "evil.test", "content-type": "text/plain", "Authorization": null, "Origin": "null"});
        check(
            "csrf",
            &json!({"method": "POST", "path": "/x", "raw": "{}", "headers": own}),
            "POST /x HTTP/1.1\r\nConnection: close\r\nOrigin: null\r\ncontent-type: text/plain\r\n\
             hOST: evil.test\r\nContent-Length: 2\r\n\r\n{}",
        );
        check(
            "api",
            &json!({"method": "POST", "path": "/x", "raw_gen": {"prefix": "[", "repeat": "1,", "count": 2, "suffix": "]"}}),
            "POST /x HTTP/1.1\r\nHOST\r\nAuthorization: Bearer K\r\nContent-Type: application/json\r\n\
             Content-Length: 6\r\n\r\n[1,1,]",
        );
    }
}
