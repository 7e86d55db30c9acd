//! Graphics state and its operators.

use std::rc::Rc;

use lopdf::Dictionary;

use super::lexer::{Lexer, Operand};
use super::{Interpreter, MAX_SAVED};
use crate::font::Font;
use crate::geometry::Matrix;
use crate::objects::Lookup;

/// Part of the graphics state that affects text and lines.
#[derive(Clone)]
pub(super) struct State {
    /// Transform from user space to page space.
    pub(super) matrix: Matrix,
    pub(super) font: Rc<Font>,
    pub(super) style: u16,
    pub(super) size: f32,
    pub(super) char_space: f32,
    pub(super) word_space: f32,
    /// Horizontal scale of text.
    pub(super) scale: f32,
    pub(super) leading: f32,
    pub(super) rise: f32,
    /// Whether text is drawn without ink.
    pub(super) invisible: bool,
    /// Line width in user space.
    pub(super) line_width: f32,
    /// Whether the fill colour is white.
    pub(super) white: bool,
}

impl State {
    pub(super) fn new(matrix: Matrix, font: Rc<Font>) -> Self {
        Self {
            matrix,
            font,
            style: 0,
            size: 1.0,
            char_space: 0.0,
            word_space: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
            invisible: false,
            line_width: 1.0,
            white: false,
        }
    }
}

impl Interpreter<'_> {
    /// Runs a graphics state operator; returns false for other operators.
    pub(super) fn state_operator(&mut self, operator: &[u8], lexer: &Lexer<'_>, resources: &Dictionary) -> bool {
        match operator {
            b"q" => {
                if self.saved.len() < MAX_SAVED {
                    self.saved.push(self.state.clone());
                }
            }
            b"Q" => {
                if let Some(state) = self.saved.pop() {
                    self.state = state;
                }
            }
            b"cm" => {
                if let Some(numbers) = lexer.numbers::<6>() {
                    let matrix = Matrix(numbers).then(&self.state.matrix);
                    if matrix.is_finite() {
                        self.state.matrix = matrix;
                    }
                }
            }
            b"w" => self.state.line_width = lexer.number(0).unwrap_or(1.0).abs(),
            b"g" | b"rg" | b"k" | b"sc" | b"scn" => self.state.white = is_white(lexer),
            b"cs" => self.state.white = false,
            b"Tf" => self.set_font(lexer, resources),
            b"gs" => self.set_external(lexer, resources),
            _ => return false,
        }
        true
    }

    fn set_font(&mut self, lexer: &Lexer<'_>, resources: &Dictionary) {
        if let Some(size) = lexer.number(1) {
            self.state.size = size;
        }
        let Some(name) = lexer.name(0) else { return };
        let entry = resources.dict(&self.pdf.doc, b"Font").and_then(|fonts| fonts.get(name).ok());
        let font = match entry {
            Some(entry) => self.fonts.get(&self.pdf.doc, entry),
            None => self.fonts.unknown(),
        };
        self.state.style = self.style(&font);
        self.state.font = font;
    }

    /// Sets the font from a named graphics state.
    fn set_external(&mut self, lexer: &Lexer<'_>, resources: &Dictionary) {
        let doc = &self.pdf.doc;
        let named = lexer.name(0).and_then(|name| resources.dict(doc, b"ExtGState")?.dict(doc, name));
        let Some([font, size]) = named.and_then(|named| named.array(doc, b"Font")) else { return };
        let font = self.fonts.get(doc, font);
        self.state.size = size.as_float().unwrap_or(self.state.size);
        self.state.style = self.style(&font);
        self.state.font = font;
    }
}

fn is_white(lexer: &Lexer<'_>) -> bool {
    let all = |wanted: fn(f32) -> bool| {
        lexer.operands.iter().all(|operand| matches!(operand, Operand::Number(value) if wanted(*value)))
    };
    match lexer.operands.len() {
        1 | 3 => all(|value| value >= 0.99),
        4 => all(|value| value <= 0.01),
        _ => false,
    }
}
