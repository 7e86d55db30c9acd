//! `/v2/parse`: files that the caller sends instead of naming their address (docs/CONTRACT.md, "Parse").

use std::collections::BTreeMap;

use base::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::attribution::Attribution;
use crate::decode::HARMLESS_KEYS;
use crate::error::{FieldError, Invalid};
use crate::read::{self, Field, Fields};
use crate::scrape::ScrapeOptions;
use crate::stamp;
use crate::words::words;

/// Largest file that may be sent, in bytes: 50 MiB.
pub const MAX_UPLOAD_BYTES: u64 = 50 << 20;
/// Longest name of a file, in characters.
pub const MAX_FILE_NAME_CHARS: usize = 255;
/// Longest content type of a file, in characters.
const MAX_CONTENT_TYPE_CHARS: usize = 255;
/// Longest `uploadRef`, in characters.
const MAX_UPLOAD_REF_CHARS: usize = 64;

/// What is wrong with an option that needs a page on the web.
const NEEDS_PAGE: &str = "is not available for uploaded files";
/// Formats that need a page on the web.
const REFUSED_FORMATS: [&str; 6] = ["screenshot", "changeTracking", "branding", "audio", "video", "rawBase64"];

/// How an uploaded file is read.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParseRequest {
    /// How to read it. What only a page on the web has is refused: `actions`, `waitFor`, `mobile`, `profile`, `lockdown`,
    /// `minAge`, the enhanced proxy, and the formats `screenshot`, `changeTracking`, `branding`, `audio`, `video`, `rawBase64`.
    #[serde(flatten)]
    pub options: ScrapeOptions,
    /// Keep nothing of this file. The operator enables it per team.
    #[schema(required = false, default = false)]
    pub zero_data_retention: bool,
    /// Who calls; siblings of the options on the wire.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// The same for a file that was sent to an upload URL before.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParseUploaded {
    /// What `POST /v2/parse/upload-url` has answered.
    #[schema(min_length = 1, max_length = 64)]
    pub upload_ref: String,
    /// How to read it; siblings of `uploadRef` on the wire.
    #[serde(flatten)]
    pub request: ParseRequest,
}

/// Why options for a file are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseRefusal {
    /// They break the contract.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// They ask for what needs a page on the web: 400 PARSE_UNSUPPORTED_OPTIONS, with whatever else is wrong.
    #[error(transparent)]
    Unsupported(Invalid),
}

/// Decodes the part `options` of an upload.
///
/// # Errors
/// [`ParseRefusal`] with every fault (up to 20), each with the path of its field.
///
/// ```
/// use wire::{ParseRefusal, decode_parse};
///
/// let refusal = decode_parse(serde_json::json!({ "formats": ["html", "screenshot"], "waitFor": 5 })).unwrap_err();
/// assert!(matches!(refusal, ParseRefusal::Unsupported(_)));
/// assert_eq!(refusal.to_string(), "not available for uploaded files: `waitFor`, `formats[1]`");
/// ```
pub fn decode_parse(options: Value) -> Result<ParseRequest, ParseRefusal> {
    decode(options, ParseRequest::read)
}

/// Decodes the JSON body of `POST /v2/parse`.
///
/// # Errors
/// As [`decode_parse`].
pub fn decode_parse_uploaded(body: Value) -> Result<ParseUploaded, ParseRefusal> {
    decode(body, |fields| {
        let upload_ref = fields.need("uploadRef").and_then(|field| field.name(1..=MAX_UPLOAD_REF_CHARS));
        let request = ParseRequest::read(fields);
        Some(ParseUploaded { upload_ref: upload_ref?, request: request? })
    })
}

