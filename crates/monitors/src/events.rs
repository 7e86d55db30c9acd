//! Webhook events of monitors (docs/CONTRACT.md, "Webhooks"): a page of a check, and the end of a check.

use ::runs::webhooks::Hook;
use kernel::AppError;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use store::StoreError;
use store::monitors::{Check, MonitorSecret, OF_THE_WEBHOOK, Page};
use webhooks::Event;
use wire::event::{CHECK_COMPLETED, MONITOR, PAGE};

use crate::secrets;

/// Builds the receiver of a stored webhook.
///
/// # Errors
/// [`AppError`] for a webhook that this version cannot read.
pub(crate) fn hook(webhook: &str, all: &[MonitorSecret]) -> Result<Option<Hook>, AppError> {
    let mut webhook: Value = serde_json::from_str(webhook).map_err(AppError::internal)?;
    if let Some(members) = webhook.as_object_mut() {
        secrets::put_back(members, all, OF_THE_WEBHOOK)?;
    }
    let config = wire::decode_webhook(&MONITOR, webhook)?;
    Hook::check(Some(&config), false)
}

/// Data of a page event.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PageData<'a> {
    monitor_id: &'a str,
    check_id: &'a str,
    url: &'a str,
    status: &'a str,
    previous_scrape_id: Option<&'a str>,
    current_scrape_id: Option<&'a str>,
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_meaningful: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    judgment: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<&'a RawValue>,
}

/// Builds the event of a page.
///
/// # Errors
/// [`StoreError::Inconsistent`] for data that is no JSON.
pub(crate) fn page(monitor: &str, page: &Page, diff: Option<&RawValue>) -> Result<Event<'static>, StoreError> {
    let judgment = page.judgment.as_deref().map(serde_json::from_str::<Value>).transpose().map_err(broken)?;
    let data = PageData {
        monitor_id: monitor,
        check_id: &page.check_id,
        url: &page.url,
        status: &page.status,
        previous_scrape_id: page.previous_scrape_id.as_deref(),
        current_scrape_id: page.current_scrape_id.as_deref(),
        error: page.error.as_deref(),
        is_meaningful: judgment.as_ref().and_then(|judgment| judgment["meaningful"].as_bool()),
        judgment: judgment.as_ref(),
        diff,
    };
    let event = MONITOR.event(PAGE).map(Event::new).ok_or_else(no_event)?.with(&data).map_err(broken)?;
    Ok(match &page.error {
        Some(error) => event.failed().because(error.clone()),
        None => event,
    })
}

/// Data of the event of the end.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EndData<'a> {
    monitor_id: &'a str,
    check_id: &'a str,
    status: &'a str,
    summary: wire::CheckSummary,
}

/// Builds the event of the end of a check.
///
/// # Errors
/// [`StoreError::Inconsistent`], which these types cannot cause.
pub(crate) fn end(check: &Check) -> Result<Event<'static>, StoreError> {
    let summary = crate::progress::summary(check);
    let data = EndData { monitor_id: &check.monitor_id, check_id: &check.id, status: &check.status, summary };
    let event = MONITOR.event(CHECK_COMPLETED).map(Event::new).ok_or_else(no_event)?.with(&data).map_err(broken)?;
    let event = if check.status == wire::CheckStatus::Completed.as_str() { event } else { event.failed() };
    Ok(match &check.error {
        Some(error) => event.because(error.clone()),
        None => event,
    })
}

#[expect(clippy::needless_pass_by_value, reason = "fits `map_err`")]
fn broken(error: serde_json::Error) -> StoreError {
    StoreError::Inconsistent(format!("a webhook body: {error}"))
}

fn no_event() -> StoreError {
    StoreError::Inconsistent("the family of monitors lacks an event".to_owned())
}
