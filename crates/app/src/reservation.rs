//! Credits set aside for one request: taken before it starts, settled or given back whatever becomes of it.

use base::Timestamp;
use billing::LedgerError;
use store::StoreError;
use store::scrapes::Scrape;
use tokio::runtime::Handle;

use crate::auth::Caller;
use crate::bookings::{Change, Source};
use crate::cache::NewCopy;
use crate::tracked::tracked;
use crate::{App, AppError, metrics};

/// The funds of one request. Dropped unsettled, as when the client hangs up, it gives everything back in the background;
/// when the process dies, [`maintain`](crate::maintain) does so after the reservation has expired.
pub(crate) struct Funds {
    app: App,
    source: Option<Source>,
}

impl Funds {
    /// Sets `amount` credits aside under a key of the ledger.
    ///
    /// # Errors
    /// [`AppError::InsufficientCredits`], [`AppError::BillingUnavailable`].
    pub(crate) async fn reserve(
        app: &App,
        caller: &Caller,
        key: String,
        amount: i64,
        expires_at: Timestamp,
    ) -> Result<Self, AppError> {
        let (team, api_key) = (caller.team.id.clone(), caller.key.clone());
        let source = Source::Unlimited { key, team, api_key };
        if caller.team.unlimited || amount == 0 {
            return Ok(Self { app: app.clone(), source: Some(source) });
        }
        // When the request is dropped in the middle of the booking, the booking still ends, and the funds that nobody
        // picks up give themselves back.
        let held = Self::hold(app.clone(), source, amount, expires_at);
        tracked(&app.tracker, held).await.map_err(refused)
    }

    async fn hold(app: App, source: Source, amount: i64, expires_at: Timestamp) -> Result<Self, StoreError> {
        let held = app.bookings().write(&app, Change::Reserve { source, amount, expires_at }).await?;
        Ok(Self { app, source: held.map(Source::Reserved) })
    }

    /// Charges `credits`, gives the rest back and writes the row of the scrape and the copy of its page, all or nothing.
    ///
    /// # Errors
    /// [`AppError::BillingUnavailable`]; nothing is charged then.
    pub(crate) async fn settle(
        mut self,
        credits: i64,
        row: Option<Scrape>,
        copy: Option<Box<NewCopy>>,
    ) -> Result<(), AppError> {
        let Some(source) = self.source.take() else {
            return Ok(());
        };
        let app = self.app.clone();
        // Once begun, it ends, for the same reason.
        let booking = tracked(&self.app.tracker, async move {
            let change = Change::Settle { source: source.clone(), credits, row: row.map(Box::new), copy };
            let done = app.bookings().write(&app, change).await;
            if done.is_err() {
                // Puts the guard back: what could not be settled is given back.
                drop(Self { app, source: Some(source) });
            }
            done
        });
        booking.await.map_err(refused)?;
        metrics::charged(credits);
        Ok(())
    }
}

impl Drop for Funds {
    fn drop(&mut self) {
        let Some(Source::Reserved(reservation)) = self.source.take() else {
            return;
        };
        // Outside a runtime, as at the very end of a process, the reservation expires instead.
        let Ok(runtime) = Handle::try_current() else { return };
        let app = self.app.clone();
        let release = async move {
            let key = reservation.key.clone();
            if let Err(error) = app.bookings().write(&app, Change::Release(reservation)).await {
                tracing::warn!(%error, key, "reservation not given back yet, it will expire");
            }
        };
        self.app.tracker.spawn_on(release, &runtime);
    }
}

pub(crate) fn refused(error: StoreError) -> AppError {
    match error {
        StoreError::Ledger(LedgerError::Insufficient { needed, available }) => {
            AppError::InsufficientCredits { needed, available }
        }
        other => AppError::BillingUnavailable(Box::new(other)),
    }
}
