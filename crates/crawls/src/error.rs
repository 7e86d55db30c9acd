//! Errors of starting crawls and batches.

use ::runs::RunsError;
use kernel::{AppError, Refusal, through_app};
use serde_json::{Value, json};
use store::StoreError;
use wire::{Code, Invalid};

/// Reason why a crawl or a batch was not started.
#[derive(Debug, thiserror::Error)]
pub enum CrawlsError {
    /// Error that any operation may have.
    #[error(transparent)]
    App(AppError),
    /// Error of an operation on a run.
    #[error(transparent)]
    Runs(RunsError),
    /// Not enough credits for the maximum number of pages. Nothing was executed or charged.
    #[error("insufficient credits: {}", pages_sentence(field, *pages, *needed, *available))]
    InsufficientForPages {
        /// Field that sets the number of pages: `limit` or `urls`.
        field: &'static str,
        /// Number of pages.
        pages: i64,
        /// Maximum cost of the pages, in credits.
        needed: i64,
        /// Credits that the team can spend now.
        available: i64,
    },
}

impl CrawlsError {
    /// Turns a lack of credits into the error for `pages` pages requested by this field.
    pub(crate) fn for_pages(error: AppError, field: &'static str, pages: i64) -> Self {
        match error {
            AppError::InsufficientCredits { needed, available } => {
                Self::InsufficientForPages { field, pages, needed, available }
            }
            other => Self::App(other),
        }
    }
}

impl From<AppError> for CrawlsError {
    fn from(error: AppError) -> Self {
        Self::App(error)
    }
}

impl From<RunsError> for CrawlsError {
    fn from(error: RunsError) -> Self {
        match error {
            RunsError::App(error) => Self::App(error),
            error => Self::Runs(error),
        }
    }
}

through_app!(CrawlsError: Invalid, StoreError);

impl Refusal for CrawlsError {
    fn code(&self) -> Code {
        match self {
            Self::App(error) => error.code(),
            Self::Runs(error) => error.code(),
            Self::InsufficientForPages { .. } => Code::InsufficientCredits,
        }
    }

    fn passed_on(&self) -> Option<&dyn Refusal> {
        match self {
            Self::App(error) => Some(error),
            Self::Runs(error) => Some(error),
            Self::InsufficientForPages { .. } => None,
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::InsufficientForPages { field, pages, needed, available } => {
                let most = covered(*pages, *needed, *available);
                Some(json!([{ "path": field, "message": format!("may say at most {most} with these credits") }]))
            }
            Self::App(error) => error.details(),
            Self::Runs(error) => error.details(),
        }
    }
}

/// Returns how many pages the credits cover, at the price of the requested pages.
fn covered(pages: i64, needed: i64, available: i64) -> i64 {
    available.max(0).saturating_mul(pages).checked_div(needed).unwrap_or(0)
}

fn pages_sentence(field: &str, pages: i64, needed: i64, available: i64) -> String {
    let covered = covered(pages, needed, available);
    match field {
        "limit" => format!(
            "a crawl with a `limit` of {pages} pages needs {needed} and the team has {available}; \
             they cover a `limit` of {covered}"
        ),
        _ => format!("{pages} `{field}` need {needed} and the team has {available}; they cover {covered}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credits_that_pages_need_are_told_by_their_field() {
        let check = |field, pages, needed, available, want: &str| {
            let error = CrawlsError::for_pages(AppError::InsufficientCredits { needed, available }, field, pages);
            assert_eq!(error.to_string(), format!("insufficient credits: {want}"));
            assert_eq!(error.code(), Code::InsufficientCredits);
        };
        let crawl = "a crawl with a `limit` of 10000 pages needs 50000 and the team has 52; they cover a `limit` of 10";
        check("limit", 10_000, 50_000, 52, crawl);
        check("urls", 3, 3, 0, "3 `urls` need 3 and the team has 0; they cover 0");
        check("urls", 3, 3, -7, "3 `urls` need 3 and the team has -7; they cover 0");
        assert_eq!(covered(0, 0, 5), 0);
    }
}
