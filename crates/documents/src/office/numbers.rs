//! Numbers as a workbook shows them: by their number formats.
//!
//! The converter knows these formats, for workbooks only. So the numbers are written as a small workbook, and its
//! table is read.

use std::collections::HashMap;

use anydoc::Format;

use super::grid::Grid;
use super::package::packed;
use super::tree::escaped;

/// Number, and its format as in `m/d/yyyy`; none means "General".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Number {
    pub value: String,
    pub format: Option<String>,
}

const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const SHEET: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";

/// Returns the numbers as they are shown; what is no number stays as it is.
pub(super) fn shown(numbers: &[Number]) -> Option<Vec<String>> {
    if numbers.is_empty() {
        return Some(Vec::new());
    }
    let mut formats: HashMap<&str, usize> = HashMap::new();
    let mut rows = String::new();
    for (place, number) in numbers.iter().enumerate() {
        let format = number.format.as_deref().filter(|format| !format.eq_ignore_ascii_case("general"));
        let next = formats.len() + 1;
        let style = format.map_or(0, |format| *formats.entry(format).or_insert(next));
        let value = number.value.trim().parse::<f64>().ok().filter(|value| value.is_finite());
        let cell = value.map(|value| format!("<c r=\"B{0}\" s=\"{style}\"><v>{value}</v></c>", place + 1));
        rows.push_str(&format!(
            "<row r=\"{0}\"><c r=\"A{0}\" t=\"str\"><v>x</v></c>{1}</row>",
            place + 1,
            cell.unwrap_or_default()
        ));
    }
    let mut list: Vec<(&str, usize)> = formats.into_iter().collect();
    list.sort_unstable_by_key(|(_, style)| *style);
    let workbook = workbook(&format!("<sheetData>{rows}</sheetData>"), &style_part(&list), false)?;
    let markdown = super::convert(&workbook, Format::Excel).ok()?;
    let lines: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
    let grid = Grid::of_lines(&lines)?;
    let texts = grid.rows.iter().map(|row| row.get(1).map(|cell| cell.replace('\\', "")).unwrap_or_default());
    let shown = texts.zip(numbers).map(|(text, number)| if text.is_empty() { number.value.clone() } else { text });
    (grid.rows.len() == numbers.len()).then(|| shown.collect())
}

fn style_part(formats: &[(&str, usize)]) -> String {
    let attribute = |text: &str| escaped(text).replace('"', "&quot;");
    let codes: String = formats
        .iter()
        .map(|(format, style)| format!("<numFmt numFmtId=\"{}\" formatCode=\"{}\"/>", 163 + style, attribute(format)))
        .collect();
    let uses: String = formats.iter().map(|(_, style)| format!("<xf numFmtId=\"{}\"/>", 163 + style)).collect();
    format!(
        "<styleSheet xmlns=\"{SHEET}\"><numFmts>{codes}</numFmts><cellXfs><xf numFmtId=\"0\"/>{uses}</cellXfs></styleSheet>"
    )
}

/// Returns a workbook of one sheet; days are counted from 1904 or 1900.
pub(super) fn workbook(sheet: &str, styles: &str, is_1904: bool) -> Option<Vec<u8>> {
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    let relation = |id: &str, kind: &str, target: &str| {
        format!("<Relationship Id=\"{id}\" Type=\"{RELATIONS}/{kind}\" Target=\"{target}\"/>")
    };
    let relations = |list: &str| format!("<Relationships xmlns=\"{package}\">{list}</Relationships>");
    let book = format!(
        "<workbook xmlns=\"{SHEET}\" xmlns:r=\"{RELATIONS}\"><workbookPr date1904=\"{}\"/><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"a\"/></sheets></workbook>",
        u8::from(is_1904)
    );
    let parts = relation("a", "worksheet", "worksheets/sheet1.xml") + &relation("b", "styles", "styles.xml");
    packed(&[
        ("_rels/.rels", relations(&relation("a", "officeDocument", "xl/workbook.xml")).as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", relations(&parts).as_bytes()),
        ("xl/styles.xml", styles.as_bytes()),
        ("xl/worksheets/sheet1.xml", format!("<worksheet xmlns=\"{SHEET}\">{sheet}</worksheet>").as_bytes()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_by_their_formats() {
        let number = |value: &str, format: &str| Number {
            value: value.to_owned(),
            format: (!format.is_empty()).then(|| format.to_owned()),
        };
        let numbers = [
            number("37261.0", "m/d/yy"),
            number("0.125", "0.0%"),
            number("1234.5", "#,##0.00"),
            number("32.0", "General"),
            number("37262", "m/d/yy"),
            number("n/a", ""),
            number("-3", "0.0;\"(\"0.0\")\""),
        ];
        let expected = ["2002-01-05", "12.5%", "1,234.50", "32", "2002-01-06", "n/a", "(3.0)"];
        assert_eq!(shown(&numbers).unwrap(), expected);
    }
}
