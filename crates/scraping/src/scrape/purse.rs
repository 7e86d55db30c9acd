//! Adapter for the credits of a scrape: the cost of a PDF with many pages is reserved before it is read.

use std::sync::Arc;

use ::scrape::{Funds as Cover, ScrapeError};
use async_trait::async_trait;
use base::Timestamp;
use kernel::auth::Caller;
use kernel::reservation::Funds;
use kernel::{App, AppError};
use tokio::sync::Mutex;
use wire::ScrapeOptions;

/// Reservation for one request.
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

/// Reservation for the part of a page's cost that exceeds the run's own reservation per page.
pub struct Surcharge {
    funds: Funds,
    /// Amount to charge, in credits.
    pub amount: i64,
}

impl Surcharge {
    /// Sets the amount that is finally charged.
    pub(super) fn costing(self, amount: i64) -> Self {
        Self { amount, ..self }
    }

    /// Charges the amount in the transaction that records the page, and returns the rest. Dropping the surcharge
    /// instead returns everything.
    ///
    /// # Errors
    /// [`store::StoreError`]; then the transaction must be rolled back.
    #[crate::boxed]
    pub async fn settle(&self, conn: &mut store::Conn, at: Timestamp) -> Result<(), store::StoreError> {
        self.funds.settle_in(conn, self.amount, at).await
    }
}

/// Reservation of a page of a run, empty until the page turns out to cost more.
pub(super) struct RunPurse<'a> {
    app: &'a App,
    caller: &'a Caller,
    /// Ledger key of the reservation.
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
