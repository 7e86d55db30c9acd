//! Schemas as callers send them, and what comes back by them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn schema(source: Value) -> Schema {
    Schema::read(source).unwrap()
}

/// Takes an answer and returns the accepted value, or the list of errors as a string.
fn taken(source: Value, answer: Value) -> Value {
    match schema(source).accept(answer) {
        Ok(accepted) => accepted.value,
        Err(faults) => Value::String(list(&faults)),
    }
}

fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "required": required, "additionalProperties": false });
    schema["properties"] = properties;
    schema
}

#[test]
fn schemas_that_cannot_be_used_are_refused_with_their_place() {
    let mut deep = json!({ "type": "string" });
    for _ in 0..40 {
        deep = json!({ "type": "array", "items": { "anyOf": [deep] } });
    }
    let link = |number: usize| json!({ "$ref": format!("#/$defs/d{}", number + 1) });
    let chained = |count: usize, link: &dyn Fn(usize) -> Value| {
        let last = (format!("d{count}"), json!({ "type": "string" }));
        let definitions = (0..count).map(|number| (format!("d{number}"), link(number))).chain([last]);
        json!({ "$ref": "#/$defs/d0", "$defs": definitions.collect::<serde_json::Map<String, Value>>() })
    };
    let doubling = chained(14, &|number| json!({ "anyOf": [link(number), link(number)] }));
    let row = chained(3000, &link);
    let nested = chained(3000, &|number| json!({ "properties": { "a": link(number) } }));
    let allowed: Vec<String> = (0..40_000).map(|number| format!("value {number}")).collect();
    for (source, path, reason) in [
        (json!([1]), "", "not a JSON Schema"),
        (json!({ "enum": allowed }), "", "larger than 256 KiB"),
        (deep, "", "deeper than 64 levels"),
        (json!({ "properties": { "a": { "$ref": "https://example.com/s.json" } } }), "/properties/a/$ref", "inside"),
        (json!({ "items": { "$ref": "other.json#/x" } }), "/items/$ref", "inside"),
        (json!({ "$ref": "#" }), "", "without end"),
        (json!({ "$defs": { "a": { "allOf": [{ "$ref": "#/$defs/a" }] } }, "$ref": "#/$defs/a" }), "", "without end"),
        (doubling, "", "alternatives"),
        (row, "", "256 levels"),
        (nested, "", "256 levels"),
        (chained(100, &link), "", "alternatives"),
        (json!({ "type": "objekt" }), "/type", "objekt"),
        (json!({ "properties": { "a": { "minLength": "x" } } }), "/properties/a/minLength", "x"),
        (json!({ "properties": { "a": { "$ref": "#/$defs/none" } } }), "/properties/a/$ref", "refers to nothing"),
        (json!({ "properties": { "a": { "pattern": "(" } } }), "/properties/a/pattern", "regex"),
    ] {
        let error = Schema::read(source.clone()).err().unwrap_or_else(|| panic!("accepted: {source}"));
        assert!(error.path == path && error.reason.contains(reason), "{error:?}, not {path} {reason}");
    }
}

#[test]
fn names_that_look_like_keywords_are_names() {
    let source = json!({
        "type": "object",
        "properties": { "$ref": { "type": "string" }, "properties": { "type": "string" }, "enum": { "type": "string" } },
        "default": { "$ref": "https://example.com/" },
    });
    let answer = json!({ "$ref": "a", "properties": "b", "enum": "c" });
    assert_eq!(taken(source, answer.clone()), answer);
}

#[test]
fn references_of_every_kind_are_followed() {
    for source in [
        json!({ "$defs": { "d": { "type": "integer" } }, "properties": { "a": { "$ref": "#/$defs/d" } } }),
        json!({ "definitions": { "d": { "type": "integer" } }, "properties": { "a": { "$ref": "#/definitions/d" } } }),
        json!({ "$defs": { "d": { "$anchor": "n", "type": "integer" } }, "properties": { "a": { "$ref": "#n" } } }),
        json!({ "properties": { "b": { "type": "integer" }, "a": { "$ref": "#/properties/b" } } }),
        json!({ "$defs": { "a b/c": { "type": "integer" } }, "properties": { "a": { "$ref": "#/$defs/a%20b~1c" } } }),
        json!({ "properties": { "a": { "allOf": [{ "$ref": "#/$defs/d" }] } }, "$defs": { "d": { "type": "integer" } } }),
    ] {
        assert_eq!(taken(source.clone(), json!({ "a": "7" })), json!({ "a": 7 }), "{source}");
    }
}

