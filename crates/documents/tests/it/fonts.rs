//! Text of fonts that define their codes in different ways.

use documents::Error;

use crate::paper::{Paper, text};

/// Name, font entries, shown text, map to Unicode, and expected text.
type Case = (&'static str, &'static str, &'static str, &'static str, &'static str);

const CASES: [Case; 8] = [
    (
        "differences",
        "/Subtype /Type1 /Encoding << /Differences [1 /H /eacute /f_i /uni20AC] >> /FirstChar 1 /Widths [600 600 600 600]",
        "<01020304>",
        "",
        "Héfi€",
    ),
    (
        "map to Unicode",
        "/Subtype /Type1 /ToUnicode 5 0 R /FirstChar 1 /Widths [600 600 600 600]",
        "<01020304>",
        "4 beginbfchar <01> <0048> <02> <00E9> <03> <00660069> <04> <20AC> endbfchar",
        "Héfi€",
    ),
    (
        "composite",
        "/Subtype /Type0 /Encoding /Identity-H /ToUnicode 5 0 R /DescendantFonts [<< /Subtype /CIDFontType2 /DW 500 >>]",
        "<0001000200030004>",
        "1 beginbfrange <0001> <0004> [<0048> <00E9> <FB01> <20AC>] endbfrange",
        "Héfi€",
    ),
    (
        "Chinese",
        "/Subtype /Type0 /Encoding /UniGB-UCS2-H /DescendantFonts [<< /Subtype /CIDFontType0 \
         /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> >>]",
        "<4E2D6587>",
        "",
        "中文",
    ),
    (
        "bitmaps of TeX",
        "/Subtype /Type3 /FontMatrix [.01 0 0 .01 0 0] /FontBBox [0 0 90 90] /FirstChar 12 /Widths [50] \
         /Encoding << /Differences [12 /a12] >>",
        "<0C>",
        "",
        "fi",
    ),
    ("Symbol", "/Subtype /Type1 /BaseFont /Symbol", "(ab)", "", "αβ"),
    (
        "Greek letters that the map calls Latin",
        "/Subtype /Type1 /Encoding << /Differences [12 /beta 33 /omega /eacute] >> /FirstChar 12 /Widths [600]",
        "<0C2122>",
        "3 beginbfchar <0C> <00B4> <21> <00C9> <22> <00E9> endbfchar",
        "βωé",
    ),
    (
        "pictures without a name",
        "/Subtype /Type0 /Encoding /Identity-H /ToUnicode 5 0 R /DescendantFonts [<< /Subtype /CIDFontType2 \
         /BaseFont /ABCDEF+Webdings /DW 1000 >>] /BaseFont /ABCDEF+Webdings",
        "<00170017>",
        "1 beginbfchar <0017> <0017> endbfchar",
        "••",
    ),
];

#[test]
fn codes_become_text_by_whatever_the_font_says() {
    for (name, font, shown, map, text) in CASES {
        let paper = Paper::default()
            .page(format!("BT /G 12 Tf 72 700 Td {shown} Tj ET"))
            .resources(&format!("/Font << /G << /Type /Font {font} >> >>"))
            .stream("", map.as_bytes());
        assert_eq!(paper.markdown(), text, "{name}");
    }
}

#[test]
fn words_part_where_a_reader_sees_a_gap() {
    for (shown, read) in [
        ("[(gap) -300 (here)] TJ", "gap here"),
        ("[(ker) 20 (ning)] TJ", "kerning"),
        ("2 Tc (wide) Tj", "wide"),
        ("(a) Tj 14 0 Td (b) Tj", "a b"),
        ("20 Tw (far apart) Tj", "far apart"),
        ("/Span << /ActualText (said) >> BDC (draw) Tj EMC", "said"),
        ("/Span << /ActualText (two words) >> BDC (drawn here) Tj EMC", "two words"),
        ("(bold) Tj 0.3 0 Td (bold) Tj", "bold"),
    ] {
        let content = format!("BT /F1 12 Tf 72 700 Td {shown} ET");
        assert_eq!(Paper::default().page(content).markdown(), read, "{shown}");
    }
}

#[test]
fn text_from_right_to_left_is_read_so() {
    let font = "/Font << /G << /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 5 0 R \
        /DescendantFonts [<< /Subtype /CIDFontType2 /DW 500 >>] >> >>";
    let map = b"1 beginbfrange <0001> <001B> <05D0> endbfrange 1 beginbfchar <0020> <0020> endbfchar";
    // Two Hebrew words in visual order: the second one is at the left.
    let content = "BT /G 12 Tf 1 0 0 1 72 700 Tm <000300020001> Tj 1 0 0 1 100 700 Tm <000600050004> Tj ET";
    let paper = Paper::default().page(content).resources(font).stream("", map);
    assert_eq!(paper.markdown(), "דהו אבג");
}

#[test]
fn a_font_that_says_nothing_does_not_count_as_text() {
    let font = "/Font << /G << /Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /Subtype /CIDFontType2 >>] >> >>";
    let paper = Paper::default().page("BT /G 12 Tf 72 700 Td <000300020001> Tj ET").resources(font);
    let document = paper.read();
    assert!(!document.pages[0].quality.counts());
    assert_eq!(document.pages_for_ocr(), [1]);
    assert_eq!(document.require_text(), Err(Error::NoText));
    let readable = Paper::default().page(text("F1", 12.0, 72.0, 700.0, "Text")).read();
    assert_eq!(readable.require_text(), Ok(()));
}

#[test]
fn a_map_that_is_shifted_is_not_believed() {
    let shown =
        "The harbour was quiet when the first boats returned from the northern banks with their holds half empty.";
    // Every letter is mapped to the next one.
    let map = "1 beginbfrange <41> <79> <0042> endbfrange";
    let paper = |encoding: &str| {
        Paper::default()
            .page(format!("BT /G 8 Tf 72 700 Td ({shown}) Tj ET"))
            .resources(&format!(
                "/Font << /G << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 5 0 R {encoding} >> >>"
            ))
            .stream("", map.as_bytes())
            .markdown()
    };
    assert_eq!(paper("/Encoding /WinAnsiEncoding"), shown);
    // An encoding that is wrong while the map is right: codes in the order of their first use.
    let codes = "<0102030405>";
    let right = Paper::default()
        .page(format!("BT /G 12 Tf 72 700 Td {codes} Tj ET"))
        .resources("/Font << /G << /Type /Font /Subtype /TrueType /Encoding /WinAnsiEncoding /ToUnicode 5 0 R >> >>")
        .stream("", b"1 beginbfrange <01> <05> [<0048> <0065> <006C> <006C> <006F>] endbfrange")
        .markdown();
    assert_eq!(right, "Hello");
}
