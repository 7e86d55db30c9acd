//! Content of other office files that a converter easily loses: raised and hidden text, values of charts, formulas, links.

use documents::{Error, Kind, detect, office};

use crate::packages::{NAMESPACES, epub, ooxml, package, relations, xlsx};
use crate::repairs::markdown;

fn odt(styles: &str, body: &str) -> Vec<u8> {
    let content = content("document-content", "", styles, body);
    package(&[("mimetype", b"application/vnd.oasis.opendocument.text"), ("content.xml", content.as_bytes())])
}

fn content(root: &str, attributes: &str, styles: &str, body: &str) -> String {
    let space = "urn:oasis:names:tc:opendocument:xmlns";
    format!(
        "<office:{root} xmlns:office='{space}:office:1.0' xmlns:text='{space}:text:1.0' xmlns:style='{space}:style:1.0' \
         xmlns:form='{space}:form:1.0' xmlns:draw='{space}:drawing:1.0'{attributes}>\
         <office:automatic-styles>{styles}</office:automatic-styles>\
         <office:body><office:text>{body}</office:text></office:body></office:{root}>"
    )
}

#[test]
fn raised_and_hidden_text_of_open_documents() {
    let style = |name: &str, properties: &str| {
        format!(
            "<style:style style:name='{name}' style:family='text'><style:text-properties {properties}/></style:style>"
        )
    };
    let styles = style("S", "style:text-position='super 58%'")
        + &style("B", "style:text-position='-33% 58%'")
        + &style("H", "text:display='none'")
        + "<style:style style:name='S2' style:family='text' style:parent-style-name='S'/>";
    let body = "<text:p>10<text:span text:style-name='S2'>6</text:span>, H<text:span text:style-name='B'>2</text:span>O\
        <text:span text:style-name='H'> SECRET</text:span></text:p><text:section text:display='none'><text:p>SECRET</text:p></text:section>\
        <text:p>SECRET<text:hidden-paragraph text:is-hidden='true'/></text:p>\
        <text:p><text:ruby><text:ruby-base>漢</text:ruby-base><text:ruby-text>かん</text:ruby-text></text:ruby></text:p>\
        <office:forms><form:form><form:checkbox form:id='c' form:label='Yes' form:current-state='checked'/></form:form></office:forms>\
        <text:p><draw:control draw:control='c'/></text:p>";
    assert_eq!(markdown(&odt(&styles, body), "x.odt"), "10<sup>6</sup>, H<sub>2</sub>O\n\n漢(かん)\n\n[x] Yes\n");
}

#[test]
fn documents_in_one_file_of_xml_are_read() {
    let attributes = " office:mimetype='application/vnd.oasis.opendocument.text'";
    let flat = content(
        "document",
        attributes,
        "",
        "<text:h text:outline-level='1'>Head</text:h><text:p>a</text:p><text:p>b</text:p>",
    );
    assert_eq!(markdown(flat.as_bytes(), "x.fodt"), "# Head\n\na\n\nb\n");
    let sheet = "<?xml version='1.0'?><?mso-application progid='Excel.Sheet'?><Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet' \
        xmlns:ss='urn:schemas-microsoft-com:office:spreadsheet'><Worksheet ss:Name='S'><Table><Row><Cell><Data ss:Type='String'>name</Data></Cell>\
        <Cell ss:Index='3'><Data ss:Type='String'>n</Data></Cell></Row><Row ss:Index='2'><Cell><Data ss:Type='String'>tea &amp; x</Data></Cell>\
        <Cell ss:Index='3'><Data ss:Type='Number'>2.5</Data></Cell></Row></Table></Worksheet></Workbook>";
    assert_eq!(
        markdown(sheet.as_bytes(), "x.xml"),
        "|  |  |  |\n| --- | --- | --- |\n| name |  | n |\n| tea & x |  | 2.5 |\n"
    );
    let word = "<?mso-application progid='Word.Document'?><w:wordDocument xmlns:w='http://schemas.microsoft.com/office/word/2003/wordml' \
        xmlns:wx='http://schemas.microsoft.com/office/word/2003/auxHint'><w:styles/><w:body><wx:sect><wx:sub-section>\
        <w:p><w:r><w:t>Old</w:t></w:r></w:p></wx:sub-section><w:p><w:r><w:t>text</w:t></w:r></w:p></wx:sect></w:body></w:wordDocument>";
    assert_eq!(markdown(word.as_bytes(), "x.xml"), "Old\n\ntext\n");
}

