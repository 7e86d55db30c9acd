//! Reading order, paragraphs, headings, lists, furniture.

use documents::{BlockKind, Content};

use crate::paper::{Paper, lines, rule, text};

const LEFT: [&str; 4] = [
    "The first column begins here and it has",
    "several lines of running text, of which",
    "the last but one ends with a broken exam-",
    "ple of a word that is long.",
];
const RIGHT: [&str; 3] = [
    "The second column stands beside the first",
    "one and it is read after all of that, what-",
    "ever order it was drawn in.",
];

#[test]
fn columns_are_read_one_after_the_other_however_they_are_drawn() {
    let title = text("F2", 18.0, 72.0, 740.0, "A title over two columns");
    let (left, right) = (lines(72.0, 700.0, &LEFT), lines(320.0, 700.0, &RIGHT));
    let wanted = "# A title over two columns\n\n\
        The first column begins here and it has several lines of running text, of which the last but one ends with a broken \
        example of a word that is long.\n\n\
        The second column stands beside the first one and it is read after all of that, whatever order it was drawn in.";
    let rows: String = (0..4)
        .map(|row| {
            let y = 700.0 - 12.0 * row as f32;
            let right = RIGHT.get(row).map(|line| lines(320.0, y, &[line])).unwrap_or_default();
            lines(72.0, y, &[LEFT[row]]) + &right
        })
        .collect();
    for content in [format!("{title}{left}{right}"), format!("{right}{left}{title}"), format!("{title}{rows}")] {
        assert_eq!(Paper::default().page(content).markdown(), wanted);
    }
}

#[test]
fn headings_and_lists_are_told_by_their_looks() {
    let content = text("F2", 20.0, 72.0, 740.0, "Report")
        + &text("F2", 14.0, 72.0, 700.0, "1 Findings")
        + &lines(
            72.0,
            680.0,
            &[
                "There are some findings, and they are listed below in the order in which they were",
                "found by those who looked for them at the time.",
            ],
        )
        + &text("F1", 10.0, 84.0, 640.0, "\u{2022} one")
        + &text("F1", 10.0, 84.0, 626.0, "- two")
        + &text("F2", 14.0, 72.0, 590.0, "2 Outlook")
        + &lines(
            72.0,
            570.0,
            &["Nobody knows what comes next, but it will be something that was not expected before."],
        );
    let content = content.replace('\u{2022}', "\\225");
    assert_eq!(
        Paper::default().page(content).markdown(),
        "# Report\n\n## 1 Findings\n\nThere are some findings, and they are listed below in the order in which they were found \
         by those who looked for them at the time.\n\n- one\n- two\n\n## 2 Outlook\n\nNobody knows what comes next, but it will \
         be something that was not expected before.",
    );
}

#[test]
fn what_repeats_in_the_margins_is_left_out_of_the_text() {
    let page = |number: usize, words: &str| {
        text("F1", 8.0, 72.0, 760.0, "Annual report")
            + &lines(72.0, 600.0, &[words])
            + &text("F1", 8.0, 300.0, 30.0, &number.to_string())
    };
    let paper =
        Paper::default().page(page(1, "One thing is said on this page.")).page(page(2, "Another is said on that."));
    assert_eq!(paper.markdown(), "One thing is said on this page.\n\nAnother is said on that.");
    let kinds: Vec<_> = paper.read().pages[1].blocks.iter().map(|block| (block.kind, block.repeated)).collect();
    assert_eq!(kinds, [(BlockKind::PageHeader, true), (BlockKind::Text, false), (BlockKind::PageNumber, true)]);
}

#[test]
fn furniture_of_a_single_page_stays() {
    let content =
        text("F1", 8.0, 72.0, 760.0, "Annual report") + &lines(72.0, 600.0, &["One thing is said on this page."]);
    let paper = Paper::default().page(content);
    assert_eq!(paper.markdown(), "Annual report\n\nOne thing is said on this page.");
    assert_eq!(paper.read().pages[0].blocks[0].kind, BlockKind::PageHeader);
}

#[test]
fn entries_of_a_list_of_contents_stay_lines() {
    let entry = |row: usize, number: &str, title: &str, page: &str| {
        let y = 700.0 - 14.0 * row as f32;
        let led = format!("{title} {}", ". ".repeat(20));
        text("F1", 10.0, 72.0, y, number) + &text("F1", 10.0, 100.0, y, &led) + &text("F1", 10.0, 490.0, y, page)
    };
    let content = entry(0, "9.1", "Autoloading Functions on a first line of some length", "22")
        + &entry(1, "9.2", "Anonymous Functions on another line of some length", "24")
        + &entry(2, "9.3", "Special Functions on the last line of some length", "iv");
    let text = Paper::default().page(content).markdown();
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 3, "{text}");
    for (line, (number, page)) in lines.iter().zip([("9.1 Auto", ". 22"), ("9.2 Anon", ". 24"), ("9.3 Spec", ". iv")]) {
        assert!(line.contains(number) && line.ends_with(page), "{line}");
    }
}

