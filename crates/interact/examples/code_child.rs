//! The minimal program that can run code: it starts with this.

use std::process::ExitCode;

fn main() -> ExitCode {
    if interact::is_child(std::env::args_os()) {
        return interact::child();
    }
    ExitCode::FAILURE
}
