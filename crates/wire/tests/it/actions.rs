//! Every action: its fields and bounds, and the bounds of the list.

use serde_json::{Value, json};
use wire::{Action, Direction, Paper, ScrollAction, WaitAction};

use crate::{bounds, lengths, page, refused};

fn one(action: Value) -> Value {
    json!({ "actions": [action] })
}

fn read(action: Value) -> Action {
    page(one(action)).options.actions.remove(0)
}

#[test]
fn wait() {
    assert_eq!(read(json!({ "type": "wait", "milliseconds": 5 })), Action::Wait(WaitAction::Time { milliseconds: 5 }));
    let element = WaitAction::Element { selector: "#a".into() };
    assert_eq!(read(json!({ "type": "wait", "selector": "#a", "milliseconds": null })), Action::Wait(element));
    bounds("actions[0].milliseconds", 1..=60_000, |value| one(json!({ "type": "wait", "milliseconds": value })));
    lengths("actions[0].selector", 1..=2000, |value| one(json!({ "type": "wait", "selector": value })));
    let both = json!({ "type": "wait", "milliseconds": 5, "selector": "#a" });
    refused(one(both), "actions[0].milliseconds", "give exactly one of them");
    refused(one(json!({ "type": "wait" })), "actions[0].milliseconds", "or `selector` is required");
}

#[test]
fn screenshot() {
    let full_page = |action: Value| match read(action) {
        Action::Screenshot(options) => options.full_page,
        other => panic!("{other:?}"),
    };
    assert!(!full_page(json!({ "type": "screenshot" })));
    assert!(full_page(json!({ "type": "screenshot", "fullPage": true })));
    assert!(full_page(json!({ "type": "screenshot", "full_page": true })), "the Rust client's spelling");
    bounds("actions[0].quality", 1..=100, |value| one(json!({ "type": "screenshot", "quality": value })));
    let wide = json!({ "type": "screenshot", "viewport": { "width": 7681, "height": 1 } });
    refused(one(wide), "actions[0].viewport.width", "1 to 7680");
}

#[test]
fn texts() {
    lengths("actions[0].selector", 1..=2000, |value| one(json!({ "type": "click", "selector": value })));
    refused(one(json!({ "type": "click" })), "actions[0].selector", "is required");
    refused(one(json!({ "type": "click", "selector": "a", "all": 1 })), "actions[0].all", "true or false");
    lengths("actions[0].text", 0..=100_000, |value| one(json!({ "type": "write", "text": value })));
    refused(one(json!({ "type": "write" })), "actions[0].text", "is required");
    lengths("actions[0].key", 1..=100, |value| one(json!({ "type": "press", "key": value })));
    refused(one(json!({ "type": "press" })), "actions[0].key", "is required");
    lengths("actions[0].script", 1..=100_000, |value| one(json!({ "type": "executeJavascript", "script": value })));
    refused(one(json!({ "type": "executeJavascript" })), "actions[0].script", "is required");
}

#[test]
fn scroll_and_scrape() {
    assert_eq!(read(json!({ "type": "scroll" })), Action::Scroll(ScrollAction::default()));
    let up = ScrollAction { direction: Direction::Up, selector: Some("#a".into()) };
    assert_eq!(read(json!({ "type": "scroll", "direction": "up", "selector": "#a" })), Action::Scroll(up));
    refused(one(json!({ "type": "scroll", "direction": "left" })), "actions[0].direction", "`up` or `down`");
    assert_eq!(read(json!({ "type": "scrape" })), Action::Scrape);
    refused(one(json!({ "type": "scrape", "url": "x" })), "actions[0].url", "not a known key");
}

#[test]
fn pdf() {
    let print = |action: Value| match read(action) {
        Action::Pdf(pdf) => pdf,
        other => panic!("{other:?}"),
    };
    let plain = print(json!({ "type": "pdf" }));
    assert_eq!((plain.format, plain.landscape, plain.scale), (Paper::Letter, false, 1.0));
    assert_eq!(print(json!({ "type": "generatePDF" })), plain, "the MCP server's name");
    for format in ["A0", "A1", "A2", "A3", "A4", "A5", "A6", "Letter", "Legal", "Tabloid", "Ledger"] {
        assert_eq!(print(json!({ "type": "pdf", "format": format })).format.as_str(), format);
    }
    assert_eq!(print(json!({ "type": "pdf", "scale": 0.1 })).scale, 0.1);
    assert_eq!(print(json!({ "type": "pdf", "scale": 2 })).scale, 2.0);
    for wrong in [json!(0.09), json!(2.1), json!("1"), json!(-1)] {
        refused(one(json!({ "type": "pdf", "scale": wrong })), "actions[0].scale", "a number from 0.1 to 2");
    }
    refused(one(json!({ "type": "pdf", "format": "a4" })), "actions[0].format", "`A0`");
}

#[test]
fn the_list() {
    assert!(page(json!({ "actions": [] })).options.actions.is_empty());
    page(json!({ "actions": vec![json!({ "type": "scrape" }); 50] }));
    refused(json!({ "actions": vec![json!({ "type": "scrape" }); 51] }), "actions", "0 to 50 entries, has 51");
    let waits = |times: &[u32]| {
        let wait = |time: &u32| json!({ "type": "wait", "milliseconds": time });
        json!({ "actions": times.iter().map(wait).collect::<Vec<_>>() })
    };
    page(waits(&[30_000, 30_000]));
    refused(waits(&[30_000, 30_001]), "actions", "longer than 60000 ms in total, got 60001");
    refused(waits(&[60_000; 50]), "actions", "got 3000000");
    refused(one(json!({ "type": "hover", "selector": "a" })), "actions[0].type", "`wait`, `screenshot`");
    refused(one(json!({ "selector": "a" })), "actions[0].type", "is required");
    refused(one(json!("scrape")), "actions[0]", "an object");
}
