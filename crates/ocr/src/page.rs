//! Recognition of one page: turned upright, read, and measured.

use tesseract::PageSegMode;

use crate::hocr::{self, Box4, HocrPage, Line};
use crate::leaders::{self, Leader};
use crate::{Engine, Error, Frame, Grey, letters, parts, rules, shades, skew};

// Tesseract was trained on text of about 10 points at 300 dpi and reads lower-case letters of 10 to 20 pixels best;
// below 9 its errors grow. Its time grows with the number of pixels. Confidences are its own, 0 to 100.

/// Maximum number of pixels of the image that is read; a letter page at 300 dpi has 8.4 million.
const MAX_READ: f32 = 9_000_000.0;
/// Ideal height of lower-case letters without ascender or descender, in pixels, for recognition.
const LETTER: f32 = 14.0;
/// Letters below this height, in pixels, are enlarged.
const LOW_LETTER: f32 = 9.0;
/// Maximum factor of enlargement.
const MAX_LARGER: f32 = 2.0;
/// Resolution in dots per inch below which no image is reduced.
const COARSE_DPI: f32 = 200.0;
/// Smallest skew angle that is corrected, in radians: a tenth of a degree is a third of a line of text across a page.
const MIN_ANGLE: f32 = 0.0015;
/// Mean confidence, 0 to 100, below which other orientations and languages are tried.
const DOUBTFUL: f32 = 68.0;
/// Minimum gain of confidence for another language.
const SURER: f32 = 6.0;
/// Words below this confidence are specks and edges of pictures.
const MIN_CONFIDENCE: f32 = 8.0;

/// Box, in points from the top left corner of the upright page.
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

/// Recognised page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// Width of the upright page, in points.
    pub width: f32,
    /// Height of the upright page, in points.
    pub height: f32,
    /// Quarter turns by which the image was rotated clockwise to be upright.
    pub turned: u8,
    /// Words in reading order.
    pub words: Vec<Word>,
    /// Straight lines along the axes.
    pub rules: Vec<Area>,
    /// Boxes that are slightly darker than the paper.
    pub shades: Vec<Area>,
    /// Pictures.
    pub pictures: Vec<Area>,
}

/// Recognised word.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Word {
    /// Text.
    pub text: String,
    /// Bounding box.
    pub area: Area,
    /// Baseline, in points.
    pub baseline: f32,
    /// Height of the em, in points.
    pub size: f32,
    /// Stroke thickness as a share of the em; 0 if unknown.
    pub weight: f32,
    /// Confidence of its characters, 0 to 1.
    pub confidence: f32,
    /// Number of its line within the page.
    pub line: u32,
    /// Number of its block within the page.
    pub block: u32,
}

/// Recognises a page.
pub(crate) fn recognise(engine: &mut Engine, frame: &Frame) -> Result<Page, Error> {
    let sheet = ScaledImage::of(frame);
    let mut upright = sheet.upright(0);
    let mut read = upright.recognise(engine, engine.current())?;
    // A page with low confidence is tried in all orientations; otherwise the reported line directions decide.
    let turned = match sideways(&read) {
        _ if mean(&read) < DOUBTFUL => best_turn(engine, &upright)?,
        Some(turned) => turned,
        None => 0,
    };
    if turned != 0 {
        upright = sheet.upright(turned);
        read = upright.recognise(engine, engine.current())?;
    }
    if mean(&read) < DOUBTFUL
        && let Some(language) = best_language(engine, &upright, &read)?
    {
        engine.set_current(language);
        read = upright.recognise(engine, language)?;
    }
    Ok(upright.page(&read))
}

/// Image at the resolution for recognition.
struct ScaledImage {
    picture: Grey,
    dpi: f32,
}

impl ScaledImage {
    fn of(frame: &Frame) -> Self {
        let factor = factor(frame);
        // A change by a twentieth would blur the image and gain nothing.
        let scaled = if (0.95..1.05).contains(&factor) { None } else { frame.grey.scaled(factor) };
        match scaled {
            Some(picture) => Self { dpi: frame.dpi * picture.width() as f32 / frame.grey.width() as f32, picture },
            None => Self { picture: frame.grey.clone(), dpi: frame.dpi },
        }
    }

