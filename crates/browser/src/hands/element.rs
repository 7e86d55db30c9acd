//! Operations on elements.

use cdp::CdpError;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Failure, Hands, MAX_TEXT};
use crate::measure::measured;
use crate::tab::World;

/// Script that finds elements, reads them, and prepares them for keyboard and mouse.
const HANDS: &str = include_str!("hands.js");

/// An operation on the elements that a locator finds.
#[derive(Clone, Deserialize)]
pub(super) struct Element {
    /// Steps of the locator, as `hands.js` reads them.
    #[serde(default)]
    pub(super) steps: Vec<Value>,
    /// Reference from the last snapshot to start from, such as `e3`.
    #[serde(rename = "ref")]
    reference: Option<String>,
    op: String,
    #[serde(default)]
    arg: Value,
}

impl Hands {
    pub(super) async fn element(&self, element: Element, by: Instant) -> Result<Value, Failure> {
        match element.op.as_str() {
            "click" => self.leading_on(by, self.click(&element, by)).await,
            "hover" => self.point(&element, by).await.map(|_| Value::Null),
            "fill" => self.leading_on(by, self.fill(&element, by)).await,
            "type" => self.leading_on(by, self.type_into(&element, by)).await,
            "press" => self.leading_on(by, self.press_in(&element, by)).await,
            "check" => self.leading_on(by, self.check(&element, by)).await,
            "select" => self.leading_on(by, self.until(&element, "select", &element.arg, by)).await,
            "evaluate" => self.evaluate_on(&element, by).await,
            op => self.until(&element, op, &element.arg, by).await,
        }
    }

    async fn click(&self, element: &Element, by: Instant) -> Result<Value, Failure> {
        self.point(element, by).await?;
        let count = element.arg["count"].as_u64().unwrap_or(1).clamp(1, 3);
        let button = element.arg["button"].as_str().unwrap_or("left");
        self.click_here(button, count, by).await.map(|()| Value::Null)
    }

    /// Scrolls the element into view, waits until it can be clicked, and moves the mouse over it.
    async fn point(&self, element: &Element, by: Instant) -> Result<(), Failure> {
        let at = self.until(element, "point", &element.arg, by).await?;
        let (x, y) = (at["x"].as_f64().unwrap_or_default(), at["y"].as_f64().unwrap_or_default());
        self.move_mouse(x, y, by).await
    }

    async fn fill(&self, element: &Element, by: Instant) -> Result<Value, Failure> {
        let text = element.arg.as_str().ok_or_else(|| Failure::wrong("fill", "the value must be a string"))?;
        let way = self.until(element, "fill", &element.arg, by).await?;
        if way == "insert" && text.is_empty() {
            self.press("Delete", by).await?;
        } else if way == "insert" {
            self.insert(text, by).await?;
        }
        Ok(Value::Null)
    }

    async fn type_into(&self, element: &Element, by: Instant) -> Result<Value, Failure> {
        let text = element.arg.as_str().ok_or_else(|| Failure::wrong("type", "the text must be a string"))?;
        self.until(element, "focus", &Value::Null, by).await?;
        self.type_text(text, by).await.map(|()| Value::Null)
    }

    async fn press_in(&self, element: &Element, by: Instant) -> Result<Value, Failure> {
        let key = element.arg.as_str().ok_or_else(|| Failure::wrong("press", "the key must be a string"))?;
        self.until(element, "focus", &Value::Null, by).await?;
        self.press(key, by).await.map(|()| Value::Null)
    }

    async fn check(&self, element: &Element, by: Instant) -> Result<Value, Failure> {
        let wanted = element.arg["checked"].as_bool().unwrap_or(true);
        for _ in 0..2 {
            if self.until(element, "checked", &Value::Null, by).await? == wanted {
                return Ok(Value::Null);
            }
            self.click(element, by).await?;
        }
        match self.until(element, "checked", &Value::Null, by).await? == wanted {
            true => Ok(Value::Null),
            false => Err(Failure::new("a click does not change its checked state")),
        }
    }

