//! Detection of the kind of a file: by its bytes, then by its name and media type.

mod compound;
mod flat;
mod kind;
mod look;
mod zip;

pub use kind::{Family, ImageKind, Kind};
pub use look::looks_like;

use look::{is_binary, is_known, is_markup};
use memchr::memmem;

/// Bytes in which the header of a PDF may start (ISO 32000-1 annex H, 3.4.1), and in which text is inspected.
const LOOK: usize = 1024;

/// Detects the kind of a document.
///
/// `declared` is a media type as sent, `name` a file name or the path of a URL. The bytes decide. Only if they fit
/// several kinds, or none, do type and name count: CSV has no signature, so it depends on them, unless the bytes are
/// markup or binary. `None` for unsupported files, including HTML and XML pages, but for documents of office programs in one file of XML.
#[must_use]
pub fn detect(bytes: &[u8], declared: Option<&str>, name: Option<&str>) -> Option<Kind> {
    let by_type = declared.and_then(Kind::of_mime_type);
    let said = by_type.or_else(|| name.and_then(Kind::of_name));
    let start = text_start(bytes);
    if start.starts_with(b"%PDF-") {
        return Some(Kind::Pdf);
    }
    if let Some(image) = image(bytes) {
        return Some(Kind::Image(image));
    }
    if start.starts_with(b"{\\rtf") {
        return Some(Kind::Rtf);
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return in_zip(bytes, said);
    }
    if bytes.starts_with(compound::SIGNATURE) {
        return in_compound(bytes, said);
    }
    if start.is_empty() {
        return None;
    }
    if is_markup(start) {
        return flat::kind(bytes);
    }
    let typeless = declared.is_none_or(says_nothing);
    match said {
        _ if pdf_behind_junk(bytes, typeless || said == Some(Kind::Pdf)) => Some(Kind::Pdf),
        Some(Kind::Csv) => {
            let by_name_alone = by_type.is_none() && !typeless && !declared.is_some_and(is_plain_text);
            (!by_name_alone && !is_binary(bytes)).then_some(Kind::Csv)
        }
        // A damaged file keeps its declared kind, so that the error can say that it is damaged.
        Some(kind) if is_binary(bytes) && !is_known(bytes) => Some(kind),
        _ => None,
    }
}

/// Whether the media type is generic, sent for any file.
fn says_nothing(declared: &str) -> bool {
    let essence = declared.split(';').next().unwrap_or_default().trim();
    ["", "application/octet-stream", "binary/octet-stream", "application/x-download", "application/force-download"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(essence))
}

fn is_plain_text(declared: &str) -> bool {
    declared.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("text/plain"))
}

/// Returns the file after its byte order mark and leading white space.
fn text_start(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii_start()
}

fn pdf_behind_junk(bytes: &[u8], is_likely: bool) -> bool {
    let start = &bytes[..bytes.len().min(LOOK)];
    let is_version = |at: usize| start.get(at + 5).is_some_and(u8::is_ascii_digit);
    is_likely && memmem::find(start, b"%PDF-").is_some_and(is_version)
}

fn image(bytes: &[u8]) -> Option<ImageKind> {
    const SIGNATURES: [(&[u8], ImageKind); 9] = [
        (b"\x89PNG\r\n\x1a\n", ImageKind::Png),
        (b"\xFF\xD8\xFF", ImageKind::Jpeg),
        (b"GIF87a", ImageKind::Gif),
        (b"GIF89a", ImageKind::Gif),
        (b"II*\0", ImageKind::Tiff),
        (b"MM\0*", ImageKind::Tiff),
        (b"\0\0\0\x0CjP  \r\n\x87\n", ImageKind::Jpeg2000),
        (b"\xFFO\xFFQ", ImageKind::Jpeg2000),
        // The length may be any four bytes, but the reserved fields after it are zero.
        (b"BM", ImageKind::Bmp),
    ];
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some(ImageKind::Webp);
    }
    if is_avif(bytes) {
        return Some(ImageKind::Avif);
    }
    let (_, kind) = SIGNATURES.iter().find(|(signature, _)| bytes.starts_with(signature))?;
    let is_bitmap = || bytes.get(6..10) == Some(&[0; 4]) && bytes.get(15..18) == Some(&[0; 3]);
    (*kind != ImageKind::Bmp || is_bitmap()).then_some(*kind)
}

