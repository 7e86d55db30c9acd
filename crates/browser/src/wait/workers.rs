//! Activity of a page's workers: a busy worker leaves an evaluation unanswered. The page cannot notice these
//! evaluations.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use cdp::Session;
use serde_json::json;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::tab::Tab;

/// Time without an answer after which a worker counts as busy.
const BUSY: Duration = Duration::from_millis(100);
/// Duration from which being busy counts as work; shorter ones are the worker's start.
const WORK: Duration = Duration::from_millis(300);

/// Observations of the workers.
#[derive(Default)]
pub(super) struct Workers {
    questions: HashMap<String, Question>,
    worked: Option<Instant>,
}

struct Question {
    since: Instant,
    /// Time of the answer.
    answer: Arc<OnceLock<Instant>>,
    task: AbortHandle,
}

impl Workers {
    /// Sends an evaluation to each idle worker. Returns whether any worker is busy.
    pub(super) fn look(&mut self, tab: &Tab) -> bool {
        let (now, workers) = (Instant::now(), tab.workers());
        for (_, ended) in self.questions.extract_if(|id, _| !workers.contains_key(id)) {
            self.worked = ended.work(now).or(self.worked);
        }
        let mut is_busy = false;
        for (id, session) in workers {
            let question = self.questions.entry(id).or_insert_with(|| Question::ask(session.clone()));
            self.worked = question.work(now).or(self.worked);
            match question.answer.get() {
                None => is_busy |= now - question.since >= BUSY,
                Some(_) if now - question.since >= BUSY => *question = Question::ask(session),
                Some(_) => {}
            }
        }
        is_busy
    }

    /// Returns the time when a worker last finished some work.
    pub(super) fn worked_until(&self) -> Option<Instant> {
        self.worked
    }
}

impl Question {
    fn ask(session: Session) -> Self {
        let answer = Arc::new(OnceLock::new());
        let answered = Arc::clone(&answer);
        let task = tokio::spawn(async move {
            // An error means that the worker has ended.
            let _ = session.call("Runtime.evaluate", json!({"expression": "0"})).await;
            let _ = answered.set(Instant::now());
        });
        Self { since: Instant::now(), answer, task: task.abort_handle() }
    }

    /// Returns the end of the worker's work, if it was busy for long enough.
    fn work(&self, now: Instant) -> Option<Instant> {
        let end = self.answer.get().copied().unwrap_or(now);
        (end - self.since >= WORK).then_some(end)
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        self.task.abort();
    }
}
