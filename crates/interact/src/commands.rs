//! The commands of `agent-browser`, for a shell.

use browser::{Failure, Hands};
use serde_json::{Value, json};
use tokio::time::Instant;

/// Timeout of a command in milliseconds: shorter than a call, so that the rest of the code learns of it.
const PATIENCE_MS: u64 = 10_000;
const HELP: &str = "\
open URL                     go to a page (also: goto, navigate)
snapshot [-i]                list the page's elements with references; -i only interactive ones
click TARGET                 also: dblclick, hover, focus, check, uncheck, scrollintoview
fill TARGET TEXT             replace the content of a field
type TARGET TEXT             type into a field, key by key
select TARGET VALUE…         choose in a list
press KEY                    press a key, such as Enter, Tab or Control+a
scroll up|down|left|right [PIXELS]
get text|html|value TARGET   get attr TARGET NAME, get count TARGET, get title, get url
is visible|enabled|checked TARGET
wait TARGET | MILLISECONDS   wait --text TEXT, wait --url PATTERN, wait --load STATE
find role|text|label|placeholder|testid|first|last|nth … ACTION [TEXT] [--name NAME]
eval JAVASCRIPT
screenshot [--full] [FILE]   print as base64, or write to a file
back, forward, reload
A TARGET is a reference such as @e3, or a CSS selector, or text=…
";

/// Runs one command and returns its output.
pub(crate) async fn run(hands: &Hands, words: &[String], by: Instant) -> Result<String, Failure> {
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let session = Session { hands, by };
    match words.as_slice() {
        [] | ["help" | "--help" | "-h"] => Ok(HELP.to_owned()),
        ["open" | "goto" | "navigate", url] => session.go("goto", json!({ "url": url })).await,
        ["back" | "forward" | "reload"] => session.go(words[0], json!({})).await,
        ["snapshot", options @ ..] => session.snapshot(options).await,
        ["press" | "key", key] => session.quiet("keyboard", json!({ "op": "press", "text": key })).await,
        ["keyboard", "type", text] => session.quiet("keyboard", json!({ "op": "type", "text": text })).await,
        ["scroll", rest @ ..] => session.scroll(rest).await,
        ["get", rest @ ..] => session.get(rest).await,
        ["is", what @ ("visible" | "enabled" | "checked"), target] => {
            session.element(aim(target), what, Value::Null).await.map(|value| text_of(&value))
        }
        ["wait", rest @ ..] => session.wait(rest).await,
        ["find", rest @ ..] => session.find(rest).await,
        ["eval", code] => session.call("evaluate", json!({ "code": code })).await.map(|value| text_of(&value)),
        ["screenshot", options @ ..] => session.screenshot(options).await,
        ["set", "viewport", width, height] => {
            session.quiet("viewport", json!({ "width": number(width)?, "height": number(height)? })).await
        }
        ["cookies"] => session.call("cookies", json!({})).await.map(|value| text_of(&value)),
        ["cookies", "clear"] => session.quiet("clear_cookies", json!({})).await,
        ["close" | "quit" | "exit"] => Ok(String::new()),
        [act, target, rest @ ..] if ACTS.contains(act) => session.act(aim(target), act, rest).await,
        [unknown, ..] => Err(Failure::new(format!(
            "agent-browser: unknown command or wrong number of arguments: `{unknown}`; see `agent-browser help`"
        ))),
    }
}

/// Actions on an element.
const ACTS: &[&str] = &[
    "click",
    "dblclick",
    "hover",
    "focus",
    "check",
    "uncheck",
    "scrollintoview",
    "scrollinto",
    "fill",
    "type",
    "select",
    "press",
    "text",
];

struct Session<'a> {
    hands: &'a Hands,
    by: Instant,
}

/// Returns the locator part of an operation.
fn aim(target: &str) -> Value {
    match target.strip_prefix('@').or_else(|| target.strip_prefix("ref=")) {
        Some(reference) => json!({ "ref": reference }),
        None => json!({ "steps": [{ "css": target }] }),
    }
}

