//! Ends a child whose parent has ended, whatever it is doing.

use std::io;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// More than it needs, and much less than threads have by default: all of it counts as memory of the child.
const STACK: usize = 64 << 10;

/// Watches standard input in a thread of its own. A process that was killed closes all it had, so this also hears of a parent
/// that could not say goodbye. The kernel's own signal for that comes when the *thread* ends that started the child.
pub(super) fn parent() -> io::Result<()> {
    std::thread::Builder::new().name("watch".to_owned()).stack_size(STACK).spawn(watch).map(drop)
}

fn watch() {
    let stdin = rustix::stdio::stdin();
    loop {
        // Nothing is asked for, so only the end of the pipe is told.
        let mut ends = [PollFd::new(&stdin, PollFlags::empty())];
        match poll(&mut ends, None) {
            Ok(0) | Err(Errno::INTR) => {}
            // Without running anything that the other thread may be in the middle of. There is no core dump.
            Ok(_) | Err(_) => std::process::abort(),
        }
    }
}
