//! Text of documents of Word that a converter easily loses or joins: raised and hidden text, symbols, fields, controls,
//! embedded documents, labels of lists.

use documents::{Kind, detect, office};

use crate::packages::{docx, ooxml, relations};

pub(crate) fn markdown(bytes: &[u8], name: &str) -> String {
    let kind = detect(bytes, None, Some(name)).expect("a document");
    office(bytes, kind).expect("a whole document").markdown
}

fn docx_markdown(body: &str) -> String {
    markdown(&docx(body), "x.docx")
}

fn run(properties: &str, text: &str) -> String {
    format!("<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>")
}

fn paragraph(runs: &str) -> String {
    format!("<w:p>{runs}</w:p>")
}

#[test]
fn raised_and_lowered_text_of_word_is_marked() {
    let (up, down) = ("<w:vertAlign w:val='superscript'/>", "<w:vertAlign w:val='subscript'/>");
    let runs = [
        run("", "10"),
        run(up, "3"),
        run("", " tiles, H"),
        run(down, "2"),
        run("", "O, "),
        run(up, "a"),
        run(up, "b "),
    ];
    assert_eq!(docx_markdown(&paragraph(&runs.concat())), "10<sup>3</sup> tiles, H<sub>2</sub>O, <sup>ab</sup>\n");
    let office = office(&docx(&paragraph(&runs.concat())), Kind::Docx).expect("a text");
    assert!(office.html.contains("10<sup>3</sup> tiles"), "{}", office.html);
    let cell =
        format!("<w:tbl><w:tr><w:tc>{}</w:tc></w:tr></w:tbl>", paragraph(&[run("<w:b/>", "m"), run(up, "2")].concat()));
    assert!(docx_markdown(&cell).contains("**m**<sup>2</sup>"));
}

#[test]
fn hidden_and_deleted_text_of_word_is_left_out() {
    let body = paragraph(
        &[run("", "a"), run("<w:vanish/>", " SECRET"), run("<w:vanish w:val='false'/>", " b")].concat(),
    ) + "<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr><w:r><w:rPr><w:vanish/></w:rPr><w:t>SECRET</w:t></w:r></w:p>"
        + "<w:p><w:del><w:r><w:delText>SECRET</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins></w:p>\
           <w:tbl><w:tr><w:trPr><w:del w:id='1'/></w:trPr><w:tc><w:p><w:r><w:t>SECRET</w:t></w:r></w:p></w:tc></w:tr>\
           <w:tr><w:tc><w:p><w:r><w:t>row</w:t></w:r></w:p></w:tc></w:tr></w:tbl>";
    assert_eq!(docx_markdown(&body), "a b\n\nnew\n\n|  |\n| --- |\n| row |\n");
}

#[test]
fn letters_of_word_do_not_vanish() {
    let body = "<w:p><w:r><w:t>555</w:t><w:noBreakHyphen/><w:t>0123</w:t></w:r></w:p>\
        <w:p><w:r><w:sym w:font='Wingdings' w:char='F0FC'/><w:t xml:space='preserve'> angle </w:t><w:sym w:font='Symbol' w:char='F061'/></w:r>\
        <w:r><w:rPr><w:rFonts w:ascii='Symbol' w:hAnsi='Symbol'/></w:rPr><w:t>b</w:t></w:r></w:p>\
        <w:p><w:r><w:ruby><w:rt><w:r><w:t>とうきょう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東京</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>";
    assert_eq!(docx_markdown(body), "555-0123\n\n✔ angle αβ\n\n東京(とうきょう)\n");
}

#[test]
fn fields_of_forms_show_their_values() {
    let mark = |kind: &str, data: &str| format!("<w:r><w:fldChar w:fldCharType='{kind}'>{data}</w:fldChar></w:r>");
    let field = |data: &str, instruction: &str| {
        let data = format!("<w:ffData>{data}</w:ffData>");
        format!("{}<w:r><w:instrText>{instruction}</w:instrText></w:r>{}", mark("begin", &data), mark("end", ""))
    };
    let body = paragraph(&(field("<w:checkBox><w:checked/></w:checkBox>", "FORMCHECKBOX") + &run("", " yes ")))
        + &paragraph(&(field("<w:checkBox><w:default w:val='0'/></w:checkBox>", "FORMCHECKBOX") + &run("", " no")))
        + &paragraph(&field(
            "<w:ddList><w:result w:val='1'/><w:listEntry w:val='red'/><w:listEntry w:val='blue'/></w:ddList>",
            "FORMDROPDOWN",
        ))
        + &paragraph(&field("", "SYMBOL 174 \\f Symbol"));
    assert_eq!(docx_markdown(&body), "[x] yes\n\n[ ] no\n\nblue\n\n→\n");
}

