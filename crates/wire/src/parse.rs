//! `/v2/parse`: files that the caller uploads (docs/CONTRACT.md, "Parse").

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

/// Maximum size of an uploaded file, in bytes: 50 MiB.
pub const MAX_UPLOAD_BYTES: u64 = 50 << 20;
/// Maximum length of a file name, in characters.
pub const MAX_FILE_NAME_CHARS: usize = 255;
/// Maximum length of a content type, in characters.
const MAX_CONTENT_TYPE_CHARS: usize = 255;
/// Maximum length of `uploadRef`, in characters.
const MAX_UPLOAD_REF_CHARS: usize = 64;

/// Reason for refusing an option that needs a web page.
const NEEDS_PAGE: &str = "is not available for uploaded files";
/// Formats that need a web page.
const REFUSED_FORMATS: [&str; 6] = ["screenshot", "changeTracking", "branding", "audio", "video", "rawBase64"];

/// Options for an uploaded file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParseRequest {
    /// Scrape options. Options that need a web page are refused: `actions`, `waitFor`, `mobile`, `profile`, `lockdown`,
    /// `minAge`, `location`, the enhanced proxy, and the formats `screenshot`, `changeTracking`, `branding`, `audio`,
    /// `video`, `rawBase64`.
    #[serde(flatten)]
    pub options: ScrapeOptions,
    /// Whether nothing of this file is kept (zero data retention). The operator enables it per team.
    #[schema(required = false, default = false)]
    pub zero_data_retention: bool,
    /// Client that makes the call, flattened into this object.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Options for a file that was sent to an upload URL earlier.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParseUploaded {
    /// Reference to the file, as returned by `POST /v2/parse/upload-url`.
    #[schema(min_length = 1, max_length = 64)]
    pub upload_ref: String,
    /// Scrape options, flattened into this object.
    #[serde(flatten)]
    pub request: ParseRequest,
}

/// Reason for refusing options for a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseRefusal {
    /// The options violate the contract.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The options need a web page: 400 PARSE_UNSUPPORTED_OPTIONS. Lists any other faults too.
    #[error(transparent)]
    Unsupported(Invalid),
}

/// Decodes the multipart field `options` of an upload.
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
/// [`ParseRefusal`], as for [`decode_parse`].
pub fn decode_parse_uploaded(body: Value) -> Result<ParseUploaded, ParseRefusal> {
    decode(body, |fields| {
        let upload_ref = fields.need("uploadRef").and_then(|field| field.name(1..=MAX_UPLOAD_REF_CHARS));
        let request = ParseRequest::read(fields);
        Some(ParseUploaded { upload_ref: upload_ref?, request: request? })
    })
}

fn decode<T>(mut body: Value, read: impl FnOnce(&mut Fields<'_>) -> Option<T>) -> Result<T, ParseRefusal> {
    // Before decoding, so that an option that needs a web page gets its own code instead of a fault of its value.
    let refused = body.as_object_mut().map(take_refused).unwrap_or_default();
    let decoded = read::body(body, read);
    if refused.is_empty() {
        return Ok(decoded?);
    }
    // If a format is refused anyway, the rules between formats add nothing.
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

/// Options that need a web page, and the condition under which their value asks for one.
const REFUSED: [(&str, Asks); 9] = [
    ("actions", |value| !value.as_array().is_some_and(Vec::is_empty)),
    ("waitFor", |value| value.as_f64().is_some_and(|wait| wait > 0.0)),
    ("mobile", |value| *value == Value::Bool(true)),
    ("profile", |_| true),
    ("lockdown", |value| *value == Value::Bool(true)),
    ("minAge", |_| true),
    ("location", |_| true),
    ("url", |_| true),
    ("proxy", |value| matches!(value.as_str(), Some("enhanced" | "stealth"))),
];

/// Removes the options that need a web page and returns their paths. Formats stay in place, so that the indices of
/// other faults remain correct.
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
        if zero_data_retention {
            options.check_zero_retention(fields, "");
        }
        Some(Self { options, zero_data_retention, attribution: Attribution::read(fields) })
    }
}

/// Request for an upload URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadUrlRequest {
    /// File name.
    #[schema(min_length = 1, max_length = 255)]
    pub filename: String,
    /// Content type of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 255)]
    pub content_type: Option<String>,
    /// Size of the file in bytes, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 52428800)]
    pub declared_size_bytes: Option<u64>,
    /// Client that makes the call, flattened into this object.
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

/// Upload URL for one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadUrl {
    /// URL that accepts the file's bytes as the body of one request.
    #[schema(format = "uri")]
    pub upload_url: String,
    /// Reference to the file for `POST /v2/parse`. Can be used once.
    pub upload_ref: String,
    /// HTTP method of the upload.
    pub method: UploadMethod,
    /// Headers to send with the upload.
    pub headers: BTreeMap<String, String>,
    /// Form fields to send with the upload; always empty.
    pub fields: BTreeMap<String, String>,
    /// Time at which the URL and the reference expire.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub expires_at: Timestamp,
    /// Maximum size of the file, in bytes.
    pub max_size_bytes: u64,
}

words! {
    /// HTTP method of an upload.
    pub enum UploadMethod {
        /// The file is the request body.
        Put = "PUT",
    }
}

/// Confirmation that the file was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Received {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
}

/// File formats known to `/v2/parse`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ParseFormats {
    /// All known file formats, including those that this server cannot read.
    pub formats: Vec<FileFormat>,
}

/// File format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileFormat {
    /// Name of the format.
    pub format: String,
    /// Category of the format.
    pub kind: FileKind,
    /// File name extensions, without the dot.
    pub extensions: Vec<String>,
    /// Media types of the format.
    pub mime_types: Vec<String>,
    /// Whether this server can read the format.
    pub available: bool,
}

words! {
    /// Category of a file format.
    pub enum FileKind {
        /// Text document.
        Document = "document",
        /// Presentation.
        Presentation = "presentation",
        /// Spreadsheet.
        Spreadsheet = "spreadsheet",
        /// Image, read by OCR.
        Image = "image",
        /// Web page.
        Page = "page",
        /// Plain text or markup, kept as it is.
        Text = "text",
    }
}
