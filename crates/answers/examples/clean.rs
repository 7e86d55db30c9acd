//! Removes leftovers of the frame from the markdown of pages, without a model.
//!
//! Reads lines `{"id", "out"}` from standard input, where `out` is markdown, and writes the same lines with the cleaned
//! markdown and the number of removed blocks.

use std::io::{BufRead, Error, Write, stdin, stdout};

use serde_json::{Value, json};

fn main() -> Result<(), Error> {
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        let cleaned = answers::clean::without_model(case["out"].as_str().unwrap_or_default());
        writeln!(out, "{}", json!({ "id": case["id"], "out": cleaned.markdown, "removed": cleaned.removed }))?;
    }
    Ok(())
}
