//! Results and limits of office files, books and CSV.

use std::collections::HashMap;

use documents::{Error, Kind, Office, detect, office};

use crate::packages::{compound, docx, epub, ooxml, package, xlsx};

fn read(bytes: &[u8], name: &str) -> Result<Office, Error> {
    office(bytes, detect(bytes, None, Some(name)).expect("a document"))
}

fn markdown(bytes: &[u8], name: &str) -> String {
    read(bytes, name).expect("a whole document").markdown
}

const TEXT: &str = "<w:p><w:pPr><w:pStyle w:val='Heading1'/><w:outlineLvl w:val='0'/></w:pPr><w:r><w:t>Head</w:t></w:r></w:p>\
    <w:p><w:r><w:t>See </w:t></w:r><w:hyperlink r:id='l1'><w:r><w:t>this &lt;b&gt;</w:t></w:r></w:hyperlink></w:p>\
    <w:tbl><w:tr><w:tc><w:p><w:r><w:t>Name</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Price</w:t></w:r></w:p></w:tc></w:tr>\
    <w:tr><w:tc><w:p><w:r><w:t>tea</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>2</w:t></w:r></w:p></w:tc></w:tr></w:tbl>";

#[test]
fn a_text_is_markdown_and_html() {
    let office = read(&docx(TEXT), "x.docx").expect("a text");
    assert_eq!(
        office.markdown,
        "# Head\n\nSee [this \\<b>](https://example.com/a?b=1)\n\n| Name | Price |\n| --- | --- |\n| tea | 2 |\n"
    );
    for part in ["<h1>Head</h1>", "<a href=\"https://example.com/a?b=1\">this &lt;b&gt;</a>", "<td>tea</td>"] {
        assert!(office.html.contains(part), "{part}: {}", office.html);
    }
    assert_eq!(office.links, ["https://example.com/a?b=1"]);
    let metadata = office.metadata;
    assert_eq!(metadata.title.as_deref(), Some("A & B"));
    assert_eq!(metadata.author.as_deref(), Some("Ann"));
    assert_eq!(metadata.created.as_deref(), Some("2024-01-31T09:30:00Z"));
}

#[test]
fn sheets_have_their_names_where_there_are_several() {
    let prices: &[&[&str]] = &[&["Name", "Price"], &["tea", "2"]];
    let table = "| Name | Price |\n| --- | --- |\n| tea | 2 |\n";
    assert_eq!(markdown(&xlsx(&[("One", prices)]), "x.xlsx"), table);
    let both = xlsx(&[("One", prices), ("Two", &[&["a"], &["1"]])]);
    assert_eq!(markdown(&both, "x.xlsx"), format!("## One\n\n{table}\n## Two\n\n| a |\n| --- |\n| 1 |\n"));
}

#[test]
fn tables_of_one_sheet_stand_apart() {
    let sheet: &[&[&str]] = &[
        &["Ducks of 2024", "", ""],
        &["", "", ""],
        &["Year", "Wild", "Tame"],
        &["2023", "1", "2"],
        &["", "", ""],
        &["Name", "Weight", ""],
        &["Eider", "2", ""],
    ];
    assert_eq!(
        markdown(&xlsx(&[("S", sheet)]), "x.xlsx"),
        "Ducks of 2024\n\n| Year | Wild | Tame |\n| --- | --- | --- |\n| 2023 | 1 | 2 |\n\n\
         | Name | Weight |\n| --- | --- |\n| Eider | 2 |\n"
    );
}

#[test]
fn values_come_in_many_shapes() {
    let table = "| a | b |\n| --- | --- |\n| é | 2 |\n";
    let utf16: Vec<u8> = "\u{feff}a\tb\né\t2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for file in [&b"a,b\n\xC3\xA9,2\n"[..], b"a;b\r\n\"\xE9\";2", b"\xEF\xBB\xBFa|b\n\xC3\xA9|2", &utf16] {
        assert_eq!(markdown(file, "x.csv"), table);
    }
}

#[test]
fn a_book_has_its_chapters_and_its_names() {
    let office = read(&epub("<h1>One</h1><p>It <em>was</em> dark.</p>"), "x.epub").expect("a book");
    assert!(office.markdown.contains("# One\n\nIt *was* dark."), "{}", office.markdown);
    let metadata = office.metadata;
    assert_eq!((metadata.title.as_deref(), metadata.author.as_deref()), (Some("The Book"), Some("Ann, Ben")));
    assert_eq!(metadata.modified.as_deref(), Some("2024-02-01T00:00:00Z"));
}

