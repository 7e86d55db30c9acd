//! What reads documents for the service in the tests' own process, which cannot be started again: as the server does it, without
//! recognising text.

use std::process::ExitCode;

fn main() -> ExitCode {
    if reader::is_child(std::env::args_os()) {
        return reader::child(None);
    }
    ExitCode::FAILURE
}
