//! Load of this process for its metrics, read from memory and the system, never from the database.

use std::path::PathBuf;

use cpu::line;
use kernel::room;
use store::PoolLoad;

use crate::Operations;

/// Load of a process.
#[derive(Debug, Clone, Default)]
pub struct Load {
    /// Number of scrapes, maps and parse calls in progress.
    pub scrapes: u32,
    /// Number of open browser sessions.
    pub sessions: u32,
    /// Number of running browsers.
    pub browsers: usize,
    /// Number of browsers started so far.
    pub browsers_started: u64,
    /// Number of document reader processes.
    pub readers: usize,
    /// Load of limited resources by name: `browser`, `cpu`, `documents`, `recognition`, `model`.
    pub places: Vec<(&'static str, line::Load)>,
    /// Load of the database pools, by their purpose.
    pub database: Vec<(&'static str, PoolLoad)>,
    /// Free bytes of the disks written to, by a folder on each.
    pub disks: Vec<(PathBuf, u64)>,
}

/// Returns the current load of this process.
#[must_use]
pub fn load(operations: &Operations) -> Load {
    let Operations { app, scraper, sessions, .. } = operations;
    let mut load = Load {
        scrapes: app.active().total(),
        sessions: sessions.count(),
        places: vec![("cpu", scraper.tools().cpu.load())],
        database: app.store().load(),
        disks: room::free_bytes(app),
        ..Load::default()
    };
    if let Some(browser) = sessions.browser() {
        let counts = browser.counts();
        (load.browsers, load.browsers_started) = (counts.processes, counts.launched);
        load.places.push(("browser", browser.load()));
    }
    if let Some(readers) = &scraper.tools().documents {
        let [documents, pages] = readers.load();
        load.readers = readers.children();
        load.places.extend([("documents", documents), ("recognition", pages)]);
    }
    let model = scraper.tools().answers.as_ref().and_then(|answers| answers.load());
    load.places.extend(model.map(|model| ("model", model)));
    load
}