impl Session<'_> {
    async fn call(&self, verb: &str, args: Value) -> Result<Value, Failure> {
        self.hands.call(verb, &args, self.by).await
    }

    async fn quiet(&self, verb: &str, args: Value) -> Result<String, Failure> {
        self.call(verb, args).await.map(|_| String::new())
    }

    /// Navigates and returns title and address.
    async fn go(&self, verb: &str, args: Value) -> Result<String, Failure> {
        self.call(verb, args).await?;
        let title = self.call("title", json!({})).await?;
        Ok(format!("{}\n{}\n", title.as_str().unwrap_or_default(), self.hands.url()))
    }

    async fn element(&self, mut aim: Value, op: &str, arg: Value) -> Result<Value, Failure> {
        (aim["op"], aim["arg"], aim["timeout"]) = (op.into(), arg, PATIENCE_MS.into());
        self.call("element", aim).await
    }

    async fn snapshot(&self, options: &[&str]) -> Result<String, Failure> {
        let only_active = options.iter().any(|option| matches!(*option, "-i" | "--interactive"));
        Ok(self.hands.snapshot(self.by).await?.text(only_active))
    }

    async fn act(&self, aim: Value, act: &str, rest: &[&str]) -> Result<String, Failure> {
        let (op, arg) = match (act, rest) {
            ("click" | "hover", []) => (act, json!({})),
            ("dblclick", []) => ("click", json!({ "count": 2 })),
            ("focus", []) => ("focus", Value::Null),
            ("check", []) => ("check", json!({ "checked": true })),
            ("uncheck", []) => ("check", json!({ "checked": false })),
            ("scrollintoview" | "scrollinto", []) => ("scroll", Value::Null),
            ("fill" | "type", text) if !text.is_empty() => (act, text.join(" ").into()),
            ("select", values) if !values.is_empty() => ("select", json!(values)),
            ("press", [key]) => ("press", (*key).into()),
            ("text", []) => return self.element(aim, "inner_text", Value::Null).await.map(|value| text_of(&value)),
            _ => {
                return Err(Failure::new(format!(
                    "agent-browser: wrong arguments for `{act}`; see `agent-browser help`"
                )));
            }
        };
        self.element(aim, op, arg).await.map(|_| String::new())
    }

    async fn get(&self, words: &[&str]) -> Result<String, Failure> {
        let value = match words {
            ["title"] => self.call("title", json!({})).await?,
            ["url"] => self.call("url", json!({})).await?,
            ["text"] => self.element(aim("body"), "inner_text", Value::Null).await?,
            ["text", target] => self.element(aim(target), "inner_text", Value::Null).await?,
            ["html"] => self.call("content", json!({})).await?,
            ["html", target] => self.element(aim(target), "html", Value::Null).await?,
            [what @ ("value" | "count" | "box"), target] => self.element(aim(target), what, Value::Null).await?,
            ["attr" | "attribute", target, name] => self.element(aim(target), "attribute", (*name).into()).await?,
            _ => return Err(Failure::new("agent-browser: wrong arguments for `get`; see `agent-browser help`")),
        };
        Ok(text_of(&value))
    }

    async fn wait(&self, words: &[&str]) -> Result<String, Failure> {
        match words {
            ["--text" | "-t", text] => self
                .element(json!({ "steps": [{ "text": text }] }), "wait", "visible".into())
                .await
                .map(|_| String::new()),
            ["--url" | "-u", pattern] => self.quiet("wait_url", json!({ "url": pattern })).await,
            ["--load" | "-l", state] => self.quiet("wait_load", json!({ "state": state })).await,
            ["--fn" | "-f", code] => self.quiet("wait_function", json!({ "code": code })).await,
            [ms] if ms.parse::<f64>().is_ok() => {
                self.quiet("sleep", json!({ "ms": ms.parse::<f64>().unwrap_or_default(), "timeout": 0 })).await
            }
            [target] => self.element(aim(target), "wait", "visible".into()).await.map(|_| String::new()),
            _ => Err(Failure::new("agent-browser: wrong arguments for `wait`; see `agent-browser help`")),
        }
    }

    async fn scroll(&self, words: &[&str]) -> Result<String, Failure> {
        let (direction, pixels) = match words {
            [direction] => (*direction, 600.0),
            [direction, pixels] => (*direction, number(pixels)?),
            _ => ("down", 600.0),
        };
        let (x, y) = match direction {
            "up" => (0.0, -pixels),
            "down" => (0.0, pixels),
            "left" => (-pixels, 0.0),
            "right" => (pixels, 0.0),
            other => return Err(Failure::new(format!("agent-browser: unknown scroll direction `{other}`"))),
        };
        let aim = json!({ "steps": [{ "css": ":root" }] });
        self.element(aim, "scroll_by", json!({ "x": x, "y": y })).await.map(|_| String::new())
    }

    /// Runs `find role button click --name Send`, `find text "Sign in" click`, `find nth 2 .row text` …
    async fn find(&self, words: &[&str]) -> Result<String, Failure> {
        let (mut words, mut name, mut exact) = (words.to_vec(), None, false);
        if let Some(at) = words.iter().position(|word| *word == "--name") {
            name = words.get(at + 1).copied();
            words.drain(at..(at + 2).min(words.len()));
        }
        words.retain(|word| {
            exact |= *word == "--exact";
            *word != "--exact"
        });
        let (steps, rest) = match words.as_slice() {
            ["role", role, rest @ ..] => (json!([{ "role": role, "name": name, "exact": exact }]), rest),
            ["text", text, rest @ ..] => (json!([{ "text": text, "exact": exact }]), rest),
            ["label", label, rest @ ..] => (json!([{ "label": label, "exact": exact }]), rest),
            ["placeholder", value, rest @ ..] => {
                (json!([{ "attribute": "placeholder", "value": value, "exact": exact }]), rest)
            }
            ["alt", value, rest @ ..] => (json!([{ "attribute": "alt", "value": value, "exact": exact }]), rest),
            ["title", value, rest @ ..] => (json!([{ "attribute": "title", "value": value, "exact": exact }]), rest),
            ["testid", value, rest @ ..] => {
                (json!([{ "attribute": "data-testid", "value": value, "exact": true }]), rest)
            }
            ["first", selector, rest @ ..] => (json!([{ "css": selector }, { "nth": 0 }]), rest),
            ["last", selector, rest @ ..] => (json!([{ "css": selector }, { "nth": -1 }]), rest),
            ["nth", place, selector, rest @ ..] => {
                (json!([{ "css": selector }, { "nth": number(place)? as i64 }]), rest)
            }
            _ => return Err(Failure::new("agent-browser: wrong arguments for `find`; see `agent-browser help`")),
        };
        match rest {
            [] => self.act(json!({ "steps": steps }), "click", &[]).await,
            [act, rest @ ..] => self.act(json!({ "steps": steps }), act, rest).await,
        }
    }

    async fn screenshot(&self, options: &[&str]) -> Result<String, Failure> {
        let full = match options {
            [] => false,
            ["--full" | "-f"] => true,
            _ => return Err(Failure::new("agent-browser: `screenshot` accepts only `--full` and a file name")),
        };
        let picture = self.call("screenshot", json!({ "full_page": full })).await?;
        Ok(text_of(&picture))
    }
}

fn number(text: &str) -> Result<f64, Failure> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| Failure::new(format!("agent-browser: `{text:.100}` is not a number")))
}

/// Formats strings as they are, everything else as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => "\n".to_owned(),
        Value::String(text) => format!("{text}\n"),
        other => format!("{other}\n"),
    }
}
