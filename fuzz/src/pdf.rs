//! Documents: whole files, and the parts of one that are hardest to read.

use documents::{MarkdownOptions, ReadOptions, blocks, html, markdown, read_pdf};

/// A file.
pub fn pdf(input: &[u8]) {
    let Ok(document) = read_pdf(input, &ReadOptions { max_pages: Some(20), ..ReadOptions::default() }) else { return };
    let markdown = markdown(&document, &MarkdownOptions { page_markers: true });
    let letters = markdown.text.chars().count() as u64;
    assert!(!html(&document).contains("<script"), "text became markup");
    for item in blocks(&document, &markdown).iter().flat_map(|page| &page.items) {
        assert!(item.markdown_span.is_none_or(|[from, to]| from <= to && to <= letters), "a span outside the text");
        let inside =
            |[x0, y0, x1, y1]: [f64; 4]| 0.0 <= x0 && x0 <= x1 && x1 <= 1.0 && 0.0 <= y0 && y0 <= y1 && y1 <= 1.0;
        assert!(item.bbox.is_none_or(inside), "a box outside the page");
    }
}

/// The content of a page.
pub fn pdf_content(input: &[u8]) {
    pdf(&file(input, b"", b""));
}

/// What a font says about its codes: a map to Unicode, and after a line of its own the program of the font.
pub fn pdf_font(input: &[u8]) {
    let (map, program) = input.split_at(input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len()));
    let show = b"BT /F2 12 Tf 72 700 Td (abcABC012) Tj /F3 12 Tf 0 -20 Td (abcABC012) Tj ET";
    pdf(&file(show, map, program));
}

/// A document of one page with three fonts: a usual one, a composite one with the map, a symbolic one with the program.
fn file(content: &[u8], map: &[u8], program: &[u8]) -> Vec<u8> {
    let fonts = "/F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> \
        /F2 << /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 5 0 R \
        /DescendantFonts [<< /Subtype /CIDFontType2 /FontDescriptor << /FontFile2 6 0 R >> >>] >> \
        /F3 << /Type /Font /Subtype /TrueType /FontDescriptor << /Flags 4 /FontFile2 6 0 R >> >>";
    let page = format!(
        "%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n\
         2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n\
         3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
         /Resources << /Font << {fonts} >> >> >>\nendobj\n"
    );
    let mut file = page.into_bytes();
    for (number, bytes) in (4..).zip([content, map, program]) {
        file.extend(format!("{number} 0 obj\n<< /Length {} >>\nstream\n", bytes.len()).bytes());
        file.extend(bytes);
        file.extend(b"\nendstream\nendobj\n");
    }
    // Without a table of references: readers find the objects themselves.
    file.extend(b"trailer\n<< /Size 7 /Root 1 0 R >>\n%%EOF\n");
    file
}
