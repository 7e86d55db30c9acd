//! All queues and handlers, and the worker of this service.

use std::collections::BTreeMap;
use std::time::Duration;

use ::runs::webhooks::{Deliver, HOOKS};
use ::runs::{PAGES, PageHandler};
use crawls::batch::Fill;
use crawls::crawl::StartHandler;
use monitors::{CHATS, Fire, JUDGE, Judge, MAILS, MONITORS, Search, SendChat, SendMail};
use queue::{Queue, Worker};

use crate::Operations;

/// All queues, in the order in which they are listed. Section `queues` of the settings has a line for each.
pub const QUEUES: [Queue; 6] = [PAGES, HOOKS, MONITORS, JUDGE, MAILS, CHATS];

/// Limits of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerSettings {
    /// Number of concurrent jobs by queue name; 0 leaves the queue to other processes. A missing queue has its own
    /// default.
    pub slots: BTreeMap<String, u32>,
    /// Maximum number of concurrent requests to one host.
    pub per_host: u32,
    /// Lease of a job: after this time without renewal, other workers take the job over.
    pub lease: Duration,
    /// Time that running jobs have to end when the worker stops.
    pub drain: Duration,
}

/// Builds the worker of this service; [`Worker::run`] works until it is stopped.
#[must_use]
pub fn worker(operations: &Operations, settings: WorkerSettings) -> Worker {
    let app = &operations.app;
    let WorkerSettings { slots, per_host, lease, drain } = settings;
    let defaults = queue::Settings::default();
    let reap = defaults.reap.min(lease / 4);
    let settings = queue::Settings { slots, per_host, lease, heartbeat: lease / 3, reap, drain, ..defaults };
    Worker::new(app.store().clone(), app.clock().clone(), settings)
        .woken_by(app.waker().clone())
        .with(StartHandler { runs: operations.runs.clone() })
        .with(Fill { runs: operations.runs.clone() })
        .with_polite(PageHandler { runs: operations.runs.clone() })
        .with(Fire { monitors: operations.monitors.clone() })
        .with(Search { monitors: operations.monitors.clone() })
        .with(Judge { monitors: operations.monitors.clone() })
        .with(SendMail { monitors: operations.monitors.clone() })
        .with(SendChat { monitors: operations.monitors.clone() })
        .with(Deliver::new(app.store().clone(), app.clock().clone(), app.client().clone()))
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use ::runs::PagePayload;
    use ::runs::webhooks::DeliveryPayload;
    use crawls::batch::FillPayload;
    use crawls::crawl::StartPayload;
    use monitors::{ChatPayload, FirePayload, JudgePayload, MailPayload, SearchPayload};
    use queue::{NewJob, Payload};

    use super::*;

    /// Jobs of earlier versions wait in databases: these texts must not change, but new ones may be added.
    fn check<P: Payload + Debug>(stored: &str, kind: &str, queue: &str, attempts: i32) {
        let payload: P = serde_json::from_str(stored).unwrap();
        let job = NewJob::of("id", &payload, base::Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!((job.payload.as_str(), job.kind, job.max_attempts), (stored, kind, attempts));
        assert_eq!(P::QUEUE.name, queue);
        assert!(QUEUES.contains(&P::QUEUE));
    }

    #[test]
    fn payloads_are_stored_as_ever() {
        check::<StartPayload>(r#"{"crawl":"c"}"#, "crawl.start", "pages", 5);
        check::<FillPayload>(r#"{"crawl":"c"}"#, "batch.fill", "pages", 20);
        check::<PagePayload>(r#"{"crawl":"c","depth":2,"url":"https://a.test/"}"#, "crawl.page", "pages", 5);
        let fire = r#"{"monitor":"m","at":"2026-01-05T00:30:00Z"}"#;
        check::<FirePayload>(fire, "monitor.fire", "monitors", 20);
        let search = r#"{"monitor":"m","check":"c","target":"t","position":1}"#;
        check::<SearchPayload>(search, "monitor.search", "monitors", 3);
        check::<JudgePayload>(r#"{"monitor":"m","check":"c","page":"p"}"#, "monitor.judge", "judge", 3);
        let mail = r#"{"monitor":"m","check":"c","to":"a@b.test","at":"2026-01-05T00:30:00Z","attempt":1}"#;
        check::<MailPayload>(mail, "monitor.mail", "mails", 20);
        let confirmation = r#"{"monitor":"m","to":"a@b.test","at":"2026-01-05T00:30:00Z","attempt":2}"#;
        check::<MailPayload>(confirmation, "monitor.mail", "mails", 20);
        let chat = r#"{"monitor":"m","check":"c","channel":"h","attempt":1}"#;
        check::<ChatPayload>(chat, "monitor.chat", "chats", 20);
        check::<DeliveryPayload>(r#"{"delivery":"d"}"#, "webhook", "hooks", 5);
    }
}
