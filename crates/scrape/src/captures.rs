//! Captures of a visit: screenshots and PDFs are stored as files, or embedded in the document if there is no file
//! store.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use fetch::{Acted, Fetched, Picture, Printed, ScrapedPage};
use wire::{ActionResults, CapturedPage, FormatKind};

use crate::{Ports, ScrapeError, Target};

/// Warning that a requested screenshot could not be taken.
const NO_PICTURE: &str = "there is no screenshot: the URL leads to a file, or the page came from the cache";

/// Captures as they go into the document.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    /// URL of the screenshot.
    pub(crate) screenshot: Option<String>,
    /// Results of the actions; `None` if there were none.
    pub(crate) actions: Option<ActionResults>,
    pub(crate) warning: Option<&'static str>,
}

/// Takes screenshots, PDFs and action results out of the fetched page, and stores them.
///
/// # Errors
/// Errors of [`Files::keep`](crate::Files::keep).
pub(crate) async fn keep(ports: Ports<'_>, target: &Target, fetched: &mut Fetched) -> Result<Captured, ScrapeError> {
    let asks_for_actions = !target.options.actions.is_empty();
    let Some(rendered) = fetched.rendered.as_mut() else {
        return Ok(Captured { warning: lack(target, None), ..Captured::default() });
    };
    let (screenshot, acted) = (rendered.screenshot.take(), std::mem::take(&mut rendered.acted));
    let screenshot = match screenshot {
        Some(picture) => Some(keep_picture(ports, picture).await?),
        None => None,
    };
    let warning = lack(target, screenshot.as_ref());
    let actions = if asks_for_actions { Some(results(ports, acted).await?) } else { None };
    Ok(Captured { screenshot, actions, warning })
}

fn lack(target: &Target, screenshot: Option<&String>) -> Option<&'static str> {
    (screenshot.is_none() && target.options.wants(FormatKind::Screenshot)).then_some(NO_PICTURE)
}

async fn results(ports: Ports<'_>, acted: Acted) -> Result<ActionResults, ScrapeError> {
    let Acted { screenshots, scrapes, returns, pdfs } = acted;
    let captured = |ScrapedPage { mut url, html }: ScrapedPage| {
        base::address::cut_credentials(&mut url);
        CapturedPage { url: url.into(), html }
    };
    let mut results = ActionResults {
        scrapes: scrapes.into_iter().map(captured).collect(),
        javascript_returns: returns,
        ..ActionResults::default()
    };
    for picture in screenshots {
        results.screenshots.push(keep_picture(ports, picture).await?);
    }
    for Printed { bytes } in pdfs {
        results.pdfs.push(keep_file(ports, "pdf", "application/pdf", bytes).await?);
    }
    Ok(results)
}

async fn keep_picture(ports: Ports<'_>, Picture { bytes, content_type }: Picture) -> Result<String, ScrapeError> {
    keep_file(ports, "screenshot", content_type, bytes).await
}

/// Returns the URL of a stored file, or a `data:` URL (RFC 2397) if there is no file store.
async fn keep_file(
    ports: Ports<'_>,
    kind: &'static str,
    content_type: &'static str,
    bytes: Bytes,
) -> Result<String, ScrapeError> {
    match ports.files {
        Some(files) => files.keep(kind, content_type, bytes).await,
        None => Ok(format!("data:{content_type};base64,{}", STANDARD.encode(&bytes))),
    }
}