#[test]
fn strict_mode_requires_everything_and_undoes_it() {
    let source = object(
        json!({
            "name": { "type": "string", "minLength": 1, "description": "Name" },
            "colour": { "type": "string" },
            "weight": { "type": ["number", "null"] },
            "state": { "enum": ["open", "closed"] },
            "maker": object(json!({ "city": { "type": "string" } }), &[]),
        }),
        &["name", "weight"],
    );
    let schema = schema(source);
    assert!(schema.wire().is_strict);
    let expect = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "colour", "weight", "state", "maker"],
        "properties": {
            "name": { "type": "string", "description": "Name" },
            "colour": { "type": ["string", "null"] },
            "weight": { "type": ["number", "null"] },
            "state": { "type": ["string", "null"], "enum": ["open", "closed", null] },
            "maker": {
                "type": ["object", "null"], "additionalProperties": false, "required": ["city"],
                "properties": { "city": { "type": ["string", "null"] } },
            },
        },
    });
    assert!(same(&schema.wire().schema, &expect), "{:#}", schema.wire().schema);
    let answer = json!({ "name": "Lamp", "colour": null, "weight": null, "state": null, "maker": { "city": null } });
    assert_eq!(schema.accept(answer).unwrap().value, json!({ "name": "Lamp", "weight": null, "maker": {} }));
}

/// Compares two schemas; the order of `required` does not matter.
fn same(one: &Value, other: &Value) -> bool {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Array(items) => {
                let mut items: Vec<Value> = items.iter().map(sorted).collect();
                items.sort_by_key(ToString::to_string);
                Value::Array(items)
            }
            Value::Object(members) => {
                let mut members: Vec<_> = members.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
                members.sort_by(|one, other| one.0.cmp(&other.0));
                Value::Object(members.into_iter().collect())
            }
            other => other.clone(),
        }
    }
    sorted(one) == sorted(other)
}

