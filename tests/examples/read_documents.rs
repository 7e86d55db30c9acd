//! What reads documents for the service in the tests' own process, which cannot be started again: as the server does it, without
//! recognising text.

use std::process::ExitCode;

fn main() -> ExitCode {
    children::run([reader::role(None)]).unwrap_or(ExitCode::FAILURE)
}
