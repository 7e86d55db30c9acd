//! Credit reservations of requests: made before a request starts, settled or returned in every case.

use base::Timestamp;
use billing::LedgerError;
use cache::PageToKeep;
use store::ledger::Reservation;
use store::{Conn, StoreError};
use tokio::runtime::Handle;

use crate::auth::Caller;
use crate::bookings::{Change, Held, Source, settle};
use crate::tracked::tracked;
use crate::{App, AppError, Slot, metrics};

pub use crate::bookings::Record;

/// Reservation of one request. Dropping it unsettled, as when the client disconnects, returns all of it in the
/// background; after a crash, the periodic upkeep returns it when it expires.
pub struct Funds {
    app: App,
    source: Option<Source>,
    _at_work: Slot,
}

impl Funds {
    /// Reserves `amount` credits under a key of the ledger.
    ///
    /// # Errors
    /// [`AppError::InsufficientCredits`], [`AppError::BillingUnavailable`].
    #[crate::boxed]
    pub async fn reserve(
        app: &App,
        caller: &Caller,
        key: String,
        amount: i64,
        expires_at: Timestamp,
    ) -> Result<Self, AppError> {
        let (team, api_key) = (caller.team.id.clone(), caller.key.clone());
        let source = Source::Unlimited { key, team, api_key };
        if caller.team.unlimited || amount == 0 {
            let at_work = app.bookings().begin(source.team());
            return Ok(Self { app: app.clone(), source: Some(source), _at_work: at_work });
        }
        // If the request is dropped during the booking, the booking still completes, and the unclaimed funds return
        // themselves.
        let held = Self::hold(app.clone(), source, amount, expires_at);
        tracked(app.tracker(), held).await.map_err(refused)
    }

    async fn hold(app: App, source: Source, amount: i64, expires_at: Timestamp) -> Result<Self, StoreError> {
        let at_work = app.bookings().begin(source.team());
        let held = app.bookings().write(&app, Change::Reserve { source, amount, expires_at }).await?;
        let reserved = |first| Source::Reserved(Held { first, more: Vec::new() });
        Ok(Self { app, source: held.map(reserved), _at_work: at_work })
    }

    /// Raises the reservation to `amount` credits in all. If there are not enough, the existing reservation stays.
    ///
    /// # Errors
    /// Errors of [`Funds::reserve`].
    #[crate::boxed]
    pub async fn raise(&mut self, amount: i64) -> Result<(), AppError> {
        let Some(Source::Reserved(held)) = &self.source else { return Ok(()) };
        let before = held.amount();
        if before >= amount {
            return Ok(());
        }
        // The amount only grows, so each key is unique.
        let Reservation { key, team, api_key, expires_at, .. } = held.first.clone();
        let source = Source::Unlimited { key: format!("{key}/{amount}"), team, api_key };
        let more = Self::hold(self.app.clone(), source, amount - before, expires_at);
        let mut more = tracked(self.app.tracker(), more).await.map_err(|error| match refused(error) {
            // The error names the whole amount, as if nothing were reserved yet.
            AppError::InsufficientCredits { available, .. } => {
                AppError::InsufficientCredits { needed: amount, available: available + before }
            }
            other => other,
        })?;
        if let (Some(Source::Reserved(held)), Some(Source::Reserved(more))) = (&mut self.source, more.source.take()) {
            held.more.push(more.first);
        }
        Ok(())
    }

    /// Charges `credits` and returns the rest in the caller's transaction. After its commit, dropping the funds returns
    /// nothing more.
    ///
    /// # Errors
    /// Errors of [`store::ledger::settle`] and [`store::ledger::charge`].
    #[crate::boxed]
    pub async fn settle_in(&self, conn: &mut Conn, credits: i64, at: Timestamp) -> Result<(), StoreError> {
        match &self.source {
            Some(source) => settle(conn, source, credits, at).await,
            None => Ok(()),
        }
    }

