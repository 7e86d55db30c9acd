//! Parsing of uploaded files into documents.

use std::sync::Arc;
use std::time::Duration;

use ::files::{Expected, Slot};
use base::{Owner, new_id};
use bytes::Bytes;
use documents::{Family, Kind};
use fetch::Fetched;
use kernel::admit::{Admitted, Entry, admit};
use kernel::auth::Caller;
use kernel::{App, AppError, room};
use tokio::time::{Instant, timeout_at};
use url::Url;
use uuid::Uuid;
use wire::{
    Capability, Document, FileFormat, FileKind, Invalid, MAX_UPLOAD_BYTES, ParseFormats, ParseRequest, ParseUploaded,
    Parser, UploadUrlRequest,
};

use crate::check::check;
use crate::scrape::{UploadedFile, Wanted, file};
use crate::{Scraper, ScrapingError};

pub use ::files::{Link, Place, UploadLink};

/// Uploaded file.
pub struct Upload {
    /// File name.
    pub name: String,
    /// Declared content type.
    pub content_type: Option<String>,
    /// Contents of the file.
    pub bytes: Bytes,
    /// Share of the memory budget for bodies.
    pub room: net::Room,
}

/// Source of the file.
enum Origin {
    Here(Upload),
    /// File sent to an upload URL.
    Place(Uuid),
}

/// Turns a file into a document and charges the caller's team, as [`scrape`](crate::scrape::scrape()) does with a page.
/// The answer is not stored; with zero data retention nothing is stored but the credits.
///
/// # Errors
/// [`ScrapingError`]; see its variants.
#[crate::boxed]
pub async fn parse(
    scraper: &Scraper,
    caller: &Caller,
    request: ParseRequest,
    upload: Upload,
) -> Result<(Document, net::Room), ScrapingError> {
    made(scraper, caller, request, Origin::Here(upload)).await
}

/// Turns a file from an upload URL of the team into a document. The file is read once and then removed.
///
/// # Errors
/// Errors of [`parse()`], and [`AppError::NotFound`] when there is no such file.
#[crate::boxed]
pub async fn parse_uploaded(
    scraper: &Scraper,
    caller: &Caller,
    uploaded: ParseUploaded,
) -> Result<(Document, net::Room), ScrapingError> {
    if uploaded.request.zero_data_retention {
        let why = "needs the file in the request itself: at an upload URL it is kept for a while";
        return Err(Invalid::at("zeroDataRetention", why).into());
    }
    let id = Uuid::try_parse(&uploaded.upload_ref).map_err(|_| AppError::NotFound("upload"))?;
    made(scraper, caller, uploaded.request, Origin::Place(id)).await
}

async fn made(
    scraper: &Scraper,
    caller: &Caller,
    mut request: ParseRequest,
    origin: Origin,
) -> Result<(Document, net::Room), ScrapingError> {
    let (id, started) = (new_id().to_string(), Instant::now());
    read_pictures(&mut request);
    let timeout = Duration::from_millis(request.options.timeout.into());
    let entry = Entry { started, timeout, key: format!("scrape:{id}"), price: billing::quote(&request.options) };
    let check = || check(scraper, caller, &request.options, request.zero_data_retention, request.needs());
    let Admitted { slot: _slot, funds, .. } = admit(scraper.app(), caller, entry, check).await?;
    let upload = match origin {
        Origin::Here(upload) => upload,
        Origin::Place(place) => take(scraper.app(), caller, place, started + timeout).await?,
    };
    file(scraper, caller, page(id, request, upload), funds, started).await
}

/// Adds the image parser, as an uploaded image is meant to be read.
fn read_pictures(request: &mut ParseRequest) {
    let parsers = request.options.parsers.get_or_insert_with(|| vec![Parser::Pdf(wire::PdfParser::default())]);
    if !parsers.contains(&Parser::Image) {
        parsers.push(Parser::Image);
    }
}

