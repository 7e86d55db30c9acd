//! A page: put upright, read, and measured.

use tesseract::PageSegMode;

use crate::hocr::{self, Box4, Line, Read};
use crate::leaders::{self, Leader};
use crate::{Engine, Error, Frame, Grey, letters, parts, rules, shades, skew};

/// Pixels of a picture that is read: a letter page at 300 dpi has 8.4 million.
const MAX_READ: f32 = 9_000_000.0;
/// How high most letters are, in pixels, when a picture is neither too fine nor too coarse: those without a tail or a stroke
/// above.
const LETTER: f32 = 14.0;
/// Letters that are lower are made larger, so many times at most.
const LOW_LETTER: f32 = 9.0;
const MAX_LARGER: f32 = 2.0;
/// Dots per inch below which nothing is made coarser.
const COARSE_DPI: f32 = 200.0;
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
    let turned = match sideways(&read) {
        _ if mean(&read) < DOUBTFUL => best_turn(engine, &upright)?,
        Some(turned) => turned,
        None => 0,
    };
    if turned != 0 {
        upright = sheet.upright(turned);
        read = upright.read(engine, engine.current())?;
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
        let factor = factor(frame);
        let scaled = if (0.95..1.05).contains(&factor) { None } else { frame.grey.scaled(factor) };
        match scaled {
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

/// How much larger or smaller a picture is read best: what is finer than needed only costs time.
fn factor(frame: &Frame) -> f32 {
    let pixels = (frame.grey.width() * frame.grey.height()) as f32;
    let most = (MAX_READ / pixels).sqrt();
    let wanted = match letter_height(&frame.grey) {
        Some(height) if height > LETTER => (LETTER / height).max(COARSE_DPI / frame.dpi).min(1.0),
        Some(height) if height < LOW_LETTER => (LETTER / height).min(MAX_LARGER),
        _ => 1.0,
    };
    wanted.min(most)
}

/// The height of most letters, in pixels.
fn letter_height(picture: &Grey) -> Option<f32> {
    let parts = parts::parts(picture, picture.threshold());
    let mut heights: Vec<u32> =
        parts.iter().filter(|part| part.height() >= 5 && part.width() >= 2).map(parts::Part::height).collect();
    heights.sort_unstable();
    heights.get(heights.len() / 2).filter(|_| heights.len() >= 60).map(|height| *height as f32)
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
        let areas = |boxes: &[Box4]| boxes.iter().map(|bounds| self.area(*bounds)).collect();
        let rules = rules::find(&self.picture, self.threshold, self.dpi);
        Page {
            width: self.points(self.picture.width() as f32),
            height: self.points(self.picture.height() as f32),
            turned: self.turned,
            words: self.words(read, &rules),
            rules: areas(&rules),
            shades: areas(&shades::find(&self.picture, self.dpi)),
            pictures: areas(&read.pictures),
        }
    }

    fn words(&self, read: &Read, rules: &[Box4]) -> Vec<Word> {
        let mut words = Vec::new();
        for (number, line) in (0..).zip(&read.lines) {
            if line.turned {
                words.push(self.turned_line(number, line));
                continue;
            }
            let size = letters::size(line);
            let sure = |word: &&hocr::Word| word.confidence >= MIN_CONFIDENCE && !is_rule(word, rules);
            for word in line.words.iter().filter(sure) {
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
        words.extend((next..).zip(&self.leaders).filter_map(|(line, leader)| self.leader(line, leader, &read.lines)));
        words
    }

    /// A line that does not run to the right, as one word.
    fn turned_line(&self, number: u32, line: &Line) -> Word {
        let texts: Vec<&str> = line.words.iter().map(|word| word.text.as_str()).collect();
        let sum: f32 = line.words.iter().map(|word| word.confidence).sum();
        let [x0, _, x1, y1] = line.bounds;
        Word {
            text: texts.join(" "),
            area: self.area(line.bounds),
            baseline: self.points(y1),
            size: self.points((x1 - x0).max(1.0)),
            weight: 0.0,
            confidence: sum / line.words.len().max(1) as f32 / 100.0,
            line: number,
            block: line.block,
        }
    }

    /// A leader as a word, of the size of the line that it stands in; what stands in none is a line of a drawing.
    fn leader(&self, number: u32, leader: &Leader, lines: &[Line]) -> Option<Word> {
        let bounds = leader.bounds();
        let middle = f32::midpoint(bounds[0], bounds[2]);
        let beside = lines.iter().filter(|line| line.bounds[1] < bounds[3] && bounds[1] < line.bounds[3]);
        let gap = |line: &Line| (letters::baseline(line, middle) - bounds[3]).abs();
        let line = beside.min_by(|a, b| gap(a).total_cmp(&gap(b)))?;
        let size = letters::size(line);
        (gap(line) < 0.25 * size && !line.turned).then(|| Word {
            text: ".".repeat(leader.dots.len()),
            area: self.area(bounds),
            baseline: self.points(letters::baseline(line, middle)),
            size: self.points(size),
            weight: 0.0,
            confidence: line.words.first().map_or(0.0, |word| word.confidence / 100.0),
            line: number,
            block: line.block,
        })
    }
}

/// A line that is drawn, read as a letter.
fn is_rule(word: &hocr::Word, rules: &[Box4]) -> bool {
    let [x0, y0, x1, y1] = word.bounds;
    let crossed = |rule: &Box4| rule[0] < x1 && x0 < rule[2] && rule[1] < y1 && y0 < rule[3];
    word.text.chars().all(|letter| "|¦_—–-=~[]".contains(letter)) && rules.iter().any(crossed)
}

/// How sure the letters are on average, 0 to 100; 100 where there are none.
fn mean(read: &Read) -> f32 {
    let words = || read.lines.iter().flat_map(|line| &line.words);
    let letters: usize = words().map(|word| word.text.chars().count()).sum();
    let sum: f32 = words().map(|word| word.confidence * word.text.chars().count() as f32).sum();
    if letters == 0 { 100.0 } else { sum / letters as f32 }
}

/// The quarters by which a page has to be turned most of whose letters are in lines that run up or down.
fn sideways(read: &Read) -> Option<u8> {
    let letters = |line: &Line| line.words.iter().map(|word| word.text.chars().count()).sum::<usize>();
    let (turned, level): (Vec<&Line>, Vec<&Line>) = read.lines.iter().partition(|line| line.turned);
    let sum = |lines: &[&Line]| lines.iter().map(|line| letters(line)).sum::<usize>();
    if sum(&turned) <= sum(&level) {
        return None;
    }
    let down = |line: &Line| match &line.words[..] {
        [first, .., last] => (last.bounds[1] - first.bounds[1]).signum() as i32,
        _ => 0,
    };
    // What runs down is turned back by a quarter.
    Some(if turned.iter().map(|line| down(line)).sum::<i32>() >= 0 { 3 } else { 1 })
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
