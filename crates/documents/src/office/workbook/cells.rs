//! Cells: formulas without a value, links, escapes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

use super::super::flat::letters;
use super::super::marks::Inserts;
use super::super::tree::{self, Element, Node};
use super::place;
use super::places::Places;
use super::shared::SharedFormulas;
use super::strings::{self, Strings};

/// Parts of the workbook that the cells of a sheet refer to.
pub(super) struct Cells<'s> {
    pub strings: &'s Strings,
    /// Addresses by the places of their cells.
    pub links: &'s HashMap<(usize, usize), String>,
    pub inserts: &'s mut Inserts,
    /// Formulas that cells of the sheet share.
    pub shared: SharedFormulas,
    /// Number of formulas without a value.
    pub missing: usize,
    /// Whether shared texts are written into their cells.
    pub resolves: bool,
}

impl Cells<'_> {
    /// Puts the cells of a row right, and moves them to their new places.
    pub(super) fn mend(&mut self, row: &mut Element<'_>, places: &Places) {
        let number = row.attribute("r").and_then(|number| number.parse::<usize>().ok());
        let new_row = places.rows.as_ref().and_then(|rows| rows.get(&number?).copied());
        if let Some(new_row) = new_row {
            set(row, "r", &new_row.to_string());
        }
        for node in &mut row.children {
            let Node::Element(cell) = node else { continue };
            let at = cell.attribute("r").and_then(|reference| place(&reference));
            self.cell(cell, at);
            if let (Some(rows), Some((row, column))) = (&places.rows, at) {
                let row = rows.get(&row).copied().unwrap_or(row);
                let column = places.columns.get(&column).copied().unwrap_or(column);
                set(cell, "r", &format!("{}{row}", letters(column)));
            }
        }
    }

    /// Puts a cell right.
    pub(super) fn cell(&mut self, cell: &mut Element<'_>, at: Option<(usize, usize)>) {
        let kind = cell.attribute("t").map(Cow::into_owned).unwrap_or_default();
        let value = cell.child("v").map(Element::text).unwrap_or_default();
        let formula = cell.child("f").map(|formula| self.shared.text(formula, at, !value.is_empty()));
        let link = formula.as_deref().and_then(hyperlink);
        let address = link.as_ref().map(|link| link.address.clone()).or_else(|| self.links.get(&at?).cloned());
        let is_missing = formula.is_some() && value.is_empty() && kind != "str" && cell.child("is").is_none();
        if let Some(address) = address {
            let own = link.and_then(|link| link.text).unwrap_or_else(|| address.clone());
            let text = self.text(cell, &kind, &value).or_else(|| is_missing.then_some(own));
            if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
                let mark = self.inserts.inline(format!("[{}]({})", escaped(&text), destination(&address)));
                set_text(cell, &mark);
                return;
            }
        }
        if is_missing {
            self.missing += 1;
            let formula = formula.unwrap_or_default();
            if !formula.trim().is_empty() {
                let mark = self.inserts.inline(code(&format!("={}", formula.trim())));
                set_text(cell, &mark);
            }
            return;
        }
        let is_own_text = matches!(kind.as_str(), "inlineStr" | "str");
        let matters = is_own_text && (value.contains("_x") || kind == "inlineStr");
        if (matters || (self.resolves && kind == "s"))
            && let Some(text) = self.text(cell, &kind, &value)
        {
            set_text(cell, &text);
        }
    }

    /// Returns the text of a cell; `None` for numbers.
    fn text(&self, cell: &Element<'_>, kind: &str, value: &str) -> Option<String> {
        match kind {
            "s" => self.strings.get(value.trim().parse().ok()?).map(str::to_owned),
            "str" => Some(strings::unescaped(value)),
            "inlineStr" => cell.child("is").map(strings::rich_text),
            _ => None,
        }
    }
}

/// Replaces the content of a cell by text.
fn set_text(cell: &mut Element<'_>, text: &str) {
    set(cell, "t", "str");
    cell.children = vec![Node::Element(Element::with_text("v".to_owned(), "", text))];
}

