//! The document reader: started by server and worker, it reads one document at a time in a sandbox.

mod eyes;

use std::io::Write as _;
use std::process::ExitCode;

use tikv_jemallocator::Jemalloc;

/// jemalloc returns freed memory to the system, unlike the system allocator: see docs/PERFORMANCE.md, "Memory".
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    if let Some(code) = children::run([reader::role(Some(eyes::make))]) {
        return code;
    }
    // A closed standard error cannot be reported anywhere.
    let _ = writeln!(
        std::io::stderr().lock(),
        "quarry-reader is started by quarry-server and quarry-worker; it cannot be used alone"
    );
    ExitCode::FAILURE
}
