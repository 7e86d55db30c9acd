//! What a file is.

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
