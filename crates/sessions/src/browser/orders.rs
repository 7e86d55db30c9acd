//! Prompts in a session: which ones are carried out, and how they are paid for. A session with prompts costs a fixed
//! extra, however many there are.

use interact::OrderError;
use kernel::AppError;
use kernel::reservation::Funds;
use parking_lot::Mutex;
use tokio::sync::Mutex as AsyncMutex;

use crate::SessionsError;

/// Prompts of one session.
#[derive(Default)]
pub(super) struct Orders {
    /// Lock held while credits are reserved.
    paying: AsyncMutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Reservation for the prompts; none before the first prompt.
    funds: Option<Funds>,
    /// Number of accepted prompts that have not ended.
    open: usize,
    begun: Begun,
}

/// State of the prompts that have started.
#[derive(Default)]
struct Begun {
    /// Whether a prompt did something, or found that the page lacks the element it names: then the extra is charged.
    counts: bool,
    /// Number of prompts that run or were cut off.
    undecided: usize,
}

/// Guard of a prompt with a reservation. When it is dropped and no prompt is to be charged, the reservation is
/// returned, unless another open prompt needs it.
pub(crate) struct Order<'a>(&'a Orders);

impl Orders {
    /// Reserves credits for a prompt; `reserve` is not run when an earlier prompt has reserved them.
    ///
    /// # Errors
    /// Errors of `reserve`.
    pub(super) async fn pay(
        &self,
        reserve: impl Future<Output = Result<Funds, AppError>>,
    ) -> Result<Order<'_>, AppError> {
        // Count the prompt before checking: from here on no other guard returns the reservation.
        let order = Order::new(self);
        let _turn = self.paying.lock().await;
        let is_paid = self.state.lock().funds.is_some();
        if !is_paid {
            let funds = reserve.await?;
            self.state.lock().funds = Some(funds);
        }
        Ok(order)
    }

    /// Records that a prompt starts. For a prompt that is cut off, [`Self::decide`] is never called.
    pub(super) fn begin(&self) {
        self.state.lock().begun.undecided += 1;
    }

    /// Records that a started prompt has ended; `counts` is false when the browser failed before it did anything.
    pub(super) fn decide(&self, counts: bool) {
        self.state.lock().begun.decide(counts);
    }

    /// Returns the reservation to charge at the end of the session; `None` when no prompt counts. `lost_browser` says
    /// that the browser died, not the session.
    pub(super) fn take_funds(&self, lost_browser: bool) -> Option<Funds> {
        let mut state = self.state.lock();
        let funds = state.funds.take();
        if state.begun.is_charged(lost_browser) { funds } else { None }
    }
}

impl Begun {
    fn decide(&mut self, counts: bool) {
        self.undecided -= 1;
        self.counts |= counts;
    }

    /// Whether the extra is charged. A prompt cut off by the end of the session may have done much; one cut off by the
    /// death of the browser is not charged.
    fn is_charged(&self, lost_browser: bool) -> bool {
        self.counts || (self.undecided > 0 && !lost_browser)
    }
}

impl<'a> Order<'a> {
    fn new(orders: &'a Orders) -> Self {
        orders.state.lock().open += 1;
        Self(orders)
    }
}

impl Drop for Order<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.open -= 1;
        if state.open == 0 && !state.begun.is_charged(false) {
            drop(state.funds.take());
        }
    }
}

/// Checks whether a prompt can be carried out, as far as its text tells.
///
/// # Errors
/// [`SessionsError::OrderRefused`].
pub(crate) fn check_order(prompt: &str) -> Result<(), SessionsError> {
    interact::check_order(prompt).map_err(|error| refused(&error))
}

/// Returns why a prompt is refused, and what would help.
pub(super) fn refused(error: &OrderError) -> SessionsError {
    SessionsError::OrderRefused(match error {
        OrderError::NotPlain { .. } => {
            format!("{error}; other instructions need a language model, and none is configured on this server")
        }
        _ => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_counts_unless_the_browser_failed() {
        let check = |begins: usize, decided: &[bool], lost_browser: bool, expect: bool| {
            let mut begun = Begun { undecided: begins, ..Begun::default() };
            decided.iter().for_each(|counts| begun.decide(*counts));
            assert_eq!(begun.is_charged(lost_browser), expect, "{begins} {decided:?} {lost_browser}");
        };
        check(0, &[], false, false);
        check(1, &[true], false, true);
        check(1, &[true], true, true);
        check(1, &[false], false, false);
        check(2, &[false, true], true, true);
        // Prompts that were cut off.
        check(1, &[], false, true);
        check(1, &[], true, false);
        check(2, &[false], false, true);
        check(2, &[false], true, false);
    }
}
