//! Pages to recognise: PDFs written by hand, with y upwards from the bottom of a letter page.

use ocr::{Engine, Frame, Languages, Page, Renderer};

/// Returns a PDF of one page with this content; `F1` is Helvetica, `F2` Helvetica-Bold, `Im` an image if there is one.
pub(crate) fn pdf(content: &str, picture: Option<(usize, usize, Vec<u8>)>) -> Vec<u8> {
    let font = |name: &str| format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>");
    let mut objects: Vec<Vec<u8>> = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 {} /F2 {} >> \
             /XObject << /Im 5 0 R >> >> >>",
            font("Helvetica"),
            font("Helvetica-Bold")
        )
        .into_bytes(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()).into_bytes(),
    ];
    if let Some((width, height, pixels)) = picture {
        let head = format!(
            "<< /Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceGray \
             /BitsPerComponent 8 /Length {} >>\nstream\n",
            pixels.len()
        );
        objects.push([head.as_bytes(), &pixels, b"\nendstream"].concat());
    }
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
    file.extend(format!("{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").bytes());
    file
}

/// Returns an operator that shows text at a position, in a font and size.
pub(crate) fn text(font: &str, size: f32, x: f32, y: f32, text: &str) -> String {
    format!("BT /{font} {size} Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET\n")
}

/// Returns some lines of running text, the first at this height.
pub(crate) fn prose(y: f32) -> String {
    let lines = [
        "The committee met on the first day of the month to discuss",
        "the results of the survey. Most of the members were of the",
        "opinion that the work should go on without any delay, and",
        "that a new report should be written before the end of June.",
        "Nothing was said about the cost of the printed documents.",
        "The next meeting will be held in the large hall at noon.",
    ];
    (0..).zip(lines).map(|(place, line)| text("F1", 11.0, 72.0, y - 14.0 * place as f32, line)).collect()
}

/// Returns a page as it is rendered.
pub(crate) fn drawn(content: &str) -> Frame {
    Renderer::new(pdf(content, None)).expect("a document").render(1).expect("a page")
}

/// Returns an engine for English.
pub(crate) fn engine() -> Engine {
    Engine::new(&Languages::find(None, &["eng".to_owned()]).expect("English is installed")).expect("it starts")
}

/// Returns the text of a page, words separated by spaces.
pub(crate) fn words(page: &Page) -> String {
    page.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}
