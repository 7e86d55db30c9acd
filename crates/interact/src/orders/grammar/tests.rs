//! Tests of the grammar.

use proptest::prelude::*;

use super::*;

fn named(name: &str) -> Target {
    Target { name: Some(name.to_owned()), ..Target::default() }
}

fn parsed(text: &str) -> Vec<Order> {
    parse(text).unwrap_or_else(|part| panic!("{text}: {part}"))
}

#[test]
fn single_orders_are_understood() {
    let Order::Click(first) = &parsed("click the first link")[0] else { panic!() };
    assert_eq!((first.kind, first.place), (Some("link"), Some(0)));
    assert_eq!(parsed("Please click on \"More information\"."), [Order::Click(named("More information"))]);
    assert_eq!(parsed("press Enter"), [Order::Press("Enter".to_owned())]);
    assert_eq!(parsed("hit the escape key"), [Order::Press("escape".to_owned())]);
    assert!(matches!(&parsed("press the Send button")[0], Order::Click(target) if target.kind == Some("button")));
    assert!(
        matches!(&parsed("type \"ada\" into the name field")[0], Order::Fill(text, Some(target)) if text == "ada" && target.name.as_deref() == Some("name"))
    );
    assert!(
        matches!(&parsed("fill in the email field with ada@example.com")[0], Order::Fill(text, Some(_)) if text == "ada@example.com")
    );
    assert!(
        matches!(&parsed("enter hello in the search box")[0], Order::Fill(text, Some(target)) if text == "hello" && target.kind == Some("search box"))
    );
    assert!(
        matches!(&parsed("select \"Blue\" in the colour dropdown")[0], Order::Select(text, Some(target)) if text == "Blue" && target.name.as_deref() == Some("colour"))
    );
    assert_eq!(parsed("scroll to the bottom"), [Order::Scroll(Way::Bottom)]);
    assert_eq!(parsed("scroll down"), [Order::Scroll(Way::Down)]);
    assert_eq!(parsed("go to example.com/a"), [Order::GoTo("example.com/a".to_owned())]);
    assert_eq!(parsed("open file:///etc/passwd"), [Order::GoTo("file:///etc/passwd".to_owned())]);
    assert_eq!(parsed("go back"), [Order::Back]);
    assert_eq!(parsed("wait 2 seconds"), [Order::Wait(2000.0)]);
    assert_eq!(parsed("wait for \"Done\" to appear"), [Order::WaitFor("Done".to_owned())]);
    assert_eq!(parsed("what is the title of the page?"), [Order::Read(What::Title)]);
    assert_eq!(parsed("tell me the url"), [Order::Read(What::Url)]);
    assert_eq!(parsed("read the page"), [Order::Read(What::Text)]);
    assert!(matches!(&parsed("list all the links")[0], Order::Read(What::All(_))));
    assert!(matches!(&parsed("how many buttons are there?")[0], Order::Read(What::Count(_))));
    assert!(matches!(&parsed("get the first heading")[0], Order::Read(What::One(_))));
    assert_eq!(parsed("take a screenshot"), [Order::Screenshot]);
    assert!(matches!(&parsed("check the terms checkbox")[0], Order::Check(_, true)));
    assert_eq!(parsed("search for rust and wait 1 second"), [Order::Search("rust".to_owned()), Order::Wait(1000.0)]);
}

#[test]
fn several_are_taken_apart() {
    let orders = parsed(
        "Go to \"Sign in\", type 'ada and bob' into the user field and press enter, then wait 1s. Take a screenshot",
    );
    assert_eq!(orders.len(), 5, "{orders:?}");
    assert!(matches!(&orders[1], Order::Fill(text, _) if text == "ada and bob"));
    assert_eq!(orders[2..], [Order::Press("enter".to_owned()), Order::Wait(1000.0), Order::Screenshot]);
    assert_eq!(parsed("click Salt and Pepper").len(), 1);
}

#[test]
fn the_rest_is_left_to_models() {
    for text in [
        "what is the price of the blue shirt?",
        "book me a flight to Rome",
        "summarize the page",
        "",
        "   ",
        "then",
        "find the cheapest laptop",
        "extract all products with prices",
        "log in as ada",
        "is there a login form?",
        "click",
        "type",
    ] {
        assert!(parse(text).is_err(), "{text}: {:?}", parse(text));
    }
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(text in "\\PC{0,120}") {
        let _ = parse(&text);
    }

    #[test]
    fn so_is_any_row_of_known_words(picks in prop::collection::vec(prop::sample::select(vec![
        "click", "the", "first", "link", "\"", "'", "and", "then", ",", ".", "type", "into", "in", "fill", "with", "field", "search", "for",
        "scroll", "to", "wait", "2", "s", "key", "press", "select", "from", "how", "many", "read", "of", "page", "“", "”", "button", "named", "\n",
    ]), 0..25)) {
        let _ = parse(&picks.join(" "));
    }
}
