//! Recognised pages: words with boxes are treated like glyphs.

use documents::{
    BlockKind, Content, Document, MarkdownOptions, Mode, Opened, ReadOptions, Recognise, RecogniseError,
    RecognisedPage, RecognisedWord, Rect, TextSource, blocks, markdown, read_pictures,
};

use crate::paper::{Paper, lines, text};

/// Recogniser with fixed results, which records the requested pages.
#[derive(Default)]
struct Eyes {
    pages: Vec<Result<RecognisedPage, RecogniseError>>,
    asked: Vec<u32>,
}

impl Eyes {
    fn of(pages: Vec<RecognisedPage>) -> Self {
        Self { pages: pages.into_iter().map(Ok).collect(), asked: Vec::new() }
    }
}

impl Recognise for Eyes {
    fn page(&mut self, number: u32) -> Result<RecognisedPage, RecogniseError> {
        self.asked.push(number);
        self.pages[number as usize - 1].clone()
    }
}

/// Recognised page under construction.
struct Scan(RecognisedPage);

/// Look of a line.
#[derive(Clone, Copy)]
struct Look {
    size: f32,
    weight: f32,
}

const PLAIN: Look = Look { size: 10.0, weight: 0.08 };

impl Scan {
    fn new() -> Self {
        Self(RecognisedPage { width: 612.0, height: 792.0, ..RecognisedPage::default() })
    }

    /// Adds a line of words, with each letter half an em wide.
    fn line(mut self, x: f32, baseline: f32, look: Look, text: &str) -> Self {
        let Look { size, weight } = look;
        let number = self.0.words.len() as u32;
        let mut left = x;
        for word in text.split(' ') {
            let right = left + 0.5 * size * word.chars().count() as f32;
            self.0.words.push(RecognisedWord {
                text: word.to_owned(),
                rect: Rect { x0: left, y0: baseline - 0.7 * size, x1: right, y1: baseline },
                baseline,
                size,
                weight,
                confidence: 0.9,
                line: number,
                block: 0,
            });
            left = right + 0.3 * size;
        }
        self
    }

    fn prose(self, baseline: f32) -> Self {
        let sentence = "the quick brown dog jumped over the lazy fox and then it ran away with";
        (0..6).fold(self, |scan, line| {
            // Sizes as measured, slightly inaccurate.
            let size = 10.0 + 0.15 * (line % 3) as f32;
            let look = Look { size, weight: 0.08 + 0.004 * (line % 2) as f32 };
            scan.line(72.0, baseline + 12.0 * line as f32, look, sentence)
        })
    }
}

fn scanned(scan: Scan) -> Document {
    read_pictures(1, &ReadOptions::default(), &mut Eyes::of(vec![scan.0]))
}

fn text_of(document: &Document) -> String {
    markdown(document, &MarkdownOptions::default()).text
}

#[test]
fn headings_are_told_by_size_and_weight() {
    let scan = Scan::new()
        .line(72.0, 80.0, Look { size: 18.0, weight: 0.09 }, "Annual report")
        .prose(120.0)
        .line(72.0, 220.0, Look { size: 10.0, weight: 0.13 }, "Results of the year")
        .prose(245.0);
    let document = scanned(scan);
    let headings: Vec<_> =
        document.pages[0].blocks.iter().filter(|b| matches!(b.content, Content::Heading(..))).collect();
    assert_eq!(headings.len(), 2, "{}", text_of(&document));
    assert!(text_of(&document).contains("# Annual report\n\nthe quick brown dog"));
    assert_eq!(document.pages[0].source, TextSource::Recognised);
}

/// Adds the words of one line, with gaps between them in ems.
fn stretched(mut scan: Scan, baseline: f32, words: &[(&str, f32)]) -> Scan {
    let (line, mut left) = (scan.0.words.len() as u32, 72.0);
    for (word, gap) in words {
        scan = scan.line(left, baseline, PLAIN, word);
        let last = scan.0.words.last_mut().expect("a word");
        last.line = line;
        left = last.rect.x1 + 10.0 * gap;
    }
    scan
}

