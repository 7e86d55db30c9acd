//! Office files made by the tests.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Returns a ZIP archive of parts; the first is stored uncompressed.
pub(crate) fn package(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (place, (name, bytes)) in parts.iter().enumerate() {
        let method = if place == 0 { zip::CompressionMethod::Stored } else { zip::CompressionMethod::Deflated };
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).expect("a part");
        writer.write_all(bytes).expect("its bytes");
    }
    writer.finish().expect("an archive").into_inner()
}

/// Returns an OOXML package whose main part has its usual path.
pub(crate) fn ooxml(main: &str, others: &[(&str, &[u8])]) -> Vec<u8> {
    let relation = format!(
        "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'><Relationship Id='r1' \
         Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument' Target='{main}'/>\
         </Relationships>"
    );
    let types = b"<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'/>";
    let mut parts: Vec<(&str, &[u8])> = vec![("[Content_Types].xml", types), ("_rels/.rels", relation.as_bytes())];
    parts.extend_from_slice(others);
    package(&parts)
}

/// Returns a text document with this body.
pub(crate) fn docx(body: &str) -> Vec<u8> {
    let document = format!(
        "<w:document xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main' \
         xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'><w:body>{body}</w:body></w:document>"
    );
    let relations = "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>\
         <Relationship Id='l1' TargetMode='External' Target='https://example.com/a?b=1' \
         Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink'/></Relationships>";
    let core = "<cp:coreProperties xmlns:cp='c' xmlns:dc='d' xmlns:dcterms='t'><dc:title>A &amp; B</dc:title>\
         <dc:creator>Ann</dc:creator><dcterms:created>2024-01-31T09:30:00Z</dcterms:created></cp:coreProperties>";
    ooxml(
        "word/document.xml",
        &[
            ("word/document.xml", document.as_bytes()),
            ("word/_rels/document.xml.rels", relations.as_bytes()),
            ("docProps/core.xml", core.as_bytes()),
        ],
    )
}

/// Returns a workbook from names of sheets and their rows.
pub(crate) fn xlsx(sheets: &[(&str, &[&[&str]])]) -> Vec<u8> {
    let (mut book, mut relations) = (String::new(), String::new());
    let mut parts = Vec::new();
    for (number, (name, rows)) in sheets.iter().enumerate() {
        book.push_str(&format!("<sheet name='{name}' sheetId='{0}' r:id='s{0}'/>", number + 1));
        relations.push_str(&format!(
            "<Relationship Id='s{0}' Target='worksheets/sheet{0}.xml' \
             Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet'/>",
            number + 1
        ));
        parts.push((format!("xl/worksheets/sheet{}.xml", number + 1), sheet(rows)));
    }
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let book = format!(
        "<workbook xmlns='{main}' xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'>\
         <sheets>{book}</sheets></workbook>"
    );
    let relations = format!(
        "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{relations}</Relationships>"
    );
    let mut all: Vec<(&str, &[u8])> =
        vec![("xl/workbook.xml", book.as_bytes()), ("xl/_rels/workbook.xml.rels", relations.as_bytes())];
    all.extend(parts.iter().map(|(name, part)| (name.as_str(), part.as_bytes())));
    ooxml("xl/workbook.xml", &all)
}

fn sheet(rows: &[&[&str]]) -> String {
    let mut data = String::new();
    for (number, row) in (1..).zip(rows) {
        let cells: String = row.iter().enumerate().map(|(place, text)| cell(number, place, text)).collect();
        data.push_str(&format!("<row r='{number}'>{cells}</row>"));
    }
    format!(
        "<worksheet xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'><sheetData>{data}</sheetData></worksheet>"
    )
}

fn cell(row: usize, column: usize, text: &str) -> String {
    let column = char::from(b'A' + u8::try_from(column % 26).expect("a letter"));
    match text.parse::<f64>() {
        _ if text.is_empty() => String::new(),
        Ok(_) => format!("<c r='{column}{row}'><v>{text}</v></c>"),
        Err(_) => format!("<c r='{column}{row}' t='inlineStr'><is><t>{text}</t></is></c>"),
    }
}

/// Returns a book of one chapter.
pub(crate) fn epub(chapter: &str) -> Vec<u8> {
    let container = "<container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><rootfiles>\
         <rootfile full-path='b/book.opf' media-type='application/oebps-package+xml'/></rootfiles></container>";
    let book = "<package xmlns='http://www.idpf.org/2007/opf' xmlns:dc='http://purl.org/dc/elements/1.1/'><metadata>\
         <dc:title>The Book</dc:title><dc:creator>Ann</dc:creator><dc:creator>Ben</dc:creator>\
         <dc:language>en</dc:language><meta property='dcterms:modified'>2024-02-01T00:00:00Z</meta></metadata>\
         <manifest><item id='c' href='c.xhtml' media-type='application/xhtml+xml'/></manifest>\
         <spine><itemref idref='c'/></spine></package>";
    let chapter = format!("<html xmlns='http://www.w3.org/1999/xhtml'><body>{chapter}</body></html>");
    package(&[
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", container.as_bytes()),
        ("b/book.opf", book.as_bytes()),
        ("b/c.xhtml", chapter.as_bytes()),
    ])
}

/// Returns a compound file with streams of these names.
pub(crate) fn compound(names: &[&str]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("a file");
    for name in names {
        file.create_stream(name).expect("a stream").write_all(b"x").expect("its bytes");
    }
    file.into_inner().into_inner()
}

/// Declarations of the namespaces of OOXML.
#[cfg(feature = "office")]
pub(crate) const NAMESPACES: &str = "xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main' \
    xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships' \
    xmlns:p='http://schemas.openxmlformats.org/presentationml/2006/main' \
    xmlns:c='http://schemas.openxmlformats.org/drawingml/2006/chart'";

/// Returns the relationships of a part, each with its id, kind and target.
#[cfg(feature = "office")]
pub(crate) fn relations(list: &[(&str, &str, &str)]) -> String {
    let kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let all: String = list
        .iter()
        .map(|(id, kind, target)| format!("<Relationship Id='{id}' Type='{kinds}/{kind}' Target='{target}'/>"))
        .collect();
    format!("<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{all}</Relationships>")
}
