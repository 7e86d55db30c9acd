//! `cargo xtask webhook-vectors`: checks a file of signatures with the crate `webhooks`.
//!
//! The file has `vectors`, each with `name`, `secret_hex`, `body_hex` and the expected `header`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::say;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// File of vectors.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases/webhook_vectors.json"))]
    cases: PathBuf,
}

#[derive(Deserialize)]
struct File {
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    name: String,
    secret_hex: String,
    body_hex: String,
    header: String,
}

/// Prints mismatches and the number of correct vectors; fails on a mismatch.
pub(crate) fn run(args: &Args) -> Result<()> {
    let text = fs::read_to_string(&args.cases).with_context(|| format!("read {}", args.cases.display()))?;
    let File { vectors } = serde_json::from_str(&text)?;
    let mut right = 0;
    for vector in &vectors {
        let key = hex::decode(&vector.secret_hex).with_context(|| format!("{}: secret_hex", vector.name))?;
        let body = hex::decode(&vector.body_hex).with_context(|| format!("{}: body_hex", vector.name))?;
        let header = webhooks::sign(&key, &body);
        let refused = webhooks::verify(&key, &[&body[..], b"x"].concat(), &vector.header);
        if header == vector.header && webhooks::verify(&key, &body, &vector.header) && !refused {
            right += 1;
        } else {
            say!("failed: {}: made {header}, expected {}", vector.name, vector.header);
        }
    }
    say!("webhook vectors: {right} of {} right", vectors.len());
    if right < vectors.len() || vectors.is_empty() {
        bail!("{} vectors failed", vectors.len() - right);
    }
    Ok(())
}
