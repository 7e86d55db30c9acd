//! Letters, written when they are sent.

use chrono::TimeDelta;
use kernel::AppError;
use mail::letters::{self, ChangedPage, Counts, Summary};
use mail::{Address, Content, Purpose};
use store::Conn;
use store::monitors::{self as rows, Check, Monitor, Page};
use url::Url;
use wire::{EmailNotification, SubscriptionStatus};

use super::MailPayload;
use super::recipients::{CONFIRM_WITHIN, recipients, wanted};
use super::subscribe::subject;
use crate::state::MailParts;
use crate::told::{Told, changes, told};
use crate::{Monitors, MonitorsError, content, progress};

/// Lifetime of the link with which a recipient unsubscribes.
const UNSUBSCRIBE_WITHIN: TimeDelta = TimeDelta::days(365);
/// Maximum number of pages that a letter is made of; it lists fewer.
const MAX_PAGES: i64 = 60;
/// Maximum size of the contents whose diffs are shown, unpacked, in bytes.
const MAX_BYTES: i64 = 2 << 20;

/// Letter with its address.
pub(super) struct Written {
    pub(super) key: String,
    pub(super) to: Address,
    pub(super) content: Content,
    pub(super) unsubscribe: Url,
}

/// Writes a letter; `None` if there is nothing to tell any more, or its recipient does not want it.
///
/// # Errors
/// [`MonitorsError`] of the database.
#[crate::boxed]
pub(super) async fn write(
    monitors: &Monitors,
    parts: &MailParts,
    team: &str,
    mail: &MailPayload,
) -> Result<Option<Written>, MonitorsError> {
    let tokens = monitors.tokens().await?;
    let mut conn = monitors.app().conn().await?;
    let Some(monitor) = rows::find(&mut conn, team, &mail.monitor).await? else { return Ok(None) };
    let Some(email) = wanted(&monitor)? else { return Ok(None) };
    let found = recipients(&mut conn, &monitor, &email).await?;
    let Some(recipient) = found.into_iter().find(|recipient| recipient.key == mail.to) else { return Ok(None) };
    let needed = if mail.check.is_some() { SubscriptionStatus::Confirmed } else { SubscriptionStatus::Pending };
    if recipient.status != needed {
        return Ok(None);
    }
    let Ok(to) = recipient.email.parse::<Address>() else { return Ok(None) };
    let (subject, now) = (subject(team, &mail.to), monitors.app().now());
    let link = |purpose, word, within| url(parts, word, &tokens.sign(purpose, &subject, now + within));
    let unsubscribe = link(Purpose::Unsubscribe, "unsubscribe", UNSUBSCRIBE_WITHIN)?;
    let (key, content) = match &mail.check {
        None => {
            let confirm = link(Purpose::Confirm, "confirm", CONFIRM_WITHIN)?;
            (format!("confirmation {team} {}", mail.at), letters::confirmation(&monitor.name, &confirm))
        }
        Some(check) => {
            let Some(check) = rows::check(&mut conn, &monitor.id, check).await? else { return Ok(None) };
            let pages = pages(&mut conn, &check, &email).await?;
            (check.id.clone(), summary(&monitor, &check, &pages, &unsubscribe))
        }
    };
    Ok(Some(Written { key, to, content, unsubscribe }))
}

/// Returns the URL of a link.
fn url(parts: &MailParts, word: &str, token: &str) -> Result<Url, AppError> {
    let base = parts.base.as_str().trim_end_matches('/');
    Url::parse(&format!("{base}/v2/monitor/email/{word}?token={token}")).map_err(AppError::internal)
}

/// Reads the pages to tell of, with their diffs if those are wanted.
async fn pages(conn: &mut Conn, check: &Check, email: &EmailNotification) -> Result<Vec<Told>, MonitorsError> {
    let found = changes(conn, check, MAX_PAGES).await?;
    let mut bytes = 0;
    let mut shown = Vec::new();
    if email.include_diffs {
        let within = |page: &&Page| {
            bytes += page.bytes;
            bytes <= MAX_BYTES
        };
        shown.extend(found.iter().take_while(within).map(|page| page.id.as_str()));
    }
    let contents = rows::contents(conn, &shown).await?;
    let told = found.iter().map(|page| {
        let content = contents.get(&page.id).map(|packed| content::content(packed)).transpose()?;
        Ok(told(page, content.as_ref()))
    });
    told.collect()
}

fn summary(monitor: &Monitor, check: &Check, pages: &[Told], unsubscribe: &Url) -> Content {
    let counts = progress::summary(check);
    let count = |number: i64| u64::try_from(number).unwrap_or(0);
    let pages: Vec<ChangedPage<'_>> = pages
        .iter()
        .map(|page| ChangedPage {
            url: &page.url,
            title: page.title.as_deref(),
            status: &page.status,
            note: page.note.as_deref(),
            diff: page.diff.as_deref(),
        })
        .collect();
    letters::summary(&Summary {
        monitor: &monitor.name,
        goal: monitor.goal.as_deref(),
        when: &check.finished_at.unwrap_or(check.updated_at).format("%Y-%m-%d %H:%M UTC").to_string(),
        counts: Counts {
            changed: count(counts.changed),
            new: count(counts.new),
            removed: count(counts.removed),
            error: count(counts.error),
        },
        pages: &pages,
        unsubscribe,
    })
}
