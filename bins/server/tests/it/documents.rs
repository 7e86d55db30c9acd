//! The server program as the child process that reads documents: it needs no libraries for OCR.

use std::time::Duration;

use documents::Kind;
use memchr::memmem;
use reader::{Job, Options, Pool, Settings};
use tokio::time::Instant;

const PROGRAM: &str = env!("CARGO_BIN_EXE_quarry-server");

#[tokio::test]
async fn the_server_reads_documents_by_itself() {
    let pool = Pool::new(Settings { reader: Some(PROGRAM.into()), ..Settings::default() }).unwrap();
    let file = documents::sample("Read by the server.");
    let job = Job { bytes: file.into(), kind: Kind::Pdf, owner: base::Owner::default(), options: Options::default() };
    let deadline = Instant::now() + Duration::from_secs(30);
    let answer = pool.read(job, deadline, async |_| Ok::<(), ()>(())).await.unwrap();
    assert_eq!(answer.markdown, "Read by the server.");
    assert!(!pool.can_ocr());
}

#[test]
fn the_server_needs_no_library_of_text_recognition() {
    let program = std::fs::read(PROGRAM).unwrap();
    for library in ["libtesseract.so", "liblept.so", "libleptonica.so"] {
        assert!(memmem::find(&program, library.as_bytes()).is_none(), "{library}");
    }
    // The search would find such a name.
    assert!(memmem::find(&program, b"libc.so.6").is_some());
}
