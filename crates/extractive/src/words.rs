//! Words of a text, and the form in which they are compared.

/// A word of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether it is two characters of a script without blanks.
    pub(crate) pair: bool,
}

/// Returns whether a character belongs to a script that is written without blanks between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns whether a mark belongs to the letter before it.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}'
        | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}')
}

/// Calls `found` with each word: runs of letters and digits, and pairs of characters in scripts without blanks.
pub(crate) fn words(text: &str, mut found: impl FnMut(Word)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] < 0x80 && !bytes[at].is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
            at += 1;
        }
        if at < bytes.len() && bytes[at] >= 0x80 {
            at = word_end(text, at, start, &mut found);
        } else {
            found(Word { start, end: at, pair: false });
        }
    }
}

/// Reads on from a character that is not ASCII. Returns where the next word may start.
fn word_end(text: &str, from: usize, start: usize, found: &mut impl FnMut(Word)) -> usize {
    let mut end = from;
    for (offset, c) in text[from..].char_indices() {
        let at = from + offset;
        if is_unspaced(c) {
            if start < at {
                found(Word { start, end: at, pair: false });
            }
            return pairs(text, at, found);
        }
        if !(c.is_alphanumeric() || is_mark(c) && at > start) {
            if start < at {
                found(Word { start, end: at, pair: false });
            }
            return at + c.len_utf8();
        }
        end = at + c.len_utf8();
    }
    if start < end {
        found(Word { start, end, pair: false });
    }
    end
}

fn pairs(text: &str, from: usize, found: &mut impl FnMut(Word)) -> usize {
    let mut before: Option<usize> = None;
    let mut count = 0;
    for (offset, c) in text[from..].char_indices() {
        let at = from + offset;
        if !is_unspaced(c) {
            if count == 1 {
                found(Word { start: from, end: at, pair: true });
            }
            return at;
        }
        count += 1;
        if let Some(before) = before {
            found(Word { start: before, end: at + c.len_utf8(), pair: true });
        }
        before = Some(at);
    }
    if count == 1 {
        found(Word { start: from, end: text.len(), pair: true });
    }
    text.len()
}

/// Returns a text in lower case without accents, so that `Lefèvre` and `lefevre` are equal.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    fold_into(text, &mut out);
    out
}

/// Adds a text in lower case without accents.
pub(crate) fn fold_into(text: &str, out: &mut String) {
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c.to_ascii_lowercase());
            continue;
        }
        for c in c.to_lowercase() {
            out.push_str(match c {
                'à'..='å' | 'ā' | 'ă' | 'ą' => "a",
                'ç' | 'ć' | 'č' => "c",
                'ď' | 'đ' => "d",
                'è'..='ë' | 'ē' | 'ė' | 'ę' | 'ě' => "e",
                'ğ' => "g",
                'ì'..='ï' | 'ī' | 'ı' => "i",
                'ł' => "l",
                'ñ' | 'ń' | 'ň' => "n",
                'ò'..='ö' | 'ø' | 'ō' | 'ő' => "o",
                'ř' => "r",
                'ś' | 'ş' | 'š' => "s",
                'ß' => "ss",
                'ť' => "t",
                'ù'..='ü' | 'ū' | 'ů' | 'ű' => "u",
                'ý' | 'ÿ' => "y",
                'ź' | 'ż' | 'ž' => "z",
                'æ' => "ae",
                'œ' => "oe",
                'ё' => "е",
                '’' | 'ʼ' => "'",
                '\u{300}'..='\u{36f}' => "",
                c => {
                    out.push(c);
                    continue;
                }
            });
        }
    }
}
