//! Scripts of the caller, run in the page's own world with the rights of the page's scripts.

use cdp::CdpError;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use super::{Failure, Hands, MAX_TEXT};
use crate::measure::measured;
use crate::tab::World;

/// A function or an expression, and its argument.
#[derive(Deserialize)]
pub(super) struct Evaluate {
    code: String,
    /// Whether `code` is a function; otherwise it is an expression or statements.
    #[serde(default)]
    function: bool,
    #[serde(default)]
    arg: Value,
}

impl Evaluate {
    /// Returns the declaration of a function that runs the code. An expression that yields a function is called;
    /// statements run as a script.
    fn declaration(&self) -> String {
        if self.function {
            return self.code.clone();
        }
        let code = Value::from(self.code.as_str());
        format!(
            "(arg) => {{ const value = (0, eval)({code}); return typeof value === 'function' ? value(arg) : value; }}"
        )
    }
}

impl Hands {
    pub(super) async fn evaluate(&self, args: Evaluate, by: Instant) -> Result<Value, Failure> {
        let (function, arg) = (measured(&args.declaration(), MAX_TEXT), [args.arg]);
        let work = async { Ok(self.tab.evaluate(World::Page, &function, &arg, by).await?) };
        self.leading_on(by, work).await
    }

    pub(super) async fn wait_function(&self, args: Evaluate, by: Instant) -> Result<Value, Failure> {
        let (function, arg) = (measured(&args.declaration(), MAX_TEXT), [args.arg]);
        loop {
            match self.tab.evaluate(World::Page, &function, &arg, by).await {
                Ok(value) if is_true(&value) => return Ok(value),
                Ok(_) | Err(CdpError::Navigated | CdpError::NoContext) => {}
                Err(error) => return Err(error.into()),
            }
            self.pause(by, "waiting for the function", "its result is not truthy").await?;
        }
    }
}

/// Whether a value is truthy in JavaScript.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}
