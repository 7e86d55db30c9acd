//! `change_cases --batch`: compares the versions of each line of standard input, and answers with a line. Lines are JSON
//! objects.
//!
//! | In | Out |
//! |---|---|
//! | `{"id", "level": "pair", "previous": string, "current": string}` | `{"id", "status", "text", "json"}`: diff and tree if changed |
//! | `{"id", "level": "fields", "previous": any, "current": any}` | `{"id", "status", "fields"}` |

#![expect(clippy::print_stderr, reason = "a tool for the terminal")]

use std::io::{self, BufRead, BufWriter, Write};
use std::process::ExitCode;

use base::Stop;
use change_diff::{Fields, GaveUp, Status, Tree, compare, fields, tree, unified};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Deserialize)]
struct Case {
    id: Value,
    #[serde(flatten)]
    versions: Versions,
}

#[derive(Deserialize)]
#[serde(tag = "level", rename_all = "lowercase")]
enum Versions {
    Pair { previous: String, current: String },
    Fields { previous: Value, current: Value },
}

#[derive(Serialize)]
struct CaseResult<'a> {
    id: &'a Value,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<Tree<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<Fields<'a>>,
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() != Some("--batch") {
        eprintln!("usage: change_cases --batch < CASES");
        return ExitCode::FAILURE;
    }
    match answer_all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn answer_all() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let case: Case = serde_json::from_str(&line?)?;
        answer(&case, &mut out)?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(case: &Case, out: &mut impl Write) -> Result<(), Box<dyn std::error::Error>> {
    let mut answer = CaseResult { id: &case.id, status: Status::Same, text: None, json: None, fields: None };
    let stop = Stop::new();
    match &case.versions {
        Versions::Pair { previous, current } if compare(previous, current) == Status::Changed => {
            let diff = unified(previous, current, &stop)?;
            answer.status = Status::Changed;
            answer.text = Some(&diff);
            answer.json = Some(tree(&diff));
            serde_json::to_writer(out, &answer)?;
        }
        Versions::Pair { .. } => serde_json::to_writer(out, &answer)?,
        Versions::Fields { previous, current } => {
            let changed: Result<Fields<'_>, GaveUp> = fields(previous, current, &stop);
            let changed = changed?;
            answer.status = if changed.is_empty() { Status::Same } else { Status::Changed };
            answer.fields = Some(changed);
            serde_json::to_writer(out, &answer)?;
        }
    }
    Ok(())
}