async fn take(app: &App, caller: &Caller, place: Uuid, deadline: Instant) -> Result<Upload, ScrapingError> {
    let (files, team) = (app.files(), caller.team.id.as_str());
    let bytes = files.sent(team, place).await?.ok_or(AppError::NotFound("upload"))?;
    // Wait for memory before taking the file: on a timeout it can still be read by a later call.
    let room = app.room_for_body(&Owner::of_team(team));
    timeout_at(deadline, room.grow(bytes)).await.map_err(|_| AppError::Timeout)?;
    let sent = files.take(team, place).await?.ok_or(AppError::NotFound("upload"))?;
    Ok(Upload { name: sent.name, content_type: Some(sent.content_type), bytes: sent.bytes, room })
}

/// Presents the file as a fetched page, with a base URL that nothing can be resolved against.
fn page(id: String, request: ParseRequest, upload: Upload) -> UploadedFile {
    let Upload { name, content_type, bytes, room } = upload;
    let nowhere = nowhere();
    let mut fetched = Fetched::new(nowhere.clone(), 200, declared(&name, content_type.as_deref()), bytes);
    fetched.room = room;
    let wanted = Wanted {
        id,
        url: nowhere.clone(),
        source: String::new(),
        file: Some(name),
        given_for: nowhere,
        basic_auth: None,
        options: Arc::new(request.options),
        zero_data_retention: request.zero_data_retention,
        collect_links: false,
        reviewer: None,
        run: None,
        start: None,
    };
    UploadedFile { wanted, fetched }
}

fn nowhere() -> Url {
    match Url::parse("data:,") {
        Ok(url) => url,
        Err(_) => unreachable!("a data URL without data (RFC 2397)"),
    }
}

/// Returns the content type assumed before the bytes are examined: that of the file name, else the declared one. Many
/// clients declare no or a wrong content type.
fn declared(name: &str, content_type: Option<&str>) -> Option<String> {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    let of_text = TEXTS.iter().find(|text| text.extensions.contains(&ending.as_str())).map(|text| text.mime_types);
    let of_name = of_text.or_else(|| Kind::of_name(name).map(Kind::mime_types));
    let named = of_name.and_then(<[_]>::first).copied().or(content_type);
    named.map(str::to_owned)
}

/// Text format that is read in addition to documents.
struct TextFormat {
    format: &'static str,
    kind: FileKind,
    extensions: &'static [&'static str],
    mime_types: &'static [&'static str],
}

const TEXTS: [TextFormat; 7] = [
    TextFormat {
        format: "html",
        kind: FileKind::Page,
        extensions: &["html", "htm", "xhtml", "xht"],
        mime_types: &["text/html", "application/xhtml+xml"],
    },
    TextFormat {
        format: "markdown",
        kind: FileKind::Text,
        extensions: &["md", "markdown"],
        mime_types: &["text/markdown", "text/x-markdown"],
    },
    TextFormat {
        format: "text",
        kind: FileKind::Text,
        extensions: &["txt", "text", "log"],
        mime_types: &["text/plain"],
    },
    TextFormat { format: "json", kind: FileKind::Text, extensions: &["json"], mime_types: &["application/json"] },
    TextFormat {
        format: "xml",
        kind: FileKind::Page,
        extensions: &["xml", "rss", "atom"],
        mime_types: &["application/xml", "text/xml"],
    },
    TextFormat { format: "eml", kind: FileKind::Page, extensions: &["eml"], mime_types: &["message/rfc822"] },
    TextFormat {
        format: "mht",
        kind: FileKind::Page,
        extensions: &["mht", "mhtml"],
        mime_types: &["multipart/related", "application/x-mimearchive"],
    },
];

