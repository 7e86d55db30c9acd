//! Bodies of deliveries. Serialized once, so that every attempt sends and signs the same bytes.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use wire::EventType;

/// Event of a job. Success, error and data do not depend on each other: a check with failed pages has
/// `success: false`, its result as data, and an error only if there is a reason to tell.
#[derive(Debug, Clone)]
pub struct Event<'a> {
    /// Type of the event.
    pub event_type: EventType,
    /// Whether the event reports a success.
    pub success: bool,
    /// Error message.
    pub error: Option<Cow<'a, str>>,
    /// Payload as JSON; for a page, its document.
    pub data: Vec<Cow<'a, RawValue>>,
}

impl<'a> Event<'a> {
    /// Returns a success event without data.
    #[must_use]
    pub fn new(event_type: EventType) -> Self {
        Self { event_type, success: true, error: None, data: Vec::new() }
    }

    /// Adds an entry to the data.
    ///
    /// # Errors
    /// Serialization errors of the value.
    pub fn with(mut self, data: &(impl Serialize + ?Sized)) -> serde_json::Result<Self> {
        self.data.push(Cow::Owned(to_raw_value(data)?));
        Ok(self)
    }

    /// Adds an entry to the data that is JSON already, such as a stored document.
    #[must_use]
    pub fn with_json(mut self, data: &'a RawValue) -> Self {
        self.data.push(Cow::Borrowed(data));
        self
    }

    /// Marks the event as a failure.
    #[must_use]
    pub const fn failed(mut self) -> Self {
        self.success = false;
        self
    }

    /// Adds an error message.
    #[must_use]
    pub fn because(mut self, error: impl Into<Cow<'a, str>>) -> Self {
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
    use serde_json::json;
    use wire::event::{BATCH_SCRAPE, CRAWL, PAGE, STARTED};

    use super::*;

    fn check(event: &Event<'_>, metadata: &Value, expect: &str) {
        let bytes = body(event, "j", "d", metadata.as_object().unwrap()).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), expect);
    }

    #[test]
    fn bodies() {
        let page = CRAWL.event(PAGE).unwrap();
        let failed = json!({ "metadata": { "sourceURL": "http://a.test/\"x" } });
        check(
            &Event::new(BATCH_SCRAPE.event(STARTED).unwrap()),
            &json!({}),
            r#"{"success":true,"type":"batch_scrape.started","id":"j","webhookId":"d","data":[],"metadata":{}}"#,
        );
        let document = RawValue::from_string(r##"{ "markdown":"# caf\u00e9" }"##.to_owned()).unwrap();
        check(
            &Event::new(page).with_json(&document),
            &json!({ "who": "é\"" }),
            r##"{"success":true,"type":"crawl.page","id":"j","webhookId":"d","data":[{ "markdown":"# caf\u00e9" }],"metadata":{"who":"é\""}}"##,
        );
        check(
            &Event::new(page).with(&failed).unwrap().failed().because("timeout"),
            &json!({}),
            r#"{"success":false,"type":"crawl.page","id":"j","webhookId":"d","data":[{"metadata":{"sourceURL":"http://a.test/\"x"}}],"error":"timeout","metadata":{}}"#,
        );
    }

    #[test]
    fn success_error_and_data_are_apart() {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Summary {
            total_pages: u32,
        }

        let page = || Event::new(CRAWL.event(PAGE).unwrap());
        let checked = page().with(&Summary { total_pages: 3 }).unwrap().with("two").unwrap();
        check(
            &checked.clone().failed(),
            &json!({}),
            r#"{"success":false,"type":"crawl.page","id":"j","webhookId":"d","data":[{"totalPages":3},"two"],"metadata":{}}"#,
        );
        check(
            &checked.because("one page was slow"),
            &json!({}),
            r#"{"success":true,"type":"crawl.page","id":"j","webhookId":"d","data":[{"totalPages":3},"two"],"error":"one page was slow","metadata":{}}"#,
        );
        check(
            &page().failed(),
            &json!({}),
            r#"{"success":false,"type":"crawl.page","id":"j","webhookId":"d","data":[],"metadata":{}}"#,
        );
    }
}
