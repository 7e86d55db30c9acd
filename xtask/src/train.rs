//! `cargo xtask train`: trains the model for main-content extraction, and writes it into the crate `formats`.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::{say, sh};

/// Path of the model.
const MODEL: &str = "crates/formats/src/main_content/model.txt";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of the annotated pages, with the subfolders wcxb, aeb and traf.
    #[arg(long)]
    data: PathBuf,
    /// Arguments for the trainer, such as `--repeats 0` or `--trees 100`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Prints the quality of the model by cross-validation on unseen sites, then writes the model trained on all.
pub(crate) fn run(args: &Args) -> Result<()> {
    let data = args.data.canonicalize().with_context(|| format!("no folder of pages at {}", args.data.display()))?;
    sh::step("training", || {
        let flags = ["run", "--release", "--package", "formats", "--features", "training"];
        let mut command = sh::cargo();
        command.args(flags).args(["--example", "train_main_content", "--", "--data"]).arg(data);
        sh::run(command.args(["--out", MODEL]).args(&args.rest))
    })?;
    say!("read what changed: git diff --stat {MODEL}; cargo test -p formats");
    Ok(())
}
