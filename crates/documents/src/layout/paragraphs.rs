//! Splitting of blocks into paragraphs.
//!
//! A paragraph begins at an indented first line, after a larger gap, where the style changes, at the mark of a list
//! item, and where the line above ended although the next word would have fitted.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::code::is_mono;
use super::drawings::Drawings;
use super::leaders;
use super::line::{Line, is_bullet};
use super::text::inline;
use super::words::Word;
use crate::geometry::Rect;
use crate::model::{Inline, Script};

/// Paragraph with the properties that determine its role.
#[derive(Debug, Clone)]
pub(crate) struct Paragraph {
    pub(crate) inline: Inline,
    pub(crate) rect: Rect,
    pub(crate) size: f32,
    pub(crate) bold: bool,
    pub(crate) mono: bool,
    /// Hash of the font of most letters.
    pub(crate) face: u64,
    pub(crate) lines: usize,
    pub(crate) letters: usize,
    /// Mark of a list item at its start.
    pub(crate) mark: Option<String>,
    /// Whether all of it is marked as page furniture.
    pub(crate) artifact: bool,
    /// Whether all of it is tagged as a heading.
    pub(crate) tagged: bool,
    /// Lines of code, with their indentation; empty for other text.
    pub(crate) code: Vec<String>,
    /// Distance to the text above; infinite at the top of a block.
    pub(crate) above: f32,
}

fn is_tagged(line: &Line) -> bool {
    line.words.iter().all(|word| word.tagged)
}

/// Splits a block into paragraphs.
pub(crate) fn split(lines: &[Line], scene: &Drawings<'_>, body: f32) -> Vec<Paragraph> {
    let lines = run_in(lines, scene);
    let block = Block::new(&lines, scene, body);
    let mut out = Vec::new();
    let mut start = 0;
    for place in 1..=lines.len() {
        if place == lines.len() || block.begins(start, place) {
            let above = if start == 0 { f32::INFINITY } else { lines[start].rect.y0 - lines[start - 1].rect.y1 };
            out.push(block.paragraph(start, place, above));
            start = place;
        }
    }
    out
}

/// Splits off run-in headings: headings on the first line of their text, set apart by their font and a wide space.
fn run_in(lines: &[Line], scene: &Drawings<'_>) -> Vec<Line> {
    let mut out = Vec::with_capacity(lines.len());
    for (place, line) in lines.iter().enumerate() {
        let cut = if lines.len() > place + 1 { run_in_length(line, scene) } else { 0 };
        match cut {
            0 => out.push(line.clone()),
            cut => {
                out.push(Line::new(line.words[..cut].to_vec()));
                out.push(Line::new(line.words[cut..].to_vec()));
            }
        }
    }
    out
}

/// Returns how many words of a line are a run-in heading.
fn run_in_length(line: &Line, scene: &Drawings<'_>) -> usize {
    let style = |word: &Word| scene.content.styles.get(usize::from(word.style));
    let Some(first) = line.words.first() else { return 0 };
    let length = line.words.iter().take_while(|word| word.style == first.style).count();
    let (Some(last), Some(next)) = (line.words.get(length - 1), line.words.get(length)) else { return 0 };
    let bold = |word: &Word| style(word).is_some_and(|style| style.bold);
    let bitmap = style(first).is_some_and(|style| style.font.is_empty() || style.bitmap);
    let set_apart = (bold(first) && !bold(next)) || (bitmap && !scene.is_mono(first.style));
    let wide = (0.75..1.6).contains(&(last.gap_to(next) / first.size)) && (first.size - next.size).abs() < 0.2;
    let named = first.text.starts_with(char::is_uppercase) && !last.text.ends_with([',', ';']);
    if set_apart && wide && named && length <= 10 { length } else { 0 }
}

/// Whether two lines of different sizes have words of the same look, such as names in code between those of a text.
fn is_mixed(one: &Line, other: &Line) -> bool {
    let has = |line: &Line, look: &Line| {
        line.words.iter().any(|word| word.style == look.style && (word.size - look.size).abs() < 0.1)
    };
    has(one, other) || has(other, one)
}

fn face(font: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    font.hash(&mut hasher);
    hasher.finish()
}

struct Block<'a> {
    lines: &'a [Line],
    scene: &'a Drawings<'a>,
    rect: Rect,
    /// Usual distance between baselines.
    step: f32,
    /// Size of running text.
    body: f32,
    mono: bool,
}

