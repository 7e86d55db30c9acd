//! Text operators.
//!
//! A glyph is recorded with both ends of its advance on the baseline, in page space, so all scaling, rotation and skew
//! is resolved here. Small character spacing is part of the advance, so that letter-spaced words stay one word.

use super::Interpreter;
use super::lexer::{Lexer, Operand};
use super::page::{Direction, Flags, Glyph};
use crate::font::DecodedCode;
use crate::font::text::Text;
use crate::geometry::{Matrix, Point};
use crate::layout::words::is_rtl;

// Text outside of these bounds cannot be read: it is hidden, or its matrix is damaged.

/// Minimum size of text, in points.
const MIN_SIZE: f32 = 0.3;
/// Maximum size of text, in points.
const MAX_SIZE: f32 = 3000.0;
/// Maximum distance of text outside of the page, in points.
const OUTSIDE: f32 = 4.0;
// Letter-spaced headings have up to a third of an em. More is used to set each digit into a box of a form.
/// Character spacing below this share of the em is part of the advance.
const TIGHT: f32 = 0.4;

impl Interpreter<'_> {
    /// Runs a text operator; returns false for other operators.
    pub(super) fn show_operator(&mut self, operator: &[u8], lexer: &Lexer<'_>) -> bool {
        let number = || lexer.number(0).unwrap_or(0.0);
        match operator {
            b"Tj" => self.show_operand(lexer, 0),
            b"TJ" => self.show_array(lexer),
            b"Td" => self.move_line(lexer, false),
            b"TD" => self.move_line(lexer, true),
            b"Tm" => {
                if let Some(numbers) = lexer.numbers::<6>() {
                    self.set_line(Matrix(numbers));
                }
            }
            b"T*" => self.next_line(),
            b"BT" => self.set_line(Matrix::IDENTITY),
            b"ET" => {}
            b"'" => {
                self.next_line();
                self.show_operand(lexer, 0);
            }
            b"\"" => {
                self.state.word_space = number();
                self.state.char_space = lexer.number(1).unwrap_or(0.0);
                self.next_line();
                self.show_operand(lexer, 2);
            }
            b"Tc" => self.state.char_space = number(),
            b"Tw" => self.state.word_space = number(),
            b"Tz" => self.state.scale = number() / 100.0,
            b"TL" => self.state.leading = number(),
            b"Ts" => self.state.rise = number(),
            // The modes 3 and 7 draw nothing: most often the text layer of a scanned page.
            b"Tr" => self.state.invisible = matches!(number() as i32, 3 | 7),
            _ => return false,
        }
        true
    }

    fn set_line(&mut self, matrix: Matrix) {
        if matrix.is_finite() {
            self.line_matrix = matrix;
            self.text_matrix = matrix;
        }
    }

    fn move_line(&mut self, lexer: &Lexer<'_>, with_leading: bool) {
        let Some([x, y]) = lexer.numbers::<2>() else { return };
        if with_leading {
            self.state.leading = -y;
        }
        self.set_line(Matrix([1.0, 0.0, 0.0, 1.0, x, y]).then(&self.line_matrix));
    }

    fn next_line(&mut self) {
        self.set_line(Matrix([1.0, 0.0, 0.0, 1.0, 0.0, -self.state.leading]).then(&self.line_matrix));
    }

    fn show_operand(&mut self, lexer: &Lexer<'_>, place: usize) {
        if let Some(Operand::Text(start, end)) = lexer.operands.get(place) {
            self.show(lexer.slice(*start, *end), true);
        }
    }

    fn show_array(&mut self, lexer: &Lexer<'_>) {
        let mut first = true;
        for operand in &lexer.operands {
            match *operand {
                Operand::Text(start, end) => {
                    self.show(lexer.slice(start, end), first);
                    first = false;
                }
                // In thousandths of the em, and against the direction of writing (ISO 32000-1, 9.4.3).
                Operand::Number(value) => self.advance(-value / 1000.0 * self.state.size),
                _ => {}
            }
        }
    }

    /// Moves along the line by a length in unscaled text space.
    fn advance(&mut self, length: f32) {
        let (x, y) = if self.state.font.vertical { (0.0, length) } else { (length * self.state.scale, 0.0) };
        let moved = Matrix([1.0, 0.0, 0.0, 1.0, x, y]).then(&self.text_matrix);
        if moved.is_finite() {
            self.text_matrix = moved;
        }
    }

    fn show(&mut self, bytes: &[u8], first: bool) {
        let font = std::rc::Rc::clone(&self.state.font);
        if self.runs.last().is_none_or(|(_, last)| !std::rc::Rc::ptr_eq(last, &font)) {
            self.runs.push((self.page.glyphs.len(), std::rc::Rc::clone(&font)));
        }
        let (tight, hidden) = (self.state.char_space.abs() < TIGHT * self.state.size.abs(), self.marks.hidden());
        let following = self.flags();
        let mut rest = bytes;
        let mut flags = following.with(Flags::FIRST, first);
        while let Some(shown) = font.next(rest) {
            rest = rest.get(shown.length..).unwrap_or_default();
            if !self.budget.glyphs(self.page.glyphs.len()) {
                self.page.cut = true;
                return;
            }
            let word = if shown.is_space { self.state.word_space } else { 0.0 };
            let spacing = self.state.char_space;
            let advance = if font.vertical { -self.state.size } else { shown.width * self.state.size };
            let inked = if tight { advance + spacing } else { advance };
            // A space covers its whole movement, so the word after it is known to follow on the same line.
            let inked = if shown.is_space { advance + spacing + word } else { inked };
            if !hidden {
                self.note(&shown, inked, flags);
            }
            // Hidden text is not recorded, but still moves what follows.
            self.advance(advance + spacing + word);
            flags = following;
        }
    }

    fn flags(&self) -> Flags {
        Flags::default()
            .with(Flags::HIDDEN, self.state.invisible)
            .with(Flags::ARTIFACT, self.marks.artifact())
            .with(Flags::HEADING, self.marks.heading())
    }

    /// Records a glyph with its advance in unscaled text space.
    fn note(&mut self, shown: &DecodedCode, advance: f32, flags: Flags) {
        let matrix = self.text_matrix.then(&self.state.matrix);
        let start = matrix.apply(0.0, self.state.rise);
        let along = match self.state.font.vertical {
            true => matrix.turn(0.0, advance),
            false => matrix.turn(advance * self.state.scale, 0.0),
        };
        let up = matrix.turn(0.0, self.state.size * self.state.font.em);
        let size = up.length();
        let end = Point { x: start.x + along.x, y: start.y + along.y };
        if !(MIN_SIZE..MAX_SIZE).contains(&size) || !self.on_page(start) || !end.x.is_finite() || !end.y.is_finite() {
            return;
        }
        let direction = if along == (Point { x: 0.0, y: 0.0 }) { Direction::Right } else { Direction::of(along) };
        let glyph = Glyph { text: ' ', start, end, size, style: self.state.style, direction, flags };
        match &shown.text {
            Text::One(text) => self.page.glyphs.push(spaced(Glyph { text: *text, ..glyph })),
            Text::Many(text) => spread(&mut self.page.glyphs, &glyph, text),
            // A code without text and width leaves no mark on the page.
            Text::Unknown if shown.width == 0.0 || shown.is_space => {}
            Text::Unknown => {
                let flags = flags.with(Flags::UNKNOWN, true);
                self.page.glyphs.push(Glyph { text: char::REPLACEMENT_CHARACTER, flags, ..glyph });
            }
        }
    }

    fn on_page(&self, point: Point) -> bool {
        let Point { x, y } = point;
        (-OUTSIDE..=self.page.width + OUTSIDE).contains(&x) && (-OUTSIDE..=self.page.height + OUTSIDE).contains(&y)
    }
}

