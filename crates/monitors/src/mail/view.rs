//! Mails as answers show them.

use serde_json::{Value, json};
use store::mails::{CheckMail, FAILED, QUEUED, SENT, SKIPPED};
use store::monitors::{Check, Monitor};
use store::{Conn, StoreError};
use wire::{RecipientSubscription, SubscriptionSource};

use super::recipients::{recipients, wanted};
use crate::Monitors;

/// Reason why mails are not sent, as teams read it.
pub(crate) const NO_SERVER: &str = "this server sends no mail: its operator has set no mail server (mail.url)";

/// Mails of a monitor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MailView {
    /// Recipients; none for a monitor that wants no mails.
    pub(crate) subscriptions: Vec<RecipientSubscription>,
    /// Warning for its team.
    pub(crate) warning: Option<String>,
}

/// Reads the recipients of a monitor. `asked` are those that the call has had asked for confirmation; `None` for a call
/// that asks none.
///
/// # Errors
/// Those of the database.
pub(crate) async fn view(
    monitors: &Monitors,
    conn: &mut Conn,
    monitor: &Monitor,
    asked: Option<&[String]>,
) -> Result<MailView, StoreError> {
    let Some(email) = wanted(monitor)? else { return Ok(MailView::default()) };
    let subscriptions = recipients(conn, monitor, &email).await?.into_iter().map(|recipient| {
        let is_asked = asked.filter(|_| recipient.source == SubscriptionSource::OptIn);
        RecipientSubscription {
            confirmation_email_sent: is_asked.map(|asked| asked.contains(&recipient.key)),
            email: recipient.email,
            status: recipient.status,
            source: recipient.source,
        }
    });
    let subscriptions = subscriptions.collect();
    Ok(MailView { subscriptions, warning: monitors.mail().is_none().then(|| NO_SERVER.to_owned()) })
}

/// Returns the state of a check's mails; `None` for a check without any. `mails` are those of all checks that are shown.
pub(crate) fn notification(check: &Check, mails: &[CheckMail]) -> Option<Value> {
    let mut shown: Value = check.notification.as_deref().and_then(|text| serde_json::from_str(text).ok())?;
    let mails: Vec<&CheckMail> = mails.iter().filter(|mail| mail.check_id == check.id).collect();
    if mails.is_empty() {
        return Some(shown);
    }
    let has = |status: &str| mails.iter().any(|mail| mail.status == status);
    let status = match (has(QUEUED), has(SENT), has(FAILED)) {
        (true, ..) => QUEUED,
        (_, true, true) => "partial",
        (_, true, false) => SENT,
        (_, false, true) => FAILED,
        (_, false, false) => SKIPPED,
    };
    let recipient = |mail: &&CheckMail| json!({ "email": mail.address, "status": mail.status, "error": mail.error });
    let recipients: Vec<Value> = mails.iter().map(recipient).collect();
    shown["email"] = json!({ "status": status, "recipients": recipients });
    Some(shown)
}