#[test]
fn stretched_lines_stay_whole() {
    let first = [
        ("Two", 1.3),
        ("different", 2.1),
        ("notions", 1.8),
        ("of", 0.9),
        ("derivative", 2.3),
        ("appear", 1.8),
        ("in", 0.9),
        ("this", 0.0),
    ];
    let second = [
        ("expression", 1.1),
        ("and", 2.1),
        ("the", 1.2),
        ("functions", 2.6),
        ("stand", 1.9),
        ("for", 1.3),
        ("both", 1.1),
        ("terms", 0.0),
    ];
    let scan = stretched(stretched(Scan::new().prose(100.0), 172.0, &first), 184.0, &second).prose(220.0);
    let wanted = "Two different notions of derivative appear in this expression and the functions stand for both terms";
    let text = text_of(&scanned(scan));
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn ruled_tables_are_read() {
    let mut scan = Scan::new().prose(100.0);
    for (row, cells) in [["Year", "Income"], ["2023", "1,200"], ["2024", "1,350"]].iter().enumerate() {
        let y = 260.0 + 20.0 * row as f32;
        scan = scan.line(80.0, y, PLAIN, cells[0]).line(220.0, y, PLAIN, cells[1]);
    }
    let rule = |x0, y0, x1, y1| Rect { x0, y0, x1, y1 };
    let across = (0..4).map(|row| rule(72.0, 246.0 + 20.0 * row as f32, 360.0, 247.0 + 20.0 * row as f32));
    let down = [72.0, 210.0, 360.0].map(|x| rule(x, 246.0, x + 1.0, 306.0));
    scan.0.rules.extend(across.chain(down));
    assert!(text_of(&scanned(scan)).contains("| Year | Income |\n| --- | --- |\n| 2023 | 1,200 |\n| 2024 | 1,350 |"));
}

#[test]
fn boxes_of_a_page_that_was_turned_are_those_of_the_page_as_shown() {
    let mut scan = Scan::new().prose(100.0);
    (scan.0.turned, scan.0.width, scan.0.height) = (1, 792.0, 612.0);
    let document = scanned(scan);
    let page = &document.pages[0];
    assert_eq!((page.width, page.height), (612.0, 792.0));
    let [block] = &page.blocks[..] else { panic!("one paragraph") };
    // It was turned clockwise to be upright, so on the page its text runs upwards, with the first line at the left.
    assert!(block.rect.height() > block.rect.width());
    assert!(block.rect.x0 < 110.0 && block.rect.y1 > 700.0, "{:?}", block.rect);
    assert!(block.recognition.is_some_and(|sure| (sure - 0.9).abs() < 0.001), "{:?}", block.recognition);
}

#[test]
fn only_pages_without_text_are_recognised() {
    let image = "q 612 0 0 792 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x7f EI Q";
    let file = Paper::default().page(lines(72.0, 700.0, &["This page has a text of its own."])).page(image).file();
    let opened = Opened::new(&file).expect("a document");
    assert_eq!(opened.pages(), 2);
    let read = |mode| {
        let mut eyes = Eyes::of(vec![Scan::new().prose(90.0).0, Scan::new().prose(100.0).0]);
        let document = opened.read(&ReadOptions { mode, ..ReadOptions::default() }, Some(&mut eyes));
        (document, eyes.asked)
    };
    let (fast, asked) = read(Mode::Fast);
    assert_eq!((asked.len(), fast.pages_for_ocr()), (0, vec![2]));
    let (auto, asked) = read(Mode::Auto);
    assert_eq!((asked, auto.pages_for_ocr()), (vec![2], vec![]));
    assert!(text_of(&auto).starts_with("This page has a text of its own.\n\nthe quick brown dog"));
    let wire = blocks(&auto, &markdown(&auto, &MarkdownOptions::default()));
    let sources: Vec<_> = wire.iter().map(|page| page.items[0].source.as_deref()).collect();
    assert_eq!(sources, [Some("native_text"), Some("layout_ocr")]);
    assert_eq!(wire[0].items[0].confidence.ocr, None);
    assert_eq!(wire[1].items[0].confidence.ocr, Some(0.9));
    let (_, asked) = read(Mode::Ocr);
    assert_eq!(asked, [1, 2]);
}

#[test]
fn a_scan_under_a_stamp_is_recognised_and_keeps_the_stamp_once() {
    let image = "q 612 0 0 792 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x7f EI Q ";
    let stamp = text("F1", 9.0, 60.0, 770.0, "Case 3:24-cv-00123 Filed 05/03/24");
    let opened = Opened::new(&Paper::default().page(format!("{image}{stamp}")).file()).expect("a document");
    let scan = || Scan::new().line(60.0, 22.0, PLAIN, "Case 3:24-cv-00123 Filed 05/03/24").prose(90.0).0;
    let read = |mode, page| {
        let mut eyes = Eyes::of(vec![page]);
        opened.read(&ReadOptions { mode, ..ReadOptions::default() }, Some(&mut eyes))
    };
    let document = read(Mode::Auto, scan());
    let text = text_of(&document);
    assert!(text.starts_with("Case 3:24-cv-00123 Filed 05/03/24\n\nthe quick brown dog"), "{text}");
    assert_eq!(text.matches("00123").count(), 1, "{text}");
    assert!(document.pages_for_ocr().is_empty());
    // Without recognition the page is known to show more than was read.
    assert_eq!(read(Mode::Fast, scan()).pages_for_ocr(), [1]);
    // A photo with a caption: recognition finds nothing, and nothing is missing.
    assert!(read(Mode::Auto, RecognisedPage::default()).pages_for_ocr().is_empty());
}

#[test]
fn a_text_layer_that_is_noise_is_not_used() {
    let layer = |words: &str| {
        let image = "q 612 0 0 792 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x7f EI Q ";
        let hidden: String =
            (0..20).map(|row| format!("BT 3 Tr /F1 11 Tf 72 {} Td ({words}) Tj ET ", 720 - 30 * row)).collect();
        Paper::default().page(format!("{image}{hidden}")).read()
    };
    let good = layer("The harbour was quiet when the first boats returned from the banks");
    assert!(good.pages_for_ocr().is_empty() && text_of(&good).contains("harbour"));
    let noise = layer("|l ~i1 xQz; .,_ fHj} rrtk5 ^^ ;l1I x#k wwVv q~ zx|");
    assert_eq!((noise.pages_for_ocr(), text_of(&noise).as_str()), (vec![1], ""));
}

#[test]
fn a_page_of_text_over_a_background_is_not_recognised() {
    let image = "q 612 0 0 792 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x7f EI Q ";
    let line = "Words of a page that has a picture as its background, as many brochures do, are enough.";
    let content = format!("{image}{}", lines(72.0, 700.0, &[line; 20]));
    let document = Paper::default().page(content).read();
    assert!(document.pages_for_ocr().is_empty());
}

#[test]
fn when_time_runs_out_the_pages_before_are_kept() {
    let out = || Err(RecogniseError::OutOfTime);
    let mut eyes = Eyes { pages: vec![Ok(Scan::new().prose(90.0).0), out(), out()], asked: Vec::new() };
    let document = read_pictures(3, &ReadOptions::default(), &mut eyes);
    // Later pages may have been recognised in the meantime.
    assert_eq!(eyes.asked, [1, 2, 3]);
    let wire = blocks(&document, &markdown(&document, &MarkdownOptions::default()));
    assert_eq!(wire.iter().map(|page| page.status.as_str()).collect::<Vec<_>>(), ["ok", "failed", "failed"]);
    assert_eq!(document.pages_for_ocr(), [2, 3]);
    assert_eq!(document.pages[1].failure, Some(RecogniseError::OutOfTime));
}

#[test]
fn what_is_embedded_stays_when_nothing_is_recognised() {
    let file = Paper::default().page(text("F1", 12.0, 72.0, 700.0, "Embedded.")).file();
    let opened = Opened::new(&file).expect("a document");
    let options = ReadOptions { mode: Mode::Ocr, ..ReadOptions::default() };
    for answer in [Ok(RecognisedPage::default()), Err(RecogniseError::Failed("broken".to_owned()))] {
        let failed = answer.is_err();
        let document = opened.read(&options, Some(&mut Eyes { pages: vec![answer], asked: Vec::new() }));
        assert_eq!(text_of(&document), "Embedded.");
        assert_eq!(document.pages[0].needs_ocr(), failed);
    }
}

#[test]
fn a_lying_recogniser_breaks_nothing() {
    let mut scan = Scan::new().prose(100.0);
    let word = scan.0.words[0].clone();
    scan.0.words.push(RecognisedWord { size: f32::NAN, ..word.clone() });
    scan.0.words.push(RecognisedWord { size: -3.0, text: String::new(), ..word.clone() });
    scan.0.words.push(RecognisedWord { baseline: f32::INFINITY, ..word });
    scan.0.turned = 250;
    scan.0.rules.push(Rect { x0: f32::NAN, y0: 0.0, x1: 1.0, y1: 1.0 });
    let document = scanned(scan);
    assert!(document.pages[0].blocks.iter().any(|block| block.kind == BlockKind::Text));
}
