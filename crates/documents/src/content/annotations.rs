//! Annotations: links, and the visible text of forms and notes.

use lopdf::{Dictionary, Object, Stream};

use super::Interpreter;
use super::fields::Field;
use super::page::{Direction, Flags, Glyph, LinkArea};
use super::show::spread;
use crate::geometry::{Matrix, Point, Rect};
use crate::objects::{Lookup, as_dict, resolve};
use crate::open::VisibleArea;

/// Maximum number of annotations of one page.
const MAX_ANNOTATIONS: usize = 5000;
/// Maximum length of an address, in bytes.
const MAX_URL: usize = 4096;
/// Maximum number of lines of a form value.
const MAX_VALUE_LINES: usize = 200;
/// Maximum number of characters of such a line.
const MAX_VALUE: usize = 500;
/// Flags of invisible annotations: Invisible, Hidden, NoView.
const NOT_SHOWN: i64 = 1 | 2 | 32;

impl Interpreter<'_> {
    /// Reads the annotations of the page, after its content.
    pub(super) fn annotations(&mut self, page: &Dictionary, view: &VisibleArea) {
        let doc = &self.pdf.doc;
        for entry in page.array(doc, b"Annots").unwrap_or_default().iter().take(MAX_ANNOTATIONS) {
            let Some(annotation) = resolve(doc, entry).and_then(as_dict) else { continue };
            let Some(rect) = annotation.rect(doc, b"Rect") else { continue };
            match annotation.name(doc, b"Subtype") {
                Some(b"Link") => self.add_link(annotation, view.matrix.map(&rect)),
                Some(b"FreeText" | b"Stamp") => self.show_annotation(annotation, &rect, view),
                Some(b"Widget") => {
                    let before = self.page.glyphs.len();
                    self.show_annotation(annotation, &rect, view);
                    let field = self.page.glyphs.get_mut(before..).unwrap_or_default();
                    field.iter_mut().for_each(|glyph| glyph.flags = glyph.flags.with(Flags::FIELD, true));
                }
                _ => {}
            }
        }
    }

    fn add_link(&mut self, annotation: &Dictionary, rect: Rect) {
        let doc = &self.pdf.doc;
        let action = annotation.dict(doc, b"A");
        let Some(url) = action.and_then(|action| action.text(doc, b"URI")) else { return };
        let wanted = url.starts_with("http://") || url.starts_with("https://") || url.starts_with("mailto:");
        if wanted && url.len() <= MAX_URL && !url.contains(char::is_whitespace) {
            self.page.links.push(LinkArea { rect, url });
        }
    }

    /// Shows a field or note: its state, its value or its appearance stream.
    fn show_annotation(&mut self, annotation: &Dictionary, rect: &Rect, view: &VisibleArea) {
        let doc = &self.pdf.doc;
        if annotation.integer(doc, b"F").unwrap_or(0) & NOT_SHOWN != 0 {
            return;
        }
        let field = Field::of(doc, annotation);
        if let Some(ticked) = field.ticked() {
            return self.show_box(ticked, rect, view);
        }
        let looks = annotation.dict(doc, b"AP").and_then(|looks| looks.object(doc, b"N"));
        let stream = match looks {
            Some(Object::Stream(stream)) => Some(stream),
            Some(Object::Dictionary(states)) => annotation.name(doc, b"AS").and_then(|state| states.stream(doc, state)),
            _ => None,
        };
        // Viewers draw the values themselves where the file asks for it.
        let values = self.needs_appearances() && !field.value().is_empty();
        let before = self.page.glyphs.len();
        if let Some((stream, matrix)) =
            stream.filter(|_| !values).and_then(|stream| Some((stream, placed(stream, rect, doc)?)))
        {
            self.state.matrix = matrix.then(&view.matrix);
            self.saved.clear();
            let none = Dictionary::new();
            self.run_form(None, stream, &none);
        }
        let drawn = self.page.glyphs.get(before..).unwrap_or_default();
        if drawn.iter().all(|glyph| glyph.flags.has(Flags::SPACE)) {
            self.show_value(&field.value(), rect, view);
        }
    }

    fn needs_appearances(&self) -> bool {
        let doc = &self.pdf.doc;
        let form = doc.catalog().ok().and_then(|catalog| catalog.dict(doc, b"AcroForm"));
        form.and_then(|form| form.object(doc, b"NeedAppearances")?.as_bool().ok()).unwrap_or(false)
    }

    /// Shows a check box or radio button; what its appearance draws cannot be told from other drawings.
    fn show_box(&mut self, ticked: bool, rect: &Rect, view: &VisibleArea) {
        let size = (0.8 * rect.height()).clamp(4.0, 14.0);
        // The middle of the letter is that of the field.
        let y = rect.center().y - 0.28 * size;
        self.write(if ticked { "☒" } else { "☐" }, Point { x: rect.x0, y }, size, view);
    }

    /// Adds the value of a field without text in its appearance, which viewers generate themselves.
    fn show_value(&mut self, value: &str, rect: &Rect, view: &VisibleArea) {
        // As viewers lay it out: letters of 0.7 of the height of the field, 11 points at most, lines of 1.1 em from the
        // top, and 2 points from the left edge.
        let (size, mut y) = ((0.7 * rect.height()).clamp(4.0, 11.0), rect.y1);
        for line in value.lines().take(MAX_VALUE_LINES) {
            y -= 1.1 * size;
            self.write(line, Point { x: rect.x0 + 2.0, y }, size, view);
        }
    }

    /// Adds a line of text at a point of the page. Half an em for a letter is the average; no font is known here.
    fn write(&mut self, line: &str, from: Point, size: f32, view: &VisibleArea) {
        let text: String = line.chars().filter(|letter| !letter.is_control()).take(MAX_VALUE).collect();
        let letters = text.chars().count();
        if !self.budget.glyphs(self.page.glyphs.len() + letters) {
            self.page.cut = true;
            return;
        }
        let start = view.matrix.apply(from.x, from.y);
        let end = view.matrix.apply(from.x + 0.5 * size * letters as f32, from.y);
        let direction = Direction::of(Point { x: end.x - start.x, y: end.y - start.y });
        let flags = Flags::default().with(Flags::FIRST, true);
        let glyph = Glyph { text: ' ', start, end, size, style: self.state.style, direction, flags };
        spread(&mut self.page.glyphs, &glyph, &text);
    }
}

/// Returns the transform from the box of a form to a rectangle, to be applied after the matrix of the form.
fn placed(stream: &Stream, rect: &Rect, doc: &lopdf::Document) -> Option<Matrix> {
    let bbox = stream.dict.rect(doc, b"BBox")?;
    let bbox = stream.dict.matrix(doc, b"Matrix").map_or(bbox, |matrix| matrix.map(&bbox));
    let scale = |to: f32, from: f32| if from > 0.0 { to / from } else { 1.0 };
    let (x, y) = (scale(rect.width(), bbox.width()), scale(rect.height(), bbox.height()));
    let matrix = Matrix([x, 0.0, 0.0, y, rect.x0 - x * bbox.x0, rect.y0 - y * bbox.y0]);
    matrix.is_finite().then_some(matrix)
}
