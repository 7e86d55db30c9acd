//! Checks of `appendToId` requests: their options must agree with those of the existing batch.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::batch::BatchRequest;
use crate::error::{FieldError, Invalid};
use crate::parser::{Parser, PdfParser};

/// Maximum number of keys kept from a body. More than a valid request has, so a body with a million unknown keys is
/// cheap.
const MAX_KEYS: usize = 200;
/// Keys that belong to the append call itself and are not compared with the batch.
const OWN_KEYS: [&str; 7] =
    ["urls", "appendToId", "ignoreInvalidURLs", "origin", "integration", "useMock", "toolDetail"];

/// Top-level keys present in a body. A null counts as absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GivenFields(BTreeSet<String>);

impl GivenFields {
    /// Collects the top-level keys of a body.
    #[must_use]
    pub fn of(body: &Value) -> Self {
        let given = body.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        Self(given.map(|(key, _)| key.clone()).take(MAX_KEYS).collect())
    }

    /// Whether the body has this key.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.0.contains(key)
    }

    fn options(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str).filter(|key| !OWN_KEYS.contains(key) && !key.starts_with("__experimental_"))
    }
}

impl BatchRequest {
    /// Checks that a request that adds pages to `batch` does not change its options. Omitted options are inherited.
    /// Given options must equal the batch's after decoding, so spelling out a default is accepted.
    ///
    /// # Errors
    /// [`Invalid`] with every field that differs, at most 20.
    ///
    /// ```
    /// use serde_json::json;
    ///
    /// let batch = wire::decode_batch(json!({ "urls": ["https://a.test/"], "onlyMainContent": false }))?;
    /// let body = json!({ "urls": ["https://b.test/"], "onlyMainContent": true });
    /// let given = wire::GivenFields::of(&body);
    /// let invalid = wire::decode_batch(body)?.check_append(&given, &batch).unwrap_err();
    /// assert_eq!(invalid.fields[0].path, "onlyMainContent");
    /// # Ok::<(), wire::Invalid>(())
    /// ```
    pub fn check_append(&self, given: &GivenFields, batch: &Self) -> Result<(), Invalid> {
        const MAX_FAULTS: usize = 20;
        // Both sides as JSON with defaults filled in: a key can then be compared without knowing its type.
        let (ours, theirs) = (self.canonical(), batch.canonical());
        let differs = given.options().filter(|key| ours.get(*key) != theirs.get(*key));
        let why = "differs from the batch in `appendToId`: omit it, or start a new batch";
        let fault = |key: &str| FieldError::new(key, why);
        let fields: Vec<FieldError> = differs.take(MAX_FAULTS).map(fault).collect();
        if fields.is_empty() {
            return Ok(());
        }
        let message = fields.iter().take(3).map(ToString::to_string).collect::<Vec<_>>().join("; ");
        Err(Invalid { message, fields })
    }

    /// Returns the request as JSON, with defaults filled in.
    fn canonical(&self) -> Value {
        let mut request = Self { urls: Vec::new(), ..self.clone() };
        request.options.max_age = Some(self.options.max_age_ms());
        request.options.parsers.get_or_insert_with(|| vec![Parser::Pdf(PdfParser::default())]);
        serde_json::to_value(request).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::decode_batch;

    fn check(batch: Value, append: &Value, want: &[&str]) {
        let with_urls = |mut body: Value| {
            body["urls"] = json!(["https://a.test/"]);
            body
        };
        let batch = decode_batch(with_urls(batch)).unwrap();
        let body = with_urls(append.clone());
        let given = GivenFields::of(&body);
        let checked = decode_batch(body).unwrap().check_append(&given, &batch);
        let fields: Vec<String> =
            checked.err().into_iter().flat_map(|invalid| invalid.fields).map(|field| field.path).collect();
        assert_eq!(fields, want, "{append}");
    }

    #[test]
    fn what_is_not_given_is_as_in_the_batch() {
        let rich = json!({
            "formats": ["html", "markdown"], "lockdown": true, "zeroDataRetention": true, "maxConcurrency": 2,
            "webhook": "https://hook.test/", "waitFor": 5, "headers": { "a": "b" }, "maxAge": 5,
        });
        check(rich.clone(), &json!({}), &[]);
        check(rich.clone(), &json!({ "origin": "x@1", "integration": "y", "ignoreInvalidURLs": false }), &[]);
        check(
            rich.clone(),
            &json!({ "webhook": { "url": "https://hook.test/" }, "waitFor": 5.0, "mobile": null }),
            &[],
        );
        check(rich.clone(), &rich, &[]);
        check(
            rich.clone(),
            &json!({ "lockdown": false, "zeroDataRetention": false }),
            &["lockdown", "zeroDataRetention"],
        );
        check(
            rich.clone(),
            &json!({ "webhook": "https://other.test/", "maxConcurrency": 3 }),
            &["maxConcurrency", "webhook"],
        );
        check(rich, &json!({ "formats": ["markdown"], "headers": {}, "maxAge": 6 }), &["formats", "headers", "maxAge"]);
    }

    #[test]
    fn defaults_written_out_are_no_difference() {
        check(json!({}), &json!({ "maxAge": 172_800_000, "parsers": ["pdf"], "formats": ["markdown"] }), &[]);
        check(json!({ "maxAge": 172_800_000, "parsers": ["pdf"] }), &json!({ "onlyMainContent": true }), &[]);
        check(json!({}), &json!({ "lockdown": true }), &["lockdown"]);
        check(
            json!({}),
            &json!({ "zeroDataRetention": true, "webhook": "https://hook.test/" }),
            &["webhook", "zeroDataRetention"],
        );
        check(json!({}), &json!({ "maxConcurrency": 1, "storeInCache": false }), &["maxConcurrency", "storeInCache"]);
    }
}
