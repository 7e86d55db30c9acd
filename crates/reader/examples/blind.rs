//! A child process without text recognition, like the server itself, for tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    children::run([reader::role(None)]).unwrap_or(ExitCode::FAILURE)
}
