//! Child processes that read documents, and whether one is still busy after a case.

use std::fmt;
use std::time::Duration;

use lab::Tree;
use rustix::process::{Pid, getpriority_process};
use serde_json::Value;

use super::case::Case;
use super::server::Server;

/// Observation time.
const WATCH: Duration = Duration::from_millis(500);
/// Maximum processor time of an idle reader in that time.
const IDLE: Duration = Duration::from_millis(100);

/// Child processes of the service after the answer, without those of the index.
#[derive(Debug, Clone)]
pub(crate) struct Readers {
    /// Number of child processes without zombies.
    pub(crate) count: usize,
    /// Processor time of the busiest one during the observation.
    pub(crate) busiest: Duration,
}

/// Whether the case is about a document.
pub(crate) fn has_document(case: &Case) -> bool {
    case.input.get("json").and_then(Value::as_object).is_some_and(|json| json.contains_key("parsers"))
}

impl Readers {
    /// Observes the readers for half a second.
    pub(crate) async fn of(server: &Server) -> anyhow::Result<Self> {
        let tree = server.tree()?;
        let before: Vec<_> = children(&tree).map(|id| (id, lab::cpu(id).unwrap_or_default())).collect();
        tokio::time::sleep(WATCH).await;
        let used = before.iter().map(|(id, before)| lab::cpu(*id).unwrap_or_default().saturating_sub(*before));
        Ok(Self { count: before.len(), busiest: used.max().unwrap_or_default() })
    }

    /// Checks that all readers are idle.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.busiest <= IDLE { Ok(()) } else { Err(format!("a document is still being read: {self}")) }
    }
}

impl fmt::Display for Readers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (busiest, watched) = (self.busiest.as_millis(), WATCH.as_millis());
        write!(out, "{} children, {busiest} ms of processor time in the {watched} ms after the answer", self.count)
    }
}

fn children(tree: &Tree) -> impl Iterator<Item = u32> {
    let running = tree.processes.iter().skip(1).filter(|process| !process.ended).map(|process| process.id);
    running.filter(|id| !is_of_the_index(*id))
}

/// Whether a process is a reader of the index, which reads documents of the cache at the lowest priority.
fn is_of_the_index(id: u32) -> bool {
    let id = i32::try_from(id).ok().and_then(Pid::from_raw);
    id.is_some_and(|id| getpriority_process(Some(id)) == Ok(cpu::LOWEST))
}
