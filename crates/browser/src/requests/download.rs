//! Answers that are files instead of pages.

use base64::Engine as _;
use bytes::{Bytes, BytesMut};
use cdp::{CdpError, Session};
use serde_json::{Value, json};

/// Size of one read, in bytes.
const PIECE: u64 = 1 << 20;

/// A downloaded file.
pub(crate) struct Download {
    pub(crate) url: String,
    pub(crate) status: u16,
    /// Headers, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
    /// Whether the end is missing because of the size limit.
    pub(crate) is_cut: bool,
}

impl Download {
    /// Returns the first value of a header, given its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Subtypes of `text` that Chromium downloads instead of showing (`mime_util.cc`).
const SAVED_TEXTS: &[&str] = &[
    "calendar",
    "x-calendar",
    "x-vcalendar",
    "vcalendar",
    "vcard",
    "x-vcard",
    "directory",
    "ldif",
    "qif",
    "x-qif",
    "x-csv",
    "x-vcf",
    "rtf",
    "comma-separated-values",
    "csv",
    "tab-separated-values",
    "tsv",
    "ofx",
    "x-ms-iqy",
    "x-ms-odc",
    "x-ms-rqy",
    "x-ms-contact",
];

/// Subtypes of `application` that Chromium shows.
const SHOWN_APPLICATIONS: &[&str] =
    &["xhtml+xml", "xml", "json", "javascript", "x-javascript", "ecmascript", "x-ecmascript", "ld+json"];

/// Whether the answer of a `Fetch.requestPaused` is a file. Redirects and answers without a body are not. `by_force`
/// treats any other answer as a file.
pub(super) fn is_file(params: &Value, by_force: bool) -> bool {
    let status = params["responseStatusCode"].as_u64().unwrap_or_default();
    if !(200..600).contains(&status) || matches!(status, 204 | 205) || (300..400).contains(&status) {
        return false;
    }
    let header = |wanted: &str| {
        let lines = params["responseHeaders"].as_array().into_iter().flatten();
        let mut named =
            lines.filter(|line| line["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case(wanted)));
        named.next().and_then(|line| line["value"].as_str()).unwrap_or_default()
    };
    by_force || is_attachment(header("content-disposition")) || is_saved(header("content-type"))
}

/// Whether a `Content-Disposition` means a download. RFC 6266 section 4.2: unknown types do; like Chromium, a value
/// without a type does not.
fn is_attachment(disposition: &str) -> bool {
    let kind = disposition.split(';').next().unwrap_or_default().trim();
    !kind.is_empty() && !kind.eq_ignore_ascii_case("inline") && !kind.contains('=')
}

fn is_saved(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let Some((kind, name)) = essence.split_once('/') else { return false };
    match kind {
        "text" => SAVED_TEXTS.contains(&name),
        "application" => !SHOWN_APPLICATIONS.contains(&name) && !name.ends_with("+xml") && !name.ends_with("+json"),
        "multipart" => false,
        // Images, audio and video are shown in a page of Chromium's own, which has no content of the site.
        _ => name != "svg+xml",
    }
}

/// Reads the body up to the limit; stops with `is_cut` as soon as it is exceeded.
pub(super) async fn take(session: &Session, params: &Value, limit: u64) -> Result<Download, CdpError> {
    let id = json!({"requestId": params["requestId"]});
    let stream = session.call("Fetch.takeResponseBodyAsStream", id).await?["stream"].take();
    let mut body = BytesMut::new();
    let is_cut = loop {
        let piece = session.call("IO.read", json!({"handle": stream, "size": PIECE})).await?;
        let data = piece["data"].as_str().unwrap_or_default();
        if piece["base64Encoded"] == true {
            body.extend(base64::engine::general_purpose::STANDARD.decode(data).unwrap_or_default());
        } else {
            body.extend_from_slice(data.as_bytes());
        }
        let is_cut = body.len() as u64 > limit;
        if is_cut || piece["eof"] == true {
            break is_cut;
        }
    };
    session.post("IO.close", json!({ "handle": stream })).await;
    let headers = params["responseHeaders"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|line| Some((line["name"].as_str()?.to_ascii_lowercase(), line["value"].as_str()?.to_owned())));
    Ok(Download {
        url: params["request"]["url"].as_str().unwrap_or_default().to_owned(),
        status: params["responseStatusCode"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or_default(),
        headers: headers.collect(),
        body: body.freeze(),
        is_cut,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_head() {
        let check = |status: u64, content_type: &str, disposition: &str, expect: bool| {
            let headers = json!([{"name": "Content-Type", "value": content_type},
                {"name": "content-disposition", "value": disposition}]);
            let params = json!({"responseStatusCode": status, "responseHeaders": headers});
            assert_eq!(is_file(&params, false), expect, "{status} {content_type} {disposition}");
        };
        for shown in
            ["text/html; charset=utf-8", "TEXT/PLAIN", "application/json", "image/svg+xml", "application/rss+xml", ""]
        {
            check(200, shown, "", false);
            check(200, shown, "attachment; filename=x", true);
            check(200, shown, "Inline; filename=x", false);
        }
        for saved in ["application/pdf", "text/csv", "application/zip", "image/png", "application/octet-stream"] {
            check(200, saved, "", true);
            check(302, saved, "", false);
            check(204, saved, "", false);
        }
        check(404, "application/pdf", "", true);
    }
}
