//! Orders in words in a session: which are carried out, and how they are paid for. They cost something on top of the
//! session, once, however many there are.

use interact::OrderError;
use parking_lot::Mutex;
use tokio::sync::Mutex as AsyncMutex;

use crate::AppError;
use crate::reservation::Funds;

/// The orders of one session.
#[derive(Default)]
pub(super) struct Orders {
    /// Held by the one who sets credits aside.
    paying: AsyncMutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What is set aside for them; none as long as none came.
    funds: Option<Funds>,
    /// Those that came and are not over.
    open: usize,
    begun: Begun,
}

/// What became of those that were begun.
#[derive(Default)]
struct Begun {
    /// Whether one did something, or found that the page does not have what it names: then the session costs more.
    counts: bool,
    /// Those that run, or were cut off.
    undecided: usize,
}

/// An order that is paid for. When it is over and there is none to charge for, what was set aside is given back, unless
/// another one that is open needs it.
pub(crate) struct Order<'a>(&'a Orders);

impl Orders {
    /// Lets an order be paid for: `reserve` sets credits aside, and is not asked when an earlier order has done so.
    ///
    /// # Errors
    /// Those of `reserve`.
    pub(super) async fn pay(
        &self,
        reserve: impl Future<Output = Result<Funds, AppError>>,
    ) -> Result<Order<'_>, AppError> {
        // Counted before it looks: from here on nobody gives back what is there.
        let order = Order::new(self);
        let _turn = self.paying.lock().await;
        let is_paid = self.state.lock().funds.is_some();
        if !is_paid {
            let funds = reserve.await?;
            self.state.lock().funds = Some(funds);
        }
        Ok(order)
    }

    /// Notes that an order begins. One that is cut off is never told of again.
    pub(super) fn begin(&self) {
        self.state.lock().begun.undecided += 1;
    }

    /// Notes that an order which was begun is over. It does not count when the browser failed before it did anything.
    pub(super) fn decide(&self, counts: bool) {
        self.state.lock().begun.decide(counts);
    }

    /// What the end of the session is charged to; none when no order counts. `lost_browser` says that the browser ended, and
    /// not the session.
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

    /// What was cut off by the end of the session may have done much, by that of the browser it is not held against anybody.
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

/// Whether an order is one that can be carried out, as far as its words tell.
///
/// # Errors
/// [`AppError::OrderRefused`].
pub(crate) fn check_order(prompt: &str) -> Result<(), AppError> {
    interact::check_order(prompt).map_err(|error| refused(&error))
}

/// Why a sentence is not carried out, and what would help.
pub(super) fn refused(error: &OrderError) -> AppError {
    AppError::OrderRefused(match error {
        OrderError::NotPlain { .. } => {
            format!("{error}; other orders need a language model, and the settings of this server name none")
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
        // Cut off.
        check(1, &[], false, true);
        check(1, &[], true, false);
        check(2, &[false], false, true);
        check(2, &[false], true, false);
    }
}
