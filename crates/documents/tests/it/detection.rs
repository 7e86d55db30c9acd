//! Detection of the kind of a file.

use documents::{ImageKind, Kind, detect, looks_like};

use crate::packages::{compound, docx, epub, ooxml, package, xlsx};

fn check(bytes: &[u8], declared: &str, name: &str, expected: Option<Kind>) {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
    assert_eq!(detect(bytes, given(declared), given(name)), expected, "{declared:?} {name:?} {start:?}");
}

fn given(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

#[test]
fn packages_are_known_by_what_they_hold() {
    check(&docx("<w:p/>"), "application/zip", "x.zip", Some(Kind::Docx));
    check(&xlsx(&[("S", &[&["a"]])]), "text/html", "x.docx", Some(Kind::Xlsx));
    check(&epub("<p>x</p>"), "", "", Some(Kind::Epub));
    for (parts, expected) in [
        (["ppt/presentation.xml", "ppt/slides/slide1.xml"], Kind::Pptx),
        (["ppt/presentation.xml", "ppt/vbaProject.bin"], Kind::Pptm),
        (["word/document.xml", "word/vbaProject.bin"], Kind::Docm),
        (["xl/workbook.xml", "xl/vbaProject.bin"], Kind::Xlsm),
        (["xl/workbook.bin", "xl/styles.bin"], Kind::Xlsb),
        (["Word\\Document.xml", "x"], Kind::Docx),
    ] {
        check(&package(&parts.map(|name| (name, &b"x"[..]))), "", "", Some(expected));
    }
}

#[test]
fn packages_say_their_type() {
    for (mime_type, expected) in [
        ("application/vnd.oasis.opendocument.text", Some(Kind::Odt)),
        ("application/vnd.oasis.opendocument.spreadsheet-template", Some(Kind::Ods)),
        ("application/vnd.oasis.opendocument.presentation\n", Some(Kind::Odp)),
        ("application/vnd.oasis.opendocument.graphics", None),
    ] {
        check(&package(&[("mimetype", mime_type.as_bytes())]), "", "x.odt", expected);
        // Some programs put it behind other parts.
        check(&package(&[("x", b""), ("mimetype", mime_type.as_bytes())]), "", "x.odt", expected);
    }
}

#[test]
fn archives_are_no_documents() {
    let archive = package(&[("readme.txt", b"x"), ("word.txt", b"y")]);
    check(&archive, "", "x.zip", None);
    check(&archive, "", "x.docx", None);
    assert_eq!(looks_like(&archive), "a ZIP archive");
    check(&ooxml("visio/document.xml", &[("visio/document.xml", b"x")]), "", "x.vsdx", None);
}

#[test]
fn what_is_left_of_a_package_is_still_one() {
    let file = docx(&"<w:p><w:r><w:t>text</w:t></w:r></w:p>".repeat(100));
    check(&file[..file.len() / 2], "", "", Some(Kind::Docx));
    check(&[b"junk before it", &file[..]].concat(), "", "x.docx", Some(Kind::Docx));
    check(&[b"junk before it", &file[..]].concat(), "", "", None);
    let mut shifted = file.clone();
    shifted.splice(4..4, *b"1234");
    check(&shifted, "", "x.docx", Some(Kind::Docx));
    check(b"PK\x03\x04", "", "x.odt", Some(Kind::Odt));
    check(b"PK\x03\x04", "", "x.zip", None);
}

#[test]
fn compound_files() {
    for (names, said, expected) in [
        (&["WordDocument", "1Table"][..], "x.xls", Some(Kind::Doc)),
        (&["Workbook"], "", Some(Kind::Xls)),
        (&["BOOK"], "", Some(Kind::Xls)),
        (&["Current User", "PowerPoint Document"], "", Some(Kind::Ppt)),
        (&["EncryptionInfo", "EncryptedPackage"], "x.xlsx", Some(Kind::Xlsx)),
        (&["EncryptionInfo", "EncryptedPackage"], "", Some(Kind::Docx)),
        (&["__properties_version1.0"], "x.doc", None),
    ] {
        check(&compound(names), "", said, expected);
    }
    // A workbook embedded in a text document.
    let mut file = cfb::CompoundFile::create(std::io::Cursor::new(Vec::new())).expect("a file");
    file.create_storage("/ObjectPool").expect("a folder");
    file.create_stream("/ObjectPool/Workbook").expect("a stream");
    file.create_stream("/WordDocument").expect("a stream");
    check(&file.into_inner().into_inner(), "", "", Some(Kind::Doc));
    check(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "", "x.ppt", Some(Kind::Ppt));
}

#[test]
fn texts_with_a_signature() {
    check(b"{\\rtf1 x}", "text/plain", "x.doc", Some(Kind::Rtf));
    check(b"%PDF-1.7", "text/html", "x.docx", Some(Kind::Pdf));
    check(b"\n %PDF-1.7", "", "", Some(Kind::Pdf));
    check(b"junk\n%PDF-1.4", "application/octet-stream", "", Some(Kind::Pdf));
    check(b"junk\n%PDF-1.4", "text/plain", "x.pdf", Some(Kind::Pdf));
    check(b"Every PDF begins with %PDF-1.4", "text/plain", "x.txt", None);
    check(b"\x00\x01not a PDF", "application/pdf", "", Some(Kind::Pdf));
    check(b"<!DOCTYPE html><p>%PDF-1.4", "application/pdf", "x.pdf", None);
    check(b"<html><table>", "application/vnd.ms-excel", "x.xls", None);
    check(b"\xEF\xBB\xBF<?xml version='1.0'?>", "", "x.doc", None);
}

#[test]
fn rows_of_values_are_what_they_are_called() {
    check(b"a,b\n1,2", "", "x.csv", Some(Kind::Csv));
    check(b"a,b\n1,2", "text/csv; charset=utf-8", "", Some(Kind::Csv));
    check(b"a\tb", "text/tab-separated-values", "", Some(Kind::Csv));
    check(b"a\tb", "text/plain", "x.TSV", Some(Kind::Csv));
    check("a,b".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>().as_slice(), "", "x.csv", None);
    let marked: Vec<u8> = "\u{feff}a,b".encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(&marked, "", "x.csv", Some(Kind::Csv));
    check(b"a,b\n1,2", "", "", None);
    check(b"a,b\n1,2", "text/html", "x.csv", None);
    check(b"<!doctype html><p>not found", "text/csv", "x.csv", None);
    check(b"\x00\x01\x02", "text/csv", "x.csv", None);
    check(b"", "text/csv", "x.csv", None);
}

#[test]
fn pictures() {
    for (bytes, expected) in [
        (&b"\x89PNG\r\n\x1a\n"[..], Some(ImageKind::Png)),
        (b"\xFF\xD8\xFF\xE0", Some(ImageKind::Jpeg)),
        (b"GIF89a", Some(ImageKind::Gif)),
        (b"II*\0", Some(ImageKind::Tiff)),
        (b"MM\0*", Some(ImageKind::Tiff)),
        (b"\0\0\0\x0CjP  \r\n\x87\n", Some(ImageKind::Jpeg2000)),
        (b"RIFF\x10\0\0\0WEBPVP8 ", Some(ImageKind::Webp)),
        (b"BM\x36\x10\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0", Some(ImageKind::Bmp)),
        (b"BMW builds cars", None),
        (b"\0\0\0\x1cftypavif", Some(ImageKind::Avif)),
        (b"\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf", Some(ImageKind::Avif)),
        (b"\0\0\0\x14ftypheic\0\0\0\0mif1", None),
    ] {
        check(bytes, "", "", expected.map(Kind::Image));
    }
    assert_eq!(looks_like(b"\0\0\0\x18ftypheic"), "a HEIF picture");
}

#[test]
fn what_everything_else_looks_like() {
    for (bytes, look) in [
        (&b""[..], "an empty file"),
        (b"  \n", "an empty file"),
        (b"\x1F\x8B\x08", "a gzip archive"),
        (b"\x7FELF", "a program"),
        (b"\0\0\0\x20ftypisom", "sound or video"),
        (b"<!doctype html>", "a page of markup"),
        (b"hello", "text"),
        (b"\x01\x02", "data of an unknown kind"),
    ] {
        assert_eq!(looks_like(bytes), look);
        check(bytes, "", "", None);
    }
    // Damaged files have their declared kind, unless they are recognised as something else.
    check(b"\x01\x02", "", "x.doc", Some(Kind::Doc));
    check(b"\x1F\x8B\x08\0", "", "x.doc", None);
    check(b"hello", "application/msword", "x.doc", None);
}

#[test]
fn nothing_makes_it_slow_or_wrong() {
    // Overlapping headers that claim long names.
    let header = b"PK\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xFF\xFF\0\0";
    check(&header.repeat(100_000), "", "x.docx", None);
    // A directory that loops.
    let mut file = compound(&["WordDocument"]);
    for at in 512..file.len().min(2048) {
        file[at] = 0;
    }
    let _kind = detect(&file, None, None);
    for length in 0..600 {
        let _kind = detect(&compound(&["Workbook"])[..length], None, Some("x.xls"));
    }
}
