//! A child process without text recognition, like the server itself, for tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    if reader::is_child(std::env::args_os()) {
        return reader::child(None);
    }
    ExitCode::FAILURE
}