/// Sets an attribute.
pub(super) fn set(element: &mut Element<'_>, name: &str, value: &str) {
    let mut out = String::new();
    for (known, old) in element.attributes().filter(|(known, _)| *known != name) {
        let quote = if old.contains('"') { '\'' } else { '"' };
        let _ = write!(out, " {known}={quote}{old}{quote}");
    }
    let _ = write!(out, " {name}=\"{}\"", tree::escaped(value));
    element.attributes = Cow::Owned(out);
}

/// Address and text of the function `HYPERLINK`.
#[derive(Debug, PartialEq, Eq)]
struct Link {
    address: String,
    text: Option<String>,
}

/// Reads `HYPERLINK("https://…","text")` with fixed values.
fn hyperlink(formula: &str) -> Option<Link> {
    let formula = formula.trim().trim_start_matches('=').trim_start_matches("_xlfn.");
    let (name, rest) = formula.split_once('(')?;
    if !name.trim().eq_ignore_ascii_case("hyperlink") {
        return None;
    }
    let (address, rest) = quoted(rest)?;
    let rest = rest.trim_start();
    let text = rest.strip_prefix([',', ';']).and_then(quoted).map(|(text, _)| text);
    (!address.starts_with('#') && (rest.starts_with([',', ';', ')']))).then_some(Link { address, text })
}

/// Reads a text in quotation marks; doubled ones are in it.
fn quoted(source: &str) -> Option<(String, &str)> {
    let mut rest = source.trim_start().strip_prefix('"')?;
    let mut text = String::new();
    loop {
        let (piece, after) = rest.split_once('"')?;
        text.push_str(piece);
        match after.strip_prefix('"') {
            Some(more) => {
                text.push('"');
                rest = more;
            }
            None => return Some((text, after)),
        }
    }
}

/// Escapes text as markdown, in one line of a table. Marks stay.
fn escaped(text: &str) -> String {
    let (mut out, text) = (String::with_capacity(text.len()), text.trim());
    let mut last = ' ';
    for (at, letter) in text.char_indices() {
        let next = text[at + letter.len_utf8()..].chars().next();
        // Inside of a word it opens nothing.
        let is_inner = letter == '_' && last.is_alphanumeric() && next.is_some_and(char::is_alphanumeric);
        last = letter;
        match letter {
            '_' if is_inner => out.push(letter),
            '\\' | '|' | '*' | '_' | '`' | '<' | '[' | ']' | '~' | '$' => out.extend(['\\', letter]),
            letter if letter.is_whitespace() => out.push(' '),
            letter if letter.is_control() => {}
            letter => out.push(letter),
        }
    }
    out
}

/// Writes an address as the destination of a link in a table.
fn destination(address: &str) -> String {
    let address: String = address.trim().chars().filter(|letter| !letter.is_control()).collect();
    let address = address.replace('|', "%7C").replace('<', "%3C").replace('>', "%3E").replace(' ', "%20");
    if address.contains(['(', ')']) { format!("<{address}>") } else { address }
}

/// Writes code in a table.
fn code(text: &str) -> String {
    let text: String = text.chars().map(|letter| if letter.is_whitespace() { ' ' } else { letter }).collect();
    let text = text.replace('|', "\\|");
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_from_formulas() {
        let link = |address: &str, text: Option<&str>| {
            Some(Link { address: address.to_owned(), text: text.map(str::to_owned) })
        };
        for (formula, expected) in [
            ("HYPERLINK(\"https://a.example\",\"Man\"\"ual\")", link("https://a.example", Some("Man\"ual"))),
            ("=hyperlink(\"https://a.example\")", link("https://a.example", None)),
            ("HYPERLINK(\"#Sheet2!A1\",\"x\")", None),
            ("HYPERLINK(A1,\"x\")", None),
            ("HYPERLINK(\"a\"&B1,\"x\")", None),
            ("SUM(A1)", None),
        ] {
            assert_eq!(hyperlink(formula), expected, "{formula}");
        }
    }

    #[test]
    fn formulas_and_addresses_stay_in_their_cell() {
        assert_eq!(code("=A1|B1\n+`x`"), "`` =A1\\|B1 +`x` ``");
        assert_eq!(code("=B2*1.2"), "`=B2*1.2`");
        assert_eq!(destination("https://a.example/x y(|)"), "<https://a.example/x%20y(%7C)>");
        assert_eq!(escaped("a|b\n[c]"), "a\\|b \\[c\\]");
    }
}
