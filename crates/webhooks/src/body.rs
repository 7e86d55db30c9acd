//! Bodies of deliveries. Serialized once, so that every attempt sends and signs the same bytes.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use wire::EventType;

/// Event of a job.
#[derive(Debug, Clone)]
pub struct Event<'a> {
    /// Type of the event.
    pub event_type: EventType,
    /// Whether the event reports a success.
    pub success: bool,
    /// Payload; for a page, its document.
    pub data: Vec<Cow<'a, RawValue>>,
    /// Error message, if the event reports a failure.
    pub error: Option<Cow<'a, str>>,
}

impl<'a> Event<'a> {
    /// Returns a success event without data.
    #[must_use]
    pub fn new(event_type: EventType) -> Self {
        Self { event_type, success: true, data: Vec::new(), error: None }
    }

    /// Returns a failure event for one page, with the data `{"metadata":{"sourceURL":…}}` (docs/CONTRACT.md,
    /// "Webhooks").
    ///
    /// # Errors
    /// Serialization errors, which no text can cause.
    pub fn failed_page(event_type: EventType, source_url: &str, error: &'a str) -> serde_json::Result<Self> {
        let data = to_raw_value(&json!({ "metadata": { "sourceURL": source_url } }))?;
        Ok(Self { data: vec![Cow::Owned(data)], ..Self::new(event_type).because(error) })
    }

    /// Adds an entry to the data: a document as JSON.
    #[must_use]
    pub fn with(mut self, data: &'a RawValue) -> Self {
        self.data.push(Cow::Borrowed(data));
        self
    }

    /// Turns the event into a failure with this error message.
    #[must_use]
    pub fn because(mut self, error: impl Into<Cow<'a, str>>) -> Self {
        self.success = false;
        self.error = Some(error.into());
        self
    }
}

/// Serializes an event: `{success, type, id, webhookId, data, error?, metadata}` without spaces (docs/CONTRACT.md,
/// "Webhooks").
///
/// `job` is the id of the crawl or batch. `delivery` is the id of the delivery, the same in every attempt. `metadata`
/// is echoed from the webhook's configuration.
///
/// # Errors
/// Serialization errors, which these types cannot cause.
pub fn body(
    event: &Event<'_>,
    job: &str,
    delivery: &str,
    metadata: &Map<String, Value>,
) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Envelope {
        success: event.success,
        event_type: event.event_type.to_string(),
        id: job,
        webhook_id: delivery,
        data: event.data.iter().map(AsRef::as_ref).collect(),
        error: event.error.as_deref(),
        metadata,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    success: bool,
    #[serde(rename = "type")]
    event_type: String,
    id: &'a str,
    webhook_id: &'a str,
    data: Vec<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    metadata: &'a Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use wire::{EventFamily, WebhookEvent};

    use super::*;

    fn check(event: &Event<'_>, metadata: &Value, expect: &str) {
        let bytes = body(event, "j", "d", metadata.as_object().unwrap()).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), expect);
    }

    const PAGE: EventType = EventFamily::Crawl.event(WebhookEvent::Page);

    #[test]
    fn bodies() {
        check(
            &Event::new(EventFamily::BatchScrape.event(WebhookEvent::Started)),
            &json!({}),
            r#"{"success":true,"type":"batch_scrape.started","id":"j","webhookId":"d","data":[],"metadata":{}}"#,
        );
        let document = RawValue::from_string(r##"{ "markdown":"# caf\u00e9" }"##.to_owned()).unwrap();
        check(
            &Event::new(PAGE).with(&document),
            &json!({ "who": "é\"" }),
            r##"{"success":true,"type":"crawl.page","id":"j","webhookId":"d","data":[{ "markdown":"# caf\u00e9" }],"metadata":{"who":"é\""}}"##,
        );
        check(
            &Event::failed_page(PAGE, "http://a.test/\"x", "timeout").unwrap(),
            &json!({}),
            r#"{"success":false,"type":"crawl.page","id":"j","webhookId":"d","data":[{"metadata":{"sourceURL":"http://a.test/\"x"}}],"error":"timeout","metadata":{}}"#,
        );
    }
}
