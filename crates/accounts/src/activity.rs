//! Activity log of a team (docs/CONTRACT.md, "Usage").

use ::runs::Runs;
use kernel::AppError;
use kernel::auth::Caller;
use store::activity::{self as rows, Entry, Kind, Place, Wanted};
use wire::{Activity, ActivityCursor, ActivityEndpoint, ActivityEntry, ActivityQuery};

/// Lists the activity of the caller's team, newest first, as long as it is kept.
///
/// # Errors
/// [`AppError::Internal`].
#[crate::boxed]
pub async fn list(runs: &Runs, caller: &Caller, query: ActivityQuery) -> Result<Activity, AppError> {
    let ActivityQuery { endpoint, limit, cursor } = query;
    let after = cursor.as_ref().map(|cursor| Place { created_at: cursor.created_at, id: &cursor.id });
    let wanted = Wanted { kind: endpoint.map(|endpoint| kind(runs, endpoint)), after };
    // One extra row shows whether there are more.
    let mut entries = rows::list(&mut runs.app().conn().await?, &caller.team.id, &wanted, i64::from(limit) + 1).await?;
    let has_more = entries.len() > limit as usize;
    entries.truncate(limit as usize);
    let last = entries.last().filter(|_| has_more);
    let cursor = last.map(|last| ActivityCursor { created_at: last.created_at, id: last.id.clone() }.to_text());
    let data = entries.into_iter().filter_map(|row| entry(runs, row)).collect();
    Ok(Activity { success: true, data, cursor, has_more })
}

fn kind(runs: &Runs, endpoint: ActivityEndpoint) -> Kind {
    match endpoint {
        ActivityEndpoint::Scrape => Kind::Scrape,
        ActivityEndpoint::Parse => Kind::File,
        ActivityEndpoint::Browser => Kind::Session,
        ActivityEndpoint::Interact => Kind::PageSession,
        of_runs => {
            let kind = runs.kinds().find(|kind| kind.endpoint == Some(of_runs));
            // No row has the empty name.
            Kind::Run(kind.map_or("", |kind| kind.name).to_owned())
        }
    }
}

/// Converts a row; `None` for a kind of run that is not listed, or that this version does not know.
fn entry(runs: &Runs, entry: Entry) -> Option<ActivityEntry> {
    let endpoint = match entry.kind {
        Kind::Scrape => ActivityEndpoint::Scrape,
        Kind::File => ActivityEndpoint::Parse,
        Kind::Run(kind) => runs.kind_of(&kind)?.endpoint?,
        Kind::Session => ActivityEndpoint::Browser,
        Kind::PageSession => ActivityEndpoint::Interact,
    };
    let target = entry.target.as_deref().map(wire::without_userinfo);
    Some(ActivityEntry { id: entry.id, endpoint, api_version: "v2".to_owned(), created_at: entry.created_at, target })
}
