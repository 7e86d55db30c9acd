//! The names that TeX has for letters, operators, accents and functions.

use super::symbols::SYMBOLS;

/// Names of functions that TeX knows.
const FUNCTIONS: &str = "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf \
    limsup ln log max min Pr sec sin sinh sup tan tanh";
/// What has its limits above and below.
const WITH_LIMITS: &str = "∑ ∏ ∐ ∫ ∬ ∭ ∮ ⋃ ⋂ ⋁ ⋀ ⨁ ⨂ ⨀ ⨄ lim liminf limsup max min inf sup det gcd Pr argmax argmin";

/// An accent, with its name above and below.
const ACCENTS: [(&str, &str, &str); 14] = [
    ("¯ ‾ ― _ ̲ ̅ ─", "overline", "underline"),
    ("^ ˆ ̂", "hat", ""),
    ("~ ˜ ̃ ∼", "tilde", ""),
    ("→ ⃗ ⟶", "vec", ""),
    ("˙ ̇ .", "dot", ""),
    ("¨ ̈ ..", "ddot", ""),
    ("ˇ ̌", "check", ""),
    ("˘ ̆", "breve", ""),
    ("´ ́", "acute", ""),
    ("` ̀", "grave", ""),
    ("⏞ ︷", "overbrace", ""),
    ("⏟ ︸", "", "underbrace"),
    ("←", "overleftarrow", ""),
    ("↔", "overleftrightarrow", ""),
];

/// Styles of letters, and where their alphabets (A to Z, then a to z) begin.
const ALPHABETS: [(u32, &str); 13] = [
    (0x1d400, "mathbf"),
    (0x1d434, ""),
    (0x1d468, "boldsymbol"),
    (0x1d49c, "mathcal"),
    (0x1d4d0, "mathcal"),
    (0x1d504, "mathfrak"),
    (0x1d538, "mathbb"),
    (0x1d56c, "mathfrak"),
    (0x1d5a0, "mathsf"),
    (0x1d5d4, "mathsf"),
    (0x1d608, "mathsf"),
    (0x1d63c, "mathsf"),
    (0x1d670, "mathtt"),
];

pub(super) fn function(name: &str) -> bool {
    FUNCTIONS.split(' ').any(|known| known == name)
}

pub(super) fn takes_limits(base: &str) -> bool {
    WITH_LIMITS.split(' ').any(|known| known == base)
}

/// The accent that `mark` is above a letter, or below it.
pub(super) fn accent(mark: &str, below: bool) -> Option<&'static str> {
    let (_, above, under) = ACCENTS.iter().find(|(marks, ..)| marks.split(' ').any(|known| known == mark))?;
    Some(if below { *under } else { *above }).filter(|name| !name.is_empty())
}

/// The command for a character; `Some` of nothing for signs that are not shown.
pub(super) fn operator(c: char) -> Option<&'static str> {
    match c {
        '\u{2061}'..='\u{2064}' | '\u{200b}' => return Some(""),
        '\u{2212}' | '\u{2010}' | '\u{2013}' => return Some("-"),
        '\u{2032}' => return Some("'"),
        '\u{a0}' => return Some(" "),
        c if c.is_ascii_alphanumeric() => return None,
        _ => {}
    }
    SYMBOLS.iter().find(|(symbol, _)| *symbol == c).map(|(_, command)| *command)
}

/// A letter of a mathematical alphabet as the plain one.
pub(super) fn letter(c: char) -> char {
    plain(c).map_or(c, |(_, letter)| letter)
}

/// The style in which `text` is set, by `variant` or by its letters, and the text in plain letters.
pub(super) fn styled(text: &str, variant: &str) -> (&'static str, String) {
    let style = match variant {
        "bold" => "mathbf",
        "bold-italic" => "boldsymbol",
        "double-struck" => "mathbb",
        "script" | "bold-script" => "mathcal",
        "fraktur" | "bold-fraktur" => "mathfrak",
        "sans-serif" | "bold-sans-serif" | "sans-serif-italic" => "mathsf",
        "monospace" => "mathtt",
        _ => text.chars().next().and_then(plain).map_or("", |(style, _)| style),
    };
    (style, text.chars().map(letter).collect())
}

fn plain(c: char) -> Option<(&'static str, char)> {
    let special = match c {
        'ℂ' => ("mathbb", 'C'),
        'ℍ' => ("mathbb", 'H'),
        'ℕ' => ("mathbb", 'N'),
        'ℙ' => ("mathbb", 'P'),
        'ℚ' => ("mathbb", 'Q'),
        'ℝ' => ("mathbb", 'R'),
        'ℤ' => ("mathbb", 'Z'),
        'ℎ' => ("", 'h'),
        'ℒ' => ("mathcal", 'L'),
        'ℱ' => ("mathcal", 'F'),
        'ℋ' => ("mathcal", 'H'),
        'ℬ' => ("mathcal", 'B'),
        _ => ("", c),
    };
    if special.1 != c {
        return Some(special);
    }
    let code = u32::from(c);
    let (begin, style) = *ALPHABETS.iter().rev().find(|(begin, _)| *begin <= code)?;
    let at = u8::try_from(code - begin).ok().filter(|&at| at < 52)?;
    Some((style, char::from(if at < 26 { b'A' + at } else { b'a' + at - 26 })))
}
