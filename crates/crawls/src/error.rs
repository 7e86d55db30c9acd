//! Errors of starting crawls and batches.

use ::runs::RunsError;
use answers::Refusal as NoAnswer;
use kernel::{AppError, Refusal, through_app};
use serde_json::{Value, json};
use store::StoreError;
use wire::{Code, Invalid, Need};

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
    /// The prompt is not plain, and there is no language model that may see it.
    #[error("{}{}", need.message(), unclear_parts(unclear))]
    PromptUnclear {
        /// What the server must support.
        need: Need,
        /// Parts of the prompt that were not understood; empty if it asks for nothing.
        unclear: Vec<String>,
    },
    /// The language model gave no options for the prompt. Nothing was charged.
    #[error("the language model gave no options for `prompt`: {0}")]
    ModelUnavailable(NoAnswer),
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
            Self::PromptUnclear { need, .. } => need.code,
            Self::ModelUnavailable(_) => Code::ModelUnavailable,
        }
    }

    fn passed_on(&self) -> Option<&dyn Refusal> {
        match self {
            Self::App(error) => Some(error),
            Self::Runs(error) => Some(error),
            Self::InsufficientForPages { .. } | Self::PromptUnclear { .. } | Self::ModelUnavailable(_) => None,
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::InsufficientForPages { field, pages, needed, available } => {
                let most = covered(*pages, *needed, *available);
                Some(json!([{ "path": field, "message": format!("may say at most {most} with these credits") }]))
            }
            Self::PromptUnclear { need, .. } => {
                Some(json!([{ "path": need.path, "code": need.code, "message": self.to_string() }]))
            }
            Self::ModelUnavailable(_) => None,
            Self::App(error) => error.details(),
            Self::Runs(error) => error.details(),
        }
    }

    fn retry_after(&self) -> Option<u64> {
        match self {
            Self::ModelUnavailable(_) => Some(30),
            other => other.passed_on().and_then(Refusal::retry_after),
        }
    }
}

/// Returns how many pages the credits cover, at the price of the requested pages.
fn covered(pages: i64, needed: i64, available: i64) -> i64 {
    available.max(0).saturating_mul(pages).checked_div(needed).unwrap_or(0)
}

/// Returns the end of a sentence that names the parts of a prompt that were not understood.
fn unclear_parts(unclear: &[String]) -> String {
    match unclear.iter().map(|part| format!("\"{part}\"")).collect::<Vec<_>>().join(", ") {
        parts if parts.is_empty() => String::new(),
        parts => format!("; not understood: {parts}"),
    }
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
