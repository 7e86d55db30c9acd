//! How a process is, for balancers and supervisors.

use std::time::Duration;

use app::{App, AppError};
use serde::Serialize;
use serde_json::Value;
use tokio::time::timeout;
use utoipa::ToSchema;
use wire::{Capabilities, Capability};

/// How long database and store of files may take to answer before the database counts as away.
const PATIENCE: Duration = Duration::from_secs(4);

/// How the service is.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// Whether `status` is `ok`.
    success: bool,
    /// How it is.
    status: Status,
    /// Version of the program.
    version: &'static str,
    /// What this server can do beyond what every server can; only `/health` says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    capabilities: Option<Vec<Capability>>,
}

/// One word for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All is well.
    Ok,
    /// It is about to stop and should get no new requests.
    Draining,
    /// The database does not answer, or cannot be written.
    DatabaseAway,
    /// The store of files cannot be reached.
    StorageAway,
    /// A disk is full, or has less room than `data.min_free_mib`.
    StorageFull,
}

impl Status {
    /// Whether a process can do its work: it is not stopping, the database and the store of files answer, and there is room.
    pub async fn of(app: &App, is_draining: bool) -> Self {
        if is_draining {
            return Self::Draining;
        }
        match timeout(PATIENCE, app.ready()).await {
            Ok(Ok(())) => Self::Ok,
            Ok(Err(AppError::StorageFull)) => Self::StorageFull,
            Ok(Err(AppError::StorageUnavailable(_))) => Self::StorageAway,
            Ok(Err(error)) => {
                if !error.is_outage() {
                    tracing::warn!(error = %crate::logging::Chain(&error), "not ready");
                }
                Self::DatabaseAway
            }
            Err(_) => Self::DatabaseAway,
        }
    }

    /// The same for people.
    fn sentence(self) -> &'static str {
        match self {
            Self::Ok => "all is well",
            Self::Draining => "the service takes no requests now: it is about to stop",
            Self::DatabaseAway => "the database does not answer or cannot be written; the log has the cause",
            Self::StorageAway => "the store of files (blobs.url) cannot be reached; the log has the cause",
            Self::StorageFull => "a disk is full or nearly full (data.min_free_mib); the log says which",
        }
    }

    /// The HTTP status: 200 or 503.
    #[must_use]
    pub fn code(self) -> u16 {
        if self == Self::Ok { 200 } else { 503 }
    }

    /// The answer, a [`Health`] in JSON.
    #[must_use]
    pub fn body(self, capabilities: Option<Capabilities>) -> Value {
        let success = self == Self::Ok;
        let capabilities = capabilities.map(|own| own.iter().collect());
        let health = Health { success, status: self, version: env!("CARGO_PKG_VERSION"), capabilities };
        let mut body = serde_json::to_value(health).unwrap_or_default();
        if !success && let Some(members) = body.as_object_mut() {
            // Every answer that is not 200 has `error` (docs/CONTRACT.md, "Errors").
            members.insert("error".to_owned(), self.sentence().into());
        }
        body
    }
}
