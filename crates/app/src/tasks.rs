//! Periodic tasks: when they run, and what operators see of them. [`TASKS`] lists them.

use std::collections::BTreeMap;

use kernel::{AppError, Refused};
use queue::{Periodic, Status, run_periodic};
use serde_json::Value;
use store::periodic::{self, TaskRun};
use tokio_util::sync::CancellationToken;
use wire::{TaskRunView, TaskView};

use crate::Operations;
use crate::task::{REMOVED, Task};
use crate::upkeep::TASKS;

/// Runs all tasks, each at its interval, until `stop`, each unless another process runs it. A failed task is logged and
/// tried again at its next turn.
#[crate::boxed]
pub async fn maintain(operations: Operations, stop: CancellationToken) {
    repeat(operations, TASKS, stop).await;
}

async fn repeat(operations: Operations, tasks: &'static [Task], stop: CancellationToken) {
    let app = operations.app.clone();
    let tasks = tasks.iter().map(|task| {
        let operations = operations.clone();
        Periodic::new(task.name, (task.every)(&operations), move || {
            let operations = operations.clone();
            async move {
                let status = match task.run(operations).await {
                    // The outage has log lines of its own; the next turn tries again.
                    Err(error) if error.is_outage() => return Ok(Status::new("outage")),
                    done => done?,
                };
                let removed = removed(&status);
                if removed > 0 {
                    tracing::info!(task = task.name, removed, "removed expired rows and files");
                }
                Ok::<_, Refused>(status)
            }
        })
    });
    run_periodic(app.store().clone(), app.clock().clone(), tasks.collect(), stop).await;
}

fn removed(status: &Status) -> usize {
    status.details.get(REMOVED).and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok()).unwrap_or(0)
}

/// Runs all tasks once, regardless of leases, for commands and tests. Returns the number of removed items by task.
///
/// # Errors
/// [`AppError::Internal`]; earlier tasks stay done.
#[crate::boxed]
pub async fn maintain_once(operations: &Operations) -> Result<BTreeMap<&'static str, usize>, Refused> {
    let mut counts = BTreeMap::new();
    for task in TASKS {
        counts.insert(task.name, removed(&task.run(operations.clone()).await?));
    }
    Ok(counts)
}

/// Returns all periodic tasks with their last runs, whichever process they ran in.
///
/// # Errors
/// [`AppError::Internal`].
#[crate::boxed]
pub async fn tasks(operations: &Operations) -> Result<Vec<TaskView>, AppError> {
    views(operations, TASKS).await
}

async fn views(operations: &Operations, tasks: &[Task]) -> Result<Vec<TaskView>, AppError> {
    let mut runs = periodic::all(&mut operations.app.conn().await?).await?;
    let view = |task: &Task| {
        let run = runs.iter().position(|run| run.name == task.name).map(|index| runs.swap_remove(index));
        TaskView {
            name: task.name.to_owned(),
            every_ms: u64::try_from((task.every)(operations).as_millis()).unwrap_or(u64::MAX),
            last_run: run.map(run_view),
        }
    };
    Ok(tasks.iter().map(view).collect())
}

fn run_view(run: TaskRun) -> TaskRunView {
    let TaskRun { started_at, duration_ms, status, details, error, next_at, .. } = run;
    let duration_ms = u64::try_from(duration_ms).unwrap_or(0);
    // Written by another version, perhaps; the other members say enough then.
    let details = serde_json::from_str(&details).unwrap_or_default();
    TaskRunView { started_at, duration_ms, status, details, error, next_at }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::operations::tests::operations;
    use crate::task::Run;

    static ROUNDS: AtomicUsize = AtomicUsize::new(0);

    /// Counts its runs; the second one finds nothing to count.
    async fn count(_: Operations) -> Result<Status, Refused> {
        Ok(match ROUNDS.fetch_add(1, Ordering::Relaxed) {
            0 => Status::done().with("counted", 1),
            _ => Status::new("idle"),
        })
    }

    /// Removes two items.
    async fn sweep_two(_: Operations) -> Result<usize, Refused> {
        Ok(2)
    }

    const OWN: &[Task] = &[
        Task {
            name: "count",
            every: |_| Duration::from_millis(5),
            run: Run::Other(|operations| Box::pin(count(operations))),
        },
        Task::sweep("two", |operations| Box::pin(sweep_two(operations))),
        Task::sweep("broken", |_| Box::pin(async { Err(AppError::NotFound("nothing").into()) })),
    ];

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn another_task_is_a_function_and_a_line() {
        let (operations, _folder) = operations().await;
        let before = views(&operations, OWN).await.unwrap();
        assert!(before.iter().all(|task| task.last_run.is_none()), "{before:?}");
        let stop = CancellationToken::new();
        let working = tokio::spawn(repeat(operations.clone(), OWN, stop.clone()));
        while ROUNDS.load(Ordering::Relaxed) < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stop.cancel();
        working.await.unwrap();
        let seen = views(&operations, OWN).await.unwrap();
        let last = |index: usize| seen[index].last_run.as_ref().unwrap();
        assert_eq!((seen[0].name.as_str(), seen[0].every_ms, last(0).status.as_str()), ("count", 5, "idle"));
        assert_eq!((last(1).status.as_str(), &last(1).details[REMOVED]), ("done", &Value::from(2)));
        assert_eq!((last(2).status.as_str(), last(2).error.is_some()), ("failed", true));
        assert_eq!(last(1).next_at - last(1).started_at, chrono::TimeDelta::seconds(60));
    }
}
