//! Recipients of a monitor's mails, and the mails that ask those outside of the team for confirmation.

use base::Timestamp;
use chrono::TimeDelta;
use store::mails as rows;
use store::monitors::Monitor;
use store::{Conn, List, StoreError, teams};
use wire::{EmailNotification, MonitorNotification, SubscriptionSource, SubscriptionStatus};

use super::{MailPayload, enqueue};

/// Maximum number of recipients that a team may have asked for confirmation within [`TEAM_WINDOW`].
const ASKED_BY_TEAM: i64 = 50;
const TEAM_WINDOW: TimeDelta = TimeDelta::hours(1);
/// Maximum number of teams that may have one address asked for confirmation within [`ADDRESS_WINDOW`].
const ASKED_OF_ADDRESS: i64 = 3;
const ADDRESS_WINDOW: TimeDelta = TimeDelta::days(1);
/// Lifetime of the link in a mail that asks for confirmation. After it a recipient that is named again is asked again.
pub(crate) const CONFIRM_WITHIN: TimeDelta = TimeDelta::days(30);

/// Recipient of a monitor's mails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MailRecipient {
    /// Address as it was named.
    pub(crate) email: String,
    /// Address in lower case.
    pub(crate) key: String,
    /// Whether it gets mails.
    pub(crate) status: SubscriptionStatus,
    /// Origin.
    pub(crate) source: SubscriptionSource,
}

/// Occasion at which recipients may be asked for confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// A call that names them. Those whose link has expired are asked again.
    Call,
    /// A check that would tell them. Only those that were never asked are.
    Check,
}

/// Returns the mails that a monitor wants; `None` if it wants none.
///
/// # Errors
/// [`StoreError::Inconsistent`] for a notification that this version cannot read.
pub(crate) fn wanted(monitor: &Monitor) -> Result<Option<EmailNotification>, StoreError> {
    let Some(text) = &monitor.notification else { return Ok(None) };
    let read: Result<MonitorNotification, _> = serde_json::from_str(text);
    let broken = |error| StoreError::Inconsistent(format!("the notification of the monitor {}: {error}", monitor.id));
    Ok(read.map_err(broken)?.email.filter(|email| email.enabled))
}

/// Returns the recipients of a monitor that wants mails: those that it names, or the alert addresses of its team.
///
/// # Errors
/// Those of the database.
pub(crate) async fn recipients(
    conn: &mut Conn,
    monitor: &Monitor,
    email: &EmailNotification,
) -> Result<Vec<MailRecipient>, StoreError> {
    let team = teams::find(conn, &monitor.team_id).await?;
    let alerts = team.and_then(|team| team.alert_emails).map(|List(addresses)| addresses).unwrap_or_default();
    let named = email.recipients.clone().filter(|named| !named.is_empty()).unwrap_or_else(|| alerts.clone());
    let keys: Vec<String> = named.iter().map(|email| email.to_ascii_lowercase()).collect();
    let known: Vec<&str> = keys.iter().map(String::as_str).collect();
    let known = rows::subscriptions(conn, &monitor.team_id, &known).await?;
    let of_team = |key: &str| alerts.iter().any(|alert| alert.eq_ignore_ascii_case(key));
    let recipient = |(email, key): (String, String)| {
        let found = known.iter().find(|known| known.address == key).map(|known| known.status.as_str());
        let source = if of_team(&key) { SubscriptionSource::Team } else { SubscriptionSource::OptIn };
        let status = match (found, source) {
            (Some(rows::UNSUBSCRIBED), _) => SubscriptionStatus::Unsubscribed,
            (_, SubscriptionSource::Team) | (Some(rows::CONFIRMED), _) => SubscriptionStatus::Confirmed,
            _ => SubscriptionStatus::Pending,
        };
        MailRecipient { email, key, status, source }
    };
    Ok(named.into_iter().zip(keys).map(recipient).collect())
}

/// Queues the mails that ask the recipients of a monitor for confirmation, each once; returns the addresses that are asked.
/// The number of these mails is limited, so that they cannot fill a mailbox.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back.
pub(crate) async fn ask(
    conn: &mut Conn,
    monitor: &Monitor,
    occasion: Occasion,
    now: Timestamp,
) -> Result<Vec<String>, StoreError> {
    let Some(email) = wanted(monitor)? else { return Ok(Vec::new()) };
    let found = recipients(conn, monitor, &email).await?;
    ask_these(conn, monitor, &found, occasion, now).await
}

/// Asks those of the recipients of a monitor that are not confirmed, as [`ask`] does.
///
/// # Errors
/// Those of [`ask`].
pub(crate) async fn ask_these(
    conn: &mut Conn,
    monitor: &Monitor,
    recipients: &[MailRecipient],
    occasion: Occasion,
    now: Timestamp,
) -> Result<Vec<String>, StoreError> {
    let team = &monitor.team_id;
    let pending = recipients.iter().filter(|recipient| recipient.status == SubscriptionStatus::Pending);
    let mut pending: Vec<&str> = pending.map(|recipient| recipient.key.as_str()).collect();
    // In one order, as transactions lock them.
    pending.sort_unstable();
    if pending.is_empty() {
        return Ok(Vec::new());
    }
    let again_before = (occasion == Occasion::Call).then_some(now - CONFIRM_WITHIN);
    let mut left = ASKED_BY_TEAM - rows::asked_by_team(conn, team, now - TEAM_WINDOW).await?;
    let (mut asked, mut mails) = (Vec::new(), Vec::new());
    for to in pending {
        let is_limited = left <= 0 || rows::asked_of(conn, to, now - ADDRESS_WINDOW).await? >= ASKED_OF_ADDRESS;
        if is_limited || !rows::ask(conn, team, to, again_before, now).await? {
            continue;
        }
        left -= 1;
        let (monitor, to) = (monitor.id.clone(), to.to_owned());
        asked.push(to.clone());
        mails.push(MailPayload { monitor, check: None, to, at: now, attempt: 1 });
    }
    enqueue(conn, team, &mails, now).await?;
    Ok(asked)
}
