//! `cargo xtask bench product`: speed of product extraction on one thread, compared with extruct.

use std::path::{PathBuf, absolute};

use anyhow::Result;

use crate::sh;

/// Arguments of `bench product`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder with `product/cases.jsonl` and `product/html/ID.html.gz` [default: a generated page].
    #[arg(long)]
    data: Option<PathBuf>,
    /// Python with the package extruct, which then reads the same pages.
    #[arg(long)]
    python: Option<PathBuf>,
}

/// Runs the benchmark of `extract-product`, which prints its table.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut command = sh::cargo();
    command.args(["bench", "--quiet", "--package", "extract-product", "--bench", "product", "--"]);
    if let Some(data) = &args.data {
        command.arg("--data").arg(absolute(data)?);
    }
    if let Some(python) = &args.python {
        command.arg("--python").arg(python);
    }
    sh::run(&mut command)
}
