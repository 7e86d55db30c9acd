//! `webhook` of a request: the receiver of their events (docs/CONTRACT.md, "Webhooks").

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};
use url::Url;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::error::Invalid;
use crate::event::{CRAWL, EventFamily, EventType};
use crate::headers;
use crate::read::{self, Field, Fields};
use crate::target::target_url;

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
    #[schema(required = false, max_items = 4, value_type = Vec<WebhookEvent>)]
    pub events: Vec<EventType>,
}

/// Schema of the events of crawls and batch scrapes, which have the same words.
enum WebhookEvent {}

impl PartialSchema for WebhookEvent {
    fn schema() -> RefOr<Schema> {
        let about = "Events of a job, named by the second part. The full names (`crawl.page`) are accepted too.";
        let words = CRAWL.all().map(EventType::spelled);
        let schema = ObjectBuilder::new().schema_type(Type::String).description(Some(about)).enum_values(Some(words));
        schema.build().into()
    }
}

impl ToSchema for WebhookEvent {}

/// Webhook as a bare URL or as an object.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum WebhookEntry {
    /// URL of the receiver.
    Url(String),
    /// URL with settings.
    Object(WebhookConfig),
}

/// Decodes a stored `webhook` on its own, for the events of this family.
///
/// # Errors
/// [`Invalid`] with every fault, as for the request that contains it.
pub fn decode_webhook(family: &'static EventFamily, webhook: Value) -> Result<WebhookConfig, Invalid> {
    let body = [("webhook".to_owned(), webhook)].into_iter().collect();
    read::body(body, |fields| fields.need("webhook").and_then(|field| WebhookConfig::read(family, field)))
}

impl WebhookConfig {
    /// Returns a webhook that receives all events of the family at this URL.
    #[must_use]
    pub fn new(family: &'static EventFamily, url: Url) -> Self {
        Self { url, headers: BTreeMap::new(), metadata: Map::new(), events: family.all().collect() }
    }

    /// Reads a webhook for the events of this family; those of others are refused.
    pub(crate) fn read(family: &'static EventFamily, field: Field<'_>) -> Option<Self> {
        match field.value {
            Value::String(_) => receiver(field).map(|url| Self::new(family, url)),
            Value::Object(_) => field.record(|fields| Self::read_object(family, fields)).flatten(),
            _ => field.refuse("must be a URL or an object"),
        }
    }

    fn read_object(family: &'static EventFamily, fields: &mut Fields<'_>) -> Option<Self> {
        let url = fields.need("url").and_then(receiver);
        let headers = fields.take("headers").and_then(headers::read).unwrap_or_default();
        let metadata = fields.take("metadata").and_then(metadata).unwrap_or_default();
        let events = fields.take("events").and_then(|field| field.list(0..=MAX_EVENTS, |item| event(family, item)));
        let all = Self { headers, metadata, ..Self::new(family, url?) };
        let Some(chosen) = events else { return Some(all) };
        // Each event once, in the order of the family.
        let events = all.events.iter().copied().filter(|event| chosen.contains(event)).collect();
        Some(Self { events, ..all })
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

fn event(family: &'static EventFamily, field: Field<'_>) -> Option<EventType> {
    field.parse(|name| family.parse(name).ok_or_else(|| format!("must be {}", family.choices())))
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
    use crate::event::{BATCH_SCRAPE, EventWord, Phase, Spelling};

    fn check(webhook: &Value, want: Result<&[&str], &str>) {
        check_in(&CRAWL, webhook, want);
    }

    fn check_in(family: &'static EventFamily, webhook: &Value, want: Result<&[&str], &str>) {
        match (decode_webhook(family, webhook.clone()), want) {
            (Ok(config), Ok(events)) => {
                let spelled: Vec<String> = config.events.iter().map(|event| event.spelled()).collect();
                assert_eq!(spelled, events, "{webhook}");
                // The JSON form decodes to the same value.
                let written = serde_json::to_value(&config).unwrap();
                assert_eq!(written["events"], json!(events));
                assert_eq!(decode_webhook(family, written), Ok(config));
            }
            (Err(invalid), Err(part)) => assert!(invalid.message.contains(part), "{webhook}: {invalid}"),
            (got, _) => panic!("{webhook} gave {got:?}"),
        }
    }

    #[test]
    fn a_url_or_an_object() {
        let all = ["started", "page", "completed", "failed"];
        check(&json!("http://hook.test:1/h?t=1"), Ok(&all));
        check(&json!({ "url": "https://hook.test/" }), Ok(&all));
        let some = json!({ "url": "https://hook.test/", "events": ["failed", "page", "crawl.page"] });
        check(&some, Ok(&["page", "failed"]));
        check(&json!({ "url": "https://hook.test/", "events": [] }), Ok(&[]));
        let full = json!({ "url": "https://hook.test/", "headers": { "X": "1" }, "metadata": { "a": "b", "c": [1] } });
        check(&full, Ok(&all));
        check(&json!(5), Err("`webhook` must be a URL or an object"));
        check(&json!({}), Err("`webhook.url` is required"));
        check(&json!("ftp://hook.test/"), Err("`webhook` must be an absolute http or https URL"));
        check(
            &json!({ "url": "https://hook.test/", "events": ["done"] }),
            Err("`webhook.events[0]` must be `started`, `page`, `completed` or `failed`"),
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
    fn events_of_another_family_are_refused() {
        static CHECKS: EventFamily = EventFamily {
            name: "check",
            spelling: Spelling::FullName,
            events: &[
                EventWord { word: "page", phase: Phase::Progress },
                EventWord { word: "site.done", phase: Phase::End },
            ],
        };
        let of = |events: Value| json!({ "url": "https://hook.test/", "events": events });
        check_in(&BATCH_SCRAPE, &of(json!(["batch_scrape.completed", "page"])), Ok(&["page", "completed"]));
        let words = "must be `started`, `page`, `completed` or `failed`";
        let refused = format!("`webhook.events[1]` {words}");
        check_in(&BATCH_SCRAPE, &of(json!(["page", "crawl.page"])), Err(&refused));
        check_in(&CRAWL, &of(json!(["page", "batch_scrape.page"])), Err(&refused));
        check_in(&CRAWL, &of(json!(["page", "check.page"])), Err(&refused));
        check_in(&CRAWL, &of(json!(["page", 5])), Err("`webhook.events[1]` must be a string, got 5"));
        // A family that spells its events in full.
        check_in(&CHECKS, &json!("https://hook.test/"), Ok(&["check.page", "check.site.done"]));
        check_in(&CHECKS, &of(json!(["site.done", "check.site.done"])), Ok(&["check.site.done"]));
        check_in(&CHECKS, &of(json!(["started"])), Err("must be `check.page` or `check.site.done`"));
        check_in(&CHECKS, &of(json!(["done"])), Err("must be `check.page` or `check.site.done`"));
    }

    #[test]
    fn secrets_are_not_shown() {
        let mut config = WebhookConfig::new(&CRAWL, "https://hook.test/hush?t=hush".parse().unwrap());
        config.headers.insert("Authorization".into(), "hush".into());
        config.metadata.insert("a".into(), "hush".into());
        assert!(!format!("{config:?}").contains("hush"));
    }
}
