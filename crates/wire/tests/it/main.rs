//! The contract from outside: accepted and refused requests, wording of refusals, shape of responses.
// `json!` recurses once per token of a whole document.
#![recursion_limit = "256"]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail the test")]
#![expect(clippy::needless_pass_by_value, reason = "`json!` bodies are written in place")]

mod actions;
mod answers;
mod clients;
mod feedback;
mod formats;
mod jobs;
mod map;
mod options;
mod parse;
mod schema;
mod search;
mod tools;
mod vertical;

use serde_json::{Value, json};
use wire::{Invalid, ScrapeBody, ScrapeRequest, decode_scrape};

/// Adds a valid `url` to the members, if they have none.
fn with_url(mut members: Value) -> Value {
    if members.get("url").is_none() {
        members["url"] = json!("https://example.com/");
    }
    members
}

fn decode_page(members: Value) -> Result<ScrapeRequest, Invalid> {
    match decode_scrape(with_url(members))? {
        ScrapeBody::Page(request) => Ok(*request),
        ScrapeBody::Tools(_) => panic!("a page request was expected"),
    }
}

#[track_caller]
fn page(members: Value) -> ScrapeRequest {
    decode_page(members.clone()).unwrap_or_else(|invalid| panic!("{members} was refused: {invalid}"))
}

/// Asserts that a request is refused with exactly one fault, at this path, with these words.
#[track_caller]
fn refused(members: Value, path: &str, words: &str) {
    let shown = members.to_string();
    let invalid = match decode_page(members) {
        Ok(request) => panic!("{shown} was accepted as {request:?}"),
        Err(invalid) => invalid,
    };
    let [fault] = invalid.fields.as_slice() else { panic!("{shown} gave {:?}", invalid.fields) };
    assert_eq!(fault.path, path, "{shown}");
    assert!(fault.message.contains(words), "{shown}: {:?} lacks {words:?}", fault.message);
    assert!(invalid.message.contains(path), "{shown}: {:?} does not name the field", invalid.message);
}

/// Asserts that both ends of a whole-number range are accepted, and neighbours and other types refused.
#[track_caller]
fn bounds(path: &str, range: std::ops::RangeInclusive<u64>, body: impl Fn(Value) -> Value) {
    let (min, max) = (*range.start(), *range.end());
    page(body(json!(min)));
    page(body(json!(max)));
    refused(body(json!(max + 1)), path, "a whole number from");
    let below = i64::try_from(min).unwrap() - 1;
    for wrong in [json!(below), json!(1.5), json!("7"), json!(true), json!([])] {
        refused(body(wrong), path, "a whole number from");
    }
}

/// Asserts that both ends of a length range are accepted, and neighbours and other types refused.
#[track_caller]
fn lengths(path: &str, range: std::ops::RangeInclusive<usize>, body: impl Fn(Value) -> Value) {
    let (min, max) = (*range.start(), *range.end());
    // `ä` is two bytes long: lengths count characters.
    let text = |length: usize| json!("ä".repeat(length));
    page(body(text(min)));
    page(body(text(max)));
    refused(body(text(max + 1)), path, "characters");
    if min > 0 {
        refused(body(text(min - 1)), path, "characters");
    }
    refused(body(json!(7)), path, "a string");
}