fn spaced(glyph: Glyph) -> Glyph {
    Glyph { flags: glyph.flags.with(Flags::SPACE, glyph.text == ' '), ..glyph }
}

/// Adds the letters of a text in place of one glyph, each with an equal share of its advance.
pub(super) fn spread(glyphs: &mut Vec<Glyph>, glyph: &Glyph, text: &str) {
    let count = text.chars().count().max(1) as f32;
    let (dx, dy) = ((glyph.end.x - glyph.start.x) / count, (glyph.end.y - glyph.start.y) / count);
    // The text is in the order of reading: from right to left if it is of such a script.
    let backwards = text.chars().any(is_rtl) && dx >= 0.0;
    // Its letters are added in the direction in which the text is drawn, so that each is next to the one before.
    let leftwards = glyphs.last().is_some_and(|last| last.start.x > glyph.start.x);
    let mut letters: Vec<(usize, char)> = text.chars().enumerate().collect();
    if backwards && !leftwards {
        letters.reverse();
    }
    for (count_before, (place, letter)) in letters.into_iter().enumerate() {
        let from = if backwards { count - 1.0 - place as f32 } else { place as f32 };
        let start = Point { x: glyph.start.x + dx * from, y: glyph.start.y + dy * from };
        let end = Point { x: start.x + dx, y: start.y + dy };
        let flags = glyph.flags.with(Flags::JOINED, count_before > 0);
        glyphs.push(spaced(Glyph { text: letter, start, end, flags, ..*glyph }));
    }
}
