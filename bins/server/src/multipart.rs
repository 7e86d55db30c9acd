//! Multipart forms of `POST /v2/parse` (RFC 7578): the parts `file` and `options`, in either order, each once.

use std::sync::Arc;

use app::parse::Upload;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use base::Owner;
use bytes::Bytes;
use futures_util::stream;
use multer::{Constraints, Field, Multipart, SizeLimit};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};
use wire::{Invalid, MAX_FILE_NAME_CHARS, MAX_UPLOAD_BYTES};

use crate::Service;
use crate::body::{BodyLimits, UploadRate};
use crate::error::Failure;
use crate::extract::{encoding, parse};

/// Byte limit of the form without the file: options and part headers.
const MAX_BESIDES: u64 = 1 << 20;

/// Content of the form.
pub(crate) struct Form {
    /// The options as they were sent; an empty object when there are none.
    pub(crate) options: Value,
    pub(crate) upload: Upload,
}

/// Returns the boundary of a multipart form; `None` for other content types.
pub(crate) fn boundary(headers: &HeaderMap) -> Option<String> {
    let mut lines = headers.get_all(header::CONTENT_TYPE).iter();
    let only = lines.next().filter(|_| lines.next().is_none())?.to_str().ok()?;
    multer::parse_boundary(only).ok()
}

/// Reads the whole form, then splits it into parts, so that one timeout and one byte limit cover everything.
pub(crate) async fn read_form(
    service: &Arc<Service>,
    head: &Parts,
    body: Body,
    boundary: String,
    owner: &str,
) -> Result<Form, Failure> {
    encoding(&head.headers)?;
    let limits = BodyLimits {
        bytes: usize::try_from(MAX_UPLOAD_BYTES + MAX_BESIDES).unwrap_or(usize::MAX),
        until: Instant::now() + service.config.server.upload_timeout,
        large: &service.uploads,
        owner,
        pace: UploadRate::of_uploads(&service.config.server),
    };
    let body = limits.read(&head.headers, body).await?;
    let room = service.operations.app.room_for_body(&Owner::of_team(owner));
    timeout_at(limits.until, room.grow(body.len() as u64)).await.map_err(|_| limits.too_slow())?;
    let (mut file, mut options) = (None, None);
    let mut parts = parts(body, boundary);
    while let Some(part) = parts.next_field().await.map_err(unreadable)? {
        match part.name() {
            Some("file") if file.is_none() => file = Some(of_file(part).await?),
            Some("options") if options.is_none() => options = Some(of_options(part).await?),
            Some(name @ ("file" | "options")) => return Err(Invalid::at(name, "must appear only once").into()),
            // Other names, or none, are already refused by the constraints of `parts`.
            _ => return Err(unreadable(multer::Error::UnknownField { field_name: None })),
        }
    }
    let (name, content_type, bytes) = file.ok_or_else(|| Invalid::at("file", "is required"))?;
    let upload = Upload { name, content_type, bytes, room };
    Ok(Form { options: options.unwrap_or_else(|| Value::Object(Map::new())), upload })
}

fn parts(body: Bytes, boundary: String) -> Multipart<'static> {
    let sizes = SizeLimit::new().for_field("file", MAX_UPLOAD_BYTES).for_field("options", MAX_BESIDES);
    let limits = Constraints::new().allowed_fields(vec!["file", "options"]).size_limit(sizes);
    Multipart::with_constraints(stream::iter([Ok::<_, std::io::Error>(body)]), boundary, limits)
}

