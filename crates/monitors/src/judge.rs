//! Judgments of changes by the goal of a monitor. Each is a job of a queue of its own, so that a slow model takes no slot
//! from pages. A judged page tells when it is judged.

use std::time::Duration;

use ::runs::patience;
use ::runs::webhooks::{Source, emit};
use base::{Owner, Timestamp};
use kernel::AppError;
use llm::judge::{Change, JudgeError, Judgment, judge};
use queue::{Failure, Finished, Handler, Running};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use store::ledger::{self, Booking};
use store::monitors::{self as rows, Check, Monitor, Page};
use store::teams::{self, Team};
use store::{Conn, StoreError};
use tokio::time::Instant;
use wire::{Format, MonitorTarget, TargetWork};

use crate::content::content;
use crate::link::hook_of;
use crate::payload::JudgePayload;
use crate::plan::revealed;
use crate::progress::progressed;
use crate::{Monitors, end, events, metrics};

/// Time that a judgment may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Price of a judgment, in credits.
const PRICE: i64 = 1;

/// Handler of judgments.
pub struct Judge {
    /// Monitors whose changes it judges.
    pub monitors: Monitors,
}

/// Judgment of a page.
pub struct Judged {
    page: Page,
    diff: Option<Box<RawValue>>,
    judgment: Value,
    /// Whether the model has answered, so that it is charged.
    has_answer: bool,
}

impl Handler for Judge {
    type Payload = JudgePayload;
    type Done = Option<Judged>;

    async fn run(&self, job: &Running<JudgePayload>) -> Result<Option<Judged>, Failure> {
        let again = |error: AppError| patience::again(self.monitors.app(), job, &error, patience::PAUSE);
        let Some(question) = Question::read(&self.monitors, job).await.map_err(again)? else { return Ok(None) };
        match question.ask(&self.monitors).await {
            Ok(judgment) => Ok(Some(question.judged(&judgment, true))),
            Err(error) if job.attempt < job.max_attempts => Err(Failure::retry(error.to_string())),
            Err(error) => Ok(Some(question.judged(&Judgment::unjudged(&error.to_string()), false))),
        }
    }

    async fn commit(
        &self,
        conn: &mut Conn,
        done: &[&Finished<JudgePayload, Option<Judged>>],
    ) -> Result<(), StoreError> {
        let now = self.monitors.app().now();
        let mut done: Vec<_> = done.iter().filter_map(|finished| Some((finished, finished.done.as_ref()?))).collect();
        done.sort_by(|(one, _), (other, _)| {
            (&one.job.team_id, &one.job.payload.check).cmp(&(&other.job.team_id, &other.job.payload.check))
        });
        for (finished, judged) in done {
            write(conn, judged, &finished.job.team_id, now).await?;
        }
        Ok(())
    }

    async fn give_up(&self, conn: &mut Conn, job: &Running<JudgePayload>, error: &str) -> Result<(), StoreError> {
        let Some(page) = rows::page(conn, &job.payload.page).await? else { return Ok(()) };
        let judgment = written(&Judgment::unjudged(error), &[]);
        let judged = Judged { page, diff: None, judgment, has_answer: false };
        write(conn, &judged, &job.team_id, self.monitors.app().now()).await
    }
}

/// Change to be judged.
struct Question {
    monitor: Monitor,
    team: Team,
    page: Page,
    content: Map<String, Value>,
    /// Instruction by which values were extracted.
    extraction: String,
    owner: Owner,
}

