//! Text of fonts whose `ToUnicode` is wrong: letters that make no text are replaced by what the encoding of the font
//! says, or shifted in the alphabet, where that makes a text; otherwise they count as unreadable.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::Interpreter;
use super::page::{Flags, Glyph};
use crate::font::Font;
use crate::font::likelihood::Letters;

/// Minimum number of letters of a page in one font that are judged.
const MIN_LETTERS: u32 = 30;
/// Minimum number of letters that are judged without a better reading.
const MANY_LETTERS: u32 = 100;
/// Number of letters that suffice to judge the rest of the page.
const ENOUGH_LETTERS: u32 = 600;
/// Bits per letter above which letters are doubted, below which another reading is a text, and above which letters make
/// no text in any language.
const DOUBTED: f32 = 4.95;
const TEXT: f32 = 4.9;
const NO_TEXT: f32 = 6.2;
/// Minimum difference, in bits per letter, to a better reading.
const BETTER: f32 = 0.55;
/// Minimum number of different letters; formulas have few.
const MIN_DISTINCT: usize = 10;
/// Maximum shift of codes.
const MAX_SHIFT: i32 = 31;

impl Interpreter<'_> {
    /// Corrects the text of the page.
    pub(super) fn repair(&mut self) {
        let runs = std::mem::take(&mut self.runs);
        let count = self.page.glyphs.len();
        let ends = runs.iter().skip(1).map(|(start, _)| *start).chain([count]);
        let mut fonts: HashMap<*const Font, Shown> = HashMap::new();
        for ((start, font), end) in runs.iter().zip(ends) {
            let shown = fonts.entry(Rc::as_ptr(font)).or_insert_with(|| Shown::new(font));
            let range = (*start).min(count)..end.clamp((*start).min(count), count);
            if shown.letters.total + shown.letters.signs < ENOUGH_LETTERS {
                self.page.glyphs[range.clone()].iter().for_each(|glyph| shown.letters.add(glyph.text, 1));
            }
            shown.ranges.push(range);
        }
        let most = count / 2;
        for shown in fonts.values().filter(|shown| shown.is_doubted()) {
            let glyphs: usize = shown.ranges.iter().map(Range::len).sum();
            shown.correct(&mut self.page.glyphs, glyphs >= most);
        }
    }
}

/// Glyphs of one font on the page.
struct Shown<'a> {
    font: &'a Font,
    letters: Letters,
    ranges: Vec<Range<usize>>,
}

impl<'a> Shown<'a> {
    fn new(font: &'a Font) -> Self {
        Self { font, letters: Letters::default(), ranges: Vec::new() }
    }

    fn is_doubted(&self) -> bool {
        let many = self.letters.total + self.letters.signs >= MIN_LETTERS;
        many && self.letters.distinct() >= MIN_DISTINCT && self.letters.bits() > DOUBTED
    }

    /// Corrects the glyphs of the font. Only the main font of a page is judged by its letters alone, as those of a font
    /// for formulas make no text.
    fn correct(&self, glyphs: &mut [Glyph], main: bool) {
        let bits = self.letters.bits();
        let mut counts: HashMap<char, u32> = HashMap::new();
        for range in &self.ranges {
            glyphs[range.clone()].iter().for_each(|glyph| *counts.entry(glyph.text).or_default() += 1);
        }
        let better = |read: &dyn Fn(char) -> char| {
            let mut letters = Letters::default();
            counts.iter().for_each(|(letter, count)| letters.add(read(*letter), *count));
            let text = letters.bits();
            (letters.total >= MIN_LETTERS && text < TEXT && text + BETTER < bits).then_some(text)
        };
        let encoded = self.font.by_encoding();
        let by_encoding = |letter: char| encoded.as_ref().and_then(|map| map.get(&letter)).copied().unwrap_or(letter);
        if better(&by_encoding).is_some() {
            return self.replace(glyphs, &by_encoding);
        }
        let shifts = (-MAX_SHIFT..=MAX_SHIFT).filter(|by| *by != 0 && main && self.letters.total >= MANY_LETTERS);
        let best = shifts.filter_map(|by| Some((by, better(&|letter| shifted(letter, by))?)));
        match best.min_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((by, _)) => self.replace(glyphs, &|letter| shifted(letter, by)),
            None if bits > NO_TEXT && main && self.letters.total >= MANY_LETTERS => {
                for glyph in self.ranges.iter().flat_map(Clone::clone) {
                    glyphs[glyph].flags = glyphs[glyph].flags.with(Flags::UNKNOWN, true);
                }
            }
            None => {}
        }
    }

    fn replace(&self, glyphs: &mut [Glyph], read: &dyn Fn(char) -> char) {
        for place in self.ranges.iter().flat_map(Clone::clone) {
            let glyph = &mut glyphs[place];
            let text = read(glyph.text);
            let flags = glyph.flags.with(Flags::SPACE, text == ' ');
            (glyph.text, glyph.flags) = (text, flags);
        }
    }
}

/// Returns the printable character at a distance from another; others stay.
fn shifted(letter: char, by: i32) -> char {
    let code = u32::from(letter).checked_add_signed(by).filter(|code| (0x21..0x7f).contains(code));
    if letter.is_ascii_graphic() { code.and_then(char::from_u32).unwrap_or(letter) } else { letter }
}
