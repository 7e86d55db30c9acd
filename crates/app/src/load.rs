//! How busy this process is, for its metrics: read from memory and from the system, never from the database.

use std::path::PathBuf;

use cpu::line;
use store::PoolLoad;

use crate::{App, room};

/// How busy a process is.
#[derive(Debug, Clone, Default)]
pub struct Load {
    /// Scrapes, maps and files of callers that are at work.
    pub scrapes: u32,
    /// Browser sessions that are open.
    pub sessions: u32,
    /// Browsers that run.
    pub browsers: usize,
    /// Browsers that were started so far.
    pub browsers_started: u64,
    /// Processes that read documents.
    pub readers: usize,
    /// What there are few places for, by its name: `browser`, `cpu`, `documents`, `recognition`.
    pub places: Vec<(&'static str, line::Load)>,
    /// Database connections, by what they are for.
    pub database: Vec<(&'static str, PoolLoad)>,
    /// Free bytes of the disks that are written to, by a folder on them.
    pub disks: Vec<(PathBuf, u64)>,
}

/// How busy this process is now.
#[must_use]
pub fn load(app: &App) -> Load {
    let mut load = Load {
        scrapes: app.active.total(),
        sessions: app.sessions().count(),
        places: vec![("cpu", app.tools.cpu.load())],
        database: app.store.load(),
        disks: room::free_bytes(app),
        ..Load::default()
    };
    if let Some(browser) = &app.browser {
        let counts = browser.counts();
        (load.browsers, load.browsers_started) = (counts.processes, counts.launched);
        load.places.push(("browser", browser.load()));
    }
    if let Some(readers) = &app.tools.documents {
        let [documents, pages] = readers.load();
        load.readers = readers.children();
        load.places.extend([("documents", documents), ("recognition", pages)]);
    }
    load
}