#[test]
fn accents_that_are_drawn_before_their_letters_are_part_of_them() {
    // In TeX fonts the accent is wider than the letter, which is drawn back under it.
    let content = r"BT /F1 10 Tf 72 700 Td [(Une fr\264) 445 (equence \264) 445 (elev\264) 445 (ee)] TJ ET";
    let text = Paper::default().page(content).markdown();
    assert_eq!(text, "Une fréquence élevée");
}

#[test]
fn looks_of_a_cover_take_no_levels_from_the_chapters() {
    let cover: String =
        (0..8).map(|row| text("F2", 40.0 - 3.0 * row as f32, 72.0, 720.0 - 70.0 * row as f32, "Cover")).collect();
    let prose = "Nobody knows what comes next, but it will be something that was not expected before.";
    let chapter = |number: usize| {
        text("F2", 16.0, 72.0, 720.0, &format!("Chapter {number}"))
            + &lines(72.0, 690.0, &[prose, prose])
            + &text("F2", 13.0, 72.0, 640.0, &format!("Section {number}"))
            + &lines(72.0, 610.0, &[prose, prose])
    };
    let markdown = (1..=12).fold(Paper::default().page(cover), |paper, number| paper.page(chapter(number))).markdown();
    assert!(markdown.contains("\n# Cover"), "{markdown}");
    for wanted in ["# Chapter 7\n", "## Section 7\n"] {
        let line = format!("\n{wanted}");
        assert!(markdown.contains(&line), "{markdown}");
    }
}

#[test]
fn code_ends_where_its_font_ends() {
    let prose = ["Some words that come before the line with code, so that most of the text is none.", "They go on."];
    let content = lines(72.0, 700.0, &prose)
        + r"BT /F1 10 Tf 72 640 Td (The matrix is \() Tj /F3 10 Tf (sigma) Tj /F1 10 Tf (\), and no other.) Tj ET";
    let text = Paper::default().page(content).markdown();
    assert!(text.ends_with("The matrix is (`sigma`), and no other."), "{text}");
}

