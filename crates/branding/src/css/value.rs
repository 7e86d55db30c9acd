//! Parsing of CSS values: colours and font families.

use cssparser::{Parser, Token};

use crate::color::Color;

/// Limit on the families of one list.
const MAX_FAMILIES: usize = 16;
/// Length limit of a family name, in bytes.
const MAX_FAMILY: usize = 80;

/// Returns the first colour in a value such as `1px solid #ccc` or `url(a.png) no-repeat rgb(1 2 3)`, or the first one
/// of a gradient.
pub(crate) fn color_in(value: &str) -> Option<Color> {
    let mut parser = Parser::new(value);
    first_color(&mut parser, 0)
}

fn first_color(parser: &mut Parser<'_>, depth: usize) -> Option<Color> {
    loop {
        let start = parser.position();
        let inner = match parser.next().ok()? {
            Token::Ident(word) => {
                if let Some(color) = Color::parse(word) {
                    return Some(color);
                }
                continue;
            }
            Token::Hash(_) | Token::IDHash(_) => {
                if let Some(color) = Color::parse(parser.slice_from(start)) {
                    return Some(color);
                }
                continue;
            }
            Token::Function(_) => parser.parse_nested_block(|inner| {
                let found = if depth < 3 { first_color(inner, depth + 1) } else { None };
                while inner.next().is_ok() {}
                Ok::<_, cssparser::ParseError<()>>(found)
            }),
            _ => continue,
        };
        // The function is a colour itself, such as `rgb(…)`, or has one among its arguments, such as a gradient.
        let whole = Color::parse(parser.slice_from(start));
        if let Some(color) = whole.or(inner.ok().flatten()) {
            return Some(color);
        }
    }
}

/// Returns the names in a value of `font-family`, without quotes.
pub(crate) fn families(value: &str) -> Vec<String> {
    let mut parser = Parser::new(value);
    let mut found = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut done = false;
    while !done && found.len() < MAX_FAMILIES {
        let ends = match parser.next() {
            Ok(Token::Ident(word)) | Ok(Token::QuotedString(word)) => {
                words.push(word.to_string());
                false
            }
            Ok(Token::Comma) => true,
            Ok(_) => false,
            Err(_) => {
                done = true;
                true
            }
        };
        if ends {
            let name = std::mem::take(&mut words).join(" ");
            let name: String = name.chars().filter(|c| !c.is_control()).collect();
            let name = name.trim();
            if !name.is_empty() && name.len() <= MAX_FAMILY && !found.iter().any(|other| other == name) {
                found.push(name.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_among_other_words() {
        let check = |value: &str, hex: Option<&str>| {
            assert_eq!(color_in(value).map(Color::hex).as_deref(), hex, "{value}");
        };
        check("1px solid #ccc", Some("#CCCCCC"));
        check("url(red.png) no-repeat blue", Some("#0000FF"));
        check("url('a b') rgb(1, 2, 3)", Some("#010203"));
        check("linear-gradient(90deg, hsl(0 100% 50%) 10%, blue)", Some("#FF0000"));
        check("0 1px 2px rgba(0 0 0 / .2), red", Some("#000000"));
        check("none", None);
        check("a(b(c(d(e(f(red))))))", None);
        check("", None);
    }

    #[test]
    fn names_of_fonts() {
        let check = |value: &str, names: &[&str]| assert_eq!(families(value), names, "{value}");
        check(
            "Inter, \"Segoe UI\", Helvetica Neue , sans-serif",
            &["Inter", "Segoe UI", "Helvetica Neue", "sans-serif"],
        );
        check("'A, B', A, A", &["A, B", "A"]);
        check(", ,", &[]);
        check(&format!("'{}'", "x".repeat(MAX_FAMILY + 1)), &[]);
    }
}
