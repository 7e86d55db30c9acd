//! Adapter for the files of a scrape, such as screenshots and PDFs, for the scrape pipeline.

use std::sync::atomic::{AtomicUsize, Ordering};

use ::scrape::{Files, ScrapeError};
use async_trait::async_trait;
use bytes::Bytes;
use chrono::TimeDelta;
use kernel::App;
use kernel::auth::Caller;

use crate::ScrapingError;
use crate::files::{self, NewFile};

/// Lifetime of the URL of a screenshot or a PDF (docs/CONTRACT.md, "Formats").
const LIFE: TimeDelta = TimeDelta::hours(24);

/// Store of the files of one scrape.
pub(super) struct Place<'a> {
    app: &'a App,
    team: String,
    /// Id of the run or the scrape that owns the files.
    owner: String,
    address: String,
    kept: AtomicUsize,
}

impl<'a> Place<'a> {
    pub(super) fn new(app: &'a App, caller: &Caller, owner: String) -> Self {
        // Without an address the URLs are relative: a caller that uses this crate directly knows its own address.
        let address = caller.address.clone().unwrap_or_default();
        Self { app, team: caller.team.id.clone(), owner, address, kept: AtomicUsize::new(0) }
    }
}

#[async_trait]
impl Files for Place<'_> {
    async fn keep(&self, kind: &'static str, content_type: &'static str, bytes: Bytes) -> Result<String, ScrapeError> {
        let number = self.kept.fetch_add(1, Ordering::Relaxed) + 1;
        let new = NewFile {
            team: self.team.clone(),
            owner: self.owner.clone(),
            kind,
            name: name(kind, content_type, number),
            content_type: content_type.to_owned(),
            expires_at: self.app.now() + LIFE,
        };
        let kept: Result<_, ScrapingError> = files::keep(self.app, new, bytes, &self.address).await;
        kept.map(|kept| kept.url).map_err(ScrapeError::port)
    }
}

/// Returns a file name such as `screenshot.png`, `screenshot-2.jpeg` or `pdf-3.pdf`.
fn name(kind: &str, content_type: &str, number: usize) -> String {
    let ending = content_type.rsplit('/').next().unwrap_or_default();
    if number == 1 { format!("{kind}.{ending}") } else { format!("{kind}-{number}.{ending}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_what_they_are() {
        assert_eq!(name("screenshot", "image/png", 1), "screenshot.png");
        assert_eq!(name("screenshot", "image/jpeg", 2), "screenshot-2.jpeg");
        assert_eq!(name("pdf", "application/pdf", 3), "pdf-3.pdf");
    }
}