#[test]
fn bold_words_that_fill_a_line_of_a_text_are_no_heading() {
    let prose = [
        "Some words that come before all of that, so that most of the text here is not bold.",
        "They go on for one more line, as most texts do, and then there are no more of them.",
    ];
    let content = lines(72.0, 700.0, &prose)
        + "BT /F1 10 Tf 72 640 Td (Many more of these tools are described later, such as ) Tj /F2 10 Tf \
           (debhelper, cdbs, quilt,) Tj 0 -12 Td (pbuilder, sbuild, lintian, svn-buildpackage, git-buildpackage, dpatch) Tj \
           /F1 10 Tf ( and) Tj ET\n"
        + &lines(72.0, 616.0, &["others of their kind. Install them when you need them, and not before."]);
    let text = Paper::default().page(content).markdown();
    let wanted = "such as debhelper, cdbs, quilt, pbuilder, sbuild, lintian, svn-buildpackage, git-buildpackage, dpatch and others";
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn code_keeps_its_spaces() {
    let code = text("F3", 10.0, 72.0, 600.0, "if x:") + &text("F3", 10.0, 96.0, 588.0, "y = 1  # one");
    let content =
        lines(72.0, 660.0, &["Some words that come before the code, so that it is not the whole of the text here."])
            + &code;
    let markdown = Paper::default().page(content).markdown();
    assert!(markdown.ends_with("\n\n    if x:\n        y = 1  # one"), "{markdown}");
}

#[test]
fn names_in_a_text_are_no_code_of_their_own() {
    let row = |y: f32, parts: &[(&str, f32, f32, &str)]| {
        parts.iter().map(|(font, size, x, part)| text(font, *size, *x, y, part)).collect::<String>()
    };
    let content = lines(72.0, 700.0, &["Some words that come before all of it, so that the page is mostly text."])
        + &row(660.0, &[("F1", 10.0, 72.0, "Both are written to the folder of the program by")])
        + &row(648.0, &[("F3", 8.5, 72.0, "engine/src/ingest/accumulator.rs"), ("F1", 10.0, 238.0, "and again.")])
        + &row(636.0, &[("F1", 10.0, 72.0, "It is called as")])
        + &row(624.0, &[("F3", 8.5, 72.0, "ingest --all")])
        + &row(612.0, &[("F1", 10.0, 72.0, "with the settings that are in its file.")]);
    let markdown = Paper::default().page(content).markdown();
    let wanted = "program by `engine/src/ingest/accumulator.rs` and again. It is called as\n\n    ingest --all\n\nwith the settings";
    assert!(markdown.contains(wanted), "{markdown}");
}

#[test]
fn columns_in_code_are_spaces() {
    let prose = ["Some words that come before the code, so that it is not the whole of the text here.", "They go on."];
    let row =
        |y: f32, parts: &[(f32, &str)]| parts.iter().map(|(x, part)| text("F3", 10.0, *x, y, part)).collect::<String>();
    // Options with their meanings, two spaces apart; then a comment far to the right of its command.
    let content = lines(72.0, 700.0, &prose)
        + &row(640.0, &[(72.0, "-p"), (96.0, "--persist")])
        + &row(628.0, &[(72.0, "-d"), (96.0, "--default-settings")])
        + &row(616.0, &[(72.0, "-e"), (96.0, "'command1; command2; ...'")])
        + &row(604.0, &[(72.0, "plot 1 2 4"), (192.0, "# a line")]);
    let markdown = Paper::default().page(content).markdown();
    let wanted = [
        "    -p  --persist",
        "    -d  --default-settings",
        "    -e  'command1; command2; ...'",
        "    plot 1 2 4          # a line",
    ];
    assert!(markdown.ends_with(&wanted.join("\n")), "{markdown}");
}

#[test]
fn columns_of_a_page_stay_apart_in_code() {
    let column = |x: f32| {
        let prose = ["Some words that stand in a column of", "the page, before the lines of code in", "it."];
        lines(x, 700.0, &prose)
            + &text("F3", 10.0, x, 640.0, "let x = 1234567890123456789012345")
            + &lines(x, 610.0, &["More words."])
    };
    let markdown = Paper::default().page(column(72.0) + &column(300.0)).markdown();
    assert_eq!(markdown.matches("    let x = 1234567890123456789012345\n").count(), 2, "{markdown}");
}

#[test]
fn words_of_justified_lines_stay_together() {
    let row = |y: f32, parts: &[(&str, f32, f32, &str)]| {
        parts.iter().map(|(font, size, x, part)| text(font, *size, *x, y, part)).collect::<String>()
    };
    // The lines end at 244, and the code is in smaller letters.
    let content =
        lines(72.0, 700.0, &["Before writing, group all of the rows by", "their window and make one file of each"])
            + &row(676.0, &[("F1", 10.0, 72.0, "window. Add"), ("F3", 8.5, 180.2, "window_start,")])
            + &row(664.0, &[("F1", 10.0, 72.0, "metadata."), ("F1", 10.0, 197.1, "Implement")])
            + &lines(72.0, 652.0, &["it once for each of these time windows."]);
    let markdown = Paper::default().page(content).markdown();
    assert!(markdown.contains("window. Add `window_start,` metadata. Implement it once for each"), "{markdown}");
    let amounts = lines(72.0, 700.0, &["The amounts of the year, as all of them know"])
        + &row(688.0, &[("F1", 10.0, 72.0, "Rent"), ("F1", 10.0, 230.0, "1 200")])
        + &row(676.0, &[("F1", 10.0, 72.0, "Light"), ("F1", 10.0, 230.0, "9 300")]);
    let markdown = Paper::default().page(amounts).markdown();
    assert!(!markdown.contains("Rent 1 200"), "{markdown}");
}

#[test]
fn a_note_on_a_few_of_many_pages_is_text() {
    let note =
        ["Used with the permission of the society that holds the rights in all of it, and of those", "who wrote it."];
    let page = |number: usize| {
        let words = format!("What is said on page {number} is said nowhere else in the whole of this text.");
        let note = if (10..13).contains(&number) { lines(72.0, 80.0, &note) } else { String::new() };
        text("F1", 10.0, 72.0, 760.0, "Annual report") + &lines(72.0, 600.0, &[words.as_str()]) + &note
    };
    let markdown = (1..=40).fold(Paper::default(), |paper, number| paper.page(page(number))).markdown();
    assert_eq!(markdown.matches("Used with the permission").count(), 3);
    assert!(!markdown.contains("Annual report"), "{markdown}");
}

#[test]
fn marks_that_are_raised_by_half_an_em_are_in_their_line() {
    let content = lines(72.0, 700.0, &["Some words that come before, so that the size of the text is known."])
        + "BT 1 0 0 1 72 660 Tm /F1 8 Tf 5 Ts (2) Tj /F1 10 Tf 0 Ts ( is said more than once.) Tj \
           /F1 8 Tf 5 Ts (2) Tj /F1 10 Tf 0 Ts ( And so it goes on.) Tj ET";
    let text = Paper::default().page(content).markdown();
    let wanted = "<sup>2</sup> is said more than once.<sup>2</sup> And so it goes on.";
    assert!(text.ends_with(wanted), "{text}");
}

#[test]
fn pages_that_are_turned_read_like_any_other() {
    for (turn, matrix) in [(90, "0 1 -1 0"), (180, "-1 0 0 -1"), (270, "0 -1 1 0")] {
        let (x, y) = [(300, 100), (500, 700), (300, 700)][turn / 90 - 1];
        let content = format!("BT /F1 12 Tf {matrix} {x} {y} Tm (Text that is turned) Tj ET");
        // Turned upright by the page, and not turned at all.
        for entries in [format!("/Rotate {turn}"), String::new()] {
            let paper = Paper::default().page(content.clone()).page_entries(&entries);
            assert_eq!(paper.markdown(), "Text that is turned", "{turn} {entries}");
            let document = paper.read();
            let (page, rect) = (&document.pages[0], document.pages[0].blocks[0].rect);
            assert!(rect.x0 >= 0.0 && rect.x1 <= page.width && rect.y0 >= 0.0 && rect.y1 <= page.height);
        }
    }
}

#[test]
fn links_and_forms_of_a_page_are_read() {
    let annotations = "/Annots [<< /Type /Annot /Subtype /Link /Rect [72 695 200 712] /A << /S /URI /URI (https://example.com/a) >> >> \
        << /Type /Annot /Subtype /Widget /Rect [72 600 272 620] /AP << /N 5 0 R >> >> \
        << /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (javascript:alert\\(1\\)) >> >>]";
    let paper = Paper::default().page(text("F1", 12.0, 72.0, 700.0, "A link")).page_entries(annotations).stream(
        "/Type /XObject /Subtype /Form /BBox [0 0 200 20] \
             /Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>",
        b"BT /F 12 Tf 2 5 Td (What was filled in) Tj ET",
    );
    assert_eq!(paper.markdown(), "[A link](https://example.com/a)\n\nWhat was filled in");
    assert_eq!(paper.read().links(), ["https://example.com/a"]);
}

#[test]
fn a_line_under_a_word_parts_nothing_and_a_figure_has_a_place() {
    let content = lines(72.0, 700.0, &["A word that is underlined goes on in the next", "line of the same paragraph."])
        + &rule(72.0, 698.0, 120.0, 698.0)
        + "q 200 0 0 100 72 500 cm /I Do Q\n";
    let paper = Paper::default()
        .page(content)
        .resources("/XObject << /I 5 0 R >>")
        .stream("/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray", &[0]);
    assert_eq!(paper.markdown(), "A word that is underlined goes on in the next line of the same paragraph.");
    let figure =
        paper.read().pages[0].blocks.iter().find(|block| block.kind == BlockKind::Figure).cloned().expect("a figure");
    assert!(matches!(figure.content, Content::Picture));
    assert_eq!((figure.rect.x0, figure.rect.y0, figure.rect.x1, figure.rect.y1), (72.0, 192.0, 272.0, 292.0));
}

#[test]
fn what_repeats_and_is_all_that_there_is_stays() {
    let paper = (0..3).fold(Paper::default(), |paper, _| paper.page(text("F1", 12.0, 72.0, 750.0, "Potato")));
    assert_eq!(paper.markdown(), "Potato\n\nPotato\n\nPotato");
}

#[test]
fn values_of_forms_that_nobody_drew_are_read() {
    let field = "/Annots [<< /Type /Annot /Subtype /Widget /FT /Tx /Rect [72 600 272 620] /V (Filled in) >>]";
    let paper = Paper::default().page(text("F1", 12.0, 72.0, 700.0, "A form")).page_entries(field);
    assert_eq!(paper.markdown(), "A form\n\nFilled in");
}

#[test]
fn values_of_forms_stand_by_their_labels() {
    let field = |x: f32, value: &str| {
        format!("<< /Type /Annot /Subtype /Widget /FT /Tx /Rect [{x} 598 {} 612] /V ({value}) >>", x + 90.0)
    };
    let fields = format!("/Annots [{} {}]", field(130.0, "Alice"), field(340.0, "Brown"));
    let content = text("F1", 12.0, 72.0, 700.0, "A form")
        + &text("F1", 10.0, 72.0, 601.0, "First name")
        + &text("F1", 10.0, 280.0, 601.0, "Last name")
        + &text("F1", 10.0, 72.0, 570.0, "Birthday");
    let paper = Paper::default().page(content).page_entries(&fields);
    let text = paper.markdown();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(words, ["#", "A", "form", "First", "name", "Alice", "Last", "name", "Brown", "Birthday"]);
}
