//! Grouping of glyphs into words.
//!
//! Layout uses *reading space*: the page rotated so that most of its text runs to the right. Text that runs upwards is
//! laid out like any other, and its boxes are rotated back at the end. Text in other directions is laid out separately.

use super::accents::{self, Letter};
use super::rtl::logical;
use super::seams;
pub(crate) use crate::content::page::Direction;
use crate::content::page::{Flags, Glyph, PageContent, Style};
use crate::geometry::{Point, Rect, Size};

/// Minimum gap between words, as a share of the em.
const WORD_GAP: f32 = 0.17;
/// Maximum shift of the baseline inside a word, as a share of the em.
const SAME_BASELINE: f32 = 0.12;
/// Maximum number of spaces inside a line of a typewritten page; more separate columns.
const TYPED_SPACES: usize = 2;
/// Maximum width of these spaces, in ems.
const TYPED_GAP: f32 = 2.5;
/// Maximum number of runs that are noted inside a word.
const MAX_SEAMS: usize = 2;
/// Maximum ratio of the size of raised or lowered letters to that of the word before, and their minimum shift in ems.
const SMALL: f32 = 0.8;
const SHIFTED: f32 = 0.06;
/// Height of letters above the baseline, as a share of the em.
const ASCENT: f32 = 0.78;
/// Depth of letters below the baseline, as a share of the em.
const DESCENT: f32 = 0.22;

/// Word in reading space.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) rect: Rect,
    pub(crate) baseline: f32,
    pub(crate) size: f32,
    pub(crate) style: u16,
    /// Byte offsets in the text where a monospaced font begins or ends.
    pub(crate) turns: Vec<usize>,
    /// Position in drawing order; the greatest number if that says nothing.
    pub(crate) order: u32,
    /// Whether a space was drawn before it.
    pub(crate) spaced: bool,
    /// Whether only a single space, of any width, separates it from the word before; in monospaced text, several.
    pub(crate) joined: bool,
    pub(crate) artifact: bool,
    /// Whether it is tagged as a heading.
    pub(crate) tagged: bool,
    /// Whether it begins a column of a table, although it may touch the word before.
    pub(crate) column: bool,
    /// Whether a run of its own begins with it.
    pub(crate) begins_run: bool,
    /// Letters that begin a run of their own inside the word: byte offset and left edge.
    pub(crate) seams: Vec<(usize, f32)>,
    /// Index in the links of the page.
    pub(crate) link: Option<u16>,
}

impl Word {
    pub(crate) fn gap_to(&self, next: &Self) -> f32 {
        next.rect.x0 - self.rect.x1
    }

    pub(crate) fn is_rtl(&self) -> bool {
        !self.text.is_ascii() && self.text.chars().any(is_rtl)
    }
}

/// Rotation between page space and reading space.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rotation {
    pub(crate) direction: Direction,
    /// Size of the visible page.
    pub(crate) page: Size,
}

impl Rotation {
    /// Returns the size of the page in reading space.
    pub(crate) fn size(&self) -> Size {
        match self.direction {
            Direction::Right | Direction::Left => self.page,
            Direction::Down | Direction::Up => self.page.turned(),
        }
    }

    /// Converts from page space.
    pub(crate) fn to(&self, point: Point) -> Point {
        let (Size { width, height }, Point { x, y }) = (self.page, point);
        match self.direction {
            Direction::Right => point,
            Direction::Down => Point { x: y, y: width - x },
            Direction::Left => Point { x: width - x, y: height - y },
            Direction::Up => Point { x: height - y, y: x },
        }
    }

    /// Converts back to page space.
    pub(crate) fn back(&self, point: Point) -> Point {
        let (Size { width, height }, Point { x, y }) = (self.page, point);
        match self.direction {
            Direction::Right => point,
            Direction::Down => Point { x: width - y, y: x },
            Direction::Left => Point { x: width - x, y: height - y },
            Direction::Up => Point { x: y, y: height - x },
        }
    }

    pub(crate) fn rect_to(&self, rect: &Rect) -> Rect {
        let (first, last) = rect.corners();
        Rect::between(self.to(first), self.to(last))
    }

    pub(crate) fn rect_back(&self, rect: &Rect) -> Rect {
        let (first, last) = rect.corners();
        Rect::between(self.back(first), self.back(last))
    }
}

/// Returns the directions of the text of a page, the most frequent first.
pub(crate) fn directions(page: &PageContent) -> Vec<Direction> {
    let all = [Direction::Right, Direction::Down, Direction::Left, Direction::Up];
    let count = |direction: Direction| {
        page.glyphs.iter().filter(|glyph| glyph.direction == direction && !glyph.flags.has(Flags::SPACE)).count()
    };
    let mut found: Vec<_> = all.into_iter().map(|direction| (count(direction), direction)).collect();
    found.retain(|(count, _)| *count > 0);
    found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    found.into_iter().map(|(_, direction)| direction).collect()
}

