//! All operations of the service in one value, for the programs that offer them.

use wire::Capabilities;

use crate::runs::{RunKind, Runs};
use crate::{App, Parts, batch, crawl};

/// Operations of the service. Cheap to clone; all clones are one service.
#[derive(Debug, Clone)]
pub struct Operations {
    /// Shared state of the operations.
    pub app: App,
    /// Crawls, batches and other runs.
    pub runs: Runs,
}

impl Operations {
    /// Assembles the service. Nothing is read or written yet.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let app = App::new(parts);
        Self { runs: Runs::new(app.clone(), kinds()), app }
    }

    /// Returns the optional capabilities of this server. Whether OCR is available is known some time after the start.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        self.app.capabilities()
    }

    /// Closes the browser of this process. Call it last: pages still open in it fail.
    #[crate::boxed]
    pub async fn close(&self) {
        self.app.close().await;
    }
}

/// All kinds of run.
pub(crate) fn kinds() -> Vec<RunKind> {
    vec![RunKind::of_pages(&crawl::KIND, crawl::Pages::default()), RunKind::of_pages(&batch::KIND, batch::PlainPages)]
}
