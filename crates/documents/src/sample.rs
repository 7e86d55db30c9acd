//! A small PDF, for examples and tests.

/// Returns a PDF of one page with one line of text in Helvetica; brackets and backslashes in the text are escaped.
#[must_use]
pub fn sample(line: &str) -> Vec<u8> {
    let escaped = line.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
    page(&format!("BT /F1 12 Tf 72 720 Td ({escaped}) Tj ET"))
}

/// Returns a PDF of one page with this content; `F1` is Helvetica, `F2` Helvetica-Bold, `F3` Courier.
pub(crate) fn page(content: &str) -> Vec<u8> {
    let font = |name: &str| format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>");
    let fonts = format!("/F1 {} /F2 {} /F3 {}", font("Helvetica"), font("Helvetica-Bold"), font("Courier"));
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << {fonts} >> >> >>"
        ),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
    ];
    let mut file = "%PDF-1.4\n".to_owned();
    let mut offsets = Vec::new();
    for (place, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", place + 1));
    }
    let table = file.len();
    file.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    for offset in offsets {
        file.push_str(&format!("{offset:010} 00000 n \n"));
    }
    file.push_str(&format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1));
    file.into_bytes()
}