/// Returns the words of one direction, in drawing order.
pub(crate) fn words(page: &PageContent, turn: &Rotation) -> Vec<Word> {
    let mut builder = Builder { words: Vec::with_capacity(page.glyphs.len() / 5), ..Builder::default() };
    let mono = |glyph: &Glyph| page.styles.get(usize::from(glyph.style)).is_some_and(|style| style.mono);
    // On a typewritten page, columns are separated only by spaces.
    let typed = 5 * page.glyphs.iter().filter(|glyph| mono(glyph)).count() > 3 * page.glyphs.len();
    for glyph in page.glyphs.iter().filter(|glyph| glyph.direction == turn.direction) {
        builder.mono = mono(glyph);
        builder.most_spaces = if !builder.mono {
            1
        } else if typed {
            TYPED_SPACES
        } else {
            usize::MAX
        };
        builder.add(glyph, turn.to(glyph.start), turn.to(glyph.end));
    }
    builder.finish();
    let mut words = builder.words;
    // The words of a text layer are placed too roughly for that.
    if !page.glyphs.first().is_some_and(|glyph| glyph.flags.has(Flags::HIDDEN)) {
        seams::part(&mut words);
    }
    set_bullets(&mut words, &page.styles);
    for (place, area) in (0_u16..).zip(&page.links) {
        let rect = turn.rect_to(&area.rect);
        for word in words.iter_mut().filter(|word| rect.holds(word.rect.center())) {
            word.link = Some(place);
        }
    }
    words
}

/// Replaces the letter `o` by the bullet that word processors draw with it: in a font of its own, at the tab stop before
/// the text.
fn set_bullets(words: &mut [Word], styles: &[Style]) {
    let mono = |word: &Word| styles.get(usize::from(word.style)).is_some_and(|style| style.mono);
    for place in 1..words.len() {
        let (before, after) = words.split_at_mut(place);
        let (Some(bullet), Some(next)) = (before.last_mut(), after.first()) else { continue };
        let level = (bullet.baseline - next.baseline).abs() < SAME_BASELINE * next.size;
        if bullet.text == "o" && level && mono(bullet) && !mono(next) && bullet.gap_to(next) > 0.4 * next.size {
            bullet.text = "◦".to_owned();
        }
    }
}

#[derive(Default)]
struct Builder {
    words: Vec<Word>,
    /// Word under construction with its letters; its turns are letter indices until it is finished.
    open: Option<(Word, Vec<Letter>)>,
    /// Whether the current and the last letter are monospaced.
    mono: bool,
    last_mono: bool,
    spaced: bool,
    new_run: bool,
    /// Number of spaces since the last letter, and the end of the last of them.
    spaces: usize,
    space_end: f32,
    /// Maximum number of spaces inside a line: one, more in monospaced fonts.
    most_spaces: usize,
}

impl Builder {
    fn add(&mut self, glyph: &Glyph, start: Point, end: Point) {
        self.new_run |= glyph.flags.has(Flags::FIRST);
        if glyph.flags.has(Flags::SPACE) {
            self.spaced = true;
            self.spaces += 1;
            self.space_end = start.x.max(end.x);
            return;
        }
        let (x0, x1) = (start.x.min(end.x), start.x.max(end.x));
        let (y, size) = (start.y, glyph.size);
        let letter = Letter { x0, x1, text: glyph.text };
        if !self.goes_on(glyph, letter, y) {
            self.finish();
            self.begin(glyph, letter, y);
        }
        if let Some((word, letters)) = &mut self.open {
            word.rect.x0 = word.rect.x0.min(x0);
            word.rect.x1 = word.rect.x1.max(x1);
            word.rect.y0 = word.rect.y0.min(y - ASCENT * size);
            word.rect.y1 = word.rect.y1.max(y + DESCENT * size);
            word.size = word.size.max(size);
            let joins = letters.last().is_some_and(|last| last.text.is_alphanumeric()) && glyph.text.is_alphanumeric();
            if joins && glyph.flags.has(Flags::FIRST) && !glyph.flags.has(Flags::JOINED) {
                word.seams.push((letters.len(), x0));
            }
            if self.mono != self.last_mono && !letters.is_empty() {
                word.turns.push(letters.len());
            }
            letters.push(letter);
        }
        (self.spaced, self.spaces, self.last_mono) = (false, 0, self.mono);
    }

