//! Health of a process, for load balancers and supervisors.

use std::time::Duration;

use app::{App, AppError, Refusal as _};
use serde::Serialize;
use serde_json::Value;
use tokio::time::timeout;
use utoipa::ToSchema;
use wire::{Capabilities, Capability};

/// Timeout of the health check; beyond it the database counts as unavailable.
const PATIENCE: Duration = Duration::from_secs(4);

/// Health of the service.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// Whether `status` is `ok`.
    success: bool,
    /// Health status.
    status: Status,
    /// Version of the program.
    version: &'static str,
    /// Optional capabilities of this server; only in `/health`.
    #[serde(skip_serializing_if = "Option::is_none")]
    capabilities: Option<Vec<Capability>>,
}

/// Health status of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The service works.
    Ok,
    /// The service is shutting down and should get no new requests.
    Draining,
    /// The database does not answer or cannot be written.
    DatabaseAway,
    /// The blob store cannot be reached.
    StorageAway,
    /// A disk is full, or has less free space than `data.min_free_mib`.
    StorageFull,
}

impl Status {
    /// Checks readiness: the process is not shutting down, the database and the blob store answer, and there is disk space.
    pub async fn check(app: &App, is_draining: bool) -> Self {
        if is_draining {
            return Self::Draining;
        }
        match timeout(PATIENCE, app.ready()).await {
            Ok(Ok(())) => Self::Ok,
            Ok(Err(AppError::StorageFull)) => Self::StorageFull,
            Ok(Err(AppError::StorageUnavailable(_))) => Self::StorageAway,
            Ok(Err(error)) => {
                if !error.is_outage() {
                    tracing::warn!(error = %crate::logging::Chain(&error), "readiness check failed");
                }
                Self::DatabaseAway
            }
            Err(_) => Self::DatabaseAway,
        }
    }

    /// Returns the description of the status in the error body.
    fn sentence(self) -> &'static str {
        match self {
            Self::Ok => "the service works",
            Self::Draining => "the service is shutting down and accepts no new requests",
            Self::DatabaseAway => "the database does not answer or cannot be written; see the log for the cause",
            Self::StorageAway => "the blob store (blobs.url) cannot be reached; see the log for the cause",
            Self::StorageFull => "a disk is full or nearly full (data.min_free_mib); see the log for which one",
        }
    }

    /// Returns the HTTP status: 200 or 503.
    #[must_use]
    pub fn code(self) -> u16 {
        if self == Self::Ok { 200 } else { 503 }
    }

    /// Returns the body, a [`Health`] in JSON.
    #[must_use]
    pub fn body(self, capabilities: Option<Capabilities>) -> Value {
        let success = self == Self::Ok;
        let capabilities = capabilities.map(|own| own.iter().collect());
        let health = Health { success, status: self, version: env!("CARGO_PKG_VERSION"), capabilities };
        let mut body = serde_json::to_value(health).unwrap_or_default();
        if !success && let Some(members) = body.as_object_mut() {
            // Every answer with another status than 200 has `error` (docs/CONTRACT.md, "Errors").
            members.insert("error".to_owned(), self.sentence().into());
        }
        body
    }
}
