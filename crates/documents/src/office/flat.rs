//! Documents in one file of XML instead of a package: OpenDocument, Office 2003, and packages of Office as XML.

use std::fmt::Write;

use super::open_document;
use super::package::{packed, utf8};
use super::tree::{self, Element, Node};
use crate::detect::Kind;

/// Namespaces of Word and of its documents in one file.
const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const WORD_2003: &str = "http://schemas.microsoft.com/office/word/2003/wordml";
const SHEET: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
/// Maximum number of rows and columns of a sheet.
const MAX_ROWS: usize = 1_048_576;
const MAX_COLUMNS: usize = 16_384;

/// Returns the package of a document in one file; `None` if it is none.
pub(super) fn unfolded(file: &[u8], kind: Kind) -> Option<Vec<u8>> {
    let start = file.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(file).trim_ascii_start();
    if !matches!(start, [b'<', ..] | [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) {
        return None;
    }
    if matches!(kind, Kind::Odt | Kind::Ods | Kind::Odp) {
        return open_document::unfolded(file, kind.mime_types().first()?);
    }
    let text = utf8(file.to_vec())?;
    let root = tree::parse(&text)?;
    match (kind, root.local()) {
        (_, "package") => opc(&root),
        (Kind::Docx | Kind::Docm, "wordDocument") => word(root),
        (Kind::Xlsx | Kind::Xlsm, "Workbook") => workbook(&root),
        _ => None,
    }
}

/// Packs the parts of a package as XML.
fn opc(root: &Element<'_>) -> Option<Vec<u8>> {
    let part = |part: &Element<'_>| {
        let name = part.attribute("name")?.trim_start_matches('/').to_owned();
        let bytes = match part.child("xmlData") {
            Some(data) => data.elements().next()?.clone().into_part(1024),
            None => return None,
        };
        Some((name, bytes))
    };
    let parts: Vec<(String, Vec<u8>)> = root.elements().filter_map(part).collect();
    let parts: Vec<(&str, &[u8])> = parts.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    packed(&parts)
}

/// Packs a document of Word 2003, whose elements are those of later ones.
fn word(mut root: Element<'_>) -> Option<Vec<u8>> {
    let attributes = root.attributes.replace(WORD_2003, WORD);
    unwrap(&mut root);
    let part = |name: &str| {
        let element = root.child(name)?;
        let mut out = String::new();
        element.write(&mut out);
        Some(out)
    };
    let document = format!("<w:document{attributes}>{}</w:document>", part("body")?);
    let styles = part("styles").unwrap_or_else(|| "<w:styles/>".to_owned());
    let styles = styles.replacen("<w:styles", &format!("<w:styles xmlns:w=\"{WORD}\""), 1);
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    let relation = |kind: &str, target: &str| {
        format!(
            "<Relationships xmlns=\"{package}\"><Relationship Id=\"a\" Type=\"{RELATIONS}/{kind}\" Target=\"{target}\"/></Relationships>"
        )
    };
    packed(&[
        ("_rels/.rels", relation("officeDocument", "word/document.xml").as_bytes()),
        ("word/_rels/document.xml.rels", relation("styles", "styles.xml").as_bytes()),
        ("word/document.xml", document.as_bytes()),
        ("word/styles.xml", styles.as_bytes()),
    ])
}

/// Replaces the elements that Word 2003 has around parts of the body by what is in them.
fn unwrap(element: &mut Element<'_>) {
    let mut out = Vec::with_capacity(element.children.len());
    for node in std::mem::take(&mut element.children) {
        match node {
            Node::Element(mut child) => {
                unwrap(&mut child);
                if child.name == "wx:sect" || child.name == "wx:sub-section" {
                    out.append(&mut child.children);
                } else {
                    out.push(Node::Element(child));
                }
            }
            text @ Node::Text(_) => out.push(text),
        }
    }
    element.children = out;
}

