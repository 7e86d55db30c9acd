//! Values compared by field.

use base::Stop;
use change_diff::{fields, top_level};
use serde_json::{Value, json};

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "cases are written in place")]
fn check(previous: Value, current: Value, expect: Value) {
    let found = serde_json::to_value(fields(&previous, &current, &Stop::new()).unwrap()).unwrap();
    let pairs: serde_json::Map<String, Value> = found
        .as_object()
        .unwrap()
        .iter()
        .map(|(path, change)| (path.clone(), json!([change["previous"], change["current"]])))
        .collect();
    assert_eq!(Value::Object(pairs), expect, "{previous} {current}");
}

#[test]
fn values_are_the_same_by_their_meaning() {
    for (one, other) in [
        (r#"{"a": 1, "b": [1, {"c": 2}]}"#, r#"{"b": [1, {"c": 2}], "a": 1}"#),
        (r#"[12, 1e2, -0.0, 1e300]"#, r#"[12.0, 100, 0, 1e300]"#),
        (r#"{"a": null, "b": {"c": null}}"#, r#"{"b": {}}"#),
        (r#"[1, null, 2]"#, r#"[null, 1, 2, null]"#),
        (r#"{"t": "Café  au\nlait "}"#, r#"{"t": "Cafe\u0301\u00a0au la\u200bit"}"#),
        (r#""""#, r#"" \u2060""#),
    ] {
        let (one, other) = (serde_json::from_str(one).unwrap(), serde_json::from_str(other).unwrap());
        check(one, other, json!({}));
    }
}

#[test]
fn values_differ_by_their_meaning() {
    check(
        json!(9_007_199_254_740_993_i64),
        json!(9_007_199_254_740_992_i64),
        json!({"": [9_007_199_254_740_993_i64, 9_007_199_254_740_992_i64]}),
    );
    check(json!(u64::MAX), json!(u64::MAX - 1), json!({"": [u64::MAX, u64::MAX - 1]}));
    check(json!({"n": 0.1}), json!({"n": 0.100_000_000_000_000_1}), json!({"n": [0.1, 0.100_000_000_000_000_1]}));
    check(json!({"p": 12}), json!({"p": "12"}), json!({"p": [12, "12"]}));
    check(json!({"p": 0}), json!({"p": false}), json!({"p": [0, false]}));
    check(json!({"p": ""}), json!({}), json!({"p": ["", null]}));
    check(json!({"p": []}), json!({"p": {}}), json!({"p": [[], {}]}));
    check(json!({"t": "In Stock"}), json!({"t": "in stock"}), json!({"t": ["In Stock", "in stock"]}));
}

#[test]
fn subtrees_and_types_are_one_change() {
    check(json!({"p": {"a": 1, "b": 2}}), json!({"p": 3}), json!({"p": [{"a": 1, "b": 2}, 3]}));
    check(json!({}), json!({"t": {"a": [1, 2]}}), json!({"t": [null, {"a": [1, 2]}]}));
    check(json!({"a": {"b": 1, "c": {"d": 2}}}), json!({"a": {"b": 1}}), json!({"a.c": [{"d": 2}, null]}));
    check(json!({"a": 1}), json!(null), json!({"": [{"a": 1}, null]}));
}

#[test]
fn no_two_paths_meet() {
    check(
        json!({"a.b": 1, "a": {"b": 2}}),
        json!({"a.b": 3, "a": {"b": 4}}),
        json!({"[\"a.b\"]": [1, 3], "a.b": [2, 4]}),
    );
    check(
        json!({"x": {"p[0]": 1, "p": [1], "": 1, "a\\b": 1, "\"": 1}}),
        json!({"x": {"p[0]": 2, "p": [3], "": 2, "a\\b": 2, "\"": 2}}),
        json!({"x[\"p[0]\"]": [1, 2], "x.p[0]": [1, 3], "x[\"\"]": [1, 2], "x[\"a\\\\b\"]": [1, 2], "x[\"\\\"\"]": [1, 2]}),
    );
    check(json!([[{"a.b": 1}]]), json!([[{"a.b": 2}]]), json!({"[0][0][\"a.b\"]": [1, 2]}));
    check(
        json!({"price (EUR)": 1, "größe": 1}),
        json!({"price (EUR)": 2, "größe": 2}),
        json!({"price (EUR)": [1, 2], "größe": [1, 2]}),
    );
}

fn items(ids: impl IntoIterator<Item = u32>) -> Vec<Value> {
    ids.into_iter().map(|id| json!({"id": id, "name": format!("Tea {id}"), "price": id * 5})).collect()
}

#[test]
fn the_shortest_report_is_the_best() {
    let tea = |number: u32, price: u32| json!({"text": format!("Tea {number}"), "price": price, "tags": ["a"], "g": 9});
    // One gone, one dearer, one new: three changes. In their order the items would be four.
    check(
        json!([tea(0, 0), tea(1, 0)]),
        json!([tea(1, 7), tea(5, 50)]),
        json!({"[0]": [tea(0, 0), null], "[0].price": [0, 7], "[1]": [null, tea(5, 50)]}),
    );
}

#[test]
fn items_are_aligned() {
    let item = |id: u32| items([id]).remove(0);
    check(json!(items(1..=20)), json!(items([99].into_iter().chain(1..=20))), json!({"[0]": [null, item(99)]}));
    check(json!(items(1..=9)), json!(items([1, 2, 3, 5, 6, 7, 8, 9])), json!({"[3]": [item(4), null]}));
    let mut dearer = items([99].into_iter().chain(1..=5));
    dearer[3]["price"] = json!(1);
    check(json!(items(1..=5)), json!(dearer), json!({"[0]": [null, item(99)], "[3].price": [15, 1]}));
    // Moved: removed at one place, added at the other.
    check(json!(items(1..=4)), json!(items([2, 3, 4, 1])), json!({"[0]": [item(1), null], "[3]": [null, item(1)]}));
    check(json!(items(1..=2)), json!(items([2, 1])), json!({"[0]": [null, item(2)], "[1]": [item(2), null]}));
}

#[test]
fn the_surest_identity_counts() {
    let old = json!([{"sku": "a", "name": "Tea", "price": 1}, {"sku": "b", "name": "Tea", "price": 2}]);
    let new = json!([{"sku": "b", "name": "Tea", "price": 3}, {"sku": "a", "name": "Tea", "price": 4}]);
    check(old, new, json!({"[0].price": [2, 3], "[1].price": [1, 4]}));
    // A name is no identity where two have it, and another id is another item.
    let (one, other) = (json!({"id": 1, "name": "x", "p": 1}), json!({"id": 2, "name": "y", "p": 2}));
    check(json!([{"a": 0}, one]), json!([other, {"a": 0}]), json!({"[0]": [null, other], "[1]": [one, null]}));
    check(
        json!([{"name": "Pro", "price": 19, "seats": 5}]),
        json!([{"name": "Pro plan", "price": 19, "seats": 5}]),
        json!({"[0].name": ["Pro", "Pro plan"]}),
    );
}

#[test]
fn alike_items_are_versions_of_one() {
    check(json!(["a", "b", "c"]), json!(["x", "a", "z", "c"]), json!({"[0]": [null, "x"], "[2]": ["b", "z"]}));
    check(
        json!(["Tea 5 €", "Milk 2 €"]),
        json!(["Bread 1 €", "Tea 6 €", "Milk 3 €"]),
        json!({"[0]": [null, "Bread 1 €"], "[1]": ["Tea 5 €", "Tea 6 €"], "[2]": ["Milk 2 €", "Milk 3 €"]}),
    );
    check(
        json!([{"day": "Mo", "open": 9, "close": 17}, {"day": "Tu", "open": 9, "close": 17}]),
        json!([{"day": "Su", "open": 0, "close": 0}, {"day": "Mo", "open": 9, "close": 18}, {"day": "Tu", "open": 9, "close": 17}]),
        json!({"[0]": [null, {"day": "Su", "open": 0, "close": 0}], "[1].close": [17, 18]}),
    );
    check(json!([[1, 2, 3], [4, 5, 6]]), json!([[1, 2, 3], [4, 9, 6]]), json!({"[1][1]": [5, 9]}));
    check(json!([{"a": 1}]), json!([{"a": 2}]), json!({"[0].a": [1, 2]}));
    check(json!([{"a": 1, "b": 2}]), json!(["x"]), json!({"[0]": [{"a": 1, "b": 2}, "x"]}));
}

#[test]
fn removed_items_and_pairs_never_share_a_path() {
    check(
        json!(["gone", "gone too", "here", "x"]),
        json!(["here", "y"]),
        json!({"[0]": ["gone", null], "[1]": ["gone too", "y"], "[3]": ["x", null]}),
    );
}

#[test]
fn an_item_that_stays_at_its_index_is_no_change() {
    for (previous, current) in [
        (json!([null, false, "a"]), json!([0, null, "a", false])),
        (json!(["x", "a", null]), json!([null, "a", "x"])),
        (json!([null, "a", "x"]), json!(["x", "a", null])),
    ] {
        let stop = Stop::new();
        let found = fields(&previous, &current, &stop).unwrap();
        assert!(!found.is_empty(), "{previous} {current}");
        let is_change = |change: &change_diff::FieldChange<'_>| change.previous != change.current;
        assert!(found.changes.iter().all(is_change), "{previous} {current}: {found:?}");
    }
}

#[test]
fn the_keys_of_the_outermost_object_are_compared_on_request() {
    let (previous, current) = (json!({"a": {"b": [1]}, "c.d": 1, "e": null}), json!({"a": {"b": [2]}, "c.d": 2}));
    let stop = Stop::new();
    let expect = json!({
        "a": {"previous": {"b": [1]}, "current": {"b": [2]}},
        "c.d": {"previous": 1, "current": 2},
    });
    assert_eq!(serde_json::to_value(top_level(&previous, &current, &stop).unwrap()).unwrap(), expect);
    let expect = json!({"": {"previous": [1], "current": {}}});
    assert_eq!(serde_json::to_value(top_level(&json!([1]), &json!({}), &stop).unwrap()).unwrap(), expect);
    assert!(top_level(&json!([1]), &json!([1.0]), &stop).unwrap().is_empty());
}
