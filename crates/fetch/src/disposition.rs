//! Type of a file by the name that it is offered under, where its declared type says nothing.

use http::HeaderMap;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};

/// Endings of files that their bytes do not tell from other text, and their types.
const TYPES: [(&str, &str); 5] = [
    ("csv", "text/csv"),
    ("tsv", "text/csv"),
    ("eml", "message/rfc822"),
    ("mht", "multipart/related"),
    ("mhtml", "multipart/related"),
];

/// Returns the content type: as declared, or that of the file name in `Content-Disposition` for a type that servers
/// send for any file.
pub(crate) fn content_type(headers: &HeaderMap) -> Option<String> {
    let header = |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let declared = header(CONTENT_TYPE);
    if declared.as_deref().is_some_and(|declared| !says_nothing(declared)) {
        return declared;
    }
    let name = header(CONTENT_DISPOSITION).and_then(|header| file_name(&header));
    let ending = name.as_deref().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending.to_ascii_lowercase());
    let known = TYPES.iter().find(|(known, _)| Some(*known) == ending.as_deref());
    known.map(|(_, known)| (*known).to_owned()).or(declared)
}

fn says_nothing(declared: &str) -> bool {
    let essence = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let generic =
        ["", "application/octet-stream", "binary/octet-stream", "application/x-download", "application/force-download"];
    generic.contains(&essence.as_str())
}

/// Returns the file name of a `Content-Disposition` header (RFC 6266). Only its ending matters, which is ASCII, so
/// other letters stay encoded.
fn file_name(header: &str) -> Option<String> {
    let lower = header.to_ascii_lowercase();
    let start = lower.find("filename*=").or_else(|| lower.find("filename="))?;
    let (_, value) = header[start..].split_once('=')?;
    let value = match value.trim_start().strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => value.split(';').next()?.trim(),
    };
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn check(declared: Option<&'static str>, disposition: &'static str, expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        if let Some(declared) = declared {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(declared));
        }
        headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static(disposition));
        assert_eq!(content_type(&headers).as_deref(), expected, "{disposition}");
    }

    #[test]
    fn names_tell_the_type_where_the_server_does_not() {
        let octets = Some("application/octet-stream");
        check(octets, "attachment; filename=\"prices.CSV\"", Some("text/csv"));
        check(None, "attachment; filename*=UTF-8''pr%C3%A9s.csv", Some("text/csv"));
        check(octets, "inline;filename=mail.eml", Some("message/rfc822"));
        check(octets, "attachment; filename=\"a;b.csv\"; size=1", Some("text/csv"));
        check(octets, "attachment; filename=report.pdf", octets);
        check(octets, "attachment", octets);
        check(Some("text/html; charset=utf-8"), "attachment; filename=a.csv", Some("text/html; charset=utf-8"));
    }
}
