//! Symbol fonts: the characters that their codes show.
//!
//! The codes are those of the fonts, 0x20 to 0xFF, or the same in the private use area from U+F000.

/// Symbol, from 0x20 to 0x7E.
const SYMBOL_LOW: &str =
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
/// Symbol, from 0xA0 to 0xFE.
const SYMBOL_HIGH: &str =
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪〉〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭";
/// Wingdings, from 0x20 to 0x7E. Arrows and boxes are the usual ones of their shape.
const WINGDINGS_LOW: &str = " ✎✂✁👓🔔📖🕯☎✆✉🖃📪📫📬📭📁📂🗎🗏🗐🗄⏳⌨🖰🖲🖳🖴💾🖬✇✍🖎✌👌👍👎☜☞☝☟🖐☺😐☹💣☠🏳🏱✈☼💧❄🕆✞🕈✠✡☪☯ॐ☸♈♉♊♋♌♍♎♏♐♑♒♓🙰&●❍■□◻❑❒⬧⧫◆❖⬥⌧⮹⌘🏵🏶“”";
/// Wingdings, from 0x80 to 0xFE.
const WINGDINGS_HIGH: &str = "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿🙢🙠🙡🙣🙞🙜🙝🙟·•▪○◯◯◉◎◯▪☐▲✦★✶✴✹✵⯐⌖⟡⌑⯑✪✰🕐🕑🕒🕓🕔🕕🕖🕗🕘🕙🕚🕛⮰⮱⮲⮳⮴⮵⮶⮷🙪🙫🙕🙔🙗🙖🙐🙑🙒🙓⌫⌦◀➢▲▼⮈⮊⮉⮋←→↑↓↖↗↙↘←→↑↓↖↗↙↘⇦⇨⇧⇩⬄⇳⬀⬁⬃⬂▫▫✗✔☒☑";
/// The usual characters of Wingdings 2, 3 and Webdings.
const WINGDINGS_2: [(u32, char); 9] = [
    (0x4F, '✗'),
    (0x50, '✔'),
    (0x51, '☒'),
    (0x52, '☑'),
    (0x53, '☒'),
    (0x54, '☒'),
    (0x97, '●'),
    (0xA2, '■'),
    (0xA3, '☐'),
];
const WINGDINGS_3: [(u32, char); 9] = [
    (0x66, '←'),
    (0x67, '→'),
    (0x68, '↑'),
    (0x69, '↓'),
    (0x70, '▲'),
    (0x71, '▼'),
    (0x74, '◀'),
    (0x75, '▶'),
    (0x7D, '▶'),
];
const WEBDINGS: [(u32, char); 7] =
    [(0x33, '◀'), (0x34, '▶'), (0x35, '▲'), (0x36, '▼'), (0x61, '✔'), (0x63, '☐'), (0x72, '✗')];

/// Font whose letters are symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SymbolFont {
    Symbol,
    Wingdings,
    Wingdings2,
    Wingdings3,
    Webdings,
}

impl SymbolFont {
    /// Returns the font of a name.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let name: String = name.chars().filter(|letter| !letter.is_whitespace()).flat_map(char::to_lowercase).collect();
        Some(match name.as_str() {
            "symbol" | "symbolmt" => Self::Symbol,
            "wingdings" => Self::Wingdings,
            "wingdings2" => Self::Wingdings2,
            "wingdings3" => Self::Wingdings3,
            "webdings" => Self::Webdings,
            _ => return None,
        })
    }

    /// Returns the character that a code shows; `None` if it is unknown.
    pub(super) fn shown(self, code: u32) -> Option<char> {
        let code = if (0xF000..=0xF0FF).contains(&code) { code - 0xF000 } else { code };
        let listed = |list: &[(u32, char)]| list.iter().find(|(known, _)| *known == code).map(|(_, shown)| *shown);
        match self {
            Self::Symbol => at(SYMBOL_LOW, code, 0x20).or_else(|| at(SYMBOL_HIGH, code, 0xA0)),
            Self::Wingdings => at(WINGDINGS_LOW, code, 0x20).or_else(|| at(WINGDINGS_HIGH, code, 0x80)),
            Self::Wingdings2 => listed(&WINGDINGS_2),
            Self::Wingdings3 => listed(&WINGDINGS_3),
            Self::Webdings => listed(&WEBDINGS),
        }
    }

    /// Returns the text that letters in this font show. Unknown ones stay.
    pub(super) fn text(self, text: &str) -> String {
        text.chars().map(|letter| self.shown(u32::from(letter)).unwrap_or(letter)).collect()
    }
}

fn at(list: &str, code: u32, first: u32) -> Option<char> {
    list.chars().nth(usize::try_from(code.checked_sub(first)?).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_show_their_symbols() {
        for (font, code, shown) in [
            ("Symbol", 0xF061, Some('α')),
            ("Symbol", 0x7E, Some('∼')),
            ("Symbol", 0xF0B0, Some('°')),
            ("Symbol", 0xFE, Some('⎭')),
            ("Wingdings", 0xF0FC, Some('✔')),
            ("Wingdings", 0xFE, Some('☑')),
            ("Wingdings", 0xA8, Some('☐')),
            ("Wingdings", 0xF0E0, Some('→')),
            ("Wingdings", 0xF0D8, Some('➢')),
            ("Wingdings", 0x6C, Some('●')),
            ("wingdings 2", 0xF050, Some('✔')),
            ("Webdings", 0xF0FF, None),
        ] {
            assert_eq!(SymbolFont::of_name(font).unwrap().shown(code), shown, "{font} {code:X}");
        }
        assert_eq!(SymbolFont::of_name("Arial"), None);
        assert_eq!(SymbolFont::Symbol.text("D x\u{F0A3}"), "Δ ξ≤");
    }
}