    /// Repeats an operation until the page is ready for it.
    pub(super) async fn until(&self, element: &Element, op: &str, arg: &Value, by: Instant) -> Result<Value, Failure> {
        let mut why = "the page does not respond".to_owned();
        loop {
            let mut answer = match self.once(element, op, arg, by).await {
                Err(CdpError::Navigated | CdpError::NoContext) => json!({ "wait": "the page is navigating" }),
                Err(CdpError::Timeout) => return Err(Failure::timeout(&describe(element, op), &why)),
                answer => answer?,
            };
            if let Some(reason) = answer["wait"].as_str() {
                reason.clone_into(&mut why);
                self.pause(by, &describe(element, op), &why).await?;
                continue;
            }
            return Ok(answer["ok"].take());
        }
    }

    async fn once(&self, element: &Element, op: &str, arg: &Value, by: Instant) -> Result<Value, CdpError> {
        let args = [element.steps.clone().into(), op.into(), arg.clone()];
        match &element.reference {
            None => self.tab.evaluate(World::Own, &measured(HANDS, MAX_TEXT), &args, by).await,
            Some(reference) => {
                let node = self
                    .node(reference)
                    .map_err(|failure| CdpError::Script { name: failure.name, message: failure.message })?;
                let function = format!("function (steps, op, arg) {{ return ({HANDS}\n)(steps, op, arg, this); }}");
                match self.tab.evaluate_on(World::Own, node, &measured(&function, MAX_TEXT), &args, by).await {
                    Err(CdpError::Refused { message, .. }) if message.contains("node") => Err(gone(reference)),
                    answer => answer,
                }
            }
        }
    }

    /// Runs code of the caller in the page's own world, on one element or on all.
    async fn evaluate_on(&self, element: &Element, by: Instant) -> Result<Value, Failure> {
        let all = element.arg["all"] == true;
        if !all {
            self.until(element, "wait", &"attached".into(), by).await?;
        }
        let code = element.arg["code"].as_str().unwrap_or_default();
        let wanted = if all { "found" } else { "found[0]" };
        let function = format!(
            "async function (steps, arg) {{ const found = await ({HANDS}\n)(steps, 'elements', null, this?.nodeType ? this : undefined); return ({code}\n)({wanted}, arg); }}"
        );
        let function = measured(&function, MAX_TEXT);
        let args = [element.steps.clone().into(), element.arg["arg"].clone()];
        Ok(match &element.reference {
            None => self.tab.evaluate(World::Page, &function, &args, by).await?,
            Some(reference) => self.tab.evaluate_on(World::Page, self.node(reference)?, &function, &args, by).await?,
        })
    }

    /// Returns the node of a reference from the last snapshot.
    fn node(&self, reference: &str) -> Result<i64, Failure> {
        let refs = self.refs.lock();
        let number =
            reference.trim_start_matches('@').strip_prefix('e').and_then(|number| number.parse::<usize>().ok());
        let node = number.and_then(|number| refs.nodes.get(number.checked_sub(1)?).copied());
        match node {
            Some(node) if refs.document == self.tab.document().number => Ok(node),
            Some(_) => {
                Err(Failure::new(format!("`{reference}` belongs to an earlier document; take another snapshot")))
            }
            None => Err(Failure::new(format!("unknown reference `{reference}`; take a new snapshot"))),
        }
    }
}

fn gone(reference: &str) -> CdpError {
    let message = format!("the element `{reference}` was removed from the page; take another snapshot");
    CdpError::Script { name: "Error".to_owned(), message }
}

/// Describes an operation for error messages.
fn describe(element: &Element, op: &str) -> String {
    let steps = element.steps.iter().map(Value::to_string).collect::<Vec<_>>().join(" ");
    let target =
        element.reference.as_deref().map_or(steps, |reference| format!("@{}", reference.trim_start_matches('@')));
    let target: String = target.chars().take(300).collect();
    match op {
        "point" => format!("reaching {target}"),
        "wait" => format!("waiting for {target}"),
        op => format!("`{op}` of {target}"),
    }
}
