//! Validation of every answer in tests against the OpenAPI document of the service.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use http::Method;
use jsonschema::Validator;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::Answer;

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(&quarry_server::docs::openapi()).unwrap_or_default());

/// Compiled schemas of answers, by method, path template and status.
static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Fails the test if the OpenAPI document has the path, but not this status or this body.
pub(crate) fn check(method: &Method, path: &str, answer: &Answer) {
    let Some((template, operation)) = operation(method, path) else {
        return;
    };
    let promised = &operation["responses"][answer.status.to_string()];
    assert!(!promised.is_null(), "{method} {path}: {} is not in openapi.json: {}", answer.status, answer.body);
    let promised = match promised["$ref"].as_str() {
        Some(reference) => DOCUMENT.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null),
        None => promised,
    };
    let media = answer.headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if media.is_some_and(|media| media.starts_with("text/html")) && !promised["content"]["text/html"].is_null() {
        return;
    }
    let schema = &promised["content"]["application/json"]["schema"];
    if schema.is_null() {
        return;
    }
    let validator = validator(format!("{method} {template} {}", answer.status), schema);
    let faults: Vec<String> = validator.iter_errors(&answer.body).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{method} {path} {}: {faults:?} in {}", answer.status, answer.body);
}

/// Returns the compiled schema of an answer.
///
/// Compiling takes longer than many requests, so it is done once in a process.
fn validator(key: String, schema: &Value) -> Arc<Validator> {
    let compile = |key: &String| {
        let mut schema = schema.clone();
        schema["components"] = DOCUMENT["components"].clone();
        let compiled = jsonschema::validator_for(&schema);
        Arc::new(compiled.unwrap_or_else(|fault| panic!("{key}: the schema itself: {fault}")))
    };
    Arc::clone(VALIDATORS.lock().entry(key).or_insert_with_key(compile))
}

/// Returns the path template and the operation of a request.
fn operation(method: &Method, path: &str) -> Option<(&'static str, &'static Value)> {
    let paths = DOCUMENT["paths"].as_object()?;
    // A literal path takes precedence over one with a parameter.
    let mut matching: Vec<_> = paths.iter().filter(|(template, _)| matches(template, path)).collect();
    matching.sort_by_key(|(template, _)| template.matches('{').count());
    let &(template, item) = matching.first()?;
    Some((template.as_str(), item.get(method.as_str().to_lowercase())?))
}

fn matches(template: &str, path: &str) -> bool {
    let (template, path) = (template.split('/'), path.split('/'));
    template.clone().count() == path.clone().count()
        && template.zip(path).all(|(want, got)| want == got || (want.starts_with('{') && !got.is_empty()))
}

/// Returns all paths of the OpenAPI document with their methods, as `GET /v2/…`.
#[must_use]
pub fn operations() -> Vec<String> {
    let none = json!({});
    let paths = DOCUMENT["paths"].as_object().or(none.as_object()).cloned().unwrap_or_default();
    let methods = |path: &str, item: &Value| -> Vec<String> {
        item.as_object()
            .into_iter()
            .flat_map(|item| item.keys())
            .map(|method| format!("{} {path}", method.to_uppercase()))
            .collect()
    };
    let mut all: Vec<_> = paths.iter().flat_map(|(path, item)| methods(path, item)).collect();
    all.sort();
    all
}