/// Lists the formats that can be parsed, and which of them this server supports.
#[must_use]
pub fn formats(scraper: &Scraper) -> ParseFormats {
    let words = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect();
    let document = |kind: Kind| {
        let (sort, needs) = match kind.family() {
            Family::Document => (FileKind::Document, Capability::Documents),
            Family::Presentation => (FileKind::Presentation, Capability::Documents),
            Family::Spreadsheet => (FileKind::Spreadsheet, Capability::Documents),
            Family::Image => (FileKind::Image, Capability::Ocr),
        };
        FileFormat {
            format: kind.word().to_owned(),
            kind: sort,
            extensions: words(kind.extensions()),
            mime_types: words(kind.mime_types()),
            available: scraper.capabilities().has(needs),
        }
    };
    let text = |text: &TextFormat| FileFormat {
        format: text.format.to_owned(),
        kind: text.kind,
        extensions: words(text.extensions),
        mime_types: words(text.mime_types),
        available: true,
    };
    ParseFormats { formats: Kind::all().map(document).chain(TEXTS.iter().map(text)).collect() }
}

/// Creates an upload URL for a file that [`parse_uploaded`] is to read. Free of charge.
///
/// # Errors
/// [`AppError::StorageFull`] when the disk is nearly full, [`ScrapingError::UploadLimit`] when the team has too many
/// uploads.
#[crate::boxed]
pub async fn upload_url(app: &App, caller: &Caller, request: UploadUrlRequest) -> Result<(Place, u64), ScrapingError> {
    room::check(app)?;
    let most = MAX_UPLOAD_BYTES.min(app.settings().files.max_bytes);
    let max_bytes = request.declared_size_bytes.unwrap_or(most).min(most);
    let expected = Expected {
        team: caller.team.id.clone(),
        name: request.filename,
        content_type: request.content_type.unwrap_or_default(),
        max_bytes,
    };
    let address = caller.address.clone().unwrap_or_default();
    Ok((app.files().expect(expected, &address).await?, max_bytes))
}

/// Limits of an upload URL.
pub struct Room {
    /// Maximum number of bytes.
    pub max_bytes: u64,
    /// Id of the team that the URL was created for.
    pub team: String,
}

/// Returns the limits of an upload URL.
///
/// # Errors
/// [`AppError::NotFound`] for a URL that this service has not signed, [`ScrapingError::FileGone`] when it has expired or a
/// file was sent.
#[crate::boxed]
pub async fn slot(app: &App, link: &UploadLink<'_>) -> Result<Room, ScrapingError> {
    match app.files().slot(link).await? {
        Slot::Free { max_bytes, team } => Ok(Room { max_bytes, team }),
        Slot::Gone => Err(ScrapingError::FileGone),
        Slot::Unknown => Err(AppError::NotFound("file").into()),
    }
}

/// Stores a file that was sent to an upload URL, after [`slot`] was called.
///
/// # Errors
/// [`ScrapingError::FileGone`] when another file was sent there meanwhile, [`ScrapingError::UploadLimit`] when the uploads of the
/// team would exceed its byte limit, [`AppError::StorageFull`].
#[crate::boxed]
pub async fn receive(app: &App, id: Uuid, body: Bytes) -> Result<(), ScrapingError> {
    room::check(app)?;
    if app.files().receive(id, body).await? { Ok(()) } else { Err(ScrapingError::FileGone) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_taken_for_what_they_are_called() {
        let check = |name: &str, content_type: Option<&str>, expect: Option<&str>| {
            assert_eq!(declared(name, content_type).as_deref(), expect, "{name} {content_type:?}");
        };
        check("a.html", Some("application/octet-stream"), Some("text/html"));
        check("a.XHT", None, Some("text/html"));
        check("notes.md", Some("text/plain"), Some("text/markdown"));
        check("a.pdf", None, Some("application/pdf"));
        check("prices.CSV", Some("text/plain"), Some("text/csv"));
        check("a", Some("text/csv"), Some("text/csv"));
        check("a.bin", None, None);
        check(".html", None, Some("text/html"));
    }

    #[test]
    fn no_two_formats_share_a_name() {
        let mut seen = std::collections::HashSet::new();
        let all = Kind::all().flat_map(Kind::extensions).chain(TEXTS.iter().flat_map(|text| text.extensions));
        all.for_each(|ending| assert!(seen.insert(*ending), "{ending}"));
    }
}