fn pptx(slide: Option<&str>, chart: &str) -> Vec<u8> {
    let ids = if slide.is_some() { "<p:sldIdLst><p:sldId id='256' r:id='s'/></p:sldIdLst>" } else { "<p:sldIdLst/>" };
    let main = format!("<p:presentation {NAMESPACES}>{ids}</p:presentation>");
    let slide =
        format!("<p:sld {NAMESPACES}><p:cSld><p:spTree>{}</p:spTree></p:cSld></p:sld>", slide.unwrap_or_default());
    let chart = format!("<c:chartSpace {NAMESPACES}>{chart}</c:chartSpace>");
    let parts: [(&str, &[u8]); 5] = [
        ("ppt/presentation.xml", main.as_bytes()),
        ("ppt/_rels/presentation.xml.rels", &relations(&[("s", "slide", "slides/slide1.xml")]).into_bytes()),
        ("ppt/slides/slide1.xml", slide.as_bytes()),
        ("ppt/slides/_rels/slide1.xml.rels", &relations(&[("c", "chart", "../charts/chart1.xml")]).into_bytes()),
        ("ppt/charts/chart1.xml", chart.as_bytes()),
    ];
    ooxml("ppt/presentation.xml", &parts)
}

#[test]
fn titles_come_first_and_powers_are_raised() {
    let shape = |kind: &str, runs: &str| {
        format!("<p:sp><p:nvSpPr><p:nvPr>{kind}</p:nvPr></p:nvSpPr><p:txBody><a:p>{runs}</a:p></p:txBody></p:sp>")
    };
    let text = "<a:r><a:t>m</a:t></a:r><a:r><a:rPr baseline='30000'/><a:t>2</a:t></a:r><a:r><a:rPr><a:sym typeface='Wingdings'/></a:rPr><a:t> \u{f0e0}</a:t></a:r>";
    let slide = shape("", text) + &shape("<p:ph type='ctrTitle'/>", "<a:r><a:t>Title</a:t></a:r>");
    assert_eq!(markdown(&pptx(Some(&slide), ""), "x.pptx"), "## Title\n\nm<sup>2</sup> →\n");
    assert_eq!(markdown(&pptx(None, ""), "x.pptx"), "");
}

#[test]
fn charts_show_their_values_in_their_places() {
    let point = |place: usize, value: &str| format!("<c:pt idx='{place}'><c:v>{value}</c:v></c:pt>");
    let cache = |format: &str, points: &str| {
        format!(
            "<c:numRef><c:numCache><c:formatCode>{format}</c:formatCode><c:ptCount val='3'/>{points}</c:numCache></c:numRef>"
        )
    };
    let dates = cache("m/d/yyyy", &[point(0, "37261"), point(1, "37262"), point(2, "37263")].concat());
    let values = cache("0.0%", &[point(0, "0.125"), point(2, "0.5")].concat());
    let chart = format!(
        "<c:scatterChart><c:ser><c:tx><c:v>Share</c:v></c:tx><c:xVal>{dates}</c:xVal><c:yVal>{values}</c:yVal></c:ser></c:scatterChart>"
    );
    let slide =
        "<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id='c'/></a:graphicData></a:graphic></p:graphicFrame>";
    assert_eq!(
        markdown(&pptx(Some(slide), &chart), "x.pptx"),
        "|  | Share |\n| --- | --- |\n| 2002-01-05 | 12.5% |\n| 2002-01-06 |  |\n| 2002-01-07 | 50.0% |\n"
    );
}

fn workbook(rows: &str, after: &str, links: &str) -> Vec<u8> {
    let plain = xlsx(&[("S", &[&["x"]])]);
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(plain)).expect("an archive");
    let mut book = String::new();
    std::io::Read::read_to_string(&mut archive.by_name("xl/workbook.xml").expect("a part"), &mut book).expect("text");
    let sheet = format!(
        "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" {NAMESPACES}><sheetData>{rows}</sheetData>{after}</worksheet>"
    );
    let parts: [(&str, &[u8]); 4] = [
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", &relations(&[("s1", "worksheet", "worksheets/sheet1.xml")]).into_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
        ("xl/worksheets/_rels/sheet1.xml.rels", links.as_bytes()),
    ];
    ooxml("xl/workbook.xml", &parts)
}

#[test]
fn formulas_links_and_escapes_of_workbooks() {
    let text = |place: &str, text: &str| format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let links = relations(&[("l", "hyperlink", "mailto:a@example.org' TargetMode='External")]);
    let rows = format!(
        "<row r=\"1\">{}{}</row><row r=\"2\">{}<c r=\"B2\"><f>A1*1.2|3</f><v></v></c></row>\
         <row r=\"3\"><c r=\"A3\" t=\"str\"><f>HYPERLINK(\"https://example.org/(f)\",\"Manual\")</f><v>Manual</v></c></row>\
         <row r=\"4\"><c r=\"A4\" t=\"inlineStr\"><is><r><t>10</t></r><r><rPr><vertAlign val=\"superscript\"/></rPr><t>3</t></r></is></c>\
         <c r=\"B4\" t=\"str\"><f>IF(A1,\"\",1)</f><v></v></c></row>",
        text("A1", "name"),
        text("B1", "value"),
        text("A2", "12 Main St_x000D_\nSpringfield"),
    );
    let rows = rows + &format!("<row r=\"5\">{}</row>", text("A5", "Mail [us]"));
    let after = "<hyperlinks><hyperlink ref=\"A5\" r:id=\"l\"/></hyperlinks>";
    let file = workbook(&rows, after, &links);
    let office = office(&file, Kind::Xlsx).expect("a workbook");
    assert_eq!(
        office.markdown,
        "| name | value |\n| --- | --- |\n| 12 Main St Springfield | `=A1*1.2\\|3` |\n| [Manual](<https://example.org/(f)>) |  |\n\
         | 10<sup>3</sup> |  |\n| [Mail \\[us\\]](mailto:a@example.org) |  |\n"
    );
    assert_eq!(office.links, ["https://example.org/(f)", "mailto:a@example.org"]);
    assert_eq!(office.warnings.len(), 1);
    assert!(office.warnings[0].starts_with("1 formula of the workbook has no stored value"), "{:?}", office.warnings);
}

