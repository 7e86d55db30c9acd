//! Classes of documents that people report: raised text, fields, tags, links, sparse pages, notes.

use documents::{MarkdownOptions, ReadOptions, html, markdown, read_pdf};

use crate::paper::{Paper, lines, rule, text};

const PROSE: [&str; 3] = [
    "The harbour was quiet when the first boats returned from the northern",
    "banks with their holds half empty, and nobody on the quay spoke about",
    "the weather.",
];

#[test]
fn raised_and_lowered_text_is_told_from_the_text_before_it() {
    let content = text("F1", 12.0, 60.0, 700.0, "The area is 25 km")
        + &text("F1", 7.0, 153.0, 705.0, "2")
        + &text("F1", 12.0, 160.0, 700.0, "of H")
        + &text("F1", 8.0, 181.7, 697.0, "2")
        + &text("F1", 12.0, 186.2, 700.0, "O.");
    let paper = Paper::default().page(content);
    assert_eq!(paper.markdown(), "The area is 25 km<sup>2</sup> of H<sub>2</sub>O.");
    let html = html(&paper.read());
    assert!(html.contains("km<sup>2</sup> of H<sub>2</sub>O."), "{html}");
}

#[test]
fn words_of_one_size_and_small_words_on_the_line_are_not_raised() {
    let content = text("F1", 12.0, 60.0, 700.0, "Note")
        + &text("F1", 8.0, 90.0, 700.0, "small")
        + &text("F1", 12.0, 60.0, 680.0, "x");
    assert!(!Paper::default().page(content).markdown().contains('<'));
}

#[test]
fn letters_of_a_logo_are_not_raised() {
    let content = text("F1", 10.0, 60.0, 700.0, "Set with L")
        + &text("F1", 7.0, 101.8, 702.0, "A")
        + &text("F1", 10.0, 105.0, 700.0, "T")
        + &text("F1", 10.0, 110.0, 697.8, "E")
        + &text("F1", 10.0, 115.8, 700.0, "X");
    assert_eq!(Paper::default().page(content).markdown(), "Set with LATEX");
}

#[test]
fn links_are_written_with_their_text_unless_it_is_the_address() {
    let link = |y: f32, url: &str| {
        format!(
            "<< /Type /Annot /Subtype /Link /Rect [60 {} 300 {}] /A << /S /URI /URI ({url}) >> >> ",
            y - 4.0,
            y + 12.0
        )
    };
    let annotations = format!(
        "/Annots [{} {}]",
        link(700.0, "https://example.org/report.html#part"),
        link(660.0, "https://example.org/")
    );
    let content = text("F1", 12.0, 60.0, 700.0, "Read the report") + &text("F1", 12.0, 60.0, 660.0, "example.org");
    let text = Paper::default().page(content).page_entries(&annotations).markdown();
    assert_eq!(text, "[Read the report](https://example.org/report.html#part)\n\nexample.org");
}

#[test]
fn fields_show_their_values_labels_and_states() {
    let field = |y: f32, entries: &str| {
        format!("<< /Type /Annot /Subtype /Widget /Rect [160 {y} 360 {}] {entries} >> ", y + 16.0)
    };
    let looks = "/AP << /N << /Yes 5 0 R /Off 5 0 R >> >>";
    let annotations = format!(
        "/Annots [{} {} {} {} {}]",
        field(700.0, "/FT /Tx /V (Miller) /AP << /N 5 0 R >>"),
        field(670.0, "/FT /Ch /V (de) /Opt [[(fr) (France)] [(de) (Germany)]]"),
        field(640.0, &format!("/FT /Btn /AS /Yes {looks}")),
        field(610.0, &format!("/FT /Btn /AS /Off {looks}")),
        field(580.0, "/FT /Tx /Ff 8192 /V (secret)")
    );
    let paper = Paper::default()
        .page(text("F1", 12.0, 60.0, 740.0, "Form"))
        .page_entries(&annotations)
        .stream("/Type /XObject /Subtype /Form /BBox [0 0 200 16]", b"0 0 200 16 re S");
    assert_eq!(paper.markdown(), "Form\n\nMiller\n\nGermany\n\n☒\n\n☐");
}

#[test]
fn a_heading_is_what_the_tags_call_one() {
    let tagged = |tag: &str, content: String| format!("/{tag} << /MCID 0 >> BDC {content} EMC\n");
    let content =
        tagged("Kapitel", text("F1", 10.0, 60.0, 700.0, "Warranty")) + &tagged("P", lines(60.0, 684.0, &PROSE));
    let roles = "/StructTreeRoot << /Type /StructTreeRoot /RoleMap << /Kapitel /H2 >> >>";
    let text = Paper::default().page(content).catalog(roles).markdown();
    assert!(text.starts_with("# Warranty\n\nThe harbour"), "{text}");
}

