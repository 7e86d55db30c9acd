//! TeX names of letters, operators, accents and functions.

use super::symbols::SYMBOLS;

/// Functions with a TeX command.
const FUNCTIONS: &str = "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf \
    limsup ln log max min Pr sec sin sinh sup tan tanh";
/// Operators with limits above and below.
const WITH_LIMITS: &str = "∑ ∏ ∐ ∫ ∬ ∭ ∮ ⋃ ⋂ ⋁ ⋀ ⨁ ⨂ ⨀ ⨄ lim liminf limsup max min inf sup det gcd Pr argmax argmin";

/// Accents: the characters, and the TeX commands above and below a base.
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

/// Mathematical alphabets: the first code point (A to Z, then a to z), and the TeX command of the style.
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

/// Returns the accent command for `mark` above or below a base.
pub(super) fn accent(mark: &str, below: bool) -> Option<&'static str> {
    let (_, above, under) = ACCENTS.iter().find(|(marks, ..)| marks.split(' ').any(|known| known == mark))?;
    Some(if below { *under } else { *above }).filter(|name| !name.is_empty())
}

/// Returns the command for a character; an empty one for invisible operators.
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

/// Returns the plain letter for one of a mathematical alphabet.
pub(super) fn letter(c: char) -> char {
    plain(c).map_or(c, |(_, letter)| letter)
}

/// Returns the style of `text`, by `variant` or by its letters, and the text in plain letters.
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

/// Returns the style and the plain letter of a character from a mathematical alphabet.
fn plain(c: char) -> Option<(&'static str, char)> {
    // These letters are not in the alphabets: Unicode had them before, in the block "Letterlike Symbols".
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
