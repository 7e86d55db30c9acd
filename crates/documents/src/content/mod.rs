//! Content interpreter: runs the content streams of a page and records what they draw.
//!
//! Operators are read one by one, and only the text, the lines and boxes of tables and the positions of images are
//! kept. It never fails: damaged parts are skipped, and when a budget is spent the page is marked as cut.

mod annotations;
mod budget;
mod fields;
pub(crate) mod lexer;
mod marks;
pub(crate) mod page;
mod path;
mod repair;
mod show;
mod state;

use std::collections::HashMap;
use std::rc::Rc;

use lopdf::{Dictionary, Object, ObjectId, Stream};

pub(crate) use self::budget::Budget;
use self::budget::PageBudget;
use self::lexer::Lexer;
use self::marks::Marks;
use self::page::{PageContent, Style};
use self::path::Path;
use self::state::State;
use crate::font::{Font, Fonts};
use crate::geometry::{Matrix, Rect};
use crate::objects::{Lookup, MAX_STREAM, as_dict, bytes, resolve};
use crate::open::{Pdf, VisibleArea};

/// Maximum nesting of forms.
const MAX_DEPTH: usize = 12;
/// Maximum number of saved graphics states.
const MAX_SAVED: usize = 512;

/// Reads the content of one page.
pub(crate) fn read_content(pdf: &Pdf, page: &Dictionary, fonts: &mut Fonts, budget: &mut Budget) -> PageContent {
    let view = pdf.view(page);
    let mut interpreter = Interpreter::new(pdf, &view, fonts, PageBudget::new(budget));
    let none = Dictionary::new();
    let resources = pdf.inherited(page, b"Resources").and_then(as_dict).unwrap_or(&none);
    let content = interpreter.page_bytes(page);
    interpreter.run(&content, resources);
    interpreter.repair();
    interpreter.annotations(page, &view);
    interpreter.page
}

pub(crate) struct Interpreter<'a> {
    pdf: &'a Pdf,
    fonts: &'a mut Fonts,
    budget: PageBudget<'a>,
    page: PageContent,
    state: State,
    saved: Vec<State>,
    text_matrix: Matrix,
    line_matrix: Matrix,
    path: Path,
    marks: Marks,
    /// Forms that are being run, to prevent recursion.
    running: Vec<ObjectId>,
    depth: usize,
    styles: HashMap<*const Font, u16>,
    /// Fonts with the number of glyphs before the first that each of them shows.
    runs: Vec<(usize, Rc<Font>)>,
}

impl<'a> Interpreter<'a> {
    fn new(pdf: &'a Pdf, view: &VisibleArea, fonts: &'a mut Fonts, budget: PageBudget<'a>) -> Self {
        let state = State::new(view.matrix, fonts.unknown());
        let page = PageContent { width: view.width, height: view.height, ..PageContent::default() };
        Self {
            pdf,
            fonts,
            budget,
            page,
            state,
            saved: Vec::new(),
            text_matrix: Matrix::IDENTITY,
            line_matrix: Matrix::IDENTITY,
            path: Path::default(),
            marks: Marks::default(),
            running: Vec::new(),
            depth: 0,
            styles: HashMap::new(),
            runs: Vec::new(),
        }
    }

    /// Returns the concatenated content streams of a page.
    fn page_bytes(&mut self, page: &Dictionary) -> Vec<u8> {
        let doc = &self.pdf.doc;
        let mut content = Vec::new();
        let mut add = |this: &mut Self, object: &Object| {
            if let Some(stream) = resolve(doc, object).and_then(|object| object.as_stream().ok()) {
                content.extend(this.stream_bytes(stream));
                content.push(b'\n');
            }
        };
        match page.object(doc, b"Contents") {
            Some(Object::Array(parts)) => parts.iter().for_each(|part| add(self, part)),
            Some(object) => add(self, object),
            None => {}
        }
        content
    }

    fn stream_bytes(&mut self, stream: &Stream) -> Vec<u8> {
        let most = self.budget.stream(MAX_STREAM);
        let Some(content) = bytes(stream, most) else {
            self.page.cut = true;
            return Vec::new();
        };
        self.budget.bytes(content.len());
        content
    }

    fn run(&mut self, content: &[u8], resources: &Dictionary) {
        let mut lexer = Lexer::new(content);
        while let Some(operator) = lexer.next() {
            if !self.budget.operator() {
                self.page.cut = true;
                return;
            }
            let known = self.show_operator(operator, &lexer)
                || self.path_operator(operator, &lexer)
                || self.state_operator(operator, &lexer, resources)
                || self.mark_operator(operator, &lexer, resources);
            if !known {
                self.object_operator(operator, &mut lexer, resources);
            }
        }
    }

    fn object_operator(&mut self, operator: &[u8], lexer: &mut Lexer<'_>, resources: &Dictionary) {
        match operator {
            b"Do" => {
                let Some(name) = lexer.name(0) else { return };
                let entry = resources.dict(&self.pdf.doc, b"XObject").and_then(|forms| forms.get(name).ok());
                if let Some(entry) = entry {
                    self.draw(entry, resources);
                }
            }
            b"ID" => {
                lexer.skip_image_data();
                self.add_image();
            }
            _ => {}
        }
    }

    /// Draws an image or a form.
    fn draw(&mut self, entry: &Object, resources: &Dictionary) {
        let doc = &self.pdf.doc;
        let Some(stream) = resolve(doc, entry).and_then(|object| object.as_stream().ok()) else { return };
        if self.pdf.is_hidden(&stream.dict) {
            return;
        }
        match stream.dict.name(doc, b"Subtype") {
            Some(b"Image") => self.add_image(),
            Some(b"Form") => self.run_form(entry.as_reference().ok(), stream, resources),
            _ => {}
        }
    }

    fn add_image(&mut self) {
        let unit = Rect { x0: 0.0, y0: 0.0, x1: 1.0, y1: 1.0 };
        let rect = self.state.matrix.map(&unit);
        if self.budget.shapes(self.page.images.len()) && !self.marks.hidden() && rect.area().is_finite() {
            self.page.images.push(rect);
        }
    }

    fn run_form(&mut self, id: Option<ObjectId>, form: &Stream, resources: &Dictionary) {
        let looped = id.is_some_and(|id| self.running.contains(&id));
        if looped || self.depth >= MAX_DEPTH {
            return;
        }
        if !self.budget.form() {
            self.page.cut = true;
            return;
        }
        let doc = &self.pdf.doc;
        let content = self.stream_bytes(form);
        let state = self.state.clone();
        let saved = std::mem::take(&mut self.saved);
        let matrices = (self.text_matrix, self.line_matrix);
        if let Some(matrix) = form.dict.matrix(doc, b"Matrix") {
            self.state.matrix = matrix.then(&self.state.matrix);
        }
        self.depth += 1;
        self.running.extend(id);
        self.run(&content, form.dict.dict(doc, b"Resources").unwrap_or(resources));
        if id.is_some() {
            self.running.pop();
        }
        self.depth -= 1;
        (self.text_matrix, self.line_matrix) = matrices;
        self.saved = saved;
        self.state = state;
    }

    /// Returns the index of the font's style in the styles of the page.
    fn style(&mut self, font: &Rc<Font>) -> u16 {
        let styles = &mut self.page.styles;
        *self.styles.entry(Rc::as_ptr(font)).or_insert_with(|| {
            let same = |style: &Style| *style == font.style;
            let place = styles.iter().position(same).unwrap_or_else(|| {
                styles.push(font.style.clone());
                styles.len() - 1
            });
            u16::try_from(place).unwrap_or(0)
        })
    }
}
