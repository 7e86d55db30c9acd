//! Search targets: known results are the same, unknown ones are new, and none is compared.

use std::collections::{HashMap, HashSet};

use ::runs::patience;
use ::runs::webhooks::emit_all;
use base::{Timestamp, new_id};
use kernel::AppError;
use kernel::auth::Caller;
use queue::{Failure, Finished, Handler, Running};
use serde_json::json;
use store::monitors::{self as rows, Check, Known, NewPage, Page};
use store::{Conn, StoreError, jobs, teams};
use url::Url;
use webhooks::Event;
use wire::TargetWork;

use crate::judge::{charge, source};
use crate::link::{Link, hook_of, wants_judge};
use crate::payload::{JUDGE, JudgePayload, SearchPayload};
use crate::plan::revealed;
use crate::progress::{count, progressed};
use crate::record::PRESENT;
use crate::state::FoundResult;
use crate::{Monitors, end, events};

/// Reason of a search on a server without an engine.
const NO_ENGINE: &str = "this server has no search engine; its operator sets one up in `search.engines`";

/// Handler of searches.
pub struct Search {
    /// Monitors whose searches it makes.
    pub monitors: Monitors,
}

/// Results of the searches of a target.
pub struct Searched {
    results: Result<Vec<FoundResult>, String>,
    is_judged: bool,
}

impl Handler for Search {
    type Payload = SearchPayload;
    type Done = Option<Searched>;

    async fn run(&self, job: &Running<SearchPayload>) -> Result<Option<Searched>, Failure> {
        let monitors = &self.monitors;
        let again = |error: AppError| patience::again(monitors.app(), job, &error, patience::PAUSE);
        let started = async {
            let (app, check) = (monitors.app(), &job.payload.check);
            let now = app.now();
            let mut conn = app.conn().await?;
            rows::start_check(&mut conn, check, now).await?;
            read(monitors, &mut conn, job).await
        };
        let Some((caller, work, wants_judge)) = started.await.map_err(again)? else { return Ok(None) };
        let TargetWork::Search(target) = work else { return Ok(None) };
        let results = match monitors.search() {
            Some(search) => search.search(&caller, &target).await,
            None => Err(NO_ENGINE.to_owned()),
        };
        match results {
            Err(error) if job.attempt < job.max_attempts && monitors.search().is_some() => Err(Failure::retry(error)),
            results => Ok(Some(Searched { results, is_judged: wants_judge && monitors.model().is_some() })),
        }
    }

    async fn commit(
        &self,
        conn: &mut Conn,
        done: &[&Finished<SearchPayload, Option<Searched>>],
    ) -> Result<(), StoreError> {
        let now = self.monitors.app().now();
        let mut done: Vec<_> = done.iter().filter_map(|finished| Some((finished, finished.done.as_ref()?))).collect();
        done.sort_by(|(one, _), (other, _)| {
            (&one.job.team_id, &one.job.payload.check).cmp(&(&other.job.team_id, &other.job.payload.check))
        });
        for (finished, searched) in done {
            write(conn, &finished.job.payload.link(), &finished.job.team_id, searched, now).await?;
        }
        Ok(())
    }

    async fn give_up(&self, conn: &mut Conn, job: &Running<SearchPayload>, error: &str) -> Result<(), StoreError> {
        let searched = Searched { results: Err(error.to_owned()), is_judged: false };
        write(conn, &job.payload.link(), &job.team_id, &searched, self.monitors.app().now()).await
    }

    fn after_commit(&self, _: &[&Finished<SearchPayload, Option<Searched>>]) {
        self.monitors.app().waker().wake(JUDGE);
    }
}

/// Reads who searches and for what; `None` if the monitor is gone.
async fn read(
    monitors: &Monitors,
    conn: &mut Conn,
    job: &Running<SearchPayload>,
) -> Result<Option<(Caller, TargetWork, bool)>, AppError> {
    let Some(monitor) = rows::find(conn, &job.team_id, &job.payload.monitor).await? else { return Ok(None) };
    let Some(team) = teams::find(conn, &job.team_id).await? else { return Ok(None) };
    let targets = rows::targets(conn, &[&monitor.id]).await?;
    let secrets = rows::secrets(conn, &monitor.id).await?;
    let Some(target) = targets.iter().find(|target| target.id == job.payload.target) else { return Ok(None) };
    let caller = Caller::of(team, monitor.api_key_id.clone(), monitor.address.clone());
    let judges = wants_judge(&monitor) && monitors.model().is_some();
    Ok(Some((caller, revealed(target, &secrets)?.work, judges)))
}

