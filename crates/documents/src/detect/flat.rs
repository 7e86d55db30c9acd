//! Kinds of documents in one file of XML: OpenDocument, Office 2003, and packages of Office as XML.

use std::borrow::Cow;

use memchr::memmem;

use super::Kind;

/// Bytes in which the root element begins; it declares all namespaces of the document.
const ROOT: usize = 8192;

/// Returns the kind of a file of XML, if it is a document of an office program.
pub(super) fn kind(bytes: &[u8]) -> Option<Kind> {
    let start = &bytes[..bytes.len().min(ROOT)];
    let start: Cow<'_, [u8]> = match start {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => start.iter().copied().filter(|byte| *byte != 0).collect(),
        _ => Cow::Borrowed(start),
    };
    let has = |text: &str| memmem::find(&start, text.as_bytes()).is_some();
    if has("<office:document") {
        let at = memmem::find(&start, b"office:mimetype=")? + "office:mimetype=".len();
        let quote = *start.get(at).filter(|quote| matches!(quote, b'"' | b'\''))?;
        let mime_type = start[at + 1..].split(|byte| *byte == quote).next()?;
        let kind = Kind::of_mime_type(std::str::from_utf8(mime_type).ok()?);
        return kind.filter(|kind| matches!(kind, Kind::Odt | Kind::Ods | Kind::Odp));
    }
    if has("http://schemas.microsoft.com/office/2006/xmlPackage") {
        let program = |name: &str| has(&format!("progid=\"{name}.")) || has(&format!("progid='{name}."));
        return if program("PowerPoint") {
            Some(Kind::Pptx)
        } else {
            Some(Kind::Docx).filter(|_| has("/word/") || program("Word"))
        };
    }
    if has("http://schemas.microsoft.com/office/word/2003/wordml") && has("wordDocument") {
        return Some(Kind::Docx);
    }
    (has("<Workbook") && has("urn:schemas-microsoft-com:office:spreadsheet")).then_some(Kind::Xlsx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_tell_the_program() {
        for (text, expected) in [
            (
                "<?xml version='1.0'?><office:document office:mimetype='application/vnd.oasis.opendocument.spreadsheet'/>",
                Some(Kind::Ods),
            ),
            ("<office:document/>", None),
            (
                "<?mso-application progid=\"Word.Document\"?><pkg:package xmlns:pkg=\"http://schemas.microsoft.com/office/2006/xmlPackage\">",
                Some(Kind::Docx),
            ),
            ("<w:wordDocument xmlns:w=\"http://schemas.microsoft.com/office/word/2003/wordml\">", Some(Kind::Docx)),
            ("<Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\">", Some(Kind::Xlsx)),
            ("<html><body>x", None),
        ] {
            assert_eq!(kind(text.as_bytes()), expected, "{text}");
        }
        let utf16: Vec<u8> = "\u{feff}<Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\">"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(kind(&utf16), Some(Kind::Xlsx));
    }
}
