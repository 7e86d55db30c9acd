//! `cargo xtask bench extractive`: speed of answers without a model on one thread, compared with a plain BM25.

use std::path::PathBuf;

use anyhow::Result;

use crate::sh;

/// Arguments of `bench extractive`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Python, which then ranks the sentences of the same pages by BM25.
    #[arg(long)]
    python: Option<PathBuf>,
}

/// Runs the benchmark of `extractive`, which prints its table.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut command = sh::cargo();
    command.args(["bench", "--quiet", "--package", "extractive", "--bench", "find", "--"]);
    if let Some(python) = &args.python {
        command.arg("--python").arg(python);
    }
    sh::run(&mut command)
}
