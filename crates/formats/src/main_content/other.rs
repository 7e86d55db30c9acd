//! Another choice of the main content, for tests of what must not depend on it.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_ON: AtomicBool = AtomicBool::new(false);

/// Switches the other choice on or off, for the whole process.
pub fn switch(on: bool) {
    IS_ON.store(on, Ordering::SeqCst);
}

/// Returns the choice that applies: that of this version, or the blocks that it leaves out.
pub(super) fn choice(mut chosen: Vec<bool>) -> Vec<bool> {
    if IS_ON.load(Ordering::SeqCst) {
        chosen.iter_mut().for_each(|is_chosen| *is_chosen = !*is_chosen);
    }
    chosen
}
