//! Texts of PDF and office files, read by a process of its own.

use std::time::Duration;

use base::Owner;
use reader::{Answer, Job, Options, Pool, Wants};
use tokio::time::Instant;
use wire::PdfMode;

use crate::read::File;

/// Time for one file, and for all files of a piece of pages.
const LONGEST: Duration = Duration::from_secs(60);
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// Pages of a document that are read.
const MAX_PAGES: u32 = 300;

/// Returns the embedded text of a file; `None` if it has none, or cannot be read before the deadline. No text is
/// recognised: that takes seconds of processor time a page.
pub(crate) async fn text(pool: &Pool, file: &File, owner: &Owner, deadline: Instant) -> Option<Answer> {
    if deadline <= Instant::now() {
        return None;
    }
    let options = Options {
        mode: PdfMode::Fast,
        max_pages: Some(MAX_PAGES),
        page_markers: false,
        wants: Wants { html: true, ..Wants::default() },
    };
    let job = Job { bytes: file.fetched.body.clone(), kind: file.kind, owner: owner.clone(), options };
    let deadline = deadline.min(Instant::now() + LONGEST);
    match pool.read(job, deadline, async |_| Ok::<(), ()>(())).await {
        Ok(answer) => Some(answer),
        Err(error) => {
            tracing::debug!(copy = file.page.copy, %error, "a file is indexed without its text");
            None
        }
    }
}
