//! The funds of a scrape, as the pipeline sees them: what a PDF of many pages costs is set aside before they are read.

use std::sync::Arc;

use ::scrape::{Funds as Cover, ScrapeError};
use async_trait::async_trait;
use base::Timestamp;
use tokio::sync::Mutex;
use wire::ScrapeOptions;

use crate::auth::Caller;
use crate::reservation::Funds;
use crate::{App, AppError};

/// What was set aside for one request.
pub(super) struct Purse {
    funds: Mutex<Funds>,
    options: Arc<ScrapeOptions>,
}

impl Purse {
    pub(super) fn new(funds: Funds, options: Arc<ScrapeOptions>) -> Self {
        Self { funds: Mutex::new(funds), options }
    }

    pub(super) fn into_funds(self) -> Funds {
        self.funds.into_inner()
    }
}

#[async_trait]
impl Cover for Purse {
    async fn cover(&self, pages: u32) -> Result<(), ScrapeError> {
        let price = billing::quote_pages(&self.options, pages);
        self.funds.lock().await.raise(price).await.map_err(ScrapeError::port)
    }
}

/// What a page of a run costs beyond what the run has set aside for each of its pages.
pub(crate) struct Surcharge {
    funds: Funds,
    /// Credits.
    pub(crate) amount: i64,
}

impl Surcharge {
    /// The same for a page that cost so much in the end.
    pub(super) fn costing(self, amount: i64) -> Self {
        Self { amount, ..self }
    }

    /// Charges it in the transaction that writes the page down, and gives the rest back. Dropped without, it gives everything
    /// back.
    pub(crate) async fn settle(&self, conn: &mut store::Conn, at: Timestamp) -> Result<(), store::StoreError> {
        self.funds.settle_in(conn, self.amount, at).await
    }
}

/// A purse that is empty until a page of a run turns out to cost more.
pub(super) struct RunPurse<'a> {
    app: &'a App,
    caller: &'a Caller,
    /// What the ledger knows the page by.
    key: String,
    options: Arc<ScrapeOptions>,
    expires_at: Timestamp,
    extra: Mutex<Option<Surcharge>>,
}

impl<'a> RunPurse<'a> {
    pub(super) fn new(
        app: &'a App,
        caller: &'a Caller,
        key: String,
        options: Arc<ScrapeOptions>,
        expires_at: Timestamp,
    ) -> Self {
        Self { app, caller, key, options, expires_at, extra: Mutex::default() }
    }

    pub(super) fn into_surcharge(self) -> Option<Surcharge> {
        self.extra.into_inner()
    }

    async fn reserve(&self, amount: i64) -> Result<Surcharge, AppError> {
        let funds = Funds::reserve(self.app, self.caller, self.key.clone(), amount, self.expires_at).await?;
        Ok(Surcharge { funds, amount })
    }
}

#[async_trait]
impl Cover for RunPurse<'_> {
    async fn cover(&self, pages: u32) -> Result<(), ScrapeError> {
        let amount = billing::quote_pages(&self.options, pages) - billing::quote(&self.options);
        if amount > 0 {
            *self.extra.lock().await = Some(self.reserve(amount).await.map_err(ScrapeError::port)?);
        }
        Ok(())
    }
}
