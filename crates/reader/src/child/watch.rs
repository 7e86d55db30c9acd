//! Watchdog that ends a child when its parent has ended.

use std::io;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// Stack size in bytes: more than the thread needs, and much less than the default, as all of it counts towards the
/// memory limit.
const STACK: usize = 64 << 10;

/// Watches standard input in a separate thread. The pipe also closes when the parent is killed. The kernel's
/// parent-death signal is no alternative: it comes when the *thread* ends that started the child.
pub(super) fn parent() -> io::Result<()> {
    std::thread::Builder::new().name("watch".to_owned()).stack_size(STACK).spawn(watch).map(drop)
}

fn watch() {
    let stdin = rustix::stdio::stdin();
    loop {
        // No events are requested, so `poll` reports only the end of the pipe.
        let mut ends = [PollFd::new(&stdin, PollFlags::empty())];
        match poll(&mut ends, None) {
            Ok(0) | Err(Errno::INTR) => {}
            // `abort` runs no code that could conflict with the interrupted main thread. Core dumps are off.
            Ok(_) | Err(_) => std::process::abort(),
        }
    }
}
