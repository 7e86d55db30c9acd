//! `webhook` of crawls and batches: the receiver of their events (docs/CONTRACT.md, "Webhooks").

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};
use url::Url;
use utoipa::ToSchema;

use crate::error::Invalid;
use crate::event::{WebhookEvent, word_of};
use crate::headers;
use crate::read::{self, Field, Fields};
use crate::target::target_url;
use crate::words::Word as _;

/// Maximum size of `webhook.metadata` as JSON, in bytes. It is repeated in every event.
pub const MAX_WEBHOOK_METADATA_BYTES: usize = 16 * 1024;

/// Webhook that receives the events of a job. A bare URL is shorthand for this object with defaults.
#[derive(Clone, PartialEq, Serialize, ToSchema)]
pub struct WebhookConfig {
    /// URL of the receiver, `http` or `https`.
    #[schema(value_type = String, format = "uri", min_length = 1, max_length = 8192)]
    pub url: Url,
    /// Request headers sent to the receiver: at most 100, at most 64 KiB in total. Connection headers are refused.
    #[schema(required = false)]
    pub headers: BTreeMap<String, String>,
    /// Custom object that is repeated in every event; at most 16 KiB.
    #[schema(required = false)]
    pub metadata: Map<String, Value>,
    /// Events to send; all if absent, none if empty.
    #[schema(required = false, max_items = 4)]
    pub events: Vec<WebhookEvent>,
}

/// Webhook as a bare URL or as an object.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum WebhookEntry {
    /// URL of the receiver.
    Url(String),
    /// URL with settings.
    Object(WebhookConfig),
}

/// Decodes a stored `webhook` on its own.
///
/// # Errors
/// [`Invalid`] with every fault, as for the request that contains it.
pub fn decode_webhook(webhook: Value) -> Result<WebhookConfig, Invalid> {
    let body = [("webhook".to_owned(), webhook)].into_iter().collect();
    read::body(body, |fields| fields.need("webhook").and_then(WebhookConfig::read))
}

impl WebhookConfig {
    /// Returns a webhook that receives all events at this URL.
    #[must_use]
    pub fn new(url: Url) -> Self {
        let events = WebhookEvent::WORDS.iter().map(|(_, event)| *event).collect();
        Self { url, headers: BTreeMap::new(), metadata: Map::new(), events }
    }

    pub(crate) fn read(field: Field<'_>) -> Option<Self> {
        match field.value {
            Value::String(_) => receiver(field).map(Self::new),
            Value::Object(_) => field.record(Self::read_object).flatten(),
            _ => field.refuse("must be a URL or an object"),
        }
    }

    fn read_object(fields: &mut Fields<'_>) -> Option<Self> {
        let url = fields.need("url").and_then(receiver);
        let headers = fields.take("headers").and_then(headers::read).unwrap_or_default();
        let metadata = fields.take("metadata").and_then(metadata).unwrap_or_default();
        let events = fields.take("events").and_then(|field| field.list(0..=MAX_EVENTS, event));
        let config = Self { headers, metadata, ..Self::new(url?) };
        Some(match events {
            Some(mut events) => {
                events.sort_unstable();
                events.dedup();
                Self { events, ..config }
            }
            None => config,
        })
    }
}

/// Both spellings of each event are accepted, so a list may have more entries than there are events.
const MAX_EVENTS: usize = 16;

fn receiver(field: Field<'_>) -> Option<Url> {
    field.parse(|text| target_url(text).map_err(|error| error.to_string()))
}

fn metadata(field: Field<'_>) -> Option<Map<String, Value>> {
    let bytes = field.value.to_string().len();
    if bytes > MAX_WEBHOOK_METADATA_BYTES {
        return field.refuse(format!("must not have more than {MAX_WEBHOOK_METADATA_BYTES} bytes, has {bytes}"));
    }
    field.map()
}

fn event(mut field: Field<'_>) -> Option<WebhookEvent> {
    if let Some(short) = field.value.as_str().and_then(word_of) {
        field.value = short.into();
    }
    field.word()
}

impl fmt::Debug for WebhookConfig {
    /// Hides path, header values and metadata: they may contain secrets of the receiver.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookConfig")
            .field("host", &self.url.host_str())
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::read::body;

    fn check(webhook: &Value, want: Result<&[WebhookEvent], &str>) {
        let got = body(json!({ "webhook": webhook }), |fields| fields.take("webhook").and_then(WebhookConfig::read));
        match (got, want) {
            (Ok(config), Ok(events)) => {
                assert_eq!(config.events, events, "{webhook}");
                // The JSON form decodes to the same value.
                let written = json!({ "webhook": config });
                let again = body(written, |fields| fields.take("webhook").and_then(WebhookConfig::read));
                assert_eq!(again, Ok(config));
            }
            (Err(invalid), Err(part)) => assert!(invalid.message.contains(part), "{webhook}: {invalid}"),
            (got, _) => panic!("{webhook} gave {got:?}"),
        }
    }

    #[test]
    fn a_url_or_an_object() {
        use WebhookEvent::{Completed, Failed, Page, Started};
        let all = [Started, Page, Completed, Failed];
        check(&json!("http://hook.test:1/h?t=1"), Ok(&all));
        check(&json!({ "url": "https://hook.test/" }), Ok(&all));
        check(&json!({ "url": "https://hook.test/", "events": ["page", "crawl.page", "failed"] }), Ok(&[Page, Failed]));
        check(&json!({ "url": "https://hook.test/", "events": ["batch_scrape.completed"] }), Ok(&[Completed]));
        check(&json!({ "url": "https://hook.test/", "events": [] }), Ok(&[]));
        let full = json!({ "url": "https://hook.test/", "headers": { "X": "1" }, "metadata": { "a": "b", "c": [1] } });
        check(&full, Ok(&all));
        check(&json!(5), Err("`webhook` must be a URL or an object"));
        check(&json!({}), Err("`webhook.url` is required"));
        check(&json!("ftp://hook.test/"), Err("`webhook` must be an absolute http or https URL"));
        check(
            &json!({ "url": "https://hook.test/", "events": ["done"] }),
            Err("`webhook.events[0]` must be `started`"),
        );
        check(&json!({ "url": "https://hook.test/", "headers": { "Host": "x" } }), Err("`webhook.headers`"));
        check(&json!({ "url": "https://hook.test/", "metadata": [] }), Err("`webhook.metadata` must be an object"));
        let large = json!({ "a": "x".repeat(MAX_WEBHOOK_METADATA_BYTES) });
        check(&json!({ "url": "https://hook.test/", "metadata": large }), Err("more than 16384 bytes"));
        check(
            &json!({ "url": "https://hook.test/", "secret": "x" }),
            Err("Unrecognized key in body: `webhook.secret`"),
        );
    }

    #[test]
    fn secrets_are_not_shown() {
        let mut config = WebhookConfig::new("https://hook.test/hush?t=hush".parse().unwrap());
        config.headers.insert("Authorization".into(), "hush".into());
        config.metadata.insert("a".into(), "hush".into());
        assert!(!format!("{config:?}").contains("hush"));
    }
}