    /// Charges `credits`, returns the rest and writes the row of the request and its page to keep, atomically.
    ///
    /// # Errors
    /// [`AppError::BillingUnavailable`]; then nothing is charged.
    #[crate::boxed]
    pub async fn settle(
        mut self,
        credits: i64,
        record: Option<Record>,
        page: Option<PageToKeep>,
    ) -> Result<(), AppError> {
        let Some(source) = self.source.take() else {
            return Ok(());
        };
        let app = self.app.clone();
        // Tracked, so that it completes even if the request is dropped.
        let booking = tracked(self.app.tracker(), async move {
            let change = Change::Settle { source: source.clone(), credits, record, page };
            let done = app.bookings().write(&app, change).await;
            if done.is_err() {
                // Restore the guard, so that an unsettled reservation is returned.
                drop(Self { _at_work: app.bookings().begin(source.team()), app, source: Some(source) });
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
        let Some(Source::Reserved(held)) = self.source.take() else {
            return;
        };
        // Without a runtime, as at process exit, the reservation is not released: it expires.
        let Ok(runtime) = Handle::try_current() else { return };
        let app = self.app.clone();
        let release = async move {
            let key = held.first.key.clone();
            if let Err(error) = app.bookings().write(&app, Change::Release(held)).await
                && error.is_news()
            {
                tracing::warn!(%error, key, "could not return a reservation; it will expire");
            }
        };
        self.app.tracker().spawn_on(release, &runtime);
    }
}

/// Returns why credits were not reserved.
#[must_use]
pub fn refused(error: StoreError) -> AppError {
    match error {
        StoreError::Ledger(LedgerError::Insufficient { needed, available }) => {
            AppError::InsufficientCredits { needed, available }
        }
        other => AppError::of_outage(Box::new(other)).unwrap_or_else(AppError::BillingUnavailable),
    }
}

#[cfg(test)]
mod tests {
    use billing::Balance;
    use store::ledger;

    use super::*;
    use crate::tests::app;

    /// End of the funds of a request.
    #[derive(Debug, Clone, Copy)]
    enum End {
        Settled(i64),
        Dropped,
    }

    async fn balance(app: &App, team: &str) -> Balance {
        ledger::balance(&mut app.conn().await.unwrap(), team).await.unwrap()
    }

    /// Returns a caller of a new team with this many credits.
    async fn poor(app: &App, caller: &Caller, id: &str, credits: i64) -> Caller {
        let team = store::teams::Team { unlimited: false, ..store::teams::Team::new(id, id, app.now()) };
        let conn = &mut app.conn().await.unwrap();
        store::teams::create(conn, &team).await.unwrap();
        let key = format!("grant:{id}");
        ledger::grant(conn, &ledger::Booking { key: &key, team: id, api_key: None, at: app.now() }, credits)
            .await
            .unwrap();
        Caller { team, ..caller.clone() }
    }

    /// Runs every path from a reservation through raises to its end: the amount spent is the amount charged, and
    /// nothing stays reserved.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn nothing_is_lost_and_nothing_is_spent_twice() {
        const CREDITS: i64 = 6;
        let (app, caller, _folder) = app().await;
        let expires_at = app.now() + chrono::TimeDelta::minutes(5);
        let mut number = 0;
        for (first, raises) in [(1, &[][..]), (1, &[1]), (1, &[4]), (1, &[6]), (1, &[7]), (2, &[1, 3, 5]), (1, &[9, 2])]
        {
            let covered = raises.iter().copied().filter(|to| *to <= CREDITS).fold(first, i64::max);
            let ends = (0..=covered).map(End::Settled).chain([End::Dropped]);
            for end in ends {
                number += 1;
                let id = format!("team-{number}");
                let caller = poor(&app, &caller, &id, CREDITS).await;
                let key = format!("scrape:{number}");
                let mut funds = Funds::reserve(&app, &caller, key, first, expires_at).await.unwrap();
                for to in raises {
                    let raised = funds.raise(*to).await;
                    match raised {
                        Ok(()) => assert!(*to <= CREDITS, "{to}"),
                        Err(AppError::InsufficientCredits { needed, available }) => {
                            assert_eq!((needed, available), (*to, CREDITS), "as if nothing were set aside yet");
                        }
                        Err(error) => panic!("{error:?}"),
                    }
                }
                let held = balance(&app, &id).await;
                assert_eq!((held.reserved, held.available, held.spent), (covered, CREDITS - covered, 0));
                let spent = match end {
                    End::Settled(credits) => {
                        funds.settle(credits, None, None).await.unwrap();
                        credits
                    }
                    End::Dropped => {
                        drop(funds);
                        0
                    }
                };
                settled(&app, &id, spent, CREDITS).await;
            }
        }
        app.drain().await;
    }

    /// Waits for the balance, because dropped funds are returned in the background.
    async fn settled(app: &App, team: &str, spent: i64, credits: i64) {
        for _ in 0..200 {
            let now = balance(app, team).await;
            if (now.reserved, now.spent, now.available) == (0, spent, credits - spent) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("{:?}, {spent} of {credits} spent", balance(app, team).await);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn more_than_is_set_aside_cannot_be_charged() {
        let (app, caller, _folder) = app().await;
        let caller = poor(&app, &caller, "team-a", 10).await;
        let expires_at = app.now() + chrono::TimeDelta::minutes(5);
        let mut funds = Funds::reserve(&app, &caller, "scrape:1".to_owned(), 1, expires_at).await.unwrap();
        funds.raise(3).await.unwrap();
        assert!(matches!(funds.settle(4, None, None).await, Err(AppError::BillingUnavailable(_))));
        settled(&app, "team-a", 0, 10).await;
        app.drain().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_surcharge_goes_with_the_transaction_of_its_page() {
        let (app, caller, _folder) = app().await;
        let caller = poor(&app, &caller, "team-a", 10).await;
        let expires_at = app.now() + chrono::TimeDelta::minutes(5);
        let reserve = |key: &str| Funds::reserve(&app, &caller, key.to_owned(), 4, expires_at);
        let (written, undone) = (reserve("page:1").await.unwrap(), reserve("page:2").await.unwrap());
        let now = app.now();
        let mut conn = app.conn().await.unwrap();
        let rolled_back = conn.tx(async |conn: &mut Conn| {
            undone.settle_in(conn, 3, now).await?;
            Err::<(), _>(StoreError::Inconsistent("on purpose".to_owned()))
        });
        assert!(rolled_back.await.is_err());
        conn.tx(async |conn: &mut Conn| written.settle_in(conn, 3, now).await).await.unwrap();
        drop(conn);
        drop((written, undone));
        settled(&app, "team-a", 3, 10).await;
        // A team without a credit limit is charged directly.
        let rich = Caller { team: store::teams::Team { unlimited: true, ..caller.team.clone() }, ..caller.clone() };
        let funds = Funds::reserve(&app, &rich, "page:3".to_owned(), 4, expires_at).await.unwrap();
        app.conn().await.unwrap().tx(async |conn: &mut Conn| funds.settle_in(conn, 2, now).await).await.unwrap();
        drop(funds);
        let end = balance(&app, "team-a").await;
        assert_eq!((end.spent, end.reserved, end.granted), (5, 0, 12));
        app.drain().await;
    }
}
