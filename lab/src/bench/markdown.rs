//! `cargo xtask bench markdown`: speed and memory of HTML to markdown on one thread, compared with other libraries.

use std::path::{PathBuf, absolute};

use anyhow::Result;

use crate::{say, sh};

/// Arguments of `bench markdown`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder with `aeb/cases.jsonl` and `aeb/html/ID.html.gz` [default: generated pages].
    #[arg(long)]
    data: Option<PathBuf>,
}

/// Runs the benchmarks of `formats`, which print their tables.
pub(crate) fn run(args: &Args) -> Result<()> {
    for bench in ["markdown", "memory"] {
        let mut command = sh::cargo();
        command.args(["bench", "--quiet", "--package", "formats", "--bench", bench, "--"]);
        if let Some(data) = &args.data {
            command.arg("--data").arg(absolute(data)?);
        }
        sh::run(&mut command)?;
        say!("");
    }
    Ok(())
}
