//! Summaries.

use base::Stop;
use extractive::{Page, Source};

fn summary(title: &str, markdown: &str) -> String {
    Page::read(&Source { markdown, title, language: "" }, &Stop::new()).unwrap().summary(&Stop::new()).unwrap()
}

#[test]
fn a_summary_has_sentences_about_the_title_in_page_order() {
    let page = "# Harbour of Bergen\n\nSubscribe to our newsletter to hear about the harbour of Bergen first!\n\n\
        The harbour of Bergen has been a centre of trade in fish for nine hundred years. Have you seen the harbour of Bergen?\n\n\
        Its wooden houses along the harbour burned down several times and were built again. The weather is often wet, and \
        visitors bring good shoes.\n\nToday the harbour of Bergen serves ferries, supply ships and cruise ships. \
        Fish from the harbour is sold on the market of Bergen every morning.\n\nSome people also like to eat cake on Sundays.\n";
    let found = summary("Harbour of Bergen", page);
    assert!(found.starts_with("The harbour of Bergen has been a centre of trade"), "{found}");
    assert!(!found.contains('?') && !found.contains("Subscribe") && !found.contains("cake"), "{found}");
    assert_eq!(found.matches(". ").count(), 2, "{found}");
}

#[test]
fn a_short_page_is_its_own_summary() {
    assert_eq!(summary("", "# Title\n\nOnly this one. And that."), "Only this one. And that.");
    assert_eq!(summary("", "# Title"), "");
    assert_eq!(summary("", ""), "");
}