#[test]
fn recursion_and_definitions_stay_in_strict_mode() {
    let tree = json!({
        "$defs": { "n": {
            "type": "object", "required": ["id", "children"],
            "properties": { "id": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#/$defs/n" } } },
        } },
        "$ref": "#/$defs/n",
    });
    let tree = schema(tree);
    let wire = tree.wire();
    assert!(wire.is_strict && wire.schema["type"] == "object", "{:#}", wire.schema);
    assert_eq!(wire.schema["properties"]["children"]["items"]["$ref"], "#/$defs/d0");
    assert_eq!(wire.schema["$defs"]["d0"]["properties"]["children"]["items"]["$ref"], "#/$defs/d0");
    let answer = json!({ "id": "a", "children": { "id": "b", "children": null, "extra": 1 } });
    let expect = json!({ "id": "a", "children": [{ "id": "b", "children": [], "extra": 1 }] });
    assert_eq!(tree.accept(answer).unwrap().value, expect);
    // The wire schema is one that any validator compiles.
    assert!(jsonschema::validator_for(&wire.schema).unwrap().is_valid(&json!({ "id": "a", "children": [] })));
}

#[test]
fn an_answer_that_is_no_object_has_a_member_on_the_way() {
    let list = schema(json!({ "type": "array", "items": object(json!({ "id": { "type": "integer" } }), &["id"]) }));
    assert_eq!(list.wire().schema["required"], json!(["value"]));
    for answer in [json!({ "value": [{ "id": 1 }] }), json!([{ "id": "1" }]), json!({ "items": [{ "id": 1 }] })] {
        assert_eq!(list.accept(answer.clone()).unwrap().value, json!([{ "id": 1 }]), "{answer}");
    }
    let open = schema(json!({ "anyOf": [{ "type": "string" }, { "type": "object", "additionalProperties": true }] }));
    assert!(!open.wire().is_strict && open.wire().schema["type"] == "object");
    assert_eq!(open.accept(json!({ "value": "x" })).unwrap().value, "x");
}

#[test]
fn what_strict_mode_cannot_say_is_sent_as_it_is() {
    for properties in [
        json!({ "a": { "type": "object" } }),
        json!({ "a": {} }),
        json!({ "a": { "type": "object", "additionalProperties": { "type": "string" } } }),
        json!({ "a": { "type": "object", "properties": { "b": { "type": "string" } }, "additionalProperties": true } }),
        json!({ "a": { "type": "object", "patternProperties": { "^x": { "type": "string" } } } }),
        json!({ "a": { "type": "array", "prefixItems": [{ "type": "string" }] } }),
        json!({ "a": { "type": "array" } }),
        json!({ "a": { "allOf": [{ "properties": { "b": {} } }, { "properties": { "c": {} } }] } }),
    ] {
        let source = object(properties, &["a"]);
        let schema = schema(source.clone());
        assert_eq!((schema.wire().is_strict, &schema.wire().schema), (false, &source));
    }
}

#[test]
fn long_enums_are_left_out_on_the_way_and_checked_in_the_answer() {
    let allowed: Vec<String> = (0..500).map(|number| format!("A rather long allowed value, number {number}")).collect();
    let schema = schema(object(json!({ "a": { "type": "string", "enum": allowed } }), &["a"]));
    assert!(schema.wire().is_strict && schema.wire().schema["properties"]["a"].get("enum").is_none());
    let answer = json!({ "a": "a rather long allowed value number 7" });
    assert_eq!(schema.accept(answer).unwrap().value["a"], "A rather long allowed value, number 7");
    assert!(schema.accept(json!({ "a": "another" })).is_err());
}

#[test]
fn slips_are_repaired_without_a_model() {
    let cases = json!([
        [{ "type": "number" }, "12.50", 12.5],
        [{ "type": "number" }, "1.299,00 €", 1299.0],
        [{ "type": "integer" }, "1,299", 1299],
        [{ "type": "integer" }, 12.0, 12],
        [{ "type": "boolean" }, "Yes", true],
        [{ "type": "string" }, 12, "12"],
        [{ "type": "string" }, ["only"], "only"],
        [{ "type": ["number", "null"] }, "", null],
        [{ "type": "array", "items": { "type": "string" } }, "one", ["one"]],
        [{ "type": "array", "items": { "type": "integer" } }, ["1", 2, null], [1, 2]],
        [{ "type": "array", "items": { "type": "integer" } }, null, []],
        [{ "enum": ["open", "closed"] }, "OPEN", "open"],
        [{ "enum": ["in-stock", "sold out"] }, "In Stock", "in-stock"],
        [{ "enum": [1, 2] }, "2", 2],
        [{ "const": "product" }, "Product", "product"],
        [{ "type": "string", "format": "date" }, "3 November 2026", "2026-11-03"],
        [{ "type": ["string", "null"], "format": "date-time" }, "2026-11-03 19:30:00Z", "2026-11-03T19:30:00Z"],
        [{ "anyOf": [{ "type": "integer" }, { "type": "null" }] }, "7", 7],
        [{ "oneOf": [{ "type": "string" }, { "type": "integer" }] }, "7", "7"],
    ]);
    for case in cases.as_array().unwrap() {
        let answer = json!({ "a": case[1] });
        assert_eq!(taken(object(json!({ "a": case[0] }), &["a"]), answer), json!({ "a": case[2] }), "{case}");
    }
}

#[test]
fn members_are_put_right_and_none_is_invented() {
    let properties = json!({ "unitPrice": { "type": "number" }, "note": { "type": "string" } });
    let source = || object(properties.clone(), &["unitPrice"]);
    assert_eq!(taken(source(), json!({ "unit_price": 5, "extra": 1, "note": null })), json!({ "unitPrice": 5 }));
    assert_eq!(taken(source(), json!({ "result": { "unitPrice": 5 } })), json!({ "unitPrice": 5 }));
    assert_eq!(taken(source(), json!([{ "unitPrice": 5 }])), json!({ "unitPrice": 5 }));
    let faults = schema(source()).accept(json!({ "result": "see page" })).unwrap_err();
    assert!(list(&faults).contains("unitPrice"), "{faults:?}");
    assert!(schema(source()).accept(json!({ "unitPrice": null })).is_err());
    assert!(schema(source()).accept(json!({ "unitPrice": "on request" })).is_err());
    let listed = || {
        object(
            json!({ "rows": { "type": "array", "items": { "type": "integer" } }, "n": { "type": "string" } }),
            &["rows"],
        )
    };
    assert_eq!(taken(listed(), json!([1, 2])), json!({ "rows": [1, 2] }));
    assert!(schema(listed()).accept(json!({ "result": "see page" })).is_err());
    let open = json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "additionalProperties": { "type": "number" } });
    assert_eq!(taken(open, json!({ "a": "1", "b": "2.5" })), json!({ "a": 1, "b": 2.5 }));
}

