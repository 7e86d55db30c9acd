//! A page: put upright, read, and measured.

use tesseract::PageSegMode;

use crate::hocr::{Box4, Line, Read};
use crate::leaders::{self, Leader};
use crate::{Engine, Error, Frame, Grey, letters, parts, rules, shades, skew};

/// Pixels of a picture that is read: a letter page at 300 dpi has 8.4 million.
const MAX_READ: f32 = 9_000_000.0;
/// Angles that are put right, in radians: a tenth of a degree is a third of a line of text across a page.
const MIN_ANGLE: f32 = 0.0015;
/// Mean confidence, 0 to 100, below which a page may lie on its side or be written in another language.
const DOUBTFUL: f32 = 68.0;
/// How much surer another language must be.
const SURER: f32 = 6.0;
/// Words that are no more sure than this are specks and edges of pictures.
const MIN_CONFIDENCE: f32 = 8.0;

/// A box, in points from the top left corner of the upright page.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Area {
    /// Left edge.
    pub x0: f32,
    /// Top edge.
    pub y0: f32,
    /// Right edge.
    pub x1: f32,
    /// Bottom edge.
    pub y1: f32,
}

/// What a page shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// Width of the upright page, in points.
    pub width: f32,
    /// Height of the upright page, in points.
    pub height: f32,
    /// Quarters by which the picture was turned clockwise to be upright.
    pub turned: u8,
    /// Its words in the order in which they are read.
    pub words: Vec<Word>,
    /// Straight lines along the axes.
    pub rules: Vec<Area>,
    /// Boxes that are a little darker than the paper.
    pub shades: Vec<Area>,
    /// Pictures.
    pub pictures: Vec<Area>,
}

/// A word.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Word {
    /// Its text.
    pub text: String,
    /// The box around its ink.
    pub area: Area,
    /// The height at which it stands, in points.
    pub baseline: f32,
    /// Height of the em, in points.
    pub size: f32,
    /// How thick its strokes are, as a share of the em; 0 if that is not known.
    pub weight: f32,
    /// How sure its characters are, 0 to 1.
    pub confidence: f32,
    /// Its line, counted through the page.
    pub line: u32,
    /// Its block, counted through the page.
    pub block: u32,
}

/// Recognises a page.
pub(crate) fn recognise(engine: &mut Engine, frame: &Frame) -> Result<Page, Error> {
    let sheet = Sheet::of(frame);
    let mut upright = sheet.upright(0);
    let mut read = upright.read(engine, engine.current())?;
    if mean(&read) < DOUBTFUL {
        let turned = best_turn(engine, &upright)?;
        if turned != 0 {
            upright = sheet.upright(turned);
            read = upright.read(engine, engine.current())?;
        }
    }
    if mean(&read) < DOUBTFUL
        && let Some(language) = best_language(engine, &upright, &read)?
    {
        engine.set_current(language);
        read = upright.read(engine, language)?;
    }
    Ok(upright.page(&read))
}

/// The picture as it is read.
struct Sheet {
    picture: Grey,
    dpi: f32,
}

impl Sheet {
    fn of(frame: &Frame) -> Self {
        let pixels = (frame.grey.width() * frame.grey.height()) as f32;
        let factor = (MAX_READ / pixels).sqrt();
        let smaller = if factor < 1.0 { frame.grey.scaled(factor) } else { None };
        match smaller {
            Some(picture) => Self { dpi: frame.dpi * picture.width() as f32 / frame.grey.width() as f32, picture },
            None => Self { picture: frame.grey.clone(), dpi: frame.dpi },
        }
    }

    /// The sheet turned clockwise by quarters, and then level.
    fn upright(&self, turned: u8) -> Upright {
        let picture = self.picture.turned(turned);
        let threshold = picture.threshold();
        let angle = skew::angle(&picture, threshold);
        let mut picture = if angle.abs() < MIN_ANGLE { picture } else { picture.levelled(angle) };
        let leaders = leaders::find(&parts::parts(&picture, threshold), self.dpi);
        leaders::erase(&mut picture, &leaders);
        Upright { picture, dpi: self.dpi, turned, threshold, leaders }
    }
}

/// A picture that is upright, if it was turned rightly.
struct Upright {
    picture: Grey,
    dpi: f32,
    turned: u8,
    threshold: u8,
    leaders: Vec<Leader>,
}

impl Upright {
    fn read(&self, engine: &mut Engine, language: usize) -> Result<Read, Error> {
        engine.read(language, &self.picture, self.dpi, PageSegMode::PsmAuto)
    }

    fn points(&self, pixels: f32) -> f32 {
        pixels * 72.0 / self.dpi
    }

    fn area(&self, bounds: Box4) -> Area {
        let [x0, y0, x1, y1] = bounds.map(|edge| self.points(edge));
        Area { x0, y0, x1, y1 }
    }

    fn page(&self, read: &Read) -> Page {
        let areas = |boxes: Vec<Box4>| boxes.into_iter().map(|bounds| self.area(bounds)).collect();
        Page {
            width: self.points(self.picture.width() as f32),
            height: self.points(self.picture.height() as f32),
            turned: self.turned,
            words: self.words(read),
            rules: areas(rules::find(&self.picture, self.threshold, self.dpi)),
            shades: areas(shades::find(&self.picture, self.dpi)),
            pictures: areas(read.pictures.clone()),
        }
    }

