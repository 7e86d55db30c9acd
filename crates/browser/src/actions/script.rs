//! Action `executeJavascript`: runs a script of the caller in the page's own world.

use std::time::Duration;

use base::json::MAX_VALUES;
use cdp::{CdpError, Raw};
use serde_json::{Value, json};
use tokio::time::Instant;
use wire::ScriptReturn;

use super::actor::{Actor, Failure};
use crate::BrowserError;
use crate::measure::measured_this;

/// Size limit of a returned value as JSON, in bytes.
const MAX_VALUE: usize = 4 << 20;
/// Protocol method that runs a script.
const METHOD: &str = "Runtime.evaluate";
/// Size limit of the answer, in bytes: Chromium encodes some characters of two bytes in six.
const MAX_ANSWER: usize = 3 * MAX_VALUE + 4096;
/// Object group of the returned value in the inspector.
const GROUP: &str = "quarry-script";
/// Reserved time at the end of the visit, so that the answer can report a timeout of the script.
const RESERVE: Duration = Duration::from_millis(300);

pub(super) async fn run(actor: &Actor<'_>, script: &str) -> Result<ScriptReturn, Failure> {
    let until = actor.until.checked_sub(RESERVE).unwrap_or(actor.until);
    let mut answer = evaluate(actor, script, until).await;
    // Callers often send a function body: a script with a top-level `return` is wrapped into a function.
    if matches!(&answer, Err(CdpError::Script { name, message }) if name == "SyntaxError" && message.contains("return"))
    {
        answer = evaluate(actor, &format!("(async () => {{\n{script}\n}})()"), until).await;
    }
    match answer {
        Ok(result) => returned(&result),
        // The script has navigated, so its return value is lost.
        Err(CdpError::Navigated | CdpError::NoContext) => Ok(undefined()),
        Err(CdpError::Script { name, message }) => Err(failure(format!("{name}: {message}"))),
        Err(CdpError::Timeout) => {
            actor.tab.session().post("Runtime.terminateExecution", json!({})).await;
            Err(failure("the script did not end before the deadline".to_owned()))
        }
        Err(CdpError::TooLarge { .. }) => Err(too_large()),
        Err(CdpError::TooMany { limit, .. }) => {
            Err(BrowserError::TooLarge { what: "values in what a script returned", limit: limit as u64 }.into())
        }
        Err(CdpError::Refused { message, .. }) => Err(failure(format!("its value cannot be serialized: {message}"))),
        Err(error) => Err(error.into()),
    }
}

/// Runs a script like a console: `await` and repeated declarations are allowed. A returned promise is awaited.
async fn evaluate(actor: &Actor<'_>, expression: &str, until: Instant) -> Result<Value, CdpError> {
    let session = actor.tab.session();
    let params = json!({"expression": expression, "awaitPromise": true, "userGesture": true, "replMode": true,
        "objectGroup": GROUP});
    let result = result(told(&session.text_by(until, METHOD, params).await?)?)?;
    if result["objectId"].is_null() || matches!(result["type"].as_str(), Some("function" | "symbol")) {
        return Ok(result);
    }
    let params = json!({"objectId": result["objectId"], "functionDeclaration": measured_this(MAX_VALUE),
        "awaitPromise": true, "returnByValue": true});
    let value = session.text_by(until, "Runtime.callFunctionOn", params).await;
    session.post("Runtime.releaseObjectGroup", json!({ "objectGroup": GROUP })).await;
    self::result(told(&value?)?)
}

/// Parses an answer unless it exceeds the limit. The size is checked here because the page may have lied in its own
/// check.
fn told(answer: &Raw) -> Result<Value, CdpError> {
    if answer.size() > MAX_ANSWER {
        return Err(CdpError::TooLarge { method: METHOD.to_owned(), limit: MAX_VALUE });
    }
    answer.read(MAX_VALUES).map_err(|error| CdpError::unread(METHOD, &error))
}

fn result(mut answer: Value) -> Result<Value, CdpError> {
    match answer.get("exceptionDetails") {
        Some(details) => Err(CdpError::thrown(details)),
        None => Ok(answer["result"].take()),
    }
}

/// Converts a `Runtime.RemoteObject` that was returned by value.
fn returned(result: &Value) -> Result<ScriptReturn, Failure> {
    let kind = result["type"].as_str().unwrap_or("undefined");
    // Values without a JSON form, such as NaN or 12n, are returned as text.
    let text = result["unserializableValue"].as_str().map(|text| Value::from(text.trim_end_matches('n')));
    let value = result.get("value").cloned().or(text).unwrap_or(Value::Null);
    let kind = match &value {
        Value::Array(_) => "array",
        Value::Null if kind == "object" => "null",
        _ => kind,
    };
    if value.to_string().len() > MAX_VALUE {
        return Err(too_large());
    }
    Ok(ScriptReturn { kind: kind.to_owned(), value })
}

fn too_large() -> Failure {
    BrowserError::TooLarge { what: "bytes of a script's value", limit: MAX_VALUE as u64 }.into()
}

fn undefined() -> ScriptReturn {
    ScriptReturn { kind: "undefined".to_owned(), value: Value::Null }
}

fn failure(reason: String) -> Failure {
    Failure::Page { selector: None, reason }
}
