//! Extracts data from texts with any model: JSON lines in, JSON lines out.
//!
//! ```sh
//! echo '{"id": "1", "markdown": "Mug: 12.50 EUR", "schema": {"type": "object", "properties": {"price": {"type": "number"}}}}' |
//!     cargo run -p llm --example ask -- --url http://127.0.0.1:11434/v1 --model qwen3:4b
//! ```
//!
//! A line has `markdown`, and may have `id`, `schema`, `prompt`, `facts`, `structured` and `links`. Options: `--kind`
//! (openai, anthropic, ollama), `--key`, `--context` and `--output` in tokens, `--timeout` in seconds.

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::time::Duration;

use base::{Owner, Secret, SystemClock};
use cpu::Cpu;
use llm::extract::{ExtractError, Job, Page, Readable, extract};
use llm::schema::Schema;
use llm::{Model, Settings, TeamLimit};
use serde_json::{Value, json};
use tokio::time::Instant;

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let mut timeout = Duration::from_secs(300);
    let settings = settings(&mut std::env::args().skip(1), &mut timeout)?;
    let model = Model::new(&settings, Arc::new(SystemClock))?.ok_or("set --url and --model")?;
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let input: Value = serde_json::from_str(&line?)?;
        let answer = answer(&model, &input, timeout).await;
        writeln!(out, "{answer}")?;
    }
    Ok(())
}

fn settings(arguments: &mut dyn Iterator<Item = String>, timeout: &mut Duration) -> Result<Settings, Failure> {
    let mut settings = Settings::default();
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or("an option without a value")?;
        match name.as_str() {
            "--url" => settings.url = Some(value.parse()?),
            "--model" => settings.model = value,
            "--key" => settings.key = Secret::new(value),
            "--kind" => settings.kind = serde_json::from_value(json!(value))?,
            "--context" => settings.context_tokens = value.parse()?,
            "--output" => settings.output_tokens = value.parse()?,
            "--timeout" => {
                (settings.timeout, *timeout) =
                    (Duration::from_secs(value.parse()?), Duration::from_secs(value.parse()?))
            }
            _ => return Err(format!("unknown option {name}").into()),
        }
    }
    Ok(settings)
}

/// A line of the input as a page.
struct Line {
    input: Value,
    links: Vec<String>,
}

impl Line {
    fn text(&self, name: &str) -> &str {
        self.input[name].as_str().unwrap_or_default()
    }
}

impl Readable for Line {
    fn page(&self) -> Page<'_> {
        let [markdown, facts, structured] = ["markdown", "facts", "structured"].map(|name| self.text(name));
        Page { markdown, facts, structured, links: &self.links }
    }
}

async fn answer(model: &Model, input: &Value, timeout: Duration) -> Value {
    let schema = match input.get("schema").map(|schema| Schema::read(schema.clone())).transpose() {
        Ok(schema) => schema.map(Arc::new),
        Err(error) => return json!({ "id": input["id"], "error": error.to_string() }),
    };
    let links: Vec<String> =
        input["links"].as_array().into_iter().flatten().filter_map(|link| Some(link.as_str()?.to_owned())).collect();
    let line = Arc::new(Line { input: input.clone(), links });
    let (owner, budget, start) =
        (Owner::of_team("example"), model.budget("example", TeamLimit::default()), Instant::now());
    let job = Job {
        schema: schema.as_ref(),
        instruction: line.text("prompt"),
        page: Arc::clone(&line) as Arc<dyn Readable>,
        owner: &owner,
        budget: &budget,
        deadline: start + timeout,
        cpu: &Cpu::new(1),
    };
    let extracted = extract(model, &job).await;
    let (tokens, time) = (budget.spent().tokens, start.elapsed().as_millis());
    match extracted {
        Ok(found) => json!({
            "id": input["id"], "json": found.value, "warnings": found.warnings, "calls": found.calls, "tokens": tokens, "ms": time,
        }),
        Err(error) => {
            let details = match &error {
                ExtractError::Invalid(faults) => llm::schema::list(faults),
                _ => String::new(),
            };
            json!({ "id": input["id"], "error": error.to_string(), "details": details, "tokens": tokens, "ms": time })
        }
    }
}