    fn words(&self, read: &Read) -> Vec<Word> {
        let mut words = Vec::new();
        for (number, line) in (0..).zip(&read.lines).filter(|(_, line)| !line.turned) {
            let size = letters::size(line);
            for word in line.words.iter().filter(|word| word.confidence >= MIN_CONFIDENCE) {
                let [x0, _, x1, _] = word.bounds;
                words.push(Word {
                    text: word.text.clone(),
                    area: self.area(word.bounds),
                    baseline: self.points(letters::baseline(line, f32::midpoint(x0, x1))),
                    size: self.points(size),
                    weight: letters::thickness(&self.picture, word.bounds) / size,
                    confidence: word.confidence / 100.0,
                    line: number,
                    block: line.block,
                });
            }
        }
        let next = read.lines.len() as u32;
        words.extend((next..).zip(&self.leaders).map(|(line, leader)| self.leader(line, leader, &read.lines)));
        words
    }

    /// A leader as a word, of the size of the line that it stands in.
    fn leader(&self, number: u32, leader: &Leader, lines: &[Line]) -> Word {
        let bounds = leader.bounds();
        let middle = f32::midpoint(bounds[0], bounds[2]);
        let beside = lines.iter().filter(|line| line.bounds[1] < bounds[3] && bounds[1] < line.bounds[3]);
        let beside = beside.min_by(|a, b| {
            let gap = |line: &Line| (letters::baseline(line, middle) - bounds[3]).abs();
            gap(a).total_cmp(&gap(b))
        });
        Word {
            text: ".".repeat(leader.dots.len()),
            area: self.area(bounds),
            baseline: self.points(beside.map_or(bounds[3], |line| letters::baseline(line, middle))),
            size: beside.map_or(10.0, |line| self.points(letters::size(line))),
            weight: 0.0,
            confidence: 0.9,
            line: number,
            block: beside.map_or(0, |line| line.block),
        }
    }
}

/// How sure the letters are on average, 0 to 100; 100 where there are none.
fn mean(read: &Read) -> f32 {
    let words = || read.lines.iter().flat_map(|line| &line.words);
    let letters: usize = words().map(|word| word.text.chars().count()).sum();
    let sum: f32 = words().map(|word| word.confidence * word.text.chars().count() as f32).sum();
    if letters == 0 { 100.0 } else { sum / letters as f32 }
}

/// Letters that are sure.
fn sure_letters(read: &Read) -> usize {
    let words = read.lines.iter().filter(|line| !line.turned).flat_map(|line| &line.words);
    words
        .filter(|word| word.confidence >= 75.0)
        .map(|word| word.text.chars().filter(|l| l.is_alphanumeric()).count())
        .sum()
}

/// The quarters by which a part of the page has to be turned for the most letters to be sure.
fn best_turn(engine: &mut Engine, upright: &Upright) -> Result<u8, Error> {
    let Some(part) = densest(&upright.picture, upright.threshold) else { return Ok(0) };
    let mut best = (0, 0);
    for turned in [0, 1, 3, 2] {
        let read = engine.read(engine.current(), &part.turned(turned), upright.dpi, PageSegMode::PsmAuto)?;
        let letters = sure_letters(&read);
        if letters > best.1 * 3 / 2 + 3 {
            best = (turned, letters);
        }
    }
    Ok(best.0)
}

/// The quarter of a picture with the most ink.
fn densest(picture: &Grey, threshold: u8) -> Option<Grey> {
    let (width, height) = (picture.width() as u32, picture.height() as u32);
    let ink = |place: &[u32; 4]| -> usize {
        let rows = (place[1]..place[3]).step_by(3);
        rows.map(|y| {
            let row = &picture.row(y as usize)[place[0] as usize..place[2] as usize];
            row.iter().filter(|value| **value <= threshold).count()
        })
        .sum()
    };
    let places = (0..9).map(|place| {
        let (x, y) = ((place % 3) * width / 4, (place / 3) * height / 4);
        [x, y, x + width / 2, y + height / 2]
    });
    picture.cut(places.max_by_key(ink)?)
}

/// Another language in which some lines of the page are much surer.
fn best_language(engine: &mut Engine, upright: &Upright, read: &Read) -> Result<Option<usize>, Error> {
    let current = engine.current();
    let Some(part) = sample(upright, read).filter(|_| engine.count() > 1) else { return Ok(None) };
    let mut best = (None, 0.0);
    for language in std::iter::once(current).chain((0..engine.count()).filter(|other| *other != current)) {
        let read = engine.read(language, &part, upright.dpi, PageSegMode::PsmAuto)?;
        let sure = if read.lines.is_empty() { 0.0 } else { mean(&read) };
        if language == current {
            best.1 = sure + SURER;
        } else if sure > best.1 {
            best = (Some(language), sure);
        }
    }
    Ok(best.0)
}

/// The lines in the middle of a page.
fn sample(upright: &Upright, read: &Read) -> Option<Grey> {
    let middle = read.lines.get(read.lines.len() / 2)?.bounds;
    let reach = 0.6 * upright.dpi;
    let edge = |value: f32| value.max(0.0) as u32;
    upright.picture.cut([0, edge(middle[1] - reach), upright.picture.width() as u32, edge(middle[3] + reach)])
}
