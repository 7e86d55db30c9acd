//! The webhook of a run, read from its row.

use base::Secret;
use kernel::AppError;
use serde_json::Value;
use store::runs::Run;
use wire::EventFamily;

use super::secrets::Secrets;
use crate::webhooks::Hook;

/// Returns the webhook of the request. Only that part of the spec is read, so that an option unknown to this version
/// cannot lose the last event.
pub(super) fn hook_of(events: &'static EventFamily, row: &Run, secrets: Option<&Secret>) -> Option<Hook> {
    let read = || -> Result<Option<Hook>, AppError> {
        let mut spec: Value = serde_json::from_str(&row.spec).map_err(AppError::internal)?;
        let Some(webhook) = spec.get_mut("webhook").map(Value::take).filter(|webhook| !webhook.is_null()) else {
            return Ok(None);
        };
        let mut webhook = wire::decode_webhook(events, webhook)?;
        Secrets::read(secrets).map_err(AppError::internal)?.into_webhook(&mut webhook);
        Hook::check(Some(&webhook), row.private)
    };
    read().unwrap_or_else(|error| {
        tracing::error!(run = row.id, ?error, "webhook of a run not readable; its last event is not sent");
        None
    })
}

#[cfg(test)]
mod tests {
    use base::Timestamp;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_hook_is_found_in_a_spec_of_another_version() {
        let check = |spec: &str, want: bool| {
            let now = Timestamp::UNIX_EPOCH;
            let row = Run {
                id: "r".to_owned(),
                team_id: "t".to_owned(),
                api_key_id: None,
                kind: "crawl".to_owned(),
                subject: None,
                spec: spec.to_owned(),
                private: false,
                status: store::runs::OPEN.to_owned(),
                warning: None,
                error: None,
                idempotency_key: None,
                fingerprint: String::new(),
                created_at: now,
                finished_at: None,
                expires_at: now,
                address: None,
            };
            assert_eq!(hook_of(&wire::event::CRAWL, &row, None).is_some(), want, "{spec}");
        };
        let hook = json!("https://hook.test/");
        check(&json!({ "url": "https://a.test/", "webhook": hook }).to_string(), true);
        check(&json!({ "url": "https://a.test/", "newOption": [1], "limit": -1, "webhook": hook }).to_string(), true);
        check(&json!({ "webhook": { "url": "https://hook.test/", "events": ["page"] } }).to_string(), true);
        check(&json!({ "url": "https://a.test/", "webhook": null }).to_string(), false);
        check(&json!({ "webhook": 5 }).to_string(), false);
        check("broken", false);
    }
}
