//! Fields whose result is not stored as text: boxes and lists of forms, symbols, buttons.

use super::super::marks;
use super::super::symbols::SymbolFont;
use super::super::tree::Element;
use super::styles::on;

/// Open field.
#[derive(Debug, Default)]
pub(super) struct Field {
    instruction: String,
    /// Text by the data of a form.
    by_form: Option<String>,
    /// Whether its result is stored.
    has_result: bool,
}

impl Field {
    /// Begins a field by its first mark, which holds the data of a form.
    pub(super) fn begin(mark: &Element<'_>) -> Self {
        Self { by_form: mark.child("ffData").and_then(form), ..Self::default() }
    }

    pub(super) fn add(&mut self, instruction: &str) {
        self.instruction.push_str(instruction);
    }

    pub(super) fn separate(&mut self) {
        self.has_result = true;
    }

    /// Returns what the field shows, if that is not stored as its result.
    pub(super) fn shown(self) -> Option<String> {
        if self.has_result {
            return None;
        }
        self.by_form.or_else(|| by_instruction(&self.instruction))
    }
}

/// Returns what a control of a form shows.
fn form(data: &Element<'_>) -> Option<String> {
    if let Some(list) = data.child("ddList") {
        let number = |name: &str| list.child(name)?.attribute("val")?.parse::<usize>().ok();
        let chosen = number("result").or_else(|| number("default")).unwrap_or(0);
        let entry = list.elements().filter(|entry| entry.local() == "listEntry").nth(chosen)?;
        return entry.attribute("val").map(std::borrow::Cow::into_owned);
    }
    let check = data.child("checkBox")?;
    let is_ticked = on(check, "checked").or_else(|| on(check, "default")).unwrap_or(false);
    Some(marks::ticked(is_ticked).to_owned())
}

fn by_instruction(instruction: &str) -> Option<String> {
    let mut words = words(instruction).into_iter();
    match words.next()?.to_ascii_uppercase().as_str() {
        "SYMBOL" => symbol(&words.collect::<Vec<String>>()),
        "MACROBUTTON" | "GOTOBUTTON" => {
            let text: Vec<String> = words.skip(1).collect();
            (!text.is_empty()).then(|| text.join(" "))
        }
        "QUOTE" => words.next(),
        _ => None,
    }
}

/// Returns the character of `SYMBOL 252 \f "Wingdings"`.
fn symbol(words: &[String]) -> Option<String> {
    let number = words.first()?;
    let code = match number.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    let font = words.iter().position(|word| word == "\\f").and_then(|at| words.get(at + 1));
    let shown = match font.and_then(|font| SymbolFont::of_name(font)) {
        Some(font) => font.shown(code),
        None => char::from_u32(code),
    };
    shown.filter(|shown| !shown.is_control()).map(String::from)
}

/// Splits an instruction into words; those in quotation marks may contain spaces.
fn words(instruction: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (place, part) in instruction.split('"').enumerate() {
        if place % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::super::tree::parse;
    use super::*;

    #[test]
    fn fields_of_forms_show_their_values() {
        for (data, shown) in [
            ("<w:checkBox><w:default w:val='1'/></w:checkBox>", Some(marks::ticked(true))),
            ("<w:checkBox><w:default w:val='1'/><w:checked w:val='0'/></w:checkBox>", Some(marks::ticked(false))),
            ("<w:checkBox/>", Some(marks::ticked(false))),
            ("<w:ddList><w:result w:val='1'/><w:listEntry w:val='a'/><w:listEntry w:val='b'/></w:ddList>", Some("b")),
            ("<w:textInput/>", None),
        ] {
            let mark = format!("<w:fldChar><w:ffData>{data}</w:ffData></w:fldChar>");
            let field = Field::begin(&parse(&mark).unwrap());
            assert_eq!(field.shown().as_deref(), shown, "{data}");
        }
    }

    #[test]
    fn instructions_show_what_they_say() {
        for (instruction, shown) in [
            (" SYMBOL 252 \\f \"Wingdings\" \\s 12", Some("✔")),
            ("SYMBOL 0x3B1", Some("α")),
            ("MACROBUTTON  NoMacro [Your name]", Some("[Your name]")),
            ("PAGE", None),
            ("", None),
        ] {
            let mut field = Field::default();
            field.add(instruction);
            assert_eq!(field.shown().as_deref(), shown, "{instruction}");
        }
        let mut field = Field::default();
        field.add("QUOTE \"a b\"");
        field.separate();
        assert_eq!(field.shown(), None, "its result is stored");
    }
}