#[test]
fn a_stray_cell_far_out_stands_apart() {
    let text = |place: &str, text: &str| format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let rows = format!(
        "<row r=\"1\">{}{}</row><row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"B2\"><v>2</v></c></row><row r=\"1048576\">{}</row>",
        text("A1", "a"),
        text("B1", "b"),
        text("XFD1048576", "far away")
    );
    assert_eq!(markdown(&workbook(&rows, "", ""), "x.xlsx"), "| a | b |\n| --- | --- |\n| 1 | 2 |\n\nfar away\n");
}

#[test]
fn large_sheets_are_read_and_the_largest_cut() {
    let rows = |count: usize, columns: &[&str]| -> String {
        let cells = |row: usize| -> String {
            columns.iter().map(|column| format!("<c r=\"{column}{row}\"><v>{row}</v></c>")).collect()
        };
        (1..=count).map(|row| format!("<row r=\"{row}\">{}</row>", cells(row))).collect()
    };
    let office = office(&workbook(&rows(60_000, &["A", "C"]), "", ""), Kind::Xlsx).expect("a workbook");
    assert!(office.markdown.ends_with("| 59999 |  | 59999 |\n| 60000 |  | 60000 |\n") && office.warnings.is_empty());
}

#[test]
fn books_in_any_encoding_with_powers_and_readings() {
    let chapter = "<p>E = mc<sup>2</sup>, H<sub>2</sub>O</p><p><ruby>漢<rt>かん</rt></ruby>字</p><p>Fish&hellip;</p>";
    let text = markdown(&epub(chapter), "x.epub");
    assert!(text.contains("E = mc<sup>2</sup>, H<sub>2</sub>O\n\n漢(かん)字\n\nFish…"), "{text}");
    let locked = "<encryption xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><EncryptedData xmlns='http://www.w3.org/2001/04/xmlenc#'>\
        <EncryptionMethod Algorithm='http://www.w3.org/2001/04/xmlenc#aes128-cbc'/><CipherData><CipherReference URI='a.xhtml'/></CipherData>\
        </EncryptedData></encryption>";
    let read = |list: &str| {
        office(
            &package(&[("mimetype", b"application/epub+zip"), ("META-INF/encryption.xml", list.as_bytes())]),
            Kind::Epub,
        )
    };
    assert_eq!(read(locked), Err(Error::Encrypted));
    assert!(matches!(read(&locked.replace("a.xhtml", "font.otf")), Err(Error::Broken(_))));
}

#[test]
fn raised_and_hidden_text_of_rtf() {
    let file = "{\\rtf1\\ansi 10{\\super 3} tiles, H{\\sub 2}O{\\v  SECRET}\\par a\\super b\\nosupersub  c{\\deleted  SECRET}\\par}";
    assert_eq!(markdown(file.as_bytes(), "x.rtf"), "10<sup>3</sup> tiles, H<sub>2</sub>O\n\na<sup>b</sup> c\n");
    let form = "{\\rtf1{\\field{\\*\\fldinst FORMCHECKBOX {\\*\\formfield{\\fftype1\\ffres1\\fftypetxt0}}}{\\fldrslt}} yes\\par}";
    assert_eq!(markdown(form.as_bytes(), "x.rtf"), "[x] yes\n");
}

#[test]
fn a_first_line_that_names_the_delimiter_is_no_row() {
    assert_eq!(
        markdown(b"sep=;\nname;price\ntea;1,50\n", "x.csv"),
        "| name | price |\n| --- | --- |\n| tea | 1,50 |\n"
    );
}

#[test]
fn notes_of_books_are_footnotes() {
    let chapter = "<h1>Ch</h1><p>Word<a epub:type='noteref' href='#n1'>1</a> goes on.</p><p>Mass<sup><a role='doc-noteref' href='#n2'>2</a></sup></p>\
        <aside epub:type='footnote' id='n1'><p>Note text.</p></aside><aside role='doc-footnote' id='n2'>Of all.</aside>";
    let text = markdown(&epub(chapter), "x.epub");
    assert_eq!(text, "# The Book\n\n# Ch\n\nWord[^1] goes on.\n\nMass[^2]\n\n[^1]: Note text.\n\n[^2]: Of all.\n");
    let kind = detect(&epub(chapter), None, Some("x.epub")).expect("a book");
    let html = office(&epub(chapter), kind).expect("a whole book").html;
    assert!(html.contains("footnote-reference") && html.contains("Note text."), "{html}");
}
