//! Periodic tasks in the operator's API.

use base::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::stamp;

/// Periodic tasks of a service, each run by one of its processes at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Tasks {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// All tasks.
    pub data: Vec<TaskView>,
}

/// Periodic task and its last run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    /// Name of the task.
    pub name: String,
    /// Interval between two runs, in milliseconds.
    pub every_ms: u64,
    /// Last run; null before the first one.
    pub last_run: Option<TaskRunView>,
}

/// Run of a periodic task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskRunView {
    /// Time of the start, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub started_at: Timestamp,
    /// Duration, in milliseconds.
    pub duration_ms: u64,
    /// Result, as a word: `done`, `failed`, or one of the task's own.
    pub status: String,
    /// Details of the result, such as the number of removed rows.
    pub details: Map<String, Value>,
    /// Error, if it failed.
    pub error: Option<String>,
    /// Time of the next run, RFC 3339. A time long past means that no process runs the task, or that it hangs.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub next_at: Timestamp,
}