    /// Returns the sheet rotated clockwise by quarter turns, then levelled.
    fn upright(&self, turned: u8) -> UprightImage {
        let picture = self.picture.turned(turned);
        let threshold = picture.threshold();
        let angle = skew::angle(&picture, threshold);
        let mut picture = if angle.abs() < MIN_ANGLE { picture } else { picture.levelled(angle) };
        // Rows of dots are erased before tesseract sees them, which reads them as random letters, and added again in
        // `words`.
        let leaders = leaders::find(&parts::parts(&picture, threshold), self.dpi);
        leaders::erase(&mut picture, &leaders);
        UprightImage { picture, dpi: self.dpi, turned, threshold, leaders }
    }
}

/// Returns the best scale factor for recognition: more resolution than needed only costs time.
fn factor(frame: &Frame) -> f32 {
    let pixels = (frame.grey.width() * frame.grey.height()) as f32;
    let most = (MAX_READ / pixels).sqrt();
    let wanted = match letter_height(&frame.grey) {
        // Reduced to the ideal height, but not below 200 dpi, where small print beside large letters would be lost.
        Some(height) if height > LETTER => (LETTER / height).max(COARSE_DPI / frame.dpi).min(1.0),
        Some(height) if height < LOW_LETTER => (LETTER / height).min(MAX_LARGER),
        _ => 1.0,
    };
    wanted.min(most)
}

/// Returns the median height of letters, in pixels.
fn letter_height(picture: &Grey) -> Option<f32> {
    let parts = parts::parts(picture, picture.threshold());
    // Smaller parts are dots and specks; from fewer than 60 parts no usual height is known.
    let mut heights: Vec<u32> =
        parts.iter().filter(|part| part.height() >= 5 && part.width() >= 2).map(parts::Component::height).collect();
    heights.sort_unstable();
    heights.get(heights.len() / 2).filter(|_| heights.len() >= 60).map(|height| *height as f32)
}

/// Levelled image, upright if the quarter turns were right.
struct UprightImage {
    picture: Grey,
    dpi: f32,
    turned: u8,
    threshold: u8,
    leaders: Vec<Leader>,
}

impl UprightImage {
    fn recognise(&self, engine: &mut Engine, language: usize) -> Result<HocrPage, Error> {
        engine.recognise(language, &self.picture, self.dpi, PageSegMode::PsmAuto)
    }

    fn points(&self, pixels: f32) -> f32 {
        pixels * 72.0 / self.dpi
    }

    fn area(&self, bounds: Box4) -> Area {
        let [x0, y0, x1, y1] = bounds.map(|edge| self.points(edge));
        Area { x0, y0, x1, y1 }
    }

