//! Random pages and questions.

use base::Stop;
use extractive::{Page, Source};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

const PARTS: [&str; 34] = [
    "The harbour opened in 1839. ",
    "Who built it? ",
    "Dr. Smith did, e.g. in Bergen! ",
    "**bold** ",
    "_slanted. Text_ ",
    "[a link](https://a.test/x_(y)) ",
    "![image](i.png) ",
    "`code.` ",
    "\n",
    "\n\n",
    "\n\n# Harbour\n\n",
    "\n\n### When?\n\n",
    "\n- item ",
    "\n  - below ",
    "\n1. first ",
    "\n| a | harbour |\n| --- | --- |\n| 1 | 1839 |\n",
    "\n> quoted ",
    "\n```\ncode\n```\n",
    "\\* ",
    "[",
    "](",
    "|",
    "<br>",
    "<b>",
    "&amp;",
    "港口于1839年开放。",
    "谁建的？",
    "Порт открыт в 1839 г. ",
    "é\u{301}",
    "\u{202e}",
    "\u{0}",
    "   ",
    "… ",
    "harbour ",
];

const QUESTIONS: [&str; 8] = [
    "When did the harbour open?",
    "Who built the harbour?",
    "港口什么时候开放？",
    "Когда открыт порт?",
    "1839",
    "harbour",
    "",
    "é [ | #",
];

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(31), ..ProptestConfig::default() })]

    #[test]
    fn answers_are_text_of_the_page(parts in prop::collection::vec(select(&PARTS[..]), 0..60), question in select(&QUESTIONS[..])) {
        let markdown = parts.concat();
        let stop = Stop::new();
        let page = Page::read(&Source { markdown: &markdown, ..Source::default() }, &stop).unwrap();
        let text = page.text().split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(found) = page.find(question, None, &stop).unwrap() {
            prop_assert!(!found.answer.is_empty() && !found.highlights.is_empty());
            prop_assert!(found.highlights.chars().count() <= 1500);
            for line in found.quote.lines() {
                prop_assert!(text.contains(line), "{line:?} in {text:?}");
            }
            // What a part of the highlights shows is the page's, in its order.
            for part in found.highlights.split('…') {
                let (source, plain) = (letters(&markdown), letters(page.text()));
                for line in part.lines().map(letters) {
                    prop_assert!(source.contains(&line) || plain.contains(&line), "{line:?} in {markdown:?}");
                }
            }
            prop_assert_eq!(page.find(question, None, &stop).unwrap(), Some(found));
        }
        page.summary(&stop).unwrap();
    }

    #[test]
    fn any_text_is_read(markdown in any::<String>(), question in any::<String>()) {
        let page = Page::read(&Source { markdown: &markdown, ..Source::default() }, &Stop::new()).unwrap();
        page.find(&question, None, &Stop::new()).unwrap();
        page.summary(&Stop::new()).unwrap();
    }
}