/// Whether a file of boxes says that it is AVIF, alone or among other formats (ISO/IEC 14496-12, 4.3).
fn is_avif(bytes: &[u8]) -> bool {
    let is_list = bytes.get(4..8) == Some(b"ftyp");
    let length = bytes.first_chunk().map_or(0, |length| u32::from_be_bytes(*length) as usize);
    let brands = bytes.get(8..bytes.len().min(length.clamp(12, LOOK))).filter(|_| is_list).unwrap_or_default();
    // The second number is a version.
    let mut brands = brands.chunks_exact(4).enumerate().filter(|(place, _)| *place != 1);
    brands.any(|(_, brand)| matches!(brand, b"avif" | b"avis"))
}

/// Detects the kind of a ZIP package: OOXML by the path of the main part, OpenDocument and EPUB by the file `mimetype`.
fn in_zip(bytes: &[u8], said: Option<Kind>) -> Option<Kind> {
    let entries = zip::entries(bytes);
    if let Some(mime_type) = zip::beginning(&entries, "mimetype", 128) {
        return std::str::from_utf8(&mime_type).ok().and_then(|text| Kind::of_mime_type(text.trim()));
    }
    let names: Vec<String> = entries.iter().map(|entry| part_name(entry.name)).collect();
    let has = |part: &str| names.iter().any(|name| name == part);
    let starts = |part: &str| names.iter().any(|name| name.starts_with(part));
    let either = |macros: &str, with: Kind, without: Kind| Some(if has(macros) { with } else { without });
    if has("xl/workbook.bin") {
        Some(Kind::Xlsb)
    } else if starts("word/document") {
        either("word/vbaproject.bin", Kind::Docm, Kind::Docx)
    } else if starts("xl/workbook") {
        either("xl/vbaproject.bin", Kind::Xlsm, Kind::Xlsx)
    } else if starts("ppt/presentation") {
        either("ppt/vbaproject.bin", Kind::Pptm, Kind::Pptx)
    } else if has("meta-inf/container.xml") {
        Some(Kind::Epub)
    } else {
        // For packages with other paths and for truncated archives, the declared kind counts if it is plausible.
        let is_package = has("[content_types].xml") || has("meta-inf/manifest.xml") || has("content.xml");
        said.filter(|kind| is_zipped(*kind) && (is_package || names.is_empty()))
    }
}

/// Normalizes a part name as OPC does: without the leading slash, in lower case. Some writers use backslashes.
fn part_name(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name).replace('\\', "/").to_lowercase();
    name.trim_start_matches('/').to_owned()
}

fn is_zipped(kind: Kind) -> bool {
    use Kind::{Docm, Docx, Epub, Odp, Ods, Odt, Pptm, Pptx, Xlsb, Xlsm, Xlsx};
    matches!(kind, Docx | Docm | Odt | Pptx | Pptm | Odp | Xlsx | Xlsm | Xlsb | Ods | Epub)
}

fn in_compound(bytes: &[u8], said: Option<Kind>) -> Option<Kind> {
    let names = compound::root_names(bytes);
    let has = |name: &str| names.iter().any(|known| known == name);
    if has("WORDDOCUMENT") {
        Some(Kind::Doc)
    } else if has("WORKBOOK") || has("BOOK") {
        Some(Kind::Xls)
    } else if has("POWERPOINT DOCUMENT") {
        Some(Kind::Ppt)
    } else if has("\tDRMCONTENT") {
        // Locked by rights management.
        Some(said.filter(|kind| matches!(kind, Kind::Doc | Kind::Xls | Kind::Ppt)).unwrap_or(Kind::Doc))
    } else if has("ENCRYPTEDPACKAGE") {
        // An encrypted OOXML package; its type is unknown without the password.
        Some(said.filter(|kind| is_zipped(*kind)).unwrap_or(Kind::Docx))
    } else {
        said.filter(|kind| names.is_empty() && matches!(kind, Kind::Doc | Kind::Xls | Kind::Ppt))
    }
}