#[test]
fn the_alternative_that_fits_decides() {
    let branch = |kind: &str, name: &str, type_: &str| {
        object(json!({ "kind": { "const": kind }, name: { "type": type_ } }), &["kind", name])
    };
    let source = || {
        object(
            json!({ "a": { "anyOf": [branch("book", "pages", "integer"), branch("film", "minutes", "integer")] } }),
            &["a"],
        )
    };
    let film = json!({ "a": { "kind": "film", "minutes": "90", "pages": null } });
    assert_eq!(taken(source(), film), json!({ "a": { "kind": "film", "minutes": 90 } }));
    let book = json!({ "a": { "kind": "book", "pages": "1,200" } });
    assert_eq!(taken(source(), book), json!({ "a": { "kind": "book", "pages": 1200 } }));
}

#[test]
fn a_part_of_a_page_may_lack_anything() {
    let item = object(json!({ "id": { "type": "string" } }), &["id"]);
    let source = object(
        json!({
            "operator": { "type": "string" },
            "rows": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/item" } },
            "site": object(json!({ "city": { "type": "string" } }), &["city"]),
        }),
        &["operator", "rows", "site"],
    );
    let mut source = source;
    source["$defs"] = json!({ "item": item });
    let part = schema(source).of_part().unwrap();
    assert_eq!(
        part.accept(json!({ "operator": null, "rows": [], "site": {} })).unwrap().value,
        json!({ "rows": [], "site": {} })
    );
    assert!(part.accept(json!({ "rows": [{ "id": 1, "x": 2 }] })).is_ok_and(|got| got.value["rows"][0]["id"] == "1"));
    assert!(part.accept(json!({ "rows": [{}] })).is_err());
}

#[test]
fn a_schema_that_branches_into_itself_has_a_part_of_bounded_size() {
    let members: serde_json::Map<String, Value> =
        (0..20).map(|number| (format!("m{number}"), json!({ "$ref": "#/$defs/n" }))).collect();
    let node = json!({ "type": "object", "properties": members, "required": ["m0"] });
    let part = schema(json!({ "$defs": { "n": node }, "$ref": "#/$defs/n" })).of_part().unwrap();
    assert!(part.shown().len() < 128 << 10);
    assert!(part.accept(json!({ "m1": {}, "m19": { "m2": null } })).is_ok());
}

/// Any value of a small set of shapes.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<f32>().prop_map(|number| json!(number)),
        "[a-c0-9.,:-]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c]|value|type|items", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    /// An answer that is valid stays as it is, and one that is accepted is valid.
    #[test]
    fn repair_changes_only_what_is_wrong(answer in any_value()) {
        for source in [
            object(json!({ "a": { "type": "number" }, "b": { "type": ["string", "null"] }, "c": { "type": "array" } }), &["a"]),
            json!({ "type": "object", "properties": { "a": { "$ref": "#" } } }),
            json!({ "type": "array", "items": { "enum": ["a", 1, null] } }),
            json!({}),
        ] {
            let schema = schema(source.clone());
            let plain = jsonschema::validator_for(&source).unwrap();
            let is_wrapped = answer.get("value").is_some();
            match schema.accept(answer.clone()) {
                Ok(accepted) => {
                    prop_assert!(plain.is_valid(&accepted.value));
                    if plain.is_valid(&answer) && !is_wrapped && source.get("properties").is_none_or(|p| p.get("b").is_some()) {
                        prop_assert_eq!(&accepted.value, &answer);
                    }
                }
                Err(_) => prop_assert!(!plain.is_valid(&answer) || is_wrapped),
            }
        }
    }

    #[test]
    fn any_schema_is_read_without_panic(source in any_value(), answer in any_value()) {
        if let Ok(schema) = Schema::read(source) {
            let _ = schema.accept(answer);
        }
    }
}
