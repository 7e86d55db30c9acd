//! Errors of a map.

use fetch::FetchError;
use kernel::{AppError, Refusal, through_app};
use scrape::ScrapeError;
use scraping::ScrapingError;
use site::SiteError;
use store::StoreError;
use wire::Code;

/// Reason why a map was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// Error that any operation may have.
    #[error(transparent)]
    App(#[from] AppError),
    /// Start page that could not be read.
    #[error(transparent)]
    Scraping(ScrapingError),
    /// Map that found nothing before its deadline.
    #[error("The map operation timed out: no URLs were found within timeout; increase it")]
    MapTimeout,
}

through_app!(MapError: StoreError, SiteError);

impl Refusal for MapError {
    fn code(&self) -> Code {
        match self {
            Self::App(error) => error.code(),
            Self::Scraping(error) => error.code(),
            Self::MapTimeout => Code::MapTimeout,
        }
    }

    fn passed_on(&self) -> Option<&dyn Refusal> {
        match self {
            Self::App(error) => Some(error),
            Self::Scraping(error) => Some(error),
            Self::MapTimeout => None,
        }
    }
}

impl From<ScrapingError> for MapError {
    fn from(error: ScrapingError) -> Self {
        match error {
            ScrapingError::App(error) => Self::App(error),
            error => Self::Scraping(error),
        }
    }
}

impl From<ScrapeError> for MapError {
    fn from(error: ScrapeError) -> Self {
        ScrapingError::from(error).into()
    }
}

impl From<FetchError> for MapError {
    fn from(error: FetchError) -> Self {
        ScrapingError::from(error).into()
    }
}
