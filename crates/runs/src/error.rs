//! Errors of the operations on runs and their webhooks.

use kernel::{AppError, Refusal, through_app};
use store::StoreError;
use wire::Code;

/// Reason why an operation on a run was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// Error that any operation may have.
    #[error(transparent)]
    App(#[from] AppError),
    /// Job that has already ended.
    #[error("the job has already ended")]
    JobFinished,
    /// Webhook delivery whose body is no longer kept.
    #[error("the body of this delivery is no longer stored: it was delivered, or its job has expired")]
    DeliveryGone,
}

through_app!(RunsError: StoreError);

impl Refusal for RunsError {
    fn code(&self) -> Code {
        match self {
            Self::App(error) => error.code(),
            Self::JobFinished => Code::JobFinished,
            Self::DeliveryGone => Code::DeliveryGone,
        }
    }

    fn passed_on(&self) -> Option<&dyn Refusal> {
        match self {
            Self::App(error) => Some(error),
            Self::JobFinished | Self::DeliveryGone => None,
        }
    }
}
