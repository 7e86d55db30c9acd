//! Table of document kinds, with their names and media types.

use serde::{Deserialize, Serialize};

/// Kind of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Portable Document Format.
    Pdf,
    /// Word (OOXML).
    Docx,
    /// Word (OOXML) with macros, which are never run.
    Docm,
    /// Word before 2007.
    Doc,
    /// OpenDocument text.
    Odt,
    /// Rich Text Format.
    Rtf,
    /// PowerPoint (OOXML).
    Pptx,
    /// PowerPoint (OOXML) with macros.
    Pptm,
    /// PowerPoint before 2007.
    Ppt,
    /// OpenDocument presentation.
    Odp,
    /// Excel (OOXML).
    Xlsx,
    /// Excel (OOXML) with macros.
    Xlsm,
    /// Excel before 2007.
    Xls,
    /// Excel with binary parts.
    Xlsb,
    /// OpenDocument spreadsheet.
    Ods,
    /// Comma-, semicolon- or tab-separated values.
    Csv,
    /// Electronic book of XHTML pages.
    Epub,
    /// Image.
    Image(ImageKind),
}

/// Format of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ImageKind {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// JPEG 2000, as a file or as a bare code stream.
    Jpeg2000,
    /// TIFF, with one page or several.
    Tiff,
    /// GIF.
    Gif,
    /// Windows bitmap.
    Bmp,
    /// WebP.
    Webp,
    /// AVIF.
    Avif,
}

/// Family of kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Text documents.
    Document,
    /// Presentations.
    Presentation,
    /// Spreadsheets.
    Spreadsheet,
    /// Images.
    Image,
}

impl Family {
    /// Returns its name, in lower case.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Presentation => "presentation",
            Self::Spreadsheet => "spreadsheet",
            Self::Image => "image",
        }
    }
}

/// Names of a kind. The first extension is its word; the first media type is the registered one.
struct Row {
    kind: Kind,
    family: Family,
    extensions: &'static [&'static str],
    mime_types: &'static [&'static str],
}

const fn row(
    kind: Kind,
    family: Family,
    extensions: &'static [&'static str],
    mime_types: &'static [&'static str],
) -> Row {
    Row { kind, family, extensions, mime_types }
}

/// Registered types (IANA) come first, then others that servers use.
const ROWS: [Row; 25] = [
    row(Kind::Pdf, Family::Document, &["pdf"], &["application/pdf", "application/x-pdf", "text/pdf"]),
    row(
        Kind::Docx,
        Family::Document,
        &["docx", "dotx"],
        &[
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
        ],
    ),
    row(
        Kind::Docm,
        Family::Document,
        &["docm", "dotm"],
        &["application/vnd.ms-word.document.macroenabled.12", "application/vnd.ms-word.template.macroenabled.12"],
    ),
    row(Kind::Doc, Family::Document, &["doc", "dot"], &["application/msword", "application/x-msword"]),
    row(
        Kind::Odt,
        Family::Document,
        &["odt", "ott", "fodt"],
        &["application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text-template"],
    ),
    row(Kind::Rtf, Family::Document, &["rtf"], &["application/rtf", "text/rtf", "text/richtext"]),
    row(
        Kind::Pptx,
        Family::Presentation,
        &["pptx", "ppsx", "potx"],
        &[
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
            "application/vnd.openxmlformats-officedocument.presentationml.template",
        ],
    ),
    row(
        Kind::Pptm,
        Family::Presentation,
        &["pptm", "ppsm", "potm"],
        &[
            "application/vnd.ms-powerpoint.presentation.macroenabled.12",
            "application/vnd.ms-powerpoint.slideshow.macroenabled.12",
            "application/vnd.ms-powerpoint.template.macroenabled.12",
        ],
    ),
    row(
        Kind::Ppt,
        Family::Presentation,
        &["ppt", "pps", "pot"],
        &["application/vnd.ms-powerpoint", "application/mspowerpoint"],
    ),
    row(
        Kind::Odp,
        Family::Presentation,
        &["odp", "otp", "fodp"],
        &[
            "application/vnd.oasis.opendocument.presentation",
            "application/vnd.oasis.opendocument.presentation-template",
        ],
    ),
    row(
        Kind::Xlsx,
        Family::Spreadsheet,
        &["xlsx", "xltx"],
        &[
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
        ],
    ),
    row(
        Kind::Xlsm,
        Family::Spreadsheet,
        &["xlsm", "xltm"],
        &["application/vnd.ms-excel.sheet.macroenabled.12", "application/vnd.ms-excel.template.macroenabled.12"],
    ),
    row(
        Kind::Xls,
        Family::Spreadsheet,
        &["xls", "xlt"],
        &["application/vnd.ms-excel", "application/msexcel", "application/x-msexcel", "application/x-excel"],
    ),
    row(Kind::Xlsb, Family::Spreadsheet, &["xlsb"], &["application/vnd.ms-excel.sheet.binary.macroenabled.12"]),
    row(
        Kind::Ods,
        Family::Spreadsheet,
        &["ods", "ots", "fods"],
        &["application/vnd.oasis.opendocument.spreadsheet", "application/vnd.oasis.opendocument.spreadsheet-template"],
    ),
    row(
        Kind::Csv,
        Family::Spreadsheet,
        &["csv", "tsv"],
        &["text/csv", "text/tab-separated-values", "application/csv", "text/x-csv", "text/comma-separated-values"],
    ),
    row(Kind::Epub, Family::Document, &["epub"], &["application/epub+zip"]),
    row(Kind::Image(ImageKind::Png), Family::Image, &["png"], &["image/png", "image/x-png"]),
    row(
        Kind::Image(ImageKind::Jpeg),
        Family::Image,
        &["jpeg", "jpg", "jfif"],
        &["image/jpeg", "image/jpg", "image/pjpeg"],
    ),
    row(
        Kind::Image(ImageKind::Jpeg2000),
        Family::Image,
        &["jp2", "j2k", "jpx", "j2c", "jpf"],
        &["image/jp2", "image/jpx", "image/j2c", "image/jpeg2000"],
    ),
    row(Kind::Image(ImageKind::Tiff), Family::Image, &["tiff", "tif"], &["image/tiff", "image/tif"]),
    row(Kind::Image(ImageKind::Gif), Family::Image, &["gif"], &["image/gif"]),
    row(Kind::Image(ImageKind::Bmp), Family::Image, &["bmp"], &["image/bmp", "image/x-ms-bmp", "image/x-bmp"]),
    row(Kind::Image(ImageKind::Webp), Family::Image, &["webp"], &["image/webp"]),
    row(Kind::Image(ImageKind::Avif), Family::Image, &["avif"], &["image/avif"]),
];