/// Returns name, content type and bytes of the file.
async fn of_file(part: Field<'static>) -> Result<(String, Option<String>, Bytes), Failure> {
    let refused = |why: &str| Failure::from(Invalid::at("file", why));
    let given = extended_name(part.headers()).or_else(|| part.file_name().map(str::to_owned)).unwrap_or_default();
    let name = last_segment(&given).to_owned();
    if name.is_empty() {
        return Err(refused("must have a file name"));
    }
    if name.chars().count() > MAX_FILE_NAME_CHARS {
        return Err(refused(&format!("must have a file name of at most {MAX_FILE_NAME_CHARS} characters")));
    }
    let content_type = part.content_type().map(ToString::to_string);
    let bytes = part.bytes().await.map_err(unreadable)?;
    if bytes.is_empty() {
        return Err(refused("must not be empty"));
    }
    Ok((name, content_type, bytes))
}

/// Returns the value of `filename*` (RFC 8187 section 3.2), which some clients send for non-ASCII names although RFC 7578
/// forbids it.
fn extended_name(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(header::CONTENT_DISPOSITION)?.to_str().ok()?;
    let (_, value) = text
        .split(';')
        .filter_map(|part| part.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("filename*"))?;
    let (charset, rest) = value.trim().split_once('\'')?;
    let (_, encoded) = rest.split_once('\'')?;
    let name = percent_decode_str(encoded).decode_utf8().ok()?;
    charset.eq_ignore_ascii_case("utf-8").then(|| name.into_owned())
}

/// Removes the folders of a path, which belong to the machine of the caller.
fn last_segment(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or_default().trim()
}

async fn of_options(part: Field<'static>) -> Result<Value, Failure> {
    let bytes = part.bytes().await.map_err(unreadable)?;
    if bytes.trim_ascii().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    parse(&bytes)
}

/// Converts the error of a malformed form into an answer.
fn unreadable(error: multer::Error) -> Failure {
    match error {
        multer::Error::FieldSizeExceeded { limit, field_name } => {
            let (part, mib) = (field_name.unwrap_or_default(), limit >> 20);
            Failure::new(wire::Code::PayloadTooLarge, format!("the part `{part}` is larger than {mib} MiB"))
        }
        multer::Error::UnknownField { .. } => {
            Invalid::at("", "must be a form with the parts `file` and `options` only").into()
        }
        other => Invalid::at("", format!("is not a valid multipart form: {other}")).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries() {
        let check = |lines: &[&str], expect: Option<&str>| {
            let headers = lines.iter().map(|line| (header::CONTENT_TYPE, line.parse().unwrap())).collect();
            assert_eq!(boundary(&headers).as_deref(), expect, "{lines:?}");
        };
        check(&["multipart/form-data; boundary=abc"], Some("abc"));
        check(&["Multipart/Form-Data; charset=utf-8; boundary=\"a b\""], Some("a b"));
        check(&["multipart/form-data"], None);
        check(&["multipart/mixed; boundary=abc"], None);
        check(&["application/json"], None);
        check(&["multipart/form-data; boundary=a", "multipart/form-data; boundary=a"], None);
        check(&[], None);
    }

    #[test]
    fn names_that_are_not_ascii() {
        let check = |value: &str, expect: Option<&str>| {
            let headers = [(header::CONTENT_DISPOSITION, value.parse().unwrap())].into_iter().collect();
            assert_eq!(extended_name(&headers).as_deref(), expect, "{value}");
        };
        check("form-data; name=\"file\"; filename*=utf-8''%C3%BCber%20uns.pdf", Some("\u{fc}ber uns.pdf"));
        check("form-data; name=file; filename=\"a\"; FILENAME*=UTF-8'de'b.pdf", Some("b.pdf"));
        check("form-data; name=file; filename*=latin1''%FC", None);
        check("form-data; name=file; filename*=utf-8''%FF", None);
        check("form-data; name=file; filename=\"a.pdf\"", None);
    }

    #[test]
    fn names_without_folders() {
        for (given, expect) in [("a.pdf", "a.pdf"), ("/etc/a.pdf", "a.pdf"), ("C:\\x\\a b.pdf", "a b.pdf"), ("a/", "")]
        {
            assert_eq!(last_segment(given), expect, "{given}");
        }
    }
}