impl Question {
    /// Reads a change; `None` if it is gone.
    async fn read(monitors: &Monitors, job: &Running<JudgePayload>) -> Result<Option<Self>, AppError> {
        let JudgePayload { monitor, page, .. } = &job.payload;
        let mut conn = monitors.app().conn().await?;
        let Some(monitor) = rows::find(&mut conn, &job.team_id, monitor).await? else { return Ok(None) };
        let Some(page) = rows::page(&mut conn, page).await? else { return Ok(None) };
        let Some(team) = teams::find(&mut conn, &job.team_id).await? else { return Ok(None) };
        let packed = rows::contents(&mut conn, &[&page.id]).await?;
        let targets = rows::targets(&mut conn, &[&monitor.id]).await?;
        let secrets = rows::secrets(&mut conn, &monitor.id).await?;
        drop(conn);
        let content = packed.get(&page.id).map(|packed| content(packed)).transpose()?.unwrap_or_default();
        let target = targets.iter().find(|target| target.id == page.target_id);
        let target = target.and_then(|target| revealed(target, &secrets).ok());
        let extraction = target.and_then(|target| extraction(&target)).unwrap_or_default();
        let owner = Owner::new(&team.id, &page.check_id);
        Ok(Some(Self { monitor, team, page, content, extraction, owner }))
    }

    /// Asks the model.
    async fn ask(&self, monitors: &Monitors) -> Result<Judgment, Unasked> {
        let model = monitors.model().ok_or(Unasked::NoModel)?;
        let budget = model.budget(&self.team.id, scraping::model_limit(&self.team));
        let change = Change {
            goal: self.monitor.goal.as_deref().unwrap_or_default(),
            extraction: &self.extraction,
            diff: &self.diff(),
            fields: &self.fields(),
            owner: &self.owner,
            budget: &budget,
            deadline: Instant::now() + PATIENCE,
        };
        let mut judgment = judge(model, &change).await?;
        // What the page does not say is not quoted.
        let known = format!("{}\n{}", change.diff, change.fields);
        let has = |text: &Option<String>| text.as_ref().is_none_or(|text| is_quoted(&known, text));
        judgment.meaningful_changes.retain(|change| has(&change.before) && has(&change.after));
        Ok(judgment)
    }

    /// Returns the diff of the text; for a new result of a search, what it says.
    fn diff(&self) -> String {
        let text =
            |pointer: &str| self.content.get("diff").and_then(|diff| diff.pointer(pointer)).and_then(Value::as_str);
        match text("/text") {
            Some(text) => text.to_owned(),
            None if self.page.status == "new" => {
                let metadata = metadata(&self.page);
                let said = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or_default().replace('\n', " ");
                format!("+{}\n+{}\n+{}\n", self.page.url, said("title"), said("description"))
            }
            None => String::new(),
        }
    }

    /// Returns the changed fields, one per line.
    fn fields(&self) -> String {
        let fields = self.content.get("diff").and_then(|diff| diff.get("json")).and_then(Value::as_object);
        let fields = fields.into_iter().flatten().filter(|(_, change)| change.get("current").is_some());
        fields.map(|(path, change)| format!("{path}: {} -> {}\n", change["previous"], change["current"])).collect()
    }

    fn judged(self, judgment: &Judgment, has_answer: bool) -> Judged {
        let paths: Vec<&str> = match judgment.meaningful {
            true => self.content.get("diff").and_then(|diff| diff.get("json")).and_then(Value::as_object).map_or_else(
                Vec::new,
                |fields| {
                    fields
                        .iter()
                        .filter(|(_, change)| change.get("current").is_some())
                        .map(|(path, _)| path.as_str())
                        .collect()
                },
            ),
            false => Vec::new(),
        };
        let judgment = written(judgment, &paths);
        let diff = self.content.get("diff").and_then(|diff| serde_json::value::to_raw_value(diff).ok());
        Judged { page: self.page, diff, judgment, has_answer }
    }
}

