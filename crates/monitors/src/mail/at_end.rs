//! Mails about a check that ends, in the transaction that ends it.

use base::Timestamp;
use serde_json::{Value, json};
use store::mails;
use store::monitors::{self as rows, Check, Monitor};
use store::{Conn, StoreError};
use wire::SubscriptionStatus;

use super::recipients::{ask_these, recipients, wanted};
use super::{MailPayload, Occasion, enqueue};
use crate::told::silent;

/// Queues the mails about a check that has ended, one for each recipient, and notes in the check what becomes of them.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back.
pub(crate) async fn tell(conn: &mut Conn, monitor: &Monitor, check: &Check, now: Timestamp) -> Result<(), StoreError> {
    let Some(email) = wanted(monitor)? else { return Ok(()) };
    let found = recipients(conn, monitor, &email).await?;
    ask_these(conn, monitor, &found, Occasion::Check, now).await?;
    let confirmed = found.iter().filter(|recipient| recipient.status == SubscriptionStatus::Confirmed);
    let mut confirmed: Vec<&str> = confirmed.map(|recipient| recipient.key.as_str()).collect();
    confirmed.sort_unstable();
    let status = match silent(conn, check).await? {
        Some(reason) => skipped(reason),
        None if found.is_empty() => skipped("there are no recipients"),
        None if confirmed.is_empty() => skipped("no recipient has confirmed"),
        None => {
            let new = mails::add(conn, &check.id, &confirmed, now).await?;
            let mail = |to| {
                let (monitor, check) = (monitor.id.clone(), Some(check.id.clone()));
                MailPayload { monitor, check, to, at: now, attempt: 1 }
            };
            let letters: Vec<MailPayload> = new.into_iter().map(mail).collect();
            enqueue(conn, &monitor.team_id, &letters, now).await?;
            json!({ "email": { "status": mails::QUEUED } })
        }
    };
    rows::save_notification(conn, &check.id, &status.to_string()).await
}

fn skipped(reason: &str) -> Value {
    json!({ "email": { "status": mails::SKIPPED, "reason": reason } })
}
