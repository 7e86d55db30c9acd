//! Whether the workers of a page compute: one that does leaves a question unanswered until it is done. The page does not
//! notice that they are asked.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::json;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::cdp::Session;
use crate::tab::Tab;

/// A worker that leaves a question open for so long computes.
const BUSY: Duration = Duration::from_millis(100);
/// One that has done so for so long was asked for something; what is shorter is its start.
const WORK: Duration = Duration::from_millis(300);

/// What was seen of the workers.
#[derive(Default)]
pub(super) struct Workers {
    questions: HashMap<String, Question>,
    worked: Option<Instant>,
}

struct Question {
    since: Instant,
    /// When it was answered.
    answer: Arc<OnceLock<Instant>>,
    task: AbortHandle,
}

impl Workers {
    /// Asks those that have nothing to answer. Says whether one of them computes.
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

    /// When one of them has last computed what it was asked for.
    pub(super) fn worked_until(&self) -> Option<Instant> {
        self.worked
    }
}

impl Question {
    fn ask(session: Session) -> Self {
        let answer = Arc::new(OnceLock::new());
        let answered = Arc::clone(&answer);
        let task = tokio::spawn(async move {
            // One that is gone is done too.
            let _ = session.call("Runtime.evaluate", json!({"expression": "0"})).await;
            let _ = answered.set(Instant::now());
        });
        Self { since: Instant::now(), answer, task: task.abort_handle() }
    }

    /// Until when the worker has computed, if it has for long.
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
