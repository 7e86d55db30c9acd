//! PDFs for tests, written by hand: y upwards from the bottom of a letter page, as in PDF.

use documents::{Document, MarkdownOptions, ReadOptions, markdown, read_pdf};

/// Fonts of every page: `F1` Helvetica, `F2` Helvetica-Bold, `F3` Courier.
const FONTS: &str = "/F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> \
    /F2 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >> \
    /F3 << /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>";

/// Document under construction.
#[derive(Default)]
pub(crate) struct Paper {
    pages: Vec<String>,
    resources: String,
    page_entries: String,
    catalog: String,
    trailer: String,
    /// Objects after those of the pages; the first has the number [`Paper::FIRST`].
    extra: Vec<Vec<u8>>,
}

impl Paper {
    /// Number of the first additional object in a document with one page.
    pub(crate) const FIRST: usize = 5;

    /// Adds a page with this content.
    pub(crate) fn page(mut self, content: impl Into<String>) -> Self {
        self.pages.push(content.into());
        self
    }

    pub(crate) fn resources(mut self, entries: &str) -> Self {
        self.resources.push_str(entries);
        self
    }

    pub(crate) fn page_entries(mut self, entries: &str) -> Self {
        self.page_entries.push_str(entries);
        self
    }

    pub(crate) fn catalog(mut self, entries: &str) -> Self {
        self.catalog.push_str(entries);
        self
    }

    pub(crate) fn trailer(mut self, entries: &str) -> Self {
        self.trailer.push_str(entries);
        self
    }

    pub(crate) fn object(mut self, object: impl Into<Vec<u8>>) -> Self {
        self.extra.push(object.into());
        self
    }

    pub(crate) fn stream(self, entries: &str, bytes: &[u8]) -> Self {
        let head = format!("<< /Length {} {entries} >>\nstream\n", bytes.len());
        self.object([head.as_bytes(), bytes, b"\nendstream"].concat())
    }

    pub(crate) fn file(&self) -> Vec<u8> {
        let count = self.pages.len();
        let kids: String = (0..count).map(|page| format!("{} 0 R ", 3 + 2 * page)).collect();
        let mut objects: Vec<Vec<u8>> = vec![
            format!("<< /Type /Catalog /Pages 2 0 R {} >>", self.catalog).into_bytes(),
            format!("<< /Type /Pages /Kids [{kids}] /Count {count} >>").into_bytes(),
        ];
        for (place, content) in self.pages.iter().enumerate() {
            let fonts = if self.resources.contains("/Font ") { String::new() } else { format!("/Font << {FONTS} >>") };
            let (resources, entries, contents) = (&self.resources, &self.page_entries, 4 + 2 * place);
            objects.push(
                format!(
                    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {contents} 0 R \
                     /Resources << {fonts} {resources} >> {entries} >>"
                )
                .into_bytes(),
            );
            objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()).into_bytes());
        }
        objects.extend(self.extra.iter().cloned());
        written(&objects, &self.trailer)
    }

    pub(crate) fn read(&self) -> Document {
        read_pdf(&self.file(), &ReadOptions::default()).expect("a document")
    }

    pub(crate) fn markdown(&self) -> String {
        markdown(&self.read(), &MarkdownOptions::default()).text
    }
}

fn written(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (place, object) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.extend(format!("{} 0 obj\n", place + 1).bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let start = file.len();
    let size = objects.len() + 1;
    file.extend(
        format!("{table}trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n").bytes(),
    );
    file
}

/// Returns an operator that shows text at a position, in a font and size.
pub(crate) fn text(font: &str, size: f32, x: f32, y: f32, text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
    format!("BT /{font} {size} Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET\n")
}

/// Returns lines of text below each other, 12 points apart.
pub(crate) fn lines(x: f32, y: f32, lines: &[&str]) -> String {
    (0..).zip(lines).map(|(place, line)| text("F1", 10.0, x, y - 12.0 * place as f32, line)).collect()
}

/// Returns a drawn line.
pub(crate) fn rule(x0: f32, y0: f32, x1: f32, y1: f32) -> String {
    format!("{x0} {y0} m {x1} {y1} l S\n")
}
