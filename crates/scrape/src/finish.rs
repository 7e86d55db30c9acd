//! Last phase: adds metadata and warnings, and removes control characters that could harm a log or terminal.

use base::Stop;
use fetch::Fetched;
use serde_json::{Map, Value};
use url::Url;

use crate::derive::{Draft, Last, on_thread};
use crate::fetch::Page;
use crate::{ScrapeError, Scraped, Target, Tools};

/// Completes a draft that has left its thread, and runs `last`.
///
/// # Errors
/// Errors of [`on_thread`].
pub(crate) async fn finish<T, F>(
    tools: &Tools,
    target: &Target,
    draft: Box<Draft>,
    last: Last<F>,
) -> Result<T, ScrapeError>
where
    T: Send + 'static,
    F: FnOnce(Scraped, &Stop) -> T + Send + 'static,
{
    let told = Told::of(target);
    on_thread(tools, target, move |stop: &Stop| Ok(last.take()?(draft.finish(told), stop))).await?
}

/// URL or file name as the caller gave it.
pub(crate) struct Told {
    source_url: String,
    file: Option<String>,
}

impl Told {
    pub(crate) fn of(target: &Target) -> Self {
        // Clients know a result by this, so an uploaded file has its name there.
        let source_url = target.file.as_deref().map_or_else(|| target.source.clone(), clean);
        Self { source_url, file: target.file.clone() }
    }
}

impl Draft {
    /// Completes the document with metadata and warnings, and the delivery with the results in the document.
    pub(crate) fn finish(self, told: Told) -> Scraped {
        let Self { mut document, links, page, mut warnings, mut delivered, answering, values, is_tracked, .. } = self;
        let Page { fetched, cache, cached_at, captured, .. } = page;
        let metadata = &mut document.metadata;
        metadata.page =
            std::mem::take(&mut metadata.page).into_iter().map(|(key, value)| (clean(&key), cleaned(value))).collect();
        (metadata.source_url, metadata.source_file) = (told.source_url, told.file.as_deref().map(clean));
        // An uploaded file has no URL.
        metadata.url = if told.file.is_none() { address(&fetched.url) } else { String::new() };
        metadata.status_code = fetched.status;
        let sent = fetched.content_type.as_deref().map(clean);
        metadata.content_type = sent.or_else(|| metadata.content_type.take());
        metadata.error = (!fetched.is_loaded()).then(|| reason(&fetched));
        metadata.proxy_used = told.file.is_none().then_some(fetched.proxy);
        metadata.cache_state = cache;
        metadata.cached_at = cached_at.map(wire::format_time);
        let state = fetched.rendered.and_then(|rendered| {
            let waited = u64::try_from(rendered.waited.as_millis()).unwrap_or(u64::MAX);
            metadata.timezone = rendered.timezone;
            metadata.concurrency_limited = Some(waited > 0);
            metadata.concurrency_queue_duration_ms = (waited > 0).then_some(waited);
            rendered.state
        });
        (document.screenshot, document.actions) = (captured.screenshot, captured.actions);
        warnings.splice(0..0, fetched.warnings);
        warnings.extend(captured.warning.map(str::to_owned));
        document.warning = (!warnings.is_empty()).then(|| warnings.join("; "));
        delivered.add_results(&document);
        let (retry_after, room) = (fetched.retry_after, fetched.room);
        Scraped { document, links, delivered, answering, retry_after, room, state, values, is_tracked }
    }
}

/// Returns the URL without its fragment, which the server never sees. Fragments that name a script's route (`#/…`,
/// `#!…`) are kept.
fn address(url: &Url) -> String {
    let mut url = url.clone();
    if !url.fragment().is_some_and(base::address::is_route) {
        url.set_fragment(None);
    }
    url.into()
}

fn reason(fetched: &Fetched) -> String {
    fetched.reason().map_or_else(|| format!("HTTP status {}", fetched.status), str::to_owned)
}

fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean(&text)),
        Value::Array(values) => values.into_iter().map(cleaned).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(key, value)| (clean(&key), cleaned(value))).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

/// Removes control characters and those that change the direction of the surrounding text, as metadata ends up in log
/// lines, file names and terminals. Line breaks and tabs become spaces.
fn clean(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    text.chars()
        .map(|c| if matches!(c, '\t' | '\n' | '\r') { ' ' } else { c })
        .filter(|c| !c.is_control() && !turns(*c))
        .collect()
}

#[cfg(test)]
mod tests {
    use billing::Delivered;
    use fetch::Verdict;
    use serde_json::json;
    use wire::{CacheState, Document};

    use super::*;

    fn finished(status: u16, own: &[&str], of_fetch: &[&str]) -> Document {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let url = Url::parse("http://a.test/final").unwrap();
        let mut fetched = Fetched::new(url, status, Some("text/html".to_owned()), "x".into());
        fetched.warnings = texts(of_fetch);
        let cached_at = Some(base::Timestamp::UNIX_EPOCH);
        let page = Page { cached_at, ..Page::new(fetched, Some(CacheState::Hit)) };
        let draft = Draft {
            document: Document::default(),
            text: None,
            asked: None,
            answering: std::time::Duration::ZERO,
            product_request: None,
            links: Vec::new(),
            page,
            warnings: texts(own),
            verdict: Verdict::Good,
            delivered: Delivered::pages(1),
            embedded: None,
            values: None,
            is_tracked: false,
        };
        draft.finish(Told { source_url: "http://a.test".to_owned(), file: None }).document
    }

    #[test]
    fn the_page_is_described() {
        let document = finished(404, &["two"], &["one"]);
        let metadata = &document.metadata;
        assert_eq!((metadata.url.as_str(), metadata.source_url.as_str()), ("http://a.test/final", "http://a.test"));
        assert_eq!((metadata.status_code, metadata.error.as_deref()), (404, Some("Not Found")));
        assert_eq!(metadata.cache_state, Some(CacheState::Hit));
        assert_eq!(metadata.cached_at.as_deref(), Some("1970-01-01T00:00:00.000Z"));
        assert_eq!(document.warning.as_deref(), Some("one; two"));
        let fine = finished(200, &[], &[]);
        assert_eq!((fine.metadata.error, fine.warning), (None, None));
        assert_eq!(finished(799, &[], &[]).metadata.error.as_deref(), Some("HTTP status 799"));
    }

    #[test]
    fn a_place_on_the_page_is_no_part_of_its_address() {
        let check = |url: &str, expect: &str| assert_eq!(address(&Url::parse(url).unwrap()), expect);
        check("https://a.test/p?q#prices", "https://a.test/p?q");
        check("https://a.test/p#", "https://a.test/p");
        check("https://a.test/#/saws", "https://a.test/#/saws");
        check("https://a.test/#!saws", "https://a.test/#!saws");
    }

    #[test]
    fn metadata_holds_no_control_characters() {
        let check = |text: &str, expect: &str| assert_eq!(clean(text), expect);
        check("a\0b\u{202e}c\u{1b}[31md", "abc[31md");
        check("x\r\nSet-Cookie: a=b", "x  Set-Cookie: a=b");
        check("\u{85}\u{7f}ok \u{200f}عربي", "ok \u{200f}عربي");
        assert_eq!(cleaned(json!({"a\0": ["b\u{7}", 1]})), json!({"a": ["b", 1]}));
    }
}