    fn page(&self, read: &HocrPage) -> Page {
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

    fn words(&self, read: &HocrPage, rules: &[Box4]) -> Vec<Word> {
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

    /// Returns a line that does not run to the right, as one word.
    fn turned_line(&self, number: u32, line: &Line) -> Word {
        let texts: Vec<&str> = line.words.iter().map(|word| word.text.as_str()).collect();
        let sum: f32 = line.words.iter().map(|word| word.confidence).sum();
        let [x0, _, x1, y1] = line.bounds;
        Word {
            text: texts.join(" "),
            area: self.area(line.bounds),
            baseline: self.points(y1),
            // Such a line is as wide as its letters are high.
            size: self.points((x1 - x0).max(1.0)),
            weight: 0.0,
            confidence: sum / line.words.len().max(1) as f32 / 100.0,
            line: number,
            block: line.block,
        }
    }

    /// Returns a leader as a word with the size of its line. A row of dots outside of any line is part of a drawing.
    fn leader(&self, number: u32, leader: &Leader, lines: &[Line]) -> Option<Word> {
        let bounds = leader.bounds();
        let middle = f32::midpoint(bounds[0], bounds[2]);
        let beside = lines.iter().filter(|line| line.bounds[1] < bounds[3] && bounds[1] < line.bounds[3]);
        let gap = |line: &Line| (letters::baseline(line, middle) - bounds[3]).abs();
        let line = beside.min_by(|a, b| gap(a).total_cmp(&gap(b)))?;
        let size = letters::size(line);
        // The dots stand on the baseline: within a quarter of the em.
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

/// Whether the word is a drawn line that was read as a letter.
fn is_rule(word: &hocr::Word, rules: &[Box4]) -> bool {
    let [x0, y0, x1, y1] = word.bounds;
    let crossed = |rule: &Box4| rule[0] < x1 && x0 < rule[2] && rule[1] < y1 && y0 < rule[3];
    word.text.chars().all(|letter| "|¦_—–-=~[]".contains(letter)) && rules.iter().any(crossed)
}

/// Returns the mean confidence per letter, 0 to 100; 100 if there are no letters.
fn mean(read: &HocrPage) -> f32 {
    let words = || read.lines.iter().flat_map(|line| &line.words);
    let letters: usize = words().map(|word| word.text.chars().count()).sum();
    let sum: f32 = words().map(|word| word.confidence * word.text.chars().count() as f32).sum();
    if letters == 0 { 100.0 } else { sum / letters as f32 }
}

/// Returns the quarter turns for a page whose letters are mostly in lines that run up or down.
fn sideways(read: &HocrPage) -> Option<u8> {
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
    // Text that runs down is turned back by three quarters clockwise.
    Some(if turned.iter().map(|line| down(line)).sum::<i32>() >= 0 { 3 } else { 1 })
}

/// Counts the letters and digits in confident words.
fn sure_letters(read: &HocrPage) -> usize {
    let words = read.lines.iter().filter(|line| !line.turned).flat_map(|line| &line.words);
    words
        .filter(|word| word.confidence >= 75.0)
        .map(|word| word.text.chars().filter(|l| l.is_alphanumeric()).count())
        .sum()
}

/// Returns the quarter turns at which a part of the page has the most confident letters.
fn best_turn(engine: &mut Engine, upright: &UprightImage) -> Result<u8, Error> {
    let Some(part) = densest(&upright.picture, upright.threshold) else { return Ok(0) };
    let mut best = (0, 0);
    // The most likely first, as a later one must be clearly better: upright, on either side, upside down.
    for turned in [0, 1, 3, 2] {
        let read = engine.recognise(engine.current(), &part.turned(turned), upright.dpi, PageSegMode::PsmAuto)?;
        let letters = sure_letters(&read);
        // Another orientation needs half as many letters again, so that noise does not turn the page.
        if letters > best.1 * 3 / 2 + 3 {
            best = (turned, letters);
        }
    }
    Ok(best.0)
}

/// Returns the part of the image with the most ink, among nine that are half as wide and high.
fn densest(picture: &Grey, threshold: u8) -> Option<Grey> {
    let (width, height) = (picture.width() as u32, picture.height() as u32);
    let ink = |place: &[u32; 4]| -> usize {
        // Every third row: a third of the time, and no letter is lower than three rows.
        let rows = (place[1]..place[3]).step_by(3);
        rows.map(|y| {
            let row = &picture.row(y as usize)[place[0] as usize..place[2] as usize];
            row.iter().filter(|value| **value <= threshold).count()
        })
        .sum()
    };
    // They overlap by half, so that a text in the middle of the page is whole in one of them.
    let places = (0..9).map(|place| {
        let (x, y) = ((place % 3) * width / 4, (place / 3) * height / 4);
        [x, y, x + width / 2, y + height / 2]
    });
    picture.cut(places.max_by_key(ink)?)
}

/// Returns another language in which some lines of the page have much more confidence.
fn best_language(engine: &mut Engine, upright: &UprightImage, read: &HocrPage) -> Result<Option<usize>, Error> {
    let current = engine.current();
    let Some(part) = sample(upright, read).filter(|_| engine.count() > 1) else { return Ok(None) };
    let mut best = (None, 0.0);
    for language in std::iter::once(current).chain((0..engine.count()).filter(|other| *other != current)) {
        let read = engine.recognise(language, &part, upright.dpi, PageSegMode::PsmAuto)?;
        let sure = if read.lines.is_empty() { 0.0 } else { mean(&read) };
        if language == current {
            best.1 = sure + SURER;
        } else if sure > best.1 {
            best = (Some(language), sure);
        }
    }
    Ok(best.0)
}

/// Returns the lines in the middle of a page.
fn sample(upright: &UprightImage, read: &HocrPage) -> Option<Grey> {
    let middle = read.lines.get(read.lines.len() / 2)?.bounds;
    let reach = 0.6 * upright.dpi;
    let edge = |value: f32| value.max(0.0) as u32;
    upright.picture.cut([0, edge(middle[1] - reach), upright.picture.width() as u32, edge(middle[3] + reach)])
}
