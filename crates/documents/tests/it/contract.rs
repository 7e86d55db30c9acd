//! Shape of the output.

use documents::{Error, MarkdownOptions, ReadOptions, blocks, html, markdown, page_markdown, read_pdf};

use crate::paper::{Paper, lines, text};

fn sample() -> Paper {
    let page = |words: &str| {
        text("F2", 16.0, 72.0, 700.0, "A héading").replace('é', "\\351")
            + &lines(72.0, 660.0, &[words])
            + &text("F1", 8.0, 300.0, 30.0, "7")
    };
    Paper::default()
        .page(page("Some words with <tags> in them, and more of them after these."))
        .page(page("# Not a heading, although it begins as one would in the text."))
        .trailer("/Info << /Title (Two pages) /Author (A. Nonymous) /CreationDate (D:20240131093005+01'00') >>")
        .catalog("/Lang (en-GB)")
}

#[test]
fn spans_are_exact_and_in_order() {
    let document = sample().read();
    for page_markers in [false, true] {
        let markdown = markdown(&document, &MarkdownOptions { page_markers });
        let letters: Vec<char> = markdown.text.chars().collect();
        let mut end = 0;
        for page in blocks(&document, &markdown) {
            for (place, item) in page.items.iter().enumerate() {
                assert_eq!(item.id, format!("p{}.b{place}", page.page_number));
                let Some([from, to]) = item.markdown_span else { continue };
                assert!(from >= end && to >= from);
                end = to;
                assert_eq!(letters[from as usize..to as usize].iter().collect::<String>(), item.content);
            }
        }
        assert_eq!(markdown.text.contains("\n\n---\n\n<!-- page 2 -->\n\n"), page_markers);
        assert!(!markdown.text.contains("<!-- page 1 -->"));
    }
}

#[test]
fn blocks_have_the_shape_of_the_wire() {
    let document = sample().read();
    let json =
        serde_json::to_value(blocks(&document, &markdown(&document, &MarkdownOptions::default()))).expect("JSON");
    let page = &json[0];
    assert_eq!((&page["pageNumber"], &page["status"]), (&1.into(), &"ok".into()));
    assert_eq!((&page["width"], &page["height"]), (&1700.0.into(), &2200.0.into()));
    let heading = &page["items"][0];
    assert_eq!(heading["type"], "section_header");
    assert_eq!(heading["content"], "# A héading");
    assert_eq!(heading["markdownSpan"], serde_json::json!([0, 11]));
    assert_eq!(heading["readingOrder"], 0);
    assert_eq!(heading["source"], "native_text");
    assert!(heading["confidence"].is_object() && heading["confidence"]["ocr"].is_null());
    assert!(
        heading["bbox"]
            .as_array()
            .is_some_and(|bbox| bbox.iter().all(|edge| (0.0..=1.0).contains(&edge.as_f64().unwrap())))
    );
}

#[test]
fn text_of_a_document_is_no_markup_of_ours() {
    let document = sample().read();
    let text = markdown(&document, &MarkdownOptions::default()).text;
    assert!(text.contains("with \\<tags> in"), "{text}");
    assert!(text.contains("\\# Not a heading"), "{text}");
    assert!(html(&document).contains("with &lt;tags&gt; in"));
    assert_eq!(
        page_markdown(&document.pages[1]),
        "# A héading\n\n\\# Not a heading, although it begins as one would in the text."
    );
}

#[test]
fn a_document_says_what_it_is() {
    let metadata = sample().read().metadata;
    assert_eq!(metadata.title.as_deref(), Some("Two pages"));
    assert_eq!(metadata.author.as_deref(), Some("A. Nonymous"));
    assert_eq!(metadata.created.as_deref(), Some("2024-01-31T09:30:05+01:00"));
    assert_eq!(metadata.language.as_deref(), Some("en-GB"));
    assert_eq!((metadata.num_pages, metadata.total_pages), (2, 2));
    let first =
        read_pdf(&sample().file(), &ReadOptions { max_pages: Some(1), ..ReadOptions::default() }).expect("a document");
    assert_eq!((first.pages.len(), first.metadata.num_pages, first.metadata.total_pages), (1, 1, 2));
}

#[test]
fn junk_before_the_header_does_no_harm() {
    let file = sample().file();
    for junk in [&b"\n\n"[..], b"HTTP/1.1 200 OK\r\n\r\n", &[0; 5000]] {
        let document = read_pdf(&[junk, &file].concat(), &ReadOptions::default()).expect("a document");
        assert_eq!(document.pages.len(), 2);
    }
}

#[test]
fn what_is_no_pdf_is_refused() {
    for bytes in [&b""[..], b"%PDF-1.4\n", b"<html><p>Not a PDF</html>", &[0; 100]] {
        assert!(matches!(read_pdf(bytes, &ReadOptions::default()), Err(Error::Broken(_))));
    }
    let locked = sample().trailer("/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O (01234567890123456789012345678901) /U (01234567890123456789012345678901) >> /ID [(a) (a)]");
    assert_eq!(read_pdf(&locked.file(), &ReadOptions::default()).err(), Some(Error::Encrypted));
}
