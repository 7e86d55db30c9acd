//! The check that a run belongs to: its names, in the idempotency key of the run, and what is read of it once.

use std::sync::Arc;

use ::runs::webhooks::Hook;
use kernel::AppError;
use serde_json::{Map, Value};
use store::monitors::{self as rows, Monitor};
use store::runs::Run;
use store::{Conn, StoreError};

use crate::events;
use crate::quiet::Quiet;

/// Names of the part of a check that a run carries out. Written as the idempotency key of the run, so that a part has one
/// run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// Id of the monitor.
    pub(crate) monitor: String,
    /// Id of the check.
    pub(crate) check: String,
    /// Id of the target.
    pub(crate) target: String,
    /// Position of the target in the monitor.
    pub(crate) position: i32,
}

impl Link {
    /// Writes the link as an idempotency key.
    pub(crate) fn key(&self) -> String {
        let Self { monitor, check, target, position } = self;
        format!("{monitor}/{check}/{target}/{position}")
    }

    /// Reads the link of a run.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] for a run without one.
    pub(crate) fn of(run: &Run) -> Result<Self, StoreError> {
        let parts: Vec<&str> = run.idempotency_key.as_deref().unwrap_or_default().split('/').collect();
        let no_link = || StoreError::Inconsistent(format!("the run {} of a check does not name it", run.id));
        let [monitor, check, target, position] = parts.as_slice() else { return Err(no_link()) };
        let position = position.parse().map_err(|_| no_link())?;
        let [monitor, check, target] = [monitor, check, target].map(|part| (*part).to_owned());
        Ok(Self { monitor, check, target, position })
    }
}

/// Link of a run's pages to their monitor.
pub(crate) struct About {
    /// Names of the part of the check.
    pub(crate) link: Link,
    /// Receiver of the events.
    pub(crate) hook: Option<Hook>,
    /// Whether changes are to be judged, if there is a model.
    pub(crate) wants_judge: bool,
    /// What does not count on the pages of the target.
    pub(crate) quiet: Arc<Quiet>,
}

impl About {
    /// Reads what is needed of a monitor; a monitor that was removed has no hook and judges nothing.
    ///
    /// # Errors
    /// Those of the database.
    pub(crate) async fn read(conn: &mut Conn, run: &Run) -> Result<Self, StoreError> {
        let link = Link::of(run)?;
        let Some(monitor) = rows::find(conn, &run.team_id, &link.monitor).await? else {
            return Ok(Self { link, hook: None, wants_judge: false, quiet: Arc::default() });
        };
        let hook = hook_of(conn, &monitor).await?;
        let quiet = quiet_of(conn, &link).await?;
        Ok(Self { hook, wants_judge: wants_judge(&monitor), link, quiet })
    }
}

/// Reads what does not count on the pages of a target. A target that was removed meanwhile leaves nothing out.
async fn quiet_of(conn: &mut Conn, link: &Link) -> Result<Arc<Quiet>, StoreError> {
    let targets = rows::targets(conn, &[&link.monitor]).await?;
    let target = targets.iter().find(|target| target.id == link.target);
    let given: Option<Map<String, Value>> = target.and_then(|target| serde_json::from_str(&target.spec).ok());
    let quiet = given.map(|given| Quiet::read(&given)).transpose();
    let quiet = quiet.unwrap_or_else(|error| {
        tracing::error!(monitor = link.monitor, %error, "target not readable; everything on its pages counts");
        None
    });
    Ok(Arc::new(quiet.unwrap_or_default()))
}

/// Whether changes of a monitor are to be judged.
pub(crate) fn wants_judge(monitor: &Monitor) -> bool {
    let has_goal = monitor.goal.as_deref().is_some_and(|goal| !goal.trim().is_empty());
    has_goal && monitor.judge_enabled != Some(false)
}

/// Returns the webhook of a monitor with its secrets. One that cannot be read is logged, and receives nothing.
pub(crate) async fn hook_of(conn: &mut Conn, monitor: &Monitor) -> Result<Option<Hook>, StoreError> {
    let Some(text) = &monitor.webhook else { return Ok(None) };
    let secrets = rows::secrets(conn, &monitor.id).await?;
    let hook: Result<Option<Hook>, AppError> = events::hook(text, &secrets);
    Ok(hook.unwrap_or_else(|error| {
        tracing::error!(monitor = monitor.id, ?error, "webhook of a monitor not readable; it receives nothing");
        None
    }))
}

#[cfg(test)]
mod tests {
    use base::Timestamp;

    use super::*;

    fn run(key: Option<&str>) -> Run {
        let now = Timestamp::UNIX_EPOCH;
        Run {
            id: "r".to_owned(),
            team_id: "t".to_owned(),
            api_key_id: None,
            kind: "monitor".to_owned(),
            subject: None,
            spec: "{}".to_owned(),
            private: false,
            status: store::runs::OPEN.to_owned(),
            warning: None,
            error: None,
            idempotency_key: key.map(str::to_owned),
            fingerprint: String::new(),
            created_at: now,
            finished_at: None,
            expires_at: now,
            address: None,
        }
    }

    #[test]
    fn a_run_names_its_part_of_a_check() {
        let link = Link { monitor: "m".to_owned(), check: "c".to_owned(), target: "t".to_owned(), position: 7 };
        assert_eq!(Link::of(&run(Some(&link.key()))).unwrap(), link);
        for broken in [None, Some("m/c/t"), Some("m/c/t/x"), Some("m/c/t/1/2")] {
            assert!(Link::of(&run(broken)).unwrap_err().is_permanent(), "{broken:?}");
        }
    }
}
