//! Which sentences answer a question.

use base::Stop;
use extractive::{Meaning, Page, Source};

use crate::{find, find_in};

const TEA: &str = "# Tea\n\nTea is a drink made from leaves. The plant grows in Assam and Yunnan. It was first drunk in China.\n\n\
    ## Harvest\n\nPickers take the first two leaves of each shoot. The first harvest was sold in London in 1839. Most of the \
    crop is still picked by hand, because machines damage the buds.\n\n\
    ## Prices\n\n| Kind | Price |\n| --- | --- |\n| Assam | 12 € |\n| Darjeeling | 21 € |\n\n\
    ## Delivery\n\nWe deliver to these countries:\n\n- Norway within five days\n- Japan within nine days\n\n\
    ## Questions\n\n### Can I return opened tea?\n\nNo, opened tea cannot be returned. Sealed packets can be sent back within \
    30 days.\n\n### Do you sell gift cards?\n\nYes, in the shop at the harbour.\n";

#[test]
fn the_sentence_with_the_words_and_the_kind_of_answer_is_found() {
    for (question, answer) in [
        ("When was the first harvest sold in London?", "The first harvest was sold in London in 1839."),
        ("Where does the tea plant grow?", "The plant grows in Assam and Yunnan."),
        (
            "Why is the crop picked by hand?",
            "Most of the crop is still picked by hand, because machines damage the buds.",
        ),
    ] {
        let found = find(TEA, question).unwrap();
        assert!(found.answer.contains(answer), "{question}: {}", found.answer);
        assert!(found.highlights.contains(answer), "{question}: {}", found.highlights);
    }
}

#[test]
fn a_row_and_an_item_answer_with_what_leads_to_them() {
    let found = find(TEA, "What is the price of Darjeeling?").unwrap();
    assert_eq!(found.answer, "Darjeeling | 21 €");
    assert!(
        found.highlights.contains("| Kind | Price |\n| --- | --- |\n| Darjeeling | 21 € |"),
        "{}",
        found.highlights
    );
    let found = find(TEA, "How long does delivery to Japan take?").unwrap();
    assert!(found.answer.contains("Japan within nine days"), "{}", found.answer);
}

#[test]
fn a_question_of_the_page_hands_over_to_its_answer() {
    let whole = "No, opened tea cannot be returned. Sealed packets can be sent back within 30 days.";
    for question in ["Can I return opened tea?", "can i return opened tea", "Can opened tea be returned?"] {
        let found = find(TEA, question).unwrap();
        assert_eq!((found.answer.as_str(), found.highlights.as_str()), (whole, whole), "{question}");
    }
    let list =
        "- Is it warm?\n- Is it wet?\n\n**Is it warm?**\n\nYes, very warm.\n\n**Is it wet?**\n\nNo, all dry there.\n";
    assert_eq!(find(list, "Is it wet?").unwrap().answer, "No, all dry there.");
    assert_eq!(find(list, "Is it warm?").unwrap().answer, "Yes, very warm.");
    let together = "Is it warm? Yes, very warm in June.\n\nSomething else entirely follows here.";
    assert_eq!(find(together, "Is it warm?").unwrap().highlights, "Yes, very warm in June.");
}

#[test]
fn a_page_about_something_else_answers_nothing() {
    for question in [
        "Who won the Super Bowl in 2016?",
        "What is the melting point of tungsten?",
        "When was the first harvest sold in Madrid?",
        "When was the first harvest sold in London in 1840?",
        "?",
        "",
    ] {
        assert_eq!(find(TEA, question), None, "{question}");
    }
    let flight = "A company in North American hands built the ship. A man flew it, and it was rich in metal.";
    assert_eq!(find(flight, "Who is the third richest man in America?"), None, "a related word is no name");
    assert_eq!(find("", "When was it sold?"), None);
    assert_eq!(find("# Only a heading", "What is only a heading?"), None);
}

#[test]
fn forms_of_a_word_are_one_word_in_each_language() {
    for (language, text, question) in [
        ("en", "The museums open at nine.", "When is the museum opening?"),
        ("de", "Die Häuser wurden 1910 gebaut.", "Wann wurde das Haus gebaut?"),
        ("es", "Las torres se construyeron en 1910.", "¿Cuándo se construyó la torre?"),
        ("fr", "Les ponts ont été construits en 1910.", "Quand le pont a-t-il été construit ?"),
        ("it", "I ponti furono costruiti nel 1910.", "Quando fu costruito il ponte?"),
        ("pt", "As pontes foram construídas em 1910.", "Quando a ponte foi construída?"),
        ("nl", "De bruggen werden in 1910 gebouwd.", "Wanneer werd de brug gebouwd?"),
        ("ru", "Мосты были построены в 1910 году.", "Когда был построен мост?"),
        ("pl", "Mosty zbudowano w 1910 roku.", "Kiedy zbudowano most?"),
        ("zh", "这座大桥建于1910年，位于上海。", "大桥位于哪里？"),
        ("ja", "この橋は1910年に建設されました。", "橋はいつ建設されましたか？"),
    ] {
        let page = format!("{text}\n");
        assert!(find_in(language, &page, question).is_some(), "{language}: {question}");
    }
}

#[test]
fn initials_and_their_words_are_the_same() {
    let page = "The United Methodist Church opposes conscription.\n\nA PWA runs offline in the browser.\n";
    assert!(find(page, "What does the UMC oppose?").is_some());
    assert!(find(page, "Does a progressive web app run offline?").unwrap().answer.contains("PWA"));
}

#[test]
fn sentences_with_every_word_are_found_by_their_words_alone() {
    let markdown =
        "# MARKER of the page\n\nMARKER-ABOUT\n\nFerries leave at noon. A ferry that leaves late waits. Gulls stay.";
    let page = Page::read(&Source { markdown, ..Source::default() }, &Stop::new()).unwrap();
    let found = |words: &str| page.find_words(words, &Stop::new()).unwrap().map(|found| found.highlights);
    assert_eq!(found("marker").as_deref(), Some("MARKER-ABOUT"));
    assert_eq!(
        found("when does the ferry leave").as_deref(),
        Some("Ferries leave at noon. A ferry that leaves late waits.")
    );
    assert_eq!((found("gulls and ferries"), found("what is it"), found("")), (None, None, None));
}

#[test]
fn a_second_opinion_changes_the_order() {
    struct Prefers(&'static str);
    impl Meaning for Prefers {
        fn vectors(&self, texts: &[&str]) -> Vec<Vec<f32>> {
            let likes = |(at, text): (usize, &&str)| at == 0 || text.contains(self.0);
            texts.iter().enumerate().map(|one| if likes(one) { vec![1.0, 0.0] } else { vec![0.0, 1.0] }).collect()
        }
    }
    let markdown = "The harvest was sold in London.\n\nThe harvest was sold at a loss.";
    let page = Page::read(&Source { markdown, ..Source::default() }, &Stop::new()).unwrap();
    for (liked, first) in [("London", "The harvest was sold in London."), ("loss", "The harvest was sold at a loss.")] {
        let found = page.find("Was the harvest sold?", Some(&Prefers(liked)), &Stop::new()).unwrap().unwrap();
        assert_eq!(found.answer, first);
    }
}