fn decode<T>(mut body: Value, read: impl FnOnce(&mut Fields<'_>) -> Option<T>) -> Result<T, ParseRefusal> {
    let refused = body.as_object_mut().map(take_refused).unwrap_or_default();
    let decoded = read::body(body, read);
    if refused.is_empty() {
        return Ok(decoded?);
    }
    // Rules between formats say nothing new where one of them is refused anyway.
    let others = decoded.err().map(|invalid| invalid.fields).unwrap_or_default();
    let names: Vec<String> = refused.iter().map(|path| format!("`{path}`")).collect();
    let message = format!("not available for uploaded files: {}", names.join(", "));
    let fault = |path| FieldError::new(path, NEEDS_PAGE);
    let others = others.into_iter().filter(|fault| fault.path != "formats");
    let fields = refused.into_iter().map(fault).chain(others).take(read::MAX_FAULTS).collect();
    Err(ParseRefusal::Unsupported(Invalid { message, fields }))
}

/// Whether the value of an option asks for something.
type Asks = fn(&Value) -> bool;

/// Options that need a page on the web, and what they must be to ask for it.
const REFUSED: [(&str, Asks); 8] = [
    ("actions", |value| !value.as_array().is_some_and(Vec::is_empty)),
    ("waitFor", |value| value.as_f64().is_some_and(|wait| wait > 0.0)),
    ("mobile", |value| *value == Value::Bool(true)),
    ("profile", |_| true),
    ("lockdown", |value| *value == Value::Bool(true)),
    ("minAge", |_| true),
    ("url", |_| true),
    ("proxy", |value| matches!(value.as_str(), Some("enhanced" | "stealth"))),
];

/// Takes out what needs a page on the web, and says where it stood. Formats stay, so that others keep their place.
fn take_refused(body: &mut Map<String, Value>) -> Vec<String> {
    let mut paths = Vec::new();
    for (key, asks) in REFUSED {
        if body.get(key).is_some_and(|value| !value.is_null() && asks(value)) {
            body.remove(key);
            paths.push(key.to_owned());
        }
    }
    let formats = body.get("formats").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let name = |format: &Value| format.as_str().or_else(|| format.get("type")?.as_str()).map(str::to_owned);
    for (index, format) in formats.iter().enumerate() {
        if name(format).is_some_and(|name| REFUSED_FORMATS.contains(&name.as_str())) {
            paths.push(format!("formats[{index}]"));
        }
        if paths.len() >= read::MAX_FAULTS {
            break;
        }
    }
    paths
}

impl ParseRequest {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        for key in HARMLESS_KEYS {
            let _ignored = fields.take(key);
        }
        let options = ScrapeOptions::read(fields);
        let zero_data_retention = fields.flag("zeroDataRetention", false);
        if zero_data_retention && options.only_clean_content {
            fields.refuse("onlyCleanContent", "must not stand beside `zeroDataRetention`");
        }
        Some(Self { options, zero_data_retention, attribution: Attribution::read(fields) })
    }
}

/// A place to send a file to, before it is read by its `uploadRef`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadUrlRequest {
    /// The name of the file.
    #[schema(min_length = 1, max_length = 255)]
    pub filename: String,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 255)]
    pub content_type: Option<String>,
    /// Its size in bytes, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 52428800)]
    pub declared_size_bytes: Option<u64>,
    /// Who calls; siblings of `filename` on the wire.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Decodes the body of `POST /v2/parse/upload-url`.
///
/// # Errors
/// [`Invalid`] with every fault, each with the path of its field.
pub fn decode_upload_url(body: Value) -> Result<UploadUrlRequest, Invalid> {
    read::body(body, |fields| {
        let filename = fields.need("filename").and_then(|field| field.name(1..=MAX_FILE_NAME_CHARS));
        let content_type = fields.take("contentType").and_then(|field| field.name(0..=MAX_CONTENT_TYPE_CHARS));
        let size = |field: Field<'_>| field.whole(1..=MAX_UPLOAD_BYTES);
        let declared_size_bytes = fields.take("declaredSizeBytes").and_then(size);
        let attribution = Attribution::read(fields);
        Some(UploadUrlRequest { filename: filename?, content_type, declared_size_bytes, attribution })
    })
}

/// Where a file can be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadUrl {
    /// Where to send the bytes of the file, as the body of one request.
    #[schema(format = "uri")]
    pub upload_url: String,
    /// What names the file in `POST /v2/parse` afterwards, once.
    pub upload_ref: String,
    /// The method of that request.
    pub method: UploadMethod,
    /// Headers to send with it.
    pub headers: BTreeMap<String, String>,
    /// Fields of a form to send with it; always empty here.
    pub fields: BTreeMap<String, String>,
    /// When both end.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub expires_at: Timestamp,
    /// The most bytes that it takes.
    pub max_size_bytes: u64,
}

words! {
    /// How a file is sent to its URL.
    pub enum UploadMethod {
        /// The file is the body.
        Put = "PUT",
    }
}

/// A file has arrived at its URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Received {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
}

/// What `/v2/parse` reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ParseFormats {
    /// All kinds of files, whether this server can read them or not.
    pub formats: Vec<FileFormat>,
}

/// A kind of file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileFormat {
    /// Its name.
    pub format: String,
    /// What sort of thing it is.
    pub kind: FileKind,
    /// How names of such files end, without the dot.
    pub extensions: Vec<String>,
    /// Its media types.
    pub mime_types: Vec<String>,
    /// Whether this server can read it.
    pub available: bool,
}

words! {
    /// Sorts of files.
    pub enum FileKind {
        /// Text on pages.
        Document = "document",
        /// Slides.
        Presentation = "presentation",
        /// Sheets of cells.
        Spreadsheet = "spreadsheet",
        /// Pictures with text on them.
        Image = "image",
        /// Web pages.
        Page = "page",
        /// Text as it is.
        Text = "text",
    }
}
