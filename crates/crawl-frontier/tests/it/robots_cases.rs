//! The cases of `tests/cases/robots_cases.json` that a file alone decides. Those that need a server are played by
//! `cargo xtask robots`.

#![expect(clippy::unwrap_used, reason = "a case file that is broken has to fail")]

use crawl_frontier::Robots;
use serde_json::Value;

#[test]
fn robots_cases_have_the_expected_answer() {
    let file: Value = serde_json::from_str(include_str!("../../../../tests/cases/robots_cases.json")).unwrap();
    let scored = |case: &&Value| case["kind"] == "match" && case["scored"] == true;
    let cases: Vec<&Value> = file["cases"].as_array().unwrap().iter().filter(scored).collect();
    assert!(cases.len() >= 70, "only {} cases", cases.len());
    let wrong: Vec<&&Value> = cases.iter().filter(|case| case["allowed"].as_bool() != Some(answer(case))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn answer(case: &Value) -> bool {
    let text = |member: &str| case[member].as_str().unwrap();
    // The bytes of the path as they stand there, not as a URL parser would spell them.
    let (_, after_scheme) = text("url").split_once("://").unwrap();
    let path = after_scheme.find(['/', '?']).map_or("/", |at| &after_scheme[at..]);
    let path = path.split('#').next().unwrap();
    Robots::parse(text("robots_txt").as_bytes()).allows(text("user_agent"), path)
}