impl Kind {
    /// Returns every kind, in the order in which they are listed to callers.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.kind)
    }

    /// Returns its name, the usual extension.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.extensions().first().copied().unwrap_or_default()
    }

    /// Returns its family.
    #[must_use]
    pub fn family(self) -> Family {
        self.row().map_or(Family::Document, |row| row.family)
    }

    /// Returns its file extensions, in lower case and without the dot, the usual one first.
    #[must_use]
    pub fn extensions(self) -> &'static [&'static str] {
        self.row().map_or(&[], |row| row.extensions)
    }

    /// Returns its media types, in lower case, the registered one first.
    #[must_use]
    pub fn mime_types(self) -> &'static [&'static str] {
        self.row().map_or(&[], |row| row.mime_types)
    }

    /// Returns the kind by the extension of a file name or URL path, in any case.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let (stem, extension) = name.rsplit('/').next()?.rsplit_once('.')?;
        let names = |row: &&Row| row.extensions.iter().any(|known| known.eq_ignore_ascii_case(extension));
        ROWS.iter().find(|row| !stem.is_empty() && names(row)).map(|row| row.kind)
    }

    /// Returns the kind by a media type, with or without parameters.
    #[must_use]
    pub fn of_mime_type(mime_type: &str) -> Option<Self> {
        let essence = mime_type.split(';').next()?.trim();
        let named = |row: &&Row| row.mime_types.iter().any(|known| known.eq_ignore_ascii_case(essence));
        ROWS.iter().find(named).map(|row| row.kind)
    }

    fn row(self) -> Option<&'static Row> {
        ROWS.iter().find(|row| row.kind == self)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_name_and_type_leads_to_one_kind() {
        let (mut names, mut types) = (HashSet::new(), HashSet::new());
        for kind in Kind::all() {
            assert!(!kind.word().is_empty() && !kind.mime_types().is_empty(), "{kind:?}");
            for extension in kind.extensions() {
                assert_eq!(Kind::of_name(&format!("a/b.{}", extension.to_uppercase())), Some(kind));
                assert!(names.insert(*extension), "{extension} is there twice");
            }
            for mime_type in kind.mime_types() {
                assert_eq!(Kind::of_mime_type(&format!("{mime_type}; charset=utf-8")), Some(kind));
                assert_eq!(*mime_type, mime_type.to_lowercase());
                assert!(types.insert(*mime_type), "{mime_type} is there twice");
            }
        }
        assert_eq!(Kind::all().count(), ROWS.len());
    }

    #[test]
    fn what_is_no_document_has_no_kind() {
        for name in ["", ".pdf", "pdf", "a.", "a.html", "a.pdf/", "a.docx.zip"] {
            assert_eq!(Kind::of_name(name), None, "{name}");
        }
        for mime_type in ["", "text/html", "application/octet-stream", "image/svg+xml", "image/heic"] {
            assert_eq!(Kind::of_mime_type(mime_type), None, "{mime_type}");
        }
    }
}
