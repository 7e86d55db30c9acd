//! Counts of letters, words and punctuation in text.

/// Counts of one block of text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    /// Characters that are not white space.
    pub(crate) letters: u32,
    pub(crate) words: u32,
    /// Commas and semicolons.
    pub(crate) commas: u32,
    /// Ends of sentences.
    pub(crate) stops: u32,
    pub(crate) upper: u32,
    pub(crate) digits: u32,
    /// The last character that is not white space.
    pub(crate) last: char,
    pub(crate) first: char,
    in_word: bool,
}

/// Limit on the ASCII characters that are counted in one sum, so that none of its fields overflows.
const MAX_RUN: usize = (1 << FIELD) - 1;
/// Width of a field of the sum, in bits: five fields of 12 bits fit into 64.
const FIELD: u32 = 12;
/// Offsets of the fields, in bits.
const LETTERS: u32 = 0;
const UPPER: u32 = FIELD;
const DIGITS: u32 = FIELD * 2;
const COMMAS: u32 = FIELD * 3;
const STOPS: u32 = FIELD * 4;

/// The summand of each ASCII character: 1 in each field that counts it.
const KINDS: [u64; 128] = {
    let mut kinds = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte] = match byte as u8 {
            b'\t'..=b'\r' | b' ' => 0,
            b'A'..=b'Z' => 1 << LETTERS | 1 << UPPER,
            b'0'..=b'9' => 1 << LETTERS | 1 << DIGITS,
            b',' | b';' => 1 << LETTERS | 1 << COMMAS,
            b'.' | b'!' | b'?' => 1 << LETTERS | 1 << STOPS,
            _ => 1 << LETTERS,
        };
        byte += 1;
    }
    kinds
};

impl Text {
    /// Adds text that follows directly: a word may continue from the previous text.
    pub(crate) fn add(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let run = rest.bytes().take(MAX_RUN).take_while(u8::is_ascii).count();
            let (ascii, others) = rest.split_at(run);
            self.add_ascii(ascii);
            let next = others.find(|c: char| c.is_ascii()).unwrap_or(others.len());
            others[..next].chars().for_each(|c| self.add_other(c));
            rest = &others[next..];
        }
    }

    /// Adds ASCII text. Most text is ASCII, so it is counted without branches, all counts in one sum.
    fn add_ascii(&mut self, text: &str) {
        let (mut sum, mut words, mut in_word) = (0, 0, u64::from(self.in_word));
        for byte in text.bytes() {
            // The mask makes the index provably valid, which removes the bounds check.
            let kind = KINDS[usize::from(byte & 0x7f)];
            sum += kind;
            // Bit 0 is set for all but white space: a word begins where it is set and was not before.
            words += kind & !in_word & 1;
            in_word = kind & 1;
        }
        let is_letter = |c: char| !c.is_whitespace();
        if self.letters == 0 {
            self.first = text.chars().find(|&c| is_letter(c)).unwrap_or(self.first);
        }
        self.last = text.chars().rfind(|&c| is_letter(c)).unwrap_or(self.last);
        let field = |from: u32| (sum >> from) as u32 & MAX_RUN as u32;
        self.letters += field(LETTERS);
        self.upper += field(UPPER);
        self.digits += field(DIGITS);
        self.commas += field(COMMAS);
        self.stops += field(STOPS);
        self.words += words as u32;
        self.in_word = in_word == 1;
    }

    fn add_other(&mut self, c: char) {
        if c.is_whitespace() {
            self.in_word = false;
            return;
        }
        if self.letters == 0 {
            self.first = c;
        }
        self.letters += 1;
        // Scripts without spaces (CJK): a character counts as about half a word.
        let wide = c >= '\u{2e80}';
        self.words += u32::from(!self.in_word || wide && self.letters.is_multiple_of(2));
        self.in_word = true;
        self.last = c;
        match c {
            '،' | '，' | '、' => self.commas += 1,
            '…' | '。' | '！' | '？' | '।' => self.stops += 1,
            _ => self.upper += u32::from(c.is_uppercase()),
        }
    }

    /// Whether the text reads like a sentence.
    pub(crate) fn is_prose(&self) -> bool {
        self.words >= 8 && (self.stops > 0 || self.commas > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(texts: &[&str]) -> Text {
        let mut counts = Text::default();
        texts.iter().for_each(|text| counts.add(text));
        counts
    }

    #[test]
    fn words_go_on_from_text_to_text() {
        let text = counted(&["Two wo", "rds,", " and 3\u{a0}more", "."]);
        assert_eq!((text.words, text.letters, text.upper, text.digits), (5, 18, 1, 1));
        assert_eq!((text.commas, text.stops, text.first, text.last), (1, 1, 'T', '.'));
        let single = counted(&[" x "]);
        assert_eq!((single.words, single.first, single.last), (1, 'x', 'x'));
        assert_eq!(counted(&["", " \n"]).letters, 0);
    }

    #[test]
    fn letters_of_all_scripts() {
        let text = counted(&["École, ÉTÉ… 日本語。", "a\u{3000}b"]);
        assert_eq!((text.words, text.letters, text.upper), (6, 16, 4));
        assert_eq!((text.commas, text.stops, text.last), (1, 2, 'b'));
    }

    #[test]
    fn long_text_is_counted_in_runs() {
        let text = counted(&["A,b. ".repeat(MAX_RUN).as_str()]);
        let times = MAX_RUN as u32;
        assert_eq!((text.words, text.letters), (times, times * 4));
        assert_eq!((text.upper, text.commas, text.stops), (times, times, times));
    }
}
