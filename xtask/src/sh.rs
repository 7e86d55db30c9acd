//! Running other programs, with progress, timing and helpful errors for every step.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use cargo_metadata::MetadataCommand;

/// Returns the root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_path_buf()
}

/// Prints a line to the terminal.
#[macro_export]
macro_rules! say {
    ($($arg:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stdout().lock(), $($arg)*);
    }};
}

/// Runs one named step and prints its duration.
pub fn step<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    say!("==> {name}");
    let started = Instant::now();
    let out = work().with_context(|| format!("{name} failed"))?;
    say!("    {name}: ok, {:.1} s", started.elapsed().as_secs_f64());
    Ok(out)
}

/// Returns a command in the root of the workspace.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// Returns the `cargo` that runs this tool, in the root of the workspace.
pub fn cargo() -> Command {
    command(option_env!("CARGO").unwrap_or("cargo"))
}

/// Runs a command to the end; a status other than zero is an error with the command.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

/// Runs a command and returns its standard output; a status other than zero is an error with its standard error.
pub fn output(command: &mut Command) -> Result<String> {
    let out = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !out.status.success() {
        bail!("{command:?} ended with {}: {}", out.status, String::from_utf8_lossy(&out.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Builds every program, test and example of the workspace.
///
/// All in one call: dependencies get the features that tests need, such as the fail points, and then one build serves the
/// tests and the programs that they start. Programs that are built without the tests need another one.
pub fn build_all() -> Result<()> {
    run(cargo().args(["build", "--workspace", "--bins", "--tests", "--examples"]))
}

/// Builds packages and features given as arguments of `cargo build`, and returns the path of the server.
///
/// # Errors
/// When the build fails.
pub fn build(profile: &str, arguments: &[&str]) -> Result<PathBuf> {
    run(cargo().args(["build", "--profile", profile]).args(arguments))?;
    let folder = if profile == "dev" { "debug" } else { profile };
    Ok(target()?.join(folder).join("quarry-server"))
}

/// Returns the folder of build results.
pub fn target() -> Result<PathBuf> {
    Ok(MetadataCommand::new().current_dir(root()).no_deps().exec()?.target_directory.into())
}

/// Returns whether a program of this name is on the PATH.
pub fn on_path(program: &str) -> bool {
    Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Returns whether this process runs as root.
pub fn is_root() -> bool {
    output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}
