//! The minimal program that can run code: it starts with this.

use std::process::ExitCode;

fn main() -> ExitCode {
    children::run([interact::role()]).unwrap_or(ExitCode::FAILURE)
}
