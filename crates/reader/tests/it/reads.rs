//! Results of reading, and the program that did it.

use documents::Kind;
use reader::{Options, Pool, ReadError, Settings, Wants};
use wire::PdfMode;

use crate::world::{after, children_of, job, nice, orders, pdf, pool, read, settings, until, works};

#[tokio::test]
async fn a_pdf_becomes_text_and_layout() {
    let pool = pool();
    assert_eq!((pool.children(), pool.can_ocr(), pool.languages().len()), (0, true, 0));
    let mut job = pdf("Hello, paper.");
    job.options.wants = Wants { html: true, pages: true, blocks: true };
    let mut asked = Vec::new();
    let afford = async |pages| {
        asked.push(pages);
        Ok::<(), ()>(())
    };
    let answer = pool.read(job, after(20.0), afford).await.unwrap();
    assert_eq!(asked, [1]);
    assert_eq!((answer.markdown.as_str(), answer.pages_read), ("Hello, paper.", 1));
    assert!(answer.html.unwrap().contains("Hello, paper."));
    assert_eq!((answer.pages[0].page_number, answer.pages[0].markdown.as_str()), (1, "Hello, paper."));
    assert_eq!(answer.blocks[0].items[0].markdown_span, Some([0, 13]));
    assert_eq!((answer.metadata.num_pages, answer.metadata.total_pages), (1, 1));
    assert!(answer.warnings.is_empty() && !answer.is_partial);
    assert_eq!((pool.children(), pool.can_ocr(), pool.languages()), (1, true, vec!["eng".to_owned()]));
}

#[tokio::test]
async fn rows_of_values_become_a_table() {
    let pool = pool();
    let answer = read(&pool, job("name,age\nAda,36\n", Kind::Csv), after(20.0)).await.unwrap();
    assert!(answer.markdown.contains("| Ada | 36 |"), "{}", answer.markdown);
    assert_eq!((answer.pages_read, answer.html), (1, None));
}

#[tokio::test]
async fn what_cannot_be_afforded_is_not_read() {
    let pool = pool();
    let refused = pool.read(pdf("Gold."), after(20.0), async |pages| Err(pages)).await;
    assert_eq!(refused.unwrap_err(), ReadError::Afford(1));
    let before = children_of(std::process::id());
    works(&pool).await;
    assert_eq!(children_of(std::process::id()), before);
}

#[tokio::test]
async fn broken_files_are_told_from_those_without_text() {
    let pool = pool();
    let broken = read(&pool, job("%PDF-1.7 and nothing more", Kind::Pdf), after(20.0)).await;
    assert!(matches!(broken, Err(ReadError::Broken(_))), "{broken:?}");
    let broken = read(&pool, orders("a landscape"), after(20.0)).await;
    assert!(matches!(broken, Err(ReadError::Broken(_))), "{broken:?}");
    works(&pool).await;
    assert_eq!(pool.children(), 1);
}

#[tokio::test]
async fn a_child_serves_many_documents_and_not_all() {
    let pool = Pool::new(Settings { recycle: 3, ..settings() }).unwrap();
    let mut seen = Vec::new();
    for _ in 0..7 {
        works(&pool).await;
        seen.extend(children_of(std::process::id()));
    }
    seen.dedup();
    // Two processes read two documents each; the third document of each process is its last.
    assert_eq!(seen.len(), 3, "{seen:?}");
    let small = Pool::new(Settings { recycle_memory: 1, ..settings() }).unwrap();
    works(&small).await;
    assert_eq!(small.children(), 0);
}

#[tokio::test]
async fn children_are_bounded_and_end_when_nobody_needs_them() {
    let idle = std::time::Duration::from_secs(1);
    let pool = Pool::new(Settings { idle, ..settings() }).unwrap();
    let reads = (0..8).map(|_| works(&pool));
    futures_util::future::join_all(reads).await;
    assert!((1..=2).contains(&pool.children()), "{}", pool.children());
    until("no child is left", || pool.children() == 0 && children_of(std::process::id()).is_empty()).await;
    works(&pool).await;
}

#[tokio::test]
async fn work_that_can_wait_has_one_child_of_the_lowest_priority() {
    let pool = Pool::spare(&settings()).unwrap();
    futures_util::future::join_all((0..3).map(|_| works(&pool))).await;
    assert_eq!(pool.children(), 1);
    let its_nice: Vec<_> = children_of(std::process::id()).into_iter().map(nice).collect();
    assert_eq!(its_nice, [Some(19)]);
}

#[tokio::test]
async fn who_waits_too_long_or_in_too_long_a_line_is_told() {
    let pool = Pool::new(Settings { children: 1, waiting: 1, ..settings() }).unwrap();
    // They are first polled in this order, and each is in line, or turned away, after its first poll.
    let (hangs, late, turned_away) = tokio::join!(
        read(&pool, orders("hang"), after(2.0)),
        read(&pool, pdf("Late."), after(0.5)),
        read(&pool, pdf("One too many."), after(5.0)),
    );
    assert_eq!((hangs.unwrap_err(), late.unwrap_err()), (ReadError::Timeout, ReadError::Timeout));
    assert!(matches!(turned_away.unwrap_err(), ReadError::Unavailable(why) if why.contains("queue of documents")));
}

#[tokio::test]
async fn without_eyes_text_is_read_and_pictures_are_refused() {
    // A program that is not a document reader.
    let other = Settings { reader: Some("/bin/true".into()), ..Settings::default() };
    let error = read(&Pool::new(other).unwrap(), pdf("Hello."), after(20.0)).await.unwrap_err();
    assert!(matches!(error, ReadError::Unavailable(why) if why.contains("/bin/true did not start")));
    let off = Pool::new(Settings { enabled: false, ..settings() }).unwrap();
    assert!(!off.can_read() && !off.can_ocr());
    let error = read(&off, pdf("Hello."), after(20.0)).await.unwrap_err();
    assert!(matches!(error, ReadError::Unavailable(_)));
    let blind = Pool::new(Settings { reader: Some(crate::world::example("blind")), ..settings() }).unwrap();
    works(&blind).await;
    assert!(blind.can_read() && !blind.can_ocr());
    let error = read(&blind, orders("1"), after(20.0)).await.unwrap_err();
    assert!(matches!(error, ReadError::OcrMissing(why) if why.contains("install quarry-reader")));
    let mut recognised = pdf("Hello.");
    recognised.options = Options { mode: PdfMode::Ocr, ..Options::default() };
    assert!(matches!(read(&blind, recognised, after(20.0)).await, Err(ReadError::OcrMissing(_))));
}