/// Packs a workbook of Excel 2003.
fn workbook(root: &Element<'_>) -> Option<Vec<u8>> {
    let (mut sheets, mut relations, mut parts) = (String::new(), String::new(), Vec::new());
    for (number, sheet) in root.elements().filter(|child| child.local() == "Worksheet").enumerate() {
        let name = sheet.attribute("Name").unwrap_or_default();
        let is_hidden =
            sheet.at(&["WorksheetOptions", "Visible"]).is_some_and(|visible| visible.text().contains("Hidden"));
        let state = if is_hidden { " state=\"hidden\"" } else { "" };
        let name = tree::escaped(&name).replace('"', "&quot;");
        let _ = write!(sheets, "<sheet name=\"{name}\" sheetId=\"{0}\" r:id=\"s{0}\"{state}/>", number + 1);
        let _ = write!(
            relations,
            "<Relationship Id=\"s{0}\" Type=\"{RELATIONS}/worksheet\" Target=\"worksheets/sheet{0}.xml\"/>",
            number + 1
        );
        let rows = sheet.child("Table").map(rows).unwrap_or_default();
        parts.push((
            format!("xl/worksheets/sheet{}.xml", number + 1),
            format!("<worksheet xmlns=\"{SHEET}\">{rows}</worksheet>"),
        ));
    }
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    let root_relations = format!(
        "<Relationships xmlns=\"{package}\"><Relationship Id=\"a\" Type=\"{RELATIONS}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
    );
    let relations = format!("<Relationships xmlns=\"{package}\">{relations}</Relationships>");
    let book = format!("<workbook xmlns=\"{SHEET}\" xmlns:r=\"{RELATIONS}\"><sheets>{sheets}</sheets></workbook>");
    let mut all: Vec<(&str, &[u8])> = vec![
        ("_rels/.rels", root_relations.as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", relations.as_bytes()),
    ];
    all.extend(parts.iter().map(|(name, part)| (name.as_str(), part.as_bytes())));
    packed(&all)
}

/// Writes the rows of a sheet. Cells and rows may tell their number, else they follow each other.
fn rows(table: &Element<'_>) -> String {
    let number = |element: &Element<'_>, name: &str| element.attribute(name)?.parse::<usize>().ok();
    let (mut out, mut merges, mut row_number) = (String::from("<sheetData>"), String::new(), 0);
    for row in table.elements().filter(|child| child.local() == "Row") {
        row_number = number(row, "Index").filter(|index| *index > row_number).unwrap_or(row_number + 1);
        if row_number > MAX_ROWS {
            break;
        }
        let hidden = if row.attribute("Hidden").as_deref() == Some("1") { " hidden=\"1\"" } else { "" };
        let _ = write!(out, "<row r=\"{row_number}\"{hidden}>");
        let mut column = 0;
        for cell in row.elements().filter(|child| child.local() == "Cell") {
            column = number(cell, "Index").filter(|index| *index > column).unwrap_or(column + 1);
            if column > MAX_COLUMNS {
                break;
            }
            let place = format!("{}{row_number}", letters(column));
            if let Some(data) = cell.child("Data") {
                add_cell(data, &place, &mut out);
            }
            let (across, down) = (number(cell, "MergeAcross").unwrap_or(0), number(cell, "MergeDown").unwrap_or(0));
            if across + down > 0 && column + across <= MAX_COLUMNS && row_number + down <= MAX_ROWS {
                let _ =
                    write!(merges, "<mergeCell ref=\"{place}:{}{}\"/>", letters(column + across), row_number + down);
            }
            column += across;
        }
        out.push_str("</row>");
    }
    out.push_str("</sheetData>");
    if !merges.is_empty() {
        let _ = write!(out, "<mergeCells>{merges}</mergeCells>");
    }
    out
}

fn add_cell(data: &Element<'_>, place: &str, out: &mut String) {
    let text = data.text();
    let kind = data.attribute("Type");
    let (kind, text) = match kind.as_deref() {
        Some("Number") if text.trim().parse::<f64>().is_ok() => ("n", text),
        Some("Boolean") => ("b", text),
        Some("DateTime") => ("str", text.trim_end_matches(".000").trim_end_matches("T00:00:00").replace('T', " ")),
        _ => ("str", text),
    };
    let _ = write!(out, "<c r=\"{place}\" t=\"{kind}\"><v>{}</v></c>", tree::escaped(&text));
}

/// Returns the letters of a column, counted from 1.
pub(super) fn letters(mut column: usize) -> String {
    let mut letters = Vec::new();
    while column > 0 {
        letters.push(char::from(b'A' + u8::try_from((column - 1) % 26).unwrap_or_default()));
        column = (column - 1) / 26;
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_letters() {
        for (column, expected) in [(1, "A"), (26, "Z"), (27, "AA"), (702, "ZZ"), (703, "AAA"), (16_384, "XFD")] {
            assert_eq!(letters(column), expected);
        }
    }
}