/// Compares one chapter with another program; `examples/book_words.rs` does this for a folder of books.
#[test]
fn no_word_of_a_book_is_lost() {
    let chapter = "<h2>Words &amp; signs</h2><p>a<br/>b <b>c</b><i>d</i> <a href='x.html'>e</a> &#8212; f&nbsp;g</p>\
        <ul><li>h<ul><li>i</li></ul></li><li><p>j</p><p>k</p></li></ul><ol start='3'><li>l</li></ol>\
        <table><tr><th>m</th><th>n</th></tr><tr><td colspan='2'>o <b>p</b></td></tr></table>\
        <blockquote><p>q</p></blockquote><pre>r\n  s</pre><dl><dt>t</dt><dd>u</dd></dl><div>v<div>w</div>x</div>\
        <section><h3>y</h3><aside><p>z</p></aside></section><figure><figcaption>caption</figcaption></figure>\
        <p><code>c*d_e</code><span>span</span></p>";
    let markdown = markdown(&epub(chapter), "x.epub");
    let plain = html2text::config::plain()
        .link_footnotes(false)
        .string_from_read(chapter.as_bytes(), 1000)
        .expect("plain text");
    let count = |text: &str| {
        let mut words: HashMap<String, i32> = HashMap::new();
        for word in text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
            *words.entry(word.to_owned()).or_default() += 1;
        }
        words
    };
    let (there, wanted) = (count(&markdown), count(&plain));
    assert!(wanted.len() > 30, "{plain}");
    let missing: Vec<_> = wanted.iter().filter(|(word, times)| there.get(*word).unwrap_or(&0) < *times).collect();
    assert!(missing.is_empty(), "{missing:?} of {plain}\n---\n{markdown}");
}

#[test]
fn locked_files_say_so() {
    for name in ["x.docx", "x.xlsx", "x.pptx"] {
        assert_eq!(read(&compound(&["EncryptionInfo", "EncryptedPackage"]), name), Err(Error::Encrypted), "{name}");
    }
    assert_eq!(read(&compound(&["\tDRMContent", "\u{6}DataSpaces"]), "x.doc"), Err(Error::Encrypted));
    let manifest = b"<manifest:manifest xmlns:manifest='urn:oasis:names:tc:opendocument:xmlns:manifest:1.0'>\
        <manifest:file-entry manifest:full-path='content.xml'><manifest:encryption-data/></manifest:file-entry>\
        </manifest:manifest>";
    let text = b"application/vnd.oasis.opendocument.text";
    let file = package(&[("mimetype", text), ("META-INF/manifest.xml", manifest), ("content.xml", b"\x01")]);
    assert_eq!(read(&file, "x.odt"), Err(Error::Encrypted));
}

#[test]
fn broken_files_say_so() {
    let file = docx(TEXT);
    for (bytes, name) in [
        (&file[..file.len() / 2], "x.docx"),
        (&compound(&["WordDocument"])[..], "x.doc"),
        (&compound(&["Workbook"]), "x.xls"),
        (&package(&[("mimetype", b"application/epub+zip")]), "x.epub"),
        (&ooxml("word/document.xml", &[("word/document.xml", b"")]), "x.docx"),
    ] {
        match read(bytes, name) {
            Err(Error::Broken(reason)) => assert!(!reason.is_empty()),
            other => panic!("{name}: {other:?}"),
        }
    }
    assert!(matches!(office(b"%PDF-1.7", Kind::Pdf), Err(Error::Broken(_))));
}

#[test]
fn bombs_are_refused_before_they_are_opened() {
    let zeros = vec![b' '; 100 * 1024 * 1024];
    let parts: Vec<(&str, &[u8])> = vec![("word/document.xml", &zeros), ("word/a.xml", &zeros)];
    assert_eq!(read(&ooxml("word/document.xml", &parts), "x"), Err(Error::Limit("it is too large when unpacked")));
    let many = docx(&"<w:p/>".repeat(1_000_000));
    assert_eq!(read(&many, "x"), Err(Error::Limit("it has too many cells or paragraphs")));
    let deep = docx(&format!("{}{}", "<w:p>".repeat(1000), "</w:p>".repeat(1000)));
    assert_eq!(read(&deep, "x"), Err(Error::Limit("its parts are nested too deeply")));
    let names: Vec<String> = (0..10_001).map(|number| format!("word/document{number}")).collect();
    let parts: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    assert_eq!(read(&package(&parts), "x"), Err(Error::Limit("it has too many parts")));
    assert_eq!(read("a,".repeat(300_000).as_bytes(), "x.csv"), Err(Error::Limit("it has too many columns")));
}

#[test]
fn entities_stay_small_and_files_closed() {
    let declared = "<!DOCTYPE d [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>\
        <!ENTITY c SYSTEM 'file:///etc/hostname'>]>";
    let document = format!(
        "{declared}<w:document xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'><w:body><w:p><w:r>\
         <w:t>x&b;&c;y</w:t></w:r></w:p></w:body></w:document>"
    );
    let text = markdown(&ooxml("word/document.xml", &[("word/document.xml", document.as_bytes())]), "x");
    let host = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    assert!(text.len() < 40 && !text.contains("aaaa"), "{text}");
    assert!(host.trim().is_empty() || !text.contains(host.trim()), "{text}");
}
