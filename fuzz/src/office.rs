//! Kinds of files.

use documents::{Kind, detect, looks_like};

/// A media type and a name in the first two lines, a file in the others.
pub fn detection(input: &[u8]) {
    let mut parts = input.splitn(3, |byte| *byte == b'\n');
    let mut line = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let (declared, name) = (line(), line());
    let file = parts.next().unwrap_or_default();
    let told = detect(file, Some(&declared), Some(&name));
    assert_eq!(told, detect(file, Some(&declared), Some(&name)));
    let by_bytes = detect(file, None, None);
    // A type and a name say whether `%PDF-` behind other text is meant.
    let is_told = told.is_some() || matches!(by_bytes, None | Some(Kind::Pdf));
    assert!(is_told, "a name took away what the bytes say");
    assert!(by_bytes.is_none_or(|kind| Kind::all().any(|known| known == kind)), "a kind that nobody lists");
    assert!(!looks_like(file).is_empty());
}

/// Parts of office files that are rewritten, and the kinds of their files.
const PARTS: [(Kind, &str); 8] = [
    (Kind::Docx, "word/document.xml"),
    (Kind::Docx, "word/styles.xml"),
    (Kind::Odt, "content.xml"),
    (Kind::Pptx, "ppt/slides/slide1.xml"),
    (Kind::Pptx, "ppt/charts/chart1.xml"),
    (Kind::Xlsx, "xl/worksheets/sheet1.xml"),
    (Kind::Xlsx, "xl/sharedStrings.xml"),
    (Kind::Epub, "a.xhtml"),
];

/// The number of a part in the first byte, the part in the others; numbers above them are for files without a package.
pub fn office(input: &[u8]) {
    let Some((number, part)) = input.split_first() else { return };
    match PARTS.get(usize::from(*number)) {
        Some((kind, name)) => documents::rewritten_part(part, *kind, name),
        None => {
            let kinds = [Kind::Rtf, Kind::Odt, Kind::Docx, Kind::Xlsx, Kind::Csv];
            documents::rewritten_file(part, kinds[usize::from(*number) % kinds.len()]);
        }
    }
}

/// A message.
pub fn mail(input: &[u8]) {
    let page = documents::mail_page(input);
    assert!(page.is_none() || documents::is_mail(input), "a page of what is no message");
    assert!(page.is_none_or(|page| page.len() <= input.len() * 8 + 65_536), "a page is much longer than its message");
}
