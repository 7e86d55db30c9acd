//! A child that recognises nothing, as the server is one, for tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    if reader::is_child(std::env::args_os()) {
        return reader::child(None);
    }
    ExitCode::FAILURE
}