    fn goes_on(&self, glyph: &Glyph, letter: Letter, y: f32) -> bool {
        let Some((word, letters)) = &self.open else { return false };
        if glyph.flags.has(Flags::JOINED) && !self.spaced {
            return true;
        }
        // A bullet of a font of its own is a mark, however close the text is.
        if glyph.style != word.style && matches!(&letters[..], [bullet] if bullet.text == '•') {
            return false;
        }
        let size = word.size.max(glyph.size);
        let shift = (y - word.baseline).abs();
        let small = word.size.min(glyph.size) < SMALL * size && shift > SHIFTED * size;
        let level = shift < SAME_BASELINE * size && !small;
        let gap = letter.x0 - word.rect.x1;
        let forward = gap < WORD_GAP * word.size.min(glyph.size) && gap > -0.4 * size;
        // Right-to-left text is often drawn from right to left.
        let backward = is_rtl(glyph.text) && (word.rect.x0 - letter.x1).abs() < WORD_GAP * size;
        // A space that is cancelled by a move back separates nothing.
        let spaced = self.spaced && (gap > 0.04 * size || backward || gap < -0.04 * size);
        let stacked = letters.last().is_some_and(|last| accents::stand_over(last, &letter, size));
        let last = letters.last().map_or(' ', |last| last.text);
        // Chinese and Japanese are set without spaces, so a wide gap after an ideograph ends the word.
        level && !spaced && (forward || backward || stacked) && !(is_ideograph(last) && gap > 0.6 * size)
    }

    fn begin(&mut self, glyph: &Glyph, letter: Letter, y: f32) {
        let Letter { x0, x1, .. } = letter;
        let word = Word {
            text: String::new(),
            rect: Rect { x0, y0: y, x1, y1: y },
            baseline: y,
            size: glyph.size,
            style: glyph.style,
            turns: Vec::new(),
            // A field has its place by its label, and not by when it is drawn.
            order: if glyph.flags.has(Flags::FIELD) { u32::MAX } else { self.words.len() as u32 },
            spaced: self.spaced,
            joined: self.is_joined(x0, glyph.size),
            artifact: glyph.flags.has(Flags::ARTIFACT),
            tagged: glyph.flags.has(Flags::HEADING),
            column: false,
            begins_run: self.new_run,
            seams: Vec::new(),
            link: None,
        };
        (self.new_run, self.spaces) = (false, 0);
        self.open = Some((word, Vec::with_capacity(8)));
    }

    /// Whether only spaces inside the line lie between the last word and one that begins here.
    fn is_joined(&self, x0: f32, size: f32) -> bool {
        let covered = (x0 - self.space_end).abs() < 0.3 * size;
        let gap = self.words.last().map_or(0.0, |last| x0 - last.rect.x1);
        let close = self.most_spaces != TYPED_SPACES || gap < TYPED_GAP * size;
        !self.new_run && covered && close && (1..=self.most_spaces).contains(&self.spaces)
    }

    fn finish(&mut self) {
        let Some((mut word, mut letters)) = self.open.take() else { return };
        if letters.iter().any(|letter| is_rtl(letter.text)) {
            letters.sort_by(|a, b| b.x0.total_cmp(&a.x0));
            word.text = logical(&letters.iter().map(|letter| letter.text).collect::<Vec<_>>());
            word.turns.clear();
            word.seams.clear();
        } else {
            // Where every letter is a run of its own, the runs say nothing.
            if word.seams.len() > MAX_SEAMS {
                word.seams.clear();
            }
            for seam in &mut word.seams {
                seam.0 = accents::composed(&letters[..seam.0], word.size).len();
            }
            let mut start = 0;
            for turn in &mut word.turns {
                word.text.push_str(&accents::composed(&letters[start..*turn], word.size));
                start = std::mem::replace(turn, word.text.len());
            }
            word.text.push_str(&accents::composed(&letters[start..], word.size));
        }
        if !self.is_drawn_twice(&word) {
            self.words.push(word);
        }
    }

    /// Whether the word repeats an earlier one at the same place: some programs imitate bold type this way.
    fn is_drawn_twice(&self, word: &Word) -> bool {
        let same = |other: &Word| {
            (other.rect.x0 - word.rect.x0).abs() < 0.12 * word.size
                && (other.baseline - word.baseline).abs() < 0.12 * word.size
                && other.text == word.text
        };
        self.words.iter().rev().take(24).any(same)
    }
}

/// Whether the letter belongs to a script that is written from right to left.
pub(crate) fn is_rtl(letter: char) -> bool {
    matches!(letter, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Whether the character belongs to a script without spaces between words.
pub(crate) fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}
