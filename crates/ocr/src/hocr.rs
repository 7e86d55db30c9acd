//! Parser for the hOCR output of tesseract, in the one form that it writes.
//!
//! Only hOCR, of tesseract's output formats, contains the baseline of a line and the height of its letters.

/// Box in pixels: left, top, right, bottom.
pub(crate) type Box4 = [f32; 4];

/// Parsed output.
#[derive(Debug, Default)]
pub(crate) struct HocrPage {
    pub(crate) lines: Vec<Line>,
    pub(crate) pictures: Vec<Box4>,
}

/// Line of text.
#[derive(Debug, Default)]
pub(crate) struct Line {
    pub(crate) bounds: Box4,
    /// Slope of the baseline, and its offset below the lower left corner of the box.
    pub(crate) baseline: (f32, f32),
    /// Height from the lowest to the highest letters.
    pub(crate) height: f32,
    /// Whether the line does not run to the right; tesseract then reports no baseline.
    pub(crate) turned: bool,
    /// Number of its block.
    pub(crate) block: u32,
    pub(crate) words: Vec<Word>,
}

/// Word.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) bounds: Box4,
    /// Confidence, 0 to 100.
    pub(crate) confidence: f32,
}

/// Parses the output.
pub(crate) fn parse_hocr(hocr: &str) -> HocrPage {
    let mut read = HocrPage::default();
    let mut block = 0;
    let mut open: Option<Word> = None;
    for piece in hocr.split('<').skip(1) {
        let Some((tag, text)) = piece.split_once('>') else { continue };
        match class(tag) {
            Some("ocr_carea") => block += 1,
            Some("ocr_photo") => read.pictures.extend(numbers(tag, "bbox")),
            Some("ocrx_word") => {
                let bounds = numbers(tag, "bbox").unwrap_or_default();
                let [confidence] = numbers(tag, "x_wconf").unwrap_or_default();
                open = Some(Word { text: unescaped(text), bounds, confidence });
            }
            Some(kind) if kind.starts_with("ocr_") && tag.starts_with("span") => read.lines.push(line(tag, block)),
            _ if tag.starts_with("/span") => {
                let word = open.take().filter(|word| !word.text.trim().is_empty());
                if let (Some(word), Some(line)) = (word, read.lines.last_mut()) {
                    line.words.push(word);
                }
            }
            // An inner element, such as bold or italic type, continues the word.
            _ => {
                if let Some(word) = &mut open {
                    word.text.push_str(&unescaped(text));
                }
            }
        }
    }
    read.lines.retain(|line| !line.words.is_empty());
    read
}

fn line(tag: &str, block: u32) -> Line {
    let one = |name| numbers::<1>(tag, name).map_or(0.0, |[value]| value);
    let [slope, offset] = numbers(tag, "baseline").unwrap_or_default();
    Line {
        bounds: numbers(tag, "bbox").unwrap_or_default(),
        baseline: (slope, offset),
        height: one("x_size"),
        turned: one("textangle") != 0.0 || !tag.contains("baseline "),
        block,
        words: Vec::new(),
    }
}

fn class(tag: &str) -> Option<&str> {
    let rest = &tag[tag.find("class='")? + 7..];
    rest.split('\'').next()
}

/// Returns the numbers that follow a name.
fn numbers<const N: usize>(tag: &str, name: &str) -> Option<[f32; N]> {
    let rest = &tag[tag.find(&format!("{name} "))? + name.len() + 1..];
    let mut out = [0.0; N];
    let mut words = rest.split(|letter: char| !(letter.is_ascii_digit() || matches!(letter, '-' | '.' | 'e')));
    for value in &mut out {
        *value = words.next()?.parse().ok().filter(|number: &f32| number.is_finite())?;
    }
    Some(out)
}

fn unescaped(text: &str) -> String {
    let text = text.trim_end_matches('\n');
    if !text.contains('&') {
        return text.to_owned();
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    text.replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_words_and_pictures_are_read() {
        let read = parse_hocr(
            "<div class='ocr_page' title='image \"\"; bbox 0 0 640 480'>\n\
             <div class='ocr_photo' id='block_1_1' title=\"bbox 5 6 70 80\"></div>\n\
             <div class='ocr_carea' id='block_1_2' title=\"bbox 36 92 618 361\">\n\
             <p class='ocr_par' title=\"bbox 36 92 618 184\">\n\
             <span class='ocr_line' title=\"bbox 36 92 580 122; baseline 0.003 -6; x_size 30.5; x_descenders 6; x_ascenders 7\">\n\
             <span class='ocrx_word' title='bbox 36 92 96 116; x_wconf 96'>A&amp;B</span>\n\
             <span class='ocrx_word' title='bbox 109 92 129 116; x_wconf 41'><strong>bold</strong></span>\n\
             </span>\n<span class='ocr_header' title=\"bbox 1 2 3 4; textangle 90; x_size 9; x_descenders 1; x_ascenders 2\">\n\
             <span class='ocrx_word' title='bbox 1 2 3 4; x_wconf 7'> </span></span></p></div></div>",
        );
        assert_eq!(read.pictures, [[5.0, 6.0, 70.0, 80.0]]);
        let [line] = &read.lines[..] else { panic!("one line has words") };
        assert_eq!((line.baseline, line.height, line.block), ((0.003, -6.0), 30.5, 1));
        let words: Vec<_> = line.words.iter().map(|word| (word.text.as_str(), word.confidence)).collect();
        assert_eq!(words, [("A&B", 96.0), ("bold", 41.0)]);
    }

    #[test]
    fn anything_else_is_nothing() {
        for text in ["", "<", "<span class='ocr_line'", "<span class='ocrx_word' title='bbox x'>a</span>"] {
            assert!(parse_hocr(text).lines.is_empty());
        }
    }
}