impl<'a> Block<'a> {
    fn new(lines: &'a [Line], scene: &'a Drawings<'a>, body: f32) -> Self {
        let mut steps: Vec<f32> = lines.windows(2).map(|pair| pair[1].baseline - pair[0].baseline).collect();
        steps.sort_by(f32::total_cmp);
        let rect = lines.iter().fold(Rect::EMPTY, |rect, line| rect.union(&line.rect));
        let mut block = Self { lines, scene, rect, step: 0.0, body, mono: false };
        // The lower third rather than the median: gaps between paragraphs only make steps larger.
        block.step = steps.get(steps.len() / 3).copied().unwrap_or(0.0);
        let mono = lines.iter().filter(|line| is_mono(line, scene)).count();
        block.mono = mono * 3 > lines.len() * 2;
        block
    }

    fn style(&self, line: &Line) -> Option<&crate::content::page::Style> {
        self.scene.content.styles.get(usize::from(line.style))
    }

    fn is_bold(&self, line: &Line) -> bool {
        self.style(line).is_some_and(|style| style.bold)
    }

    /// Whether a paragraph begins at a line, if the current one began at `start`.
    fn begins(&self, start: usize, place: usize) -> bool {
        let (last, line) = (&self.lines[place - 1], &self.lines[place]);
        let size = line.size;
        if (line.baseline - last.baseline).abs() < 0.1 * size {
            return true;
        }
        if leaders::is_entry(last) || is_tagged(last) != is_tagged(line) {
            return true;
        }
        let turns = self.is_bold(last) != self.is_bold(line) && !self.runs_on(start, place);
        let resized = (size - last.size).abs() > 0.08 * size && !(is_mixed(last, line) && self.is_full(last, line));
        if resized || turns {
            return !(last.mark().is_some() && last.words.len() == 1);
        }
        if is_mono(last, self.scene) && is_mono(line, self.scene) {
            return line.mark().is_some_and(|mark| is_bullet(mark) && !mark.is_ascii());
        }
        // A line that ends early ends its text where code begins or ends, or begins once more.
        let is_code = |line: &Line| {
            (is_mono(line, self.scene), line.words.first().is_some_and(|word| self.scene.is_mono(word.style)))
        };
        let ((all, first), (all_before, first_before)) = (is_code(line), is_code(last));
        if (all != all_before || (first && first_before)) && !self.is_full(last, line) {
            return true;
        }
        let step = line.baseline - last.baseline;
        if step > 1.28 * self.step && step > 1.15 * size {
            return true;
        }
        self.is_note(start, place)
            || self.is_item(start, place)
            || self.is_indented(start, place)
            || self.is_deliberate(start, place)
    }

    /// Whether the first word of a line had no room at the end of the line above.
    fn is_full(&self, last: &Line, line: &Line) -> bool {
        let first = line.words.first().map_or(0.0, |word| word.rect.width());
        self.rect.x1 - last.rect.x1 < first + 1.6 * line.size
    }

    /// Whether a change of weight at a line break is a coincidence, where bold words happen to fill most of one line:
    /// the upper line is full and not all bold, and the words around the break have the same weight.
    fn runs_on(&self, start: usize, place: usize) -> bool {
        let (last, line) = (&self.lines[place - 1], &self.lines[place]);
        let bold = |word: &Word| self.scene.content.styles.get(usize::from(word.style)).is_some_and(|style| style.bold);
        let (Some(before), Some(after)) = (last.words.last(), line.words.first()) else { return false };
        // A paragraph whose first line begins in bold has a run-in heading.
        let headed = start + 1 == place && last.words.first().is_some_and(bold);
        self.is_full(last, line) && bold(before) == bold(after) && !headed && !last.words.iter().all(bold)
    }

    /// Whether the line begins a footnote after another one: both have a raised number in front.
    fn is_note(&self, start: usize, place: usize) -> bool {
        let has_mark = |line: &Line| {
            let number = line.words.first().filter(|word| word.text.bytes().all(|byte| byte.is_ascii_digit()));
            number.is_some_and(|word| line.script(word) == Script::Raised)
        };
        has_mark(&self.lines[place]) && has_mark(&self.lines[start])
    }

    /// Whether the line begins with the mark of a list item.
    fn is_item(&self, start: usize, place: usize) -> bool {
        let (last, line) = (&self.lines[place - 1], &self.lines[place]);
        let short = last.rect.x1 < self.rect.x1 - 2.0 * line.size;
        if line.label() > 0 {
            return self.lines[start].label() > 0 || short;
        }
        let Some(mark) = line.mark().filter(|_| line.words.len() > 1) else { return false };
        let in_list = self.lines[start].mark().is_some();
        // A dash or a number with a dot may also occur in running text, so further evidence is needed.
        (is_bullet(mark) && (!matches!(mark, "-" | "–" | "*" | "·") || in_list || short || place == 1))
            || in_list
            || short
    }

