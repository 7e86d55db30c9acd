//! Answers of recipients: the links in mails. They need no key, only the token of the link.

use mail::Purpose;
use store::{mails as rows, teams};
use wire::{EmailSubscription, SubscriptionStatus};

use crate::{Monitors, MonitorsError};

/// Recipient that a token names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient {
    /// Id of the team whose mails it is about.
    team: String,
    /// Address.
    pub email: String,
}

/// Returns what a token is about.
pub(super) fn subject(team: &str, address: &str) -> String {
    format!("{team}/{address}")
}

/// Returns the recipient that a token names. It changes nothing.
///
/// # Errors
/// [`MonitorsError::InvalidToken`], [`MonitorsError::NoSubscription`] for a recipient that is not known any more.
#[crate::boxed]
pub async fn recipient(monitors: &Monitors, purpose: Purpose, token: &str) -> Result<Recipient, MonitorsError> {
    let subject = monitors.tokens().await?.verify(purpose, token, monitors.app().now());
    let subject = subject.map_err(|_| MonitorsError::InvalidToken)?;
    let (team, email) = subject.split_once('/').ok_or(MonitorsError::InvalidToken)?;
    let found = Recipient { team: team.to_owned(), email: email.to_owned() };
    let mut conn = monitors.app().conn().await?;
    let is_known = match purpose {
        Purpose::Confirm => !rows::subscriptions(&mut conn, team, &[email]).await?.is_empty(),
        Purpose::Unsubscribe => teams::find(&mut conn, team).await?.is_some(),
    };
    if is_known { Ok(found) } else { Err(MonitorsError::NoSubscription) }
}

/// Confirms the recipient that a token names: from then on it gets the mails of its team's monitors that name it.
///
/// # Errors
/// Those of [`recipient`].
#[crate::boxed]
pub async fn confirm(monitors: &Monitors, token: &str) -> Result<EmailSubscription, MonitorsError> {
    let Recipient { team, email } = recipient(monitors, Purpose::Confirm, token).await?;
    let app = monitors.app();
    if !rows::confirm(&mut app.conn().await?, &team, &email, app.now()).await? {
        return Err(MonitorsError::NoSubscription);
    }
    Ok(EmailSubscription { email, status: SubscriptionStatus::Confirmed })
}

/// Unsubscribes the recipient that a token names from all mails of its team, however often it is named later.
///
/// # Errors
/// Those of [`recipient`].
#[crate::boxed]
pub async fn unsubscribe(monitors: &Monitors, token: &str) -> Result<EmailSubscription, MonitorsError> {
    let Recipient { team, email } = recipient(monitors, Purpose::Unsubscribe, token).await?;
    let app = monitors.app();
    rows::unsubscribe(&mut app.conn().await?, &team, &email, app.now()).await?;
    Ok(EmailSubscription { email, status: SubscriptionStatus::Unsubscribed })
}
