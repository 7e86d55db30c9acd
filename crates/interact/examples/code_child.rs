//! The least that a program needs to run code: it begins with this.

use std::process::ExitCode;

fn main() -> ExitCode {
    if interact::is_child(std::env::args_os()) {
        return interact::child();
    }
    ExitCode::FAILURE
}