    fn is_indented(&self, start: usize, place: usize) -> bool {
        let (last, line) = (&self.lines[place - 1], &self.lines[place]);
        let size = line.size;
        let indent = line.rect.x0 - last.rect.x0;
        let left = |line: &Line| line.rect.x0 - self.rect.x0 < 0.5 * size;
        let next = self.lines.get(place + 1);
        let returns = next.is_none_or(|next| line.rect.x0 - next.rect.x0 > 0.7 * size);
        let full = last.rect.x1 > self.rect.x1 - 0.35 * self.rect.width();
        if (0.7..6.0).contains(&(indent / size)) && left(last) && place - start > 1 && returns {
            return self.lines[start].mark().is_none() && (full || indent > 1.2 * size);
        }
        if (0.7..6.0).contains(&(indent / size)) && place - start == 1 && returns && left(last) {
            // A single line before it is a paragraph if it ended early.
            return !full && self.lines[start].mark().is_none();
        }
        // Hanging indent: the first line begins further left than the rest.
        let hangs = next.is_some_and(|next| next.rect.x0 - line.rect.x0 > 0.7 * size);
        indent < -0.7 * size && left(line) && hangs && !left(last)
    }

    /// Whether the line above ended although the first word of this one would have fitted.
    fn is_deliberate(&self, start: usize, place: usize) -> bool {
        let (last, line) = (&self.lines[place - 1], &self.lines[place]);
        let Some(word) = line.words.first() else { return false };
        if line.rtl || line.size > 1.15 * self.body || self.is_bold(line) {
            return false;
        }
        let room = self.rect.x1 - last.rect.x1;
        let fits = room > word.rect.width() + 1.6 * line.size;
        let ends = last.words.last().is_some_and(|word| word.text.ends_with(['.', '!', '?', ':', ';', '”', '"', ')']));
        let opens =
            word.text.starts_with(|letter: char| letter.is_uppercase() || letter.is_ascii_digit() || letter == '(');
        let far = room > 0.3 * self.rect.width();
        let _ = start;
        fits && ((ends && opens) || (far && opens && room > 8.0 * line.size))
    }

    fn paragraph(&self, start: usize, end: usize, above: f32) -> Paragraph {
        let lines: Vec<&Line> = self.lines[start..end].iter().collect();
        let rect = lines.iter().fold(Rect::EMPTY, |rect, line| rect.union(&line.rect));
        let letters = lines.iter().map(|line| line.letters()).sum();
        let most = lines.iter().max_by_key(|line| line.letters());
        let style = most.and_then(|line| self.style(line));
        let mark = lines[0].mark().filter(|_| letters > lines[0].words[0].text.chars().count()).map(str::to_owned);
        let mono = lines.iter().filter(|line| is_mono(line, self.scene)).count() * 3 > lines.len() * 2;
        let bold_letters: usize = lines.iter().filter(|line| self.is_bold(line)).map(|line| line.letters()).sum();
        Paragraph {
            inline: inline(&lines, &self.scene.content.styles, &self.scene.content.links),
            rect,
            size: most.map_or(0.0, |line| line.size),
            bold: 2 * bold_letters > letters,
            mono,
            face: face(style.map_or("", |style| style.font.as_str())),
            lines: lines.len(),
            letters,
            mark,
            artifact: lines.iter().flat_map(|line| &line.words).all(|word| word.artifact),
            tagged: lines.iter().flat_map(|line| &line.words).all(|word| word.tagged),
            code: if mono { self.code(&lines) } else { Vec::new() },
            above,
        }
    }

    /// Returns lines of code, with spaces according to the positions of the words.
    fn code(&self, lines: &[&Line]) -> Vec<String> {
        let width = lines.iter().map(|line| 0.6 * line.size).fold(f32::INFINITY, f32::min).max(1.0);
        let left = self.rect.x0;
        let spaces = |gap: f32| ((gap / width).round().max(0.0) as usize).min(80);
        let mut out = Vec::new();
        for line in lines {
            let mut text = " ".repeat(spaces(line.rect.x0 - left));
            for (place, word) in line.words.iter().enumerate() {
                if let Some(before) = place.checked_sub(1).and_then(|before| line.words.get(before)) {
                    let least = usize::from(line.is_spaced(place));
                    text.push_str(&" ".repeat(spaces(before.gap_to(word)).max(least)));
                }
                text.push_str(&word.text);
            }
            out.push(text);
        }
        out
    }
}
