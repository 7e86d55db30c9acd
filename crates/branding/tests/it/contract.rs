//! Requirements of typed clients on `branding` (docs/CONTRACT.md, "Document").

use serde_json::Value;
use wire::Branding;

/// Asserts what an official client requires.
pub(crate) fn holds(branding: &Branding) {
    let json = serde_json::to_value(branding).unwrap();
    for map in ["colors", "icons", "animations"] {
        assert!(json[map].as_object().unwrap().values().all(Value::is_string), "{map}: {json}");
    }
    for hex in json["colors"].as_object().unwrap().values().filter_map(Value::as_str) {
        let digits = hex.strip_prefix('#').unwrap();
        assert!(digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase()), "{hex}");
    }
    for role in ["logo", "favicon", "ogImage"] {
        assert!(json["images"][role].is_string() || json["images"][role].is_null(), "{role}: {json}");
    }
    assert!(json["images"].as_object().unwrap().contains_key("logo"));
    assert!(json["fonts"].as_array().unwrap().iter().all(|font| font["family"].is_string()), "{json}");
    for words in [&json["tone"], &json["personality"]] {
        assert!(words.as_object().is_none_or(|map| map.values().all(Value::is_string)), "{json}");
    }
    for lengths in [&json["spacing"]["padding"], &json["spacing"]["margins"]] {
        assert!(lengths.as_object().is_none_or(|map| map.values().all(Value::is_number)), "{json}");
    }
    assert_eq!(serde_json::from_value::<Branding>(json).unwrap(), *branding);
}
