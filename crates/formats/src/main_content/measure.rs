//! What can be counted in a piece of text.

/// Counts of one block of text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    /// Characters that are not white space.
    pub(crate) letters: u32,
    pub(crate) words: u32,
    /// Commas and the like.
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

impl Text {
    /// Adds text that follows directly.
    pub(crate) fn add(&mut self, text: &str) {
        for c in text.chars() {
            if c.is_whitespace() {
                self.in_word = false;
                continue;
            }
            if self.letters == 0 {
                self.first = c;
            }
            self.letters += 1;
            // Scripts without spaces: a character is about half a word.
            let wide = c >= '\u{2e80}';
            self.words += u32::from(!self.in_word || wide && self.letters.is_multiple_of(2));
            self.in_word = true;
            self.last = c;
            self.count(c);
        }
    }

    fn count(&mut self, c: char) {
        match c {
            'a'..='z' => {}
            'A'..='Z' => self.upper += 1,
            '0'..='9' => self.digits += 1,
            ',' | ';' | '،' | '，' | '、' => self.commas += 1,
            '.' | '!' | '?' | '…' | '。' | '！' | '？' | '।' => self.stops += 1,
            _ if c > '\u{7f}' => self.upper += u32::from(c.is_uppercase()),
            _ => {}
        }
    }

    /// Whether it reads like a sentence.
    pub(crate) fn is_prose(&self) -> bool {
        self.words >= 8 && (self.stops > 0 || self.commas > 0)
    }
}