/// Writes the results of a target, charges them, and ends its part of the check.
async fn write(
    conn: &mut Conn,
    link: &Link,
    team: &str,
    searched: &Searched,
    now: Timestamp,
) -> Result<(), StoreError> {
    jobs::lock_team(conn, JUDGE.name, team).await?;
    let Some(mut check) = rows::lock_check(conn, &link.check).await? else { return Ok(()) };
    progressed(&mut check, now);
    let result = match &searched.results {
        Ok(results) => {
            let found = Found { results, is_judged: searched.is_judged };
            let matches = add(conn, link, &mut check, found, now).await?;
            let credits = billing::search(results.len(), false);
            if credits > 0 {
                charge(conn, &check, &format!("search:{}:{}", link.check, link.position), credits, now).await?;
                check.actual_credits = Some(check.actual_credits.unwrap_or(0) + credits);
            }
            json!({
                "searchCompleted": true, "resultCount": results.len(), "matches": matches, "searchCredits": credits,
            })
        }
        Err(error) => {
            check.error.get_or_insert_with(|| format!("targets[{}]: {error}", link.position));
            json!({ "searchCompleted": false, "resultCount": 0, "degradedReason": error })
        }
    };
    end::part_ended(conn, check, link.position, Some(result), now).await
}

/// Results of the searches of a target.
struct Found<'a> {
    results: &'a [FoundResult],
    is_judged: bool,
}

/// Adds the results as pages, and returns how many are new.
async fn add(
    conn: &mut Conn,
    link: &Link,
    check: &mut Check,
    found: Found<'_>,
    now: Timestamp,
) -> Result<usize, StoreError> {
    let mut seen = HashSet::new();
    let key =
        |result: &FoundResult| Url::parse(&result.url).map_or_else(|_| result.url.clone(), |url| cache::page_key(&url));
    let results: Vec<(String, &FoundResult)> = found.results.iter().map(|result| (key(result), result)).collect();
    let results: Vec<_> = results.into_iter().filter(|(key, _)| seen.insert(key.clone())).collect();
    let keys: Vec<&str> = results.iter().map(|(key, _)| key.as_str()).collect();
    let known = rows::known(conn, &link.target, &keys).await?;
    let known: HashMap<&str, &Known> = known.iter().map(|known| (known.key.as_str(), known)).collect();
    let mut pages = Vec::new();
    for (key, result) in &results {
        let before = known.get(key.as_str()).copied();
        let page = page(link, key, result, before, now);
        rows::set_known(conn, &learnt(link, &page)).await?;
        pages.push(page);
    }
    let new: Vec<NewPage<'_>> = pages.iter().map(|row| NewPage { row, content: None }).collect();
    let added = rows::add_pages(conn, &new).await?;
    pages.retain(|page| added.contains(&page.id));
    count(check, pages.iter().map(|page| page.status.as_str()));
    let (fresh, same): (Vec<&Page>, Vec<&Page>) = pages.iter().partition(|page| page.status == "new");
    let mut told = same;
    if found.is_judged && is_paid(conn, check).await? {
        let ids: Vec<&str> = fresh.iter().map(|page| page.id.as_str()).collect();
        check.open_judgments += i64::try_from(ids.len()).unwrap_or(0);
        if let Some(team) = teams::find(conn, &check.team_id).await? {
            JudgePayload::enqueue(conn, &team.id, link, &ids, now).await?;
        }
    } else {
        told.extend(&fresh);
    }
    tell(conn, check, &told, now).await?;
    Ok(fresh.len())
}

/// Whether the judgments of a check are covered.
async fn is_paid(conn: &mut Conn, check: &Check) -> Result<bool, StoreError> {
    let team = teams::find(conn, &check.team_id).await?;
    Ok(check.reservation.is_some() || team.is_some_and(|team| team.unlimited))
}

/// Builds the row of a result.
fn page(link: &Link, key: &str, result: &FoundResult, before: Option<&Known>, now: Timestamp) -> Page {
    let metadata = json!({
        "title": result.title, "description": result.description, "query": result.query, "creditsUsed": 0,
    });
    Page {
        id: new_id().to_string(),
        check_id: link.check.clone(),
        target_id: link.target.clone(),
        key: key.to_owned(),
        seq: i64::from(link.position) * crate::record::PLACES,
        url: result.url.clone(),
        status: if before.is_some() { "same" } else { "new" }.to_owned(),
        previous_scrape_id: None,
        current_scrape_id: None,
        status_code: None,
        error: None,
        metadata: Some(metadata.to_string()),
        judgment: None,
        bytes: 0,
        created_at: now,
    }
}

/// Returns what the target knows of a result from now on.
fn learnt(link: &Link, page: &Page) -> Known {
    Known {
        target_id: link.target.clone(),
        key: page.key.clone(),
        monitor_id: link.monitor.clone(),
        url: page.url.clone(),
        state: PRESENT.to_owned(),
        scrape_id: None,
        check_id: link.check.clone(),
        seen_at: page.created_at,
    }
}

/// Emits the events of results.
async fn tell(conn: &mut Conn, check: &Check, pages: &[&Page], now: Timestamp) -> Result<(), StoreError> {
    let Some(monitor) = rows::find(conn, &check.team_id, &check.monitor_id).await? else { return Ok(()) };
    let Some(hook) = hook_of(conn, &monitor).await? else { return Ok(()) };
    let event = |page: &&Page| events::page(&check.monitor_id, page, None);
    let events: Vec<Event<'_>> = pages.iter().map(event).collect::<Result<_, _>>()?;
    emit_all(conn, &hook, source(check), &events, now).await
}
