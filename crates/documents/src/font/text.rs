//! Text of a font's codes.

use unicode_normalization::UnicodeNormalization as _;

/// Text of a code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Text {
    /// Not known from the font.
    #[default]
    Unknown,
    One(char),
    Many(Box<str>),
}

impl Text {
    /// Creates a text without characters that cannot appear in readable text.
    pub(crate) fn of(text: &str) -> Self {
        let mut clean: String = text.chars().filter_map(plain).flat_map(expand).collect();
        if clean.contains(is_shaped) {
            clean = base_letters(&clean);
        }
        let mut chars = clean.chars();
        match (chars.next(), chars.next()) {
            (None, _) => Self::Unknown,
            (Some(only), None) => Self::One(only),
            _ => Self::Many(clean.into_boxed_str()),
        }
    }

    pub(crate) fn of_char(text: char) -> Self {
        Self::of(text.encode_utf8(&mut [0; 4]))
    }

    pub(crate) fn is_known(&self) -> bool {
        *self != Self::Unknown
    }
}

/// Normalizes a character; `None` for one that cannot be the text of a glyph.
fn plain(text: char) -> Option<char> {
    match text {
        '\t' | '\n' | '\r' | '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' => Some(' '),
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffd}' | '\u{feff}' | '\u{fffe}' | '\u{200b}'..='\u{200d}' => {
            None
        }
        // Office programs put Symbol and Wingdings into this private use area.
        '\u{f000}'..='\u{f0ff}' => Some(private(text)),
        '\u{f720}'..='\u{f77e}' | '\u{f7a1}'..='\u{f7ff}' | '\u{f8e5}'..='\u{f8fe}' => adobe(text),
        '\u{e000}'..='\u{f8ff}' => None,
        other => Some(other),
    }
}

/// Maps Adobe's private use area for small capitals, old style figures and pieces of large brackets.
/// Source: <https://unicode.org/Public/MAPPINGS/VENDORS/ADOBE/>.
fn adobe(text: char) -> Option<char> {
    const PIECES: &str = "‾⏐⎯®©™⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪⎮⎞⎟⎠⎤⎥⎦⎫⎬⎭";
    let code = u32::from(text);
    match code.checked_sub(0xf8e5) {
        Some(piece) => PIECES.chars().nth(piece as usize),
        None => char::from_u32(code - 0xf700),
    }
}

/// Maps private use characters at the codes of a symbol font.
fn private(text: char) -> char {
    match u32::from(text) - 0xf000 {
        0xb7 | 0x6c | 0x9f => '•',
        0xa7 | 0x6e => '▪',
        0xd8 => '➢',
        0xfc | 0x50 => '✓',
        0x76 => '❖',
        0x71 | 0xa8 => '❑',
        0xe0 => '→',
        0x2d => '–',
        code @ 0x20..=0x7e => char::from_u32(code).unwrap_or('•'),
        code => symbol(code as u8).unwrap_or('•'),
    }
}

/// Expands ligatures to letters.
fn expand(text: char) -> impl Iterator<Item = char> {
    let letters: &'static str = match text {
        'ﬀ' => "ff",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        'ﬃ' => "ffi",
        'ﬄ' => "ffl",
        'ﬅ' | 'ﬆ' => "st",
        _ => "",
    };
    letters.is_empty().then_some(text).into_iter().chain(letters.chars())
}

/// Whether the character is a shape of Hebrew or Arabic letters rather than a letter.
fn is_shaped(letter: char) -> bool {
    matches!(letter, '\u{fb1d}'..='\u{fd3d}' | '\u{fd50}'..='\u{fdfb}' | '\u{fe70}'..='\u{fefc}')
}

/// Replaces shapes of letters by the letters, which are what is searched for.
fn base_letters(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        if is_shaped(letter) {
            // Shapes of vowel signs decompose to a space and the sign.
            out.extend(letter.nfkc().filter(|base| *base != ' '));
        } else {
            out.push(letter);
        }
    }
    out
}

const SYMBOL_LOW: &str =
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
const SYMBOL_HIGH: &str =
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭";
const DINGBATS_LOW: &str =
    " ✁✂✃✄☎✆✇✈✉☛☞✌✍✎✏✐✑✒✓✔✕✖✗✘✙✚✛✜✝✞✟✠✡✢✣✤✥✦✧★✩✪✫✬✭✮✯✰✱✲✳✴✵✶✷✸✹✺✻✼✽✾✿❀❁❂❃❄❅❆❇❈❉❊❋●❍■❏❐❑❒▲▼◆❖◗❘❙❚❛❜❝❞";
const DINGBATS_HIGH: &str =
    " ❡❢❣❤❥❦❧♣♦♥♠①②③④⑤⑥⑦⑧⑨⑩❶❷❸❹❺❻❼❽❾❿➀➁➂➃➄➅➆➇➈➉➊➋➌➍➎➏➐➑➒➓➔→↔↕➘➙➚➛➜➝➞➟➠➡➢➣➤➥➦➧➨➩➪➫➬➭➮➯ ➱➲➳➴➵➶➷➸➹➺➻➼➽➾";

/// Returns the character of a code in the font Symbol.
pub(crate) fn symbol(code: u8) -> Option<char> {
    of_table(code, SYMBOL_LOW, SYMBOL_HIGH)
}

/// Returns the character of a code in the font ZapfDingbats.
pub(crate) fn dingbat(code: u8) -> Option<char> {
    of_table(code, DINGBATS_LOW, DINGBATS_HIGH)
}

fn of_table(code: u8, low: &str, high: &str) -> Option<char> {
    match code {
        0x20..=0x7e => low.chars().nth(usize::from(code - 0x20)),
        0xa0..=0xfe => high.chars().nth(usize::from(code - 0xa0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_a_reader_would_write() {
        for (source, text) in [
            ("A", Text::One('A')),
            ("ﬃ", Text::Many("ffi".into())),
            ("\u{a0}", Text::One(' ')),
            ("\u{0}", Text::Unknown),
            ("\u{f0b7}", Text::One('•')),
            ("\u{e123}", Text::Unknown),
            ("\u{f731}", Text::One('1')),
            ("\u{f761}", Text::One('a')),
            ("\u{f7e9}", Text::One('é')),
            ("\u{f8e8}", Text::One('®')),
            ("\u{f8eb}", Text::One('⎛')),
            ("\u{f8fe}", Text::One('⎭')),
            ("\u{f8ff}", Text::Unknown),
        ] {
            assert_eq!(Text::of(source), text, "{source:?}");
        }
    }

    #[test]
    fn symbol_fonts_have_their_own_codes() {
        assert_eq!(symbol(b'a'), Some('α'));
        assert_eq!(symbol(0xb7), Some('•'));
        assert_eq!(symbol(0xfe), Some('⎭'));
        assert_eq!(dingbat(0x34), Some('✔'));
        assert_eq!(dingbat(0xfe), Some('➾'));
    }
}
