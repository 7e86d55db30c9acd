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
    /// Whether any was begun: then the session costs more.
    has_begun: bool,
}

/// An order that is paid for. When it is over and none was ever begun, what was set aside is given back, unless another one
/// that is open needs it.
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

    /// Notes that an order begins to do something.
    pub(super) fn begin(&self) {
        self.state.lock().has_begun = true;
    }

    /// What the end of the session is charged to; none when no order was begun.
    pub(super) fn take_funds(&self) -> Option<Funds> {
        let mut state = self.state.lock();
        let funds = state.funds.take();
        if state.has_begun { funds } else { None }
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
        if state.open == 0 && !state.has_begun {
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
