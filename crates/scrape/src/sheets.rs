//! Style sheets that a page links to. They describe its branding if no browser has computed the styles.

use std::sync::Arc;
use std::time::Duration;

use branding::Sheet;
use fetch::{Engine, Feature, FetchRequest, Step};
use tokio::time::{Instant, timeout_at};
use url::Url;
use wire::FormatKind;

use crate::fetch::Page;
use crate::steps::resource;
use crate::{Target, Tools, derive};

/// Time limit for all style sheets together.
const MAX_TIME: Duration = Duration::from_secs(3);
/// Time before the deadline at which they are abandoned.
const MARGIN: Duration = Duration::from_secs(1);
/// Byte limit of all style sheets together; `branding::declared` reads no more.
const MAX_BYTES: usize = 1 << 20;

/// Fetches the style sheets if branding is wanted and the page was fetched just now without a browser. They are fetched
/// like the page: through the address guard and its proxy, with the caller's headers where these may go. Failed ones
/// are left out.
pub(crate) async fn get(tools: &Tools, target: &Target, step: Option<&Step>, page: &Page) -> Vec<Sheet> {
    let is_seen = page.fetched.rendered.as_ref().is_some_and(|rendered| rendered.styles.is_some());
    let is_wanted = target.options.wants(FormatKind::Branding) && page.cached_at.is_none() && !is_seen;
    let plain =
        tools.engines.iter().filter(|engine| !engine.offers(Feature::Scripts)).min_by_key(|engine| engine.rank());
    let (true, Some(step), Some(engine)) = (is_wanted && page.fetched.kind.is_text(), step, plain) else {
        return Vec::new();
    };
    let until = (Instant::now() + MAX_TIME).min(target.deadline.checked_sub(MARGIN).unwrap_or(target.deadline));
    let mut left = MAX_BYTES;
    let mut sheets = Vec::new();
    for url in linked(tools, target, page).await {
        let request = resource(tools, target, &url, step.proxy, until);
        match timeout_at(until, sheet(engine, &request)).await {
            Ok(Some(text)) if text.len() <= left => {
                left -= text.len();
                sheets.push(Sheet { text });
            }
            Ok(_) => {}
            Err(_) => break,
        }
    }
    sheets
}

async fn linked(tools: &Tools, target: &Target, page: &Page) -> Vec<Url> {
    let fetched = page.fetched.clone();
    let work = move |stop: &base::Stop| {
        let page = formats::Page::parse_until(&fetched.text(), &fetched.url, stop);
        branding::linked(&page)
    };
    derive::on_thread(tools, target, work).await.unwrap_or_default()
}

async fn sheet(engine: &Arc<dyn Engine>, request: &FetchRequest<'_>) -> Option<String> {
    let fetched = engine.fetch(request).await.ok()?;
    // An error page must not be parsed as CSS.
    let is_css = fetched.content_type.as_deref().is_some_and(|kind| kind.trim_start().starts_with("text/css"));
    (fetched.is_loaded() && is_css).then(|| fetched.text().into_owned())
}
