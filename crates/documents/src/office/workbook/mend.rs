//! Sheets whose cells are put right before the converter reads them. Rows that need nothing are copied.

use std::collections::HashSet;

use memchr::memmem;

use super::super::marks::Inserts;
use super::super::package::Package;
use super::super::tree;
use super::cells::Cells;
use super::places::Places;
use super::shared::SharedFormulas;
use super::strings::Strings;
use super::{ToMend, each_row, links, place, reference, rows_of};

/// Puts the cells of sheets right; returns the number of formulas without a value.
pub(super) fn sheets(
    package: &mut Package<'_>,
    sheets: Vec<ToMend>,
    strings: &mut Strings,
    inserts: &mut Inserts,
) -> usize {
    let mut missing = 0;
    for sheet in sheets {
        let links = links(package, &sheet.part, &sheet.text);
        let has_functions = memmem::find(sheet.text.as_bytes(), b"HYPERLINK").is_some();
        if !links.is_empty() || sheet.is_far || has_functions {
            strings.load();
        }
        let mut cells =
            Cells { strings, links: &links, inserts, shared: SharedFormulas::default(), missing: 0, resolves: false };
        let mended = mended(&sheet, &mut cells);
        missing += cells.missing;
        if let Some(text) = mended {
            package.replace(&sheet.part, text.into_bytes());
        }
    }
    missing
}

/// Returns the sheet with its cells put right; `None` if there is nothing to do.
fn mended(sheet: &ToMend, cells: &mut Cells<'_>) -> Option<String> {
    let text = &sheet.text;
    let rows = rows_of(text)?;
    let places = if sheet.is_far { Places::closing(&text[rows.clone()]) } else { Places::default() };
    let linked: HashSet<usize> = cells.links.keys().map(|(row, _)| *row).collect();
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..rows.start]);
    let mut is_changed = sheet.is_far;
    each_row(&text[rows.clone()], &mut |source| {
        let needs = sheet.is_far || is_linked(source, &linked) || needs_mending(source);
        match needs.then(|| tree::parse(source)).flatten() {
            Some(mut row) => {
                is_changed = true;
                cells.mend(&mut row, &places);
                row.write(&mut out);
            }
            None => out.push_str(source),
        }
        true
    });
    let after = &text[rows.end..];
    // Merged cells would be at the places before.
    let merged = after.find("<mergeCells").zip(after.find("</mergeCells>")).filter(|(start, end)| start < end);
    match merged.filter(|_| sheet.is_far) {
        Some((start, end)) => {
            out.push_str(&after[..start]);
            out.push_str(&after[end + "</mergeCells>".len()..]);
        }
        None => out.push_str(after),
    }
    is_changed.then_some(out)
}

fn is_linked(row: &str, linked: &HashSet<usize>) -> bool {
    let Some(at) = memmem::find(row.as_bytes(), b"<c r=\"").filter(|_| !linked.is_empty()) else { return false };
    place(reference(&row[at..])).is_none_or(|(number, _)| linked.contains(&number))
}

/// Whether a row has escapes, raised text, a link, or a formula without a value.
fn needs_mending(row: &str) -> bool {
    let has = |sign: &str| memmem::find(row.as_bytes(), sign.as_bytes()).is_some();
    if ["_x", "vertAlign", "HYPERLINK"].into_iter().any(has) {
        return true;
    }
    let mut rest = row;
    while let Some(at) = memmem::find(rest.as_bytes(), b"<f") {
        rest = &rest[at + 2..];
        let end = memmem::find(rest.as_bytes(), b"</c>").unwrap_or(rest.len());
        let value = memmem::find(&rest.as_bytes()[..end], b"<v>");
        if value.is_none_or(|value| rest[value..].starts_with("<v></v>")) {
            return true;
        }
        rest = &rest[end..];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_all_values_need_nothing() {
        for (row, needs) in [
            ("<row><c r='A1'><f>1+1</f><v>2</v></c><c r='B1'><f t='shared' si='0'/><v>3</v></c></row>", false),
            ("<row><c r='A1'><v>2</v></c></row>", false),
            ("<row><c r='A1'><f>1+1</f></c><c r='B1'><v>3</v></c></row>", true),
            ("<row><c r='A1'><f>1+1</f><v></v></c></row>", true),
            ("<row><c r='A1'><f>1+1</f><v/></c></row>", true),
            ("<row><c r='A1' t='str'><v>a_x000D_b</v></c></row>", true),
            ("<row><c r='A1'><f>HYPERLINK(&quot;x&quot;)</f><v>2</v></c></row>", true),
        ] {
            assert_eq!(needs_mending(row), needs, "{row}");
        }
    }
}
