//! Pages that are recognised by other children than the one that reads the document.

use std::time::Duration;

use reader::{Options, ReadError, Wants};
use tokio::time::Instant;
use wire::PdfMode;

use crate::world::{after, orders, pdf, pool, read, works};

#[tokio::test]
async fn pages_come_in_order_whoever_is_first() {
    let pool = pool();
    let mut job = orders("9");
    job.options =
        Options { page_markers: true, wants: Wants { pages: true, ..Wants::default() }, ..Options::default() };
    let answer = read(&pool, job, after(20.0)).await.unwrap();
    let words: Vec<String> = answer.pages.iter().map(|page| page.markdown.clone()).collect();
    let expected: Vec<String> = (1..=9).map(|number| format!("page{number} stands here")).collect();
    assert_eq!(words, expected);
    assert!(answer.markdown.contains("<!-- page 9 -->") && !answer.is_partial);
    // One that reads, and two under OCR.
    assert!(pool.children() <= 3, "{}", pool.children());
}

#[tokio::test]
async fn only_as_many_as_are_wanted_are_recognised() {
    let pool = pool();
    let mut job = orders("3 3=crash");
    job.options.max_pages = Some(2);
    let mut asked = 0;
    let afford = async |pages| {
        asked = pages;
        Ok::<(), ()>(())
    };
    let answer = pool.read(job, after(20.0), afford).await.unwrap();
    assert_eq!((asked, answer.pages_read, answer.metadata.total_pages), (2, 2, 3));
    assert!(answer.warnings.is_empty(), "{:?}", answer.warnings);
}

#[tokio::test]
async fn a_page_that_fails_costs_only_itself() {
    let pool = pool();
    for order in ["crash", "eat", "panic", "nothing"] {
        let mut job = orders(&format!("4 2={order}"));
        job.options.wants.blocks = true;
        let answer = read(&pool, job, after(60.0)).await.unwrap();
        for number in [1, 3, 4] {
            assert!(answer.markdown.contains(&format!("page{number} ")), "{order}: {}", answer.markdown);
        }
        assert!(answer.is_partial && answer.warnings[0].starts_with("page 2: "), "{order}: {:?}", answer.warnings);
        let status: Vec<&str> = answer.blocks.iter().map(|page| page.status.as_str()).collect();
        assert_eq!(status, ["ok", "failed", "ok", "ok"], "{order}");
    }
    let nothing = read(&pool, orders("2 1=crash 2=crash"), after(20.0)).await;
    assert!(matches!(nothing, Err(ReadError::Broken(_))), "{nothing:?}");
    works(&pool).await;
}

#[tokio::test]
async fn what_is_recognised_by_the_deadline_is_answered() {
    let pool = pool();
    let began = Instant::now();
    let answer = read(&pool, orders("5 2=hang"), after(6.0)).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(6));
    for number in [1, 3, 4, 5] {
        assert!(answer.markdown.contains(&format!("page{number} ")), "{}", answer.markdown);
    }
    assert!(answer.is_partial && answer.warnings[0].starts_with("page 2: "), "{:?}", answer.warnings);
    assert!(answer.warnings[0].contains("time"), "{:?}", answer.warnings);
    let nothing = read(&pool, orders("2 1=hang 2=hang"), after(2.0)).await;
    assert_eq!(nothing.unwrap_err(), ReadError::Timeout);
    works(&pool).await;
}

#[tokio::test]
async fn every_page_of_a_pdf_can_be_recognised() {
    let pool = pool();
    let mut job = pdf("What is embedded.");
    job.options.mode = PdfMode::Ocr;
    let answer = read(&pool, job, after(20.0)).await.unwrap();
    assert_eq!(answer.markdown, "page1 stands here");
}

#[tokio::test]
async fn two_documents_share_those_who_look() {
    let pool = pool();
    let (long, short) = tokio::join!(read(&pool, orders("40"), after(30.0)), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let began = Instant::now();
        let mut job = orders("2");
        job.owner = base::Owner::of_team("another");
        read(&pool, job, after(30.0)).await.map(|_| began.elapsed())
    });
    assert_eq!(long.unwrap().pages_read, 40);
    assert!(short.unwrap() < Duration::from_secs(5));
}