/// Why no judgment was made.
#[derive(Debug, thiserror::Error)]
enum Unasked {
    #[error("this server has no language model")]
    NoModel,
    #[error(transparent)]
    Model(#[from] JudgeError),
}

/// Whether a text has a quotation, apart from blanks and the marks of a diff.
fn is_quoted(text: &str, quoted: &str) -> bool {
    let plain = |text: &str| {
        let lines = text.lines().map(|line| line.trim_start_matches(['+', '-', ' ']));
        lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ").to_lowercase()
    };
    plain(text).contains(&plain(quoted))
}

/// Returns the instruction by which the values of a target are extracted.
fn extraction(target: &MonitorTarget) -> Option<String> {
    let options = match &target.work {
        TargetWork::Scrape(scrape) => &scrape.options,
        TargetWork::Crawl(request) => &request.options.scrape_options,
        TargetWork::Search(_) => return None,
    };
    options.formats.iter().find_map(|format| match format {
        Format::ChangeTracking(tracking) => tracking.prompt.clone(),
        _ => None,
    })
}

/// Writes a judgment as answers and events have it.
fn written(judgment: &Judgment, fields: &[&str]) -> Value {
    let mut value = serde_json::to_value(judgment).unwrap_or_else(|_| json!({}));
    value["fields"] = json!(fields);
    value
}

fn metadata(page: &Page) -> Map<String, Value> {
    page.metadata.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Writes a judgment once: charges it, emits the event of its page, and ends the check with its last part.
async fn write(conn: &mut Conn, judged: &Judged, team: &str, now: Timestamp) -> Result<(), StoreError> {
    let Judged { page, diff, judgment, has_answer } = judged;
    let mut metadata = metadata(page);
    if *has_answer {
        let before = metadata.get("creditsUsed").and_then(Value::as_i64).unwrap_or(0);
        metadata.insert("creditsUsed".to_owned(), (before + PRICE).into());
    }
    let metadata = Value::Object(metadata).to_string();
    let text = judgment.to_string();
    if !rows::judge(conn, &page.id, &text, Some(&metadata)).await? {
        return Ok(());
    }
    let Some(mut check) = rows::lock_check(conn, &page.check_id).await? else { return Ok(()) };
    if *has_answer {
        charge(conn, &check, &format!("judge:{}", page.id), PRICE, now).await?;
        check.actual_credits = Some(check.actual_credits.unwrap_or(0) + PRICE);
    }
    metrics::judged(*has_answer);
    check.open_judgments -= 1;
    progressed(&mut check, now);
    let monitor = rows::find(conn, team, &check.monitor_id).await?;
    let hook = match &monitor {
        Some(monitor) => hook_of(conn, monitor).await?,
        None => None,
    };
    if let Some(hook) = hook {
        let page = Page { judgment: Some(text), metadata: Some(metadata), ..page.clone() };
        let event = events::page(&check.monitor_id, &page, diff.as_deref())?;
        emit(conn, &hook, team, &check.id, &event, now).await?;
    }
    end::progress(conn, check, now).await
}

/// Charges something of a check, from its reservation if it has one.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back.
pub(crate) async fn charge(
    conn: &mut Conn,
    check: &Check,
    key: &str,
    credits: i64,
    now: Timestamp,
) -> Result<(), StoreError> {
    let booking = Booking { key, team: &check.team_id, api_key: check.api_key_id.as_deref(), at: now };
    match &check.reservation {
        Some(reservation) => ledger::post(conn, &booking, reservation, credits).await?,
        None => ledger::charge(conn, &booking, credits).await?,
    };
    kernel::metrics::charged(credits);
    Ok(())
}

/// Returns where the events of a check come from.
pub(crate) fn source(check: &Check) -> Source<'_> {
    Source { team: &check.team_id, job: &check.id }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_page_says_is_quoted() {
        let diff = "@@ -1 +1 @@\n-Price: 10 EUR\n+Price:  12 EUR\n";
        for (quoted, is_there) in [("12 EUR", true), ("Price: 12 eur", true), ("Price: 13", false), ("", true)] {
            assert_eq!(is_quoted(diff, quoted), is_there, "{quoted}");
        }
    }

    #[test]
    fn a_judgment_has_all_members_that_clients_read() {
        let value = written(&Judgment::unjudged("no answer"), &["price"]);
        assert_eq!(value["meaningful"], true);
        assert_eq!(value["confidence"], "low");
        assert_eq!(value["meaningfulChanges"], json!([]));
        assert_eq!(value["fields"], json!(["price"]));
        assert!(serde_json::from_value::<wire::Judgment>(value).is_ok());
    }
}
