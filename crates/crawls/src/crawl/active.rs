//! List of a team's open crawls.

use std::collections::BTreeMap;

use ::runs::{Runs, hide};
use kernel::AppError;
use kernel::auth::Caller;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use store::runs::{self, Run};
use wire::{ActiveCrawl, ActiveCrawls};

use super::KIND;

/// Maximum number of crawls listed.
const MAX_CRAWLS: i64 = 1000;
/// Maximum size of addresses and options in one answer, in bytes.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Maximum size of the options of one crawl, as JSON, in bytes.
const MAX_OPTIONS: usize = 8 * 1024;
/// Depth to which oversized options are trimmed: top-level members, and those of `scrapeOptions` or `webhook`.
const MAX_DEPTH: u32 = 2;

/// Lists the team's open crawls, oldest first: at most 1000, and 4 MiB of them. If a crawl has more than 8 KiB of
/// options, the largest are left out. `warning` says when something is missing. Passwords are removed from URLs, and
/// header values masked.
///
/// # Errors
/// [`AppError::Internal`].
#[crate::boxed]
pub async fn active(runs: &Runs, caller: &Caller) -> Result<ActiveCrawls, AppError> {
    let app = runs.app();
    let ids = runs::active(&mut app.conn().await?, &caller.team.id, KIND.name, MAX_CRAWLS).await?;
    let mut list = ActiveCrawls { success: true, crawls: Vec::new(), warning: None };
    let mut bytes = 0;
    for id in ids {
        // Read one by one: each may be as large as a request can be.
        let found = runs::find(&mut app.conn().await?, &id).await?;
        let Some(row) = found.filter(Run::is_open) else { continue };
        let (options, size, complete) = shown(&row.spec)?;
        let url = wire::without_userinfo(row.subject.as_deref().unwrap_or_default());
        bytes += url.len() + size;
        if bytes > MAX_BYTES {
            list.warning =
                Some(format!("only the {} oldest crawls are listed; the list is too large", list.crawls.len()));
            break;
        }
        if !complete {
            list.warning = Some("some options are left out because they are too large".to_owned());
        }
        let id = kernel::uuid(&row.id)?;
        list.crawls.push(ActiveCrawl { id, team_id: row.team_id, url, options });
    }
    Ok(list)
}

/// Returns the options of a request for the list, their size, and whether they are complete.
fn shown(request: &str) -> Result<(Value, usize, bool), AppError> {
    let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(request).map_err(AppError::internal)?;
    members.remove("url");
    let mut left = MAX_OPTIONS;
    let (mut options, complete) = fitting(members, &mut left, MAX_DEPTH).map_err(AppError::internal)?;
    hide(&mut options);
    Ok((options, MAX_OPTIONS - left, complete))
}

/// Returns the members that fit into `left` bytes, small ones first.
fn fitting(members: BTreeMap<String, &RawValue>, left: &mut usize, depth: u32) -> serde_json::Result<(Value, bool)> {
    let mut by_size: Vec<(String, &str)> = members.into_iter().map(|(name, value)| (name, value.get())).collect();
    by_size.sort_by_key(|(_, text)| text.len());
    let (mut kept, mut complete) = (Map::new(), true);
    for (name, text) in by_size {
        let size = name.len() + text.len() + 4;
        if size <= *left {
            *left -= size;
            kept.insert(name, serde_json::from_str(text)?);
        } else if depth > 1 && text.starts_with('{') {
            let (value, _) = fitting(serde_json::from_str(text)?, left, depth - 1)?;
            kept.insert(name, value);
            complete = false;
        } else {
            complete = false;
        }
    }
    Ok((Value::Object(kept), complete))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn large_options_are_left_out() {
        let large = vec!["x".repeat(1000); 100];
        let request = json!({
            "url": "https://a.test/", "limit": 5, "includePaths": large, "sitemap": "skip",
            "scrapeOptions": {"includeTags": large, "onlyMainContent": false, "formats": [{"type": "json", "schema": {"a": large}}]},
        });
        let (options, size, complete) = shown(&request.to_string()).unwrap();
        assert_eq!(options, json!({"limit": 5, "sitemap": "skip", "scrapeOptions": {"onlyMainContent": false}}));
        assert!(size <= MAX_OPTIONS && !complete);
        let (options, _, complete) = shown(r#"{"url":"u","limit":5,"scrapeOptions":{"a":[1]}}"#).unwrap();
        assert_eq!((options, complete), (json!({"limit": 5, "scrapeOptions": {"a": [1]}}), true));
    }
}