#[test]
fn names_side_by_side_stand_before_the_columns() {
    let content = text("F2", 16.0, 120.0, 740.0, "Relations from Old Records")
        + &text("F1", 10.0, 150.0, 710.0, "Yara Steen")
        + &text("F1", 10.0, 390.0, 710.0, "Sam Ortega")
        + &lines(
            60.0,
            640.0,
            &["The first column has several", "lines, as columns do, which", "are read before the other."],
        )
        + &lines(320.0, 640.0, &["Inland the valleys had been", "dry for months and all the", "mills stood still."]);
    let text = Paper::default().page(content).markdown();
    let places: Vec<_> = ["Steen", "Ortega", "first column", "Inland"].iter().map(|word| text.find(word)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
}

#[test]
fn labels_of_a_form_are_read_row_by_row() {
    let label = |x: f32, y: f32, label: &str| text("F1", 10.0, x, y, label);
    let content = label(60.0, 700.0, "First Name")
        + &label(60.0, 685.0, "Birthday")
        + &label(260.0, 700.0, "Last Name")
        + &text("F2", 18.0, 200.0, 740.0, "Form");
    assert_eq!(Paper::default().page(content).markdown(), "# Form\n\nFirst Name\n\nLast Name\n\nBirthday");
}

#[test]
fn double_spaced_lines_are_one_paragraph() {
    let content: String = [
        "The harbour was quiet when the first boats returned from the northern banks",
        "with their holds half empty, and nobody on the quay spoke about the weather",
        "although everybody had watched the barometer fall since noon of that day, or",
        "so it was said.",
    ]
    .iter()
    .enumerate()
    .map(|(row, line)| text("F1", 12.0, 72.0, 700.0 - 28.0 * row as f32, line))
    .collect();
    let text = Paper::default().page(content).markdown();
    assert!(!text.contains('\n'), "{text}");
}

#[test]
fn numbers_of_lines_are_no_text_but_those_of_a_table_are() {
    let numbered = |rest: &dyn Fn(usize) -> String| -> String {
        (0..20)
            .map(|row| {
                let y = 740.0 - 24.0 * row as f32;
                text("F1", 10.0, 50.0, y, &(row + 1).to_string()) + &rest(row)
            })
            .collect()
    };
    let line = |row: usize| {
        text(
            "F1",
            10.0,
            80.0,
            740.0 - 24.0 * row as f32,
            "and the plaintiff said that the harbour was quiet on the day",
        )
    };
    let text_of = |content: String| Paper::default().page(content).markdown();
    let pleading = text_of(numbered(&line));
    assert!(!pleading.contains(char::is_numeric) && pleading.contains("the day and the plaintiff"), "{pleading}");
    let cells = |row: usize| {
        let y = 740.0 - 24.0 * row as f32;
        text("F1", 10.0, 120.0, y, "Gull") + &text("F1", 10.0, 250.0, y, "1.5")
    };
    assert!(text_of(numbered(&cells)).contains("17"));
}

#[test]
fn a_contents_list_without_dots_keeps_titles_and_pages_together() {
    let entry = |row: usize, title: &str, page: &str| {
        let y = 700.0 - 16.0 * row as f32;
        text("F2", 10.0, 72.0, y, &format!("{} {title}", row + 1)) + &text("F2", 10.0, 500.0, y, page)
    };
    let content = entry(0, "Scope", "2") + &entry(1, "Terms", "2") + &entry(2, "Use", "3");
    assert_eq!(Paper::default().page(content).markdown(), "1 Scope ..... 2\n\n2 Terms ..... 2\n\n3 Use ..... 3");
}

#[test]
fn a_sentence_over_two_pages_is_not_cut_by_a_footnote() {
    let first = lines(72.0, 700.0, &PROSE[..2]) + &text("F1", 7.0, 72.0, 140.0, "1 Minutes of the third of May.");
    let file = Paper::default().page(first).page(lines(72.0, 700.0, &PROSE[2..])).file();
    let document = read_pdf(&file, &ReadOptions::default()).expect("a document");
    let whole = markdown(&document, &MarkdownOptions::default());
    assert!(whole.text.contains("about\n\nthe weather.\n\n1 Minutes"), "{}", whole.text);
    for (page, spans) in document.pages.iter().zip(&whole.spans) {
        for (block, span) in page.blocks.iter().zip(spans) {
            let [from, to] = span.expect("a span").map(|place| place as usize);
            let text: String = whole.text.chars().skip(from).take(to - from).collect();
            assert_eq!(text, documents::block_markdown(block));
        }
    }
    // Where the pages are kept apart, the note stays on its page.
    let apart = markdown(&document, &MarkdownOptions { page_markers: true }).text;
    assert!(apart.find("Minutes") < apart.find("<!-- page 2 -->"), "{apart}");
}

#[test]
fn headers_that_run_upwards_are_cells() {
    let turned = |x: f32, word: &str| format!("BT /F1 9 Tf 0 1 -1 0 {x} 640 Tm ({word}) Tj ET\n");
    let cell = |x: f32, y: f32, word: &str| text("F1", 10.0, x, y, word);
    let mut content = turned(190.0, "Length m") + &turned(250.0, "Beam m");
    for (row, name) in ["Gull", "Tern"].iter().enumerate() {
        let y = 615.0 - 20.0 * row as f32;
        content += &(cell(80.0, y, name) + &cell(185.0, y, "12") + &cell(245.0, y, "4"));
    }
    for y in [700.0, 630.0, 610.0, 590.0] {
        content += &rule(72.0, y, 280.0, y);
    }
    for x in [72.0, 160.0, 220.0, 280.0] {
        content += &rule(x, 590.0, x, 700.0);
    }
    let text = Paper::default().page(content).markdown();
    assert!(text.starts_with("|  | Length m | Beam m |") && text.contains("| Tern | 12 | 4 |"), "{text}");
}

#[test]
fn columns_inside_a_group_are_cells() {
    let row = |y: f32, cells: [&str; 5]| -> String {
        let places = [60.0, 160.0, 220.0, 300.0, 360.0];
        places.iter().zip(cells).map(|(x, cell)| text("F1", 9.0, *x, y, cell)).collect()
    };
    let mut content = row(690.0, ["Offence", "All", "Young", "All", "Young"]);
    for (place, name) in ["Robbery", "Arson", "Fraud", "Theft"].iter().enumerate() {
        content += &row(665.0 - 15.0 * place as f32, [name, "10.2", "5.5", "9.1", "2.9"]);
    }
    for y in [705.0, 680.0, 610.0] {
        content += &rule(55.0, y, 420.0, y);
    }
    content += &(rule(150.0, 610.0, 150.0, 705.0) + &rule(290.0, 610.0, 290.0, 705.0));
    let text = Paper::default().page(content).markdown();
    assert!(text.contains("| Arson | 10.2 | 5.5 | 9.1 | 2.9 |"), "{text}");
}

#[test]
fn a_name_that_touches_the_next_cell_keeps_to_its_own() {
    let row = |y: f32, name: &str, first: &str| {
        text("F1", 10.0, 60.0, y, name) + &text("F1", 10.0, 172.0, y, first) + &text("F1", 10.0, 280.0, y, "27.083")
    };
    let content = row(700.0, "MENA", "JUAN")
        + &row(682.0, "MOLLE", "PABLO")
        + &row(664.0, "PEREZ GARCIA LOPEZ", "CLAUDIA")
        + &row(646.0, "SARRA", "CARMEN")
        + &row(628.0, "VIVALDO", "MARIA");
    let text = Paper::default().page(content).markdown();
    assert!(text.contains("| PEREZ GARCIA LOPEZ | CLAUDIA | 27.083 |"), "{text}");
}

#[test]
fn bullets_of_word_processors_and_ticks_are_marks_of_items() {
    let content = text("F1", 11.0, 72.0, 710.0, "\u{2022}").replace('\u{2022}', "\\225")
        + &text("F1", 11.0, 90.0, 710.0, "Prepare the hall")
        + &text("F3", 11.0, 100.0, 694.0, "o")
        + &text("F1", 11.0, 118.0, 694.0, "chairs for forty");
    assert_eq!(Paper::default().page(content).markdown(), "- Prepare the hall\n    - chairs for forty");
}

#[test]
fn a_drop_cap_is_the_first_letter_of_its_word() {
    let content = text("F1", 42.0, 72.0, 690.0, "T")
        + &text("F1", 11.0, 100.0, 708.0, "he harbour was quiet when the first boats returned from the banks")
        + &text("F1", 11.0, 100.0, 694.0, "with their holds half empty, as they had done so often before that")
        + &text("F1", 11.0, 72.0, 680.0, "although everybody had watched the barometer fall since noon that day.");
    let text = Paper::default().page(content).markdown();
    assert!(text.starts_with("The harbour was quiet") && text.contains("the banks with their holds"), "{text}");
}

#[test]
fn marks_refer_to_the_footnotes_of_their_page() {
    let content = text("F1", 10.0, 60.0, 700.0, "The claim of the board is new.")
        + &text("F1", 6.0, 194.0, 704.0, "7")
        + &text("F1", 10.0, 200.0, 700.0, "Nobody has seen it.")
        + &text("F1", 5.0, 60.0, 103.0, "7")
        + &text("F1", 8.0, 64.0, 100.0, "See the appendix.")
        + &text("F1", 5.0, 60.0, 93.0, "8")
        + &text("F1", 8.0, 64.0, 90.0, "No mark leads here.");
    let paper = Paper::default().page(content);
    assert_eq!(
        paper.markdown(),
        "The claim of the board is new.[^7] Nobody has seen it.\n\n[^7]: See the appendix.\n\n<sup>8</sup> No mark leads here."
    );
    let html = html(&paper.read());
    assert!(
        html.contains("new.<sup>7</sup> Nobody") && html.contains("<p><sup>7</sup> See the appendix.</p>"),
        "{html}"
    );
}

#[test]
fn labels_of_articles_belong_to_their_text() {
    let article =
        |y: f32, label: &str, name: &str| text("F1", 11.0, 60.0, y, label) + &text("F1", 11.0, 132.0, y, name);
    let content = article(700.0, "Article I.", "Name and seat of the club")
        + &article(680.0, "Article II.", "Members and their dues")
        + &article(660.0, "Article III.", "The board");
    assert_eq!(
        Paper::default().page(content).markdown(),
        "Article I. Name and seat of the club\n\nArticle II. Members and their dues\n\nArticle III. The board"
    );
}
