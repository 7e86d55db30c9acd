use super::*;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

fn read_as(syntax: Syntax, text: &str) -> Option<Json> {
    let stop = Stop::new();
    parse_value(text, syntax, &mut Budget::new(&stop)).map(|found| found.value.json())
}

#[test]
fn json_with_the_faults_of_pages() {
    let check = |text: &str, expect: Json| assert_eq!(read_as(Syntax::Json, text), Some(expect), "{text}");
    check(
        r#"{"a": 1, "b": [true, null, -2.5e3], "c": {"d": "x"}}"#,
        json!({"a": 1, "b": [true, null, -2.5e3], "c": {"d": "x"}}),
    );
    check("<!-- {\"a\": 1,} -->", json!({"a": 1}));
    check("//<![CDATA[\n{\"a\": [1, 2, ], /* b */ \"c\": 3, // d\n}\n//]]>", json!({"a": [1, 2], "c": 3}));
    check("{\"a\": \"two\nlines\tand\", \"b\": 1}", json!({"a": "two\nlines\tand", "b": 1}));
    check(r#"{"a": "a 12" screen", "b": "say "hi""}"#, json!({"a": "a 12\" screen", "b": "say \"hi\""}));
    check("{\"a\": 1\n\"b\": \"x\"\n\"c\": 2}", json!({"a": 1, "b": "x", "c": 2}));
    check(r#"{"price": , "sku": "1"}"#, json!({"price": null, "sku": "1"}));
    check(r#"{"a": {"b": [1"#, json!({"a": {"b": [1]}}));
    check(r#"{"a": "\u00e9\ud83d\ude00\/\x"}"#, json!({"a": "é😀/"}));
    check(r#"{"a": ,,}"#, json!({"a": null}));
    assert_eq!(read_as(Syntax::Json, "  "), None);
}

#[test]
fn literals_of_scripts() {
    let check = |text: &str, expect: Json| assert_eq!(read_as(Syntax::Script, text), Some(expect), "{text}");
    check("{a: 1, 'b': !0, \"c\": !1, d: void 0}", json!({"a": 1, "b": true, "c": false, "d": null}));
    check(
        "{price: parseFloat('1,2'), sku: 'x', f: function() { return {a: ','}; }, e: [1].map(x => x), g: 2}",
        json!({
            "price": null, "sku": "x", "f": null, "e": null, "g": 2,
        }),
    );
    check("{a, b() { return 1 }, ...c, [d]: 2, e: 'x'}", json!({"e": "x"}));
    check("{a: 'it\\'s \\x41\\u{1F600}', b: `t\n`, c: 'a' + 'b'}", json!({"a": "it's A😀", "b": "t\n", "c": null}));
    check("{a: JSON.parse('{\"b\": \"c\\\\\"d\"}'), e: JSON.parse(x)}", json!({"a": {"b": "c\"d"}, "e": null}));
    check("{a: new Date('2020'), b: x.y, c: \"z\"}; more", json!({"a": null, "b": null, "c": "z"}));
    assert_eq!(read_as(Syntax::Script, "{a: {b: 1"), None);
}

#[test]
fn hostile_texts_are_bounded() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert!(read_as(Syntax::Json, &deep).is_some());
    let deep = "{\"a\":".repeat(100_000);
    read_as(Syntax::Script, &deep);
    read_as(Syntax::Script, &"JSON.parse('".repeat(10_000));
    let many = format!("[{}]", "{},".repeat(MAX_NODES));
    assert_eq!(read_as(Syntax::Json, &many), None);
    let stop = Stop::new();
    stop.set();
    assert!(parse_value(&many, Syntax::Json, &mut Budget::new(&stop)).is_none());
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "[\\PC\n]{0,200}", noise in "[{}\\[\\]\"',:/*\\\\u é(!]{0,80}") {
        for syntax in [Syntax::Json, Syntax::Script] {
            read_as(syntax, &text);
            read_as(syntax, &noise);
        }
    }
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i32>().prop_map(|number| json!(number)),
        "[\\PC\n\t\"\\\\]{0,12}".prop_map(Json::String),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::btree_map("[a-z_@ ]{1,6}", inner, 0..6).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn valid_json_is_read_as_it_is(value in any_json()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            prop_assert_eq!(read_as(Syntax::Json, &text), Some(value.clone()));
            if text.starts_with(['{', '[']) {
                prop_assert_eq!(read_as(Syntax::Script, &text), Some(value.clone()));
            }
        }
    }
}
