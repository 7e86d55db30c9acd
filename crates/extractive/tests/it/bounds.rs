//! Untrusted input: bounded time and stack, and work that ends when it is stopped.

use std::thread;
use std::time::{Duration, Instant};

use base::Stop;
use extractive::{GaveUp, Page, Source};

/// Runs all that the library does on a small stack, and returns how long it took.
fn time(markdown: String) -> Duration {
    let work = move || {
        let started = Instant::now();
        let page = Page::read(&Source { markdown: &markdown, ..Source::default() }, &Stop::new()).unwrap();
        for question in
            ["Who is a word of the table?", "a", "a b c d e f g h i j k l m n o p q r s t u v w x y z", "¿é [ ( | #"]
        {
            let found = page.find(question, None, &Stop::new()).unwrap();
            assert!(found.is_none_or(|found| found.highlights.chars().count() <= 1500));
        }
        page.summary(&Stop::new()).unwrap();
        started.elapsed()
    };
    thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap()
}

#[test]
fn hostile_pages_end_soon() {
    // In a debug build; a release build takes a tenth.
    for unit in [
        "word ",
        "a",
        "[",
        "[a](",
        "<a",
        "`",
        "*a_",
        "> ",
        "# a\n\n",
        "- a\n",
        "|a",
        "| a | b |\n",
        "a. ",
        "A?\n\n",
        "\\",
        "&",
        "大",
        "é",
        "a\u{301}",
        "```\n",
        "A word of the table? ",
        "(((",
        "1. ",
        "\n",
    ] {
        let took = time(unit.repeat(400_000 / unit.len()));
        assert!(took < Duration::from_secs(20), "{unit:?}: {took:?}");
    }
}

#[test]
fn work_ends_when_the_caller_wants_it() {
    let stop = Stop::new();
    let markdown = "A word. ".repeat(1000);
    let page = Page::read(&Source { markdown: &markdown, ..Source::default() }, &stop).unwrap();
    stop.set();
    assert_eq!(page.find("word", None, &stop), Err(GaveUp));
    assert_eq!(page.summary(&stop), Err(GaveUp));
    assert_eq!(Page::read(&Source { markdown: &markdown, ..Source::default() }, &stop).err(), Some(GaveUp));
}
