//! The minimal program that can be a fenced child: it starts with this.

use std::process::ExitCode;

use children::Role;

fn main() -> ExitCode {
    let role = Role::fenced("be-fenced", |_| Err(std::io::Error::other("an order without a program")));
    children::run([role]).unwrap_or(ExitCode::FAILURE)
}
