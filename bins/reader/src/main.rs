//! The program that reads documents: started by the server and the worker, it reads one document at a time behind a fence.

mod eyes;

use std::io::Write as _;
use std::process::ExitCode;

use tikv_jemallocator::Jemalloc;

/// Gives back what is not needed any more, where the allocator of the system keeps it: see docs/PERFORMANCE.md, "Memory".
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    if reader::is_child(std::env::args_os()) {
        return reader::child(Some(eyes::make));
    }
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(
        std::io::stderr().lock(),
        "quarry-reader is started by quarry-server and quarry-worker; it does nothing alone"
    );
    ExitCode::FAILURE
}