#[test]
fn rows_in_controls_and_anchors_of_links_stay() {
    let row = |text: &str| format!("<w:tr><w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc></w:tr>");
    let table = format!(
        "<w:tbl>{}<w:sdt><w:sdtPr/><w:sdtContent>{}<w:customXml>{}</w:customXml></w:sdtContent></w:sdt></w:tbl>",
        row("a"),
        row("b"),
        row("c")
    );
    assert_eq!(docx_markdown(&table), "| a |\n| --- |\n| b |\n| c |\n");
    let link = paragraph("<w:hyperlink r:id='l1' w:anchor='intro'><w:r><w:t>x</w:t></w:r></w:hyperlink>");
    assert_eq!(docx_markdown(&link), "[x](https://example.com/a?b=1#intro)\n");
}

#[test]
fn documents_in_documents_are_part_of_the_text() {
    let relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relation =
        |id: &str, target: &str| format!("<Relationship Id='{id}' Type='{relations}/aFChunk' Target='{target}'/>");
    let list = [relation("a", "a.html"), relation("b", "b.mht"), relation("c", "c.docx")].concat();
    let list = format!(
        "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{list}</Relationships>"
    );
    let document = format!(
        "<w:document xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main' xmlns:r='{relations}'><w:body>\
         <w:p><w:r><w:t>First.</w:t></w:r></w:p><w:altChunk r:id='a'/><w:altChunk r:id='b'/><w:altChunk r:id='c'/>\
         <w:p><w:r><w:t>Last.</w:t></w:r></w:p></w:body></w:document>"
    );
    let archive = "MIME-Version: 1.0\nFrom: x\nContent-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n\
         Content-Transfer-Encoding: quoted-printable\n\n<p>m<sup>2</sup> caf=C3=A9<p>b\n--b--\n";
    // The document inside embeds one too, which is left out.
    let inner = docx("<w:p><w:r><w:t>Inner.</w:t></w:r></w:p><w:altChunk r:id='l1'/>");
    let parts: [(&str, &[u8]); 5] = [
        ("word/document.xml", document.as_bytes()),
        ("word/_rels/document.xml.rels", list.as_bytes()),
        ("word/a.html", b"<html><head><title>t</title></head><body><h1>Head</h1><ul><li>one<li>two</ul></body></html>"),
        ("word/b.mht", archive.as_bytes()),
        ("word/c.docx", &inner),
    ];
    assert_eq!(
        markdown(&ooxml("word/document.xml", &parts), "x.docx"),
        "First.\n\n# Head\n\n- one\n- two\n\nm<sup>2</sup> café\n\nb\n\nInner.\n\nLast.\n"
    );
}

#[test]
fn labels_of_lists_make_no_code() {
    let level = |level: usize, text: &str| {
        format!(
            "<w:lvl w:ilvl='{level}'><w:start w:val='1'/><w:numFmt w:val='decimal'/><w:lvlText w:val='{text}'/></w:lvl>"
        )
    };
    let numbering = format!(
        "<w:numbering xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'><w:abstractNum w:abstractNumId='1'>{}{}</w:abstractNum>\
         <w:num w:numId='1'><w:abstractNumId w:val='1'/></w:num></w:numbering>",
        level(0, "Section %1:"),
        level(1, "Clause %1.%2")
    );
    let item = |level: usize, text: &str| {
        format!(
            "<w:p><w:pPr><w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='1'/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let document = format!(
        "<w:document xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'><w:body>{}{}</w:body></w:document>",
        item(0, "Duties"),
        item(1, "of the owner")
    );
    let parts: [(&str, &[u8]); 3] = [
        ("word/document.xml", document.as_bytes()),
        ("word/numbering.xml", numbering.as_bytes()),
        ("word/_rels/document.xml.rels", &relations(&[("n", "numbering", "numbering.xml")]).into_bytes()),
    ];
    let office = office(&ooxml("word/document.xml", &parts), Kind::Docx).expect("a text");
    assert!(!office.html.contains("<pre"), "{}", office.html);
    assert!(
        office.html.contains("Section 1: Duties") && office.html.contains("Clause 1.1 of the owner"),
        "{}",
        office.html
    );
}
