//! `cargo xtask train`: trains the models that tell main content from the rest, and writes them where they are used.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::{say, sh};

/// Where the models are read from.
const MODELS: &str = "crates/formats/src/main_content";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of the annotated pages: wcxb, aeb and traf.
    #[arg(long, default_value = "../shared/data/html")]
    data: PathBuf,
    /// Passed on to the trainer, such as `--validate no` or `--trees 100`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Prints how good the models are on sites that they have not seen, then writes those that have seen all.
pub(crate) fn run(args: &Args) -> Result<()> {
    let data = args.data.canonicalize().with_context(|| format!("no folder of pages at {}", args.data.display()))?;
    sh::step("training", || {
        let flags = ["run", "--release", "--package", "formats", "--features", "training"];
        let mut command = sh::cargo();
        command.args(flags).args(["--example", "train_main_content", "--", "--data"]).arg(data);
        sh::run(command.args(["--out", MODELS]).args(&args.rest))
    })?;
    say!("read what changed: git diff --stat {MODELS}; cargo test -p formats");
    Ok(())
}
