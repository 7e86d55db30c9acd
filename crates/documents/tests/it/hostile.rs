//! Documents that try to exceed the limits. Each must end soon; their memory use is measured by the robustness run.

use std::time::{Duration, Instant};

use documents::{MarkdownOptions, ReadOptions, blocks, markdown, read_pdf};
use proptest::prelude::*;

use crate::paper::{Paper, text};

/// Time limit for each case, without optimisation on a busy machine.
const SOON: Duration = Duration::from_secs(20);

fn form(content: &str, resources: &str) -> (String, Vec<u8>) {
    let entries =
        format!("/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /XObject << {resources} >> >>");
    (entries, content.as_bytes().to_vec())
}

#[test]
fn forms_that_draw_each_other_end() {
    let hello = text("F1", 12.0, 72.0, 700.0, "Still here");
    let mut laughs = Paper::default().page(format!("{hello}/X Do")).resources("/XObject << /X 5 0 R >>");
    for level in 0..12 {
        let (entries, content) = form(&"/X Do ".repeat(10), &format!("/X {} 0 R", Paper::FIRST + level + 1));
        laughs = laughs.stream(&entries, &content);
    }
    let (entries, content) = form("/X Do /X Do", "/X 5 0 R");
    let itself =
        Paper::default().page(format!("{hello}/X Do")).resources("/XObject << /X 5 0 R >>").stream(&entries, &content);
    for paper in [laughs, itself] {
        let start = Instant::now();
        assert_eq!(paper.markdown(), "Still here");
        assert!(start.elapsed() < SOON);
    }
}

#[test]
fn a_page_with_too_much_on_it_is_cut_and_says_so() {
    let content = format!("BT /F1 1 Tf {} ET", "1 0 0 1 9 9 Tm (ab cd ef gh) Tj ".repeat(30_000));
    let start = Instant::now();
    let document = Paper::default().page(content).read();
    assert!(document.pages[0].quality.cut);
    assert!(start.elapsed() < SOON);
}

#[test]
fn many_lines_and_words_end_soon() {
    let lines: String =
        (0..3000).map(|place| format!("{place} 0 m {place} 792 l S 0 {place} m 612 {place} l S ")).collect();
    let words: String =
        (0..4000).map(|place| text("F1", 6.0, (place * 37 % 600) as f32, (place * 91 % 780) as f32, "word")).collect();
    let bands: String =
        (0..3000).map(|place| format!("{} {} 100 9 re f ", place * 13 % 500, place * 7 % 780)).collect();
    for content in [lines.clone() + &words, bands + &words, lines] {
        let start = Instant::now();
        Paper::default().page(content).read();
        assert!(start.elapsed() < SOON);
    }
}

#[test]
fn deep_nesting_ends() {
    for (opened, operator) in
        [("[", "TJ"), ("<<", "BDC"), ("(", "Tj"), ("q ", ""), ("/P BMC ", ""), ("/P <</A ", "BDC")]
    {
        let content = text("F1", 12.0, 72.0, 700.0, "Before") + &opened.repeat(100_000) + operator;
        assert_eq!(Paper::default().page(content).markdown(), "Before");
    }
}

#[test]
fn pages_that_repeat_themselves_end() {
    let paper = Paper::default().page(text("F1", 12.0, 72.0, 700.0, "Page")).catalog("/Outlines 5 0 R");
    let paper = paper.object("<< /First 6 0 R >>").object("<< /Title (Loop) /Next 6 0 R /First 6 0 R >>");
    let file = String::from_utf8(paper.file()).expect("ASCII").replace("/Kids [3 0 R ]", "/Kids [3 0 R 2 0 R]");
    let document = read_pdf(file.as_bytes(), &ReadOptions::default()).expect("a document");
    assert!(!document.pages.is_empty() && document.pages.len() < 10);
}

/// Generates pieces of content, valid and broken.
fn piece() -> impl Strategy<Value = String> {
    let operators = prop::sample::select(vec![
        "BT", "ET", "Tj", "TJ", "Tf", "Td", "Tm", "T*", "'", "\"", "q", "Q", "cm", "re", "m", "l", "c", "h", "S", "f",
        "B*", "n", "Do", "BMC", "BDC", "EMC", "BI", "ID", "EI", "gs", "Tc", "Tw", "Tz", "Tr", "Ts", "W", "scn",
    ]);
    let operands = prop::sample::select(vec![
        "/F1 12",
        "/F2 0",
        "/F3 -9",
        "(text)",
        "(\\)\\101",
        "<4142>",
        "<41",
        "[(a) -250 (b)]",
        "[",
        "]",
        "<<",
        ">>",
        "/X",
        "/Span",
        "<< /ActualText (x) >>",
        "1 0 0 1 72 700",
        "0 0 0 0 0 0",
        "1e9",
        "-1",
        "99999999999999",
        ".",
        "--3",
        "0 1 -1 0 300 300",
        "72 700",
        "10 10 100 20",
        "50 50",
        "true",
        "null",
        "%c\n",
    ]);
    prop_oneof![operators.prop_map(str::to_owned), operands.prop_map(str::to_owned), "[ -~]{0,6}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_content_breaks_anything(pieces in prop::collection::vec(piece(), 0..120)) {
        let document = Paper::default().page(pieces.join(" ")).read();
        let markdown = markdown(&document, &MarkdownOptions::default());
        let letters = markdown.text.chars().count() as u64;
        for item in blocks(&document, &markdown).iter().flat_map(|page| &page.items) {
            prop_assert!(item.markdown_span.is_none_or(|[from, to]| from <= to && to <= letters));
            prop_assert!(item.bbox.is_none_or(|[x0, y0, x1, y1]| 0.0 <= x0 && x0 <= x1 && x1 <= 1.0 && 0.0 <= y0 && y0 <= y1 && y1 <= 1.0));
        }
    }

    #[test]
    fn no_damage_breaks_anything(place in 0_usize..1200, byte: u8, cut in 0_usize..1200) {
        let mut file = Paper::default().page(text("F1", 12.0, 72.0, 700.0, "Some text on a page")).file();
        let length = file.len();
        file[place % length] = byte;
        file.truncate(length - cut % length / 2);
        if let Ok(document) = read_pdf(&file, &ReadOptions::default()) {
            let text = markdown(&document, &MarkdownOptions::default()).text;
            prop_assert!(text.len() <= 10_000);
        }
    }
}
