//! Pages that stay open after their visit.

use std::sync::{Arc, Weak};
use std::time::Duration;

use cdp::{Events, Share};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};
use url::Url;

use crate::ads::{Rules, blocking};
use crate::context::Context;
use crate::hands::Hands;
use crate::requests::Requests;
use crate::visited::HeadersFor;

/// Upper limit of the age of a page in a session; the session itself expires earlier.
pub(crate) const MAX_AGE: Duration = Duration::from_secs(2 * 60 * 60);

/// A page that stays open after its visit. Dropping it closes the page with everything that belongs to it.
pub struct Held {
    context: Weak<Context>,
    hands: Arc<Hands>,
    /// Parameters of `Emulation.setUserAgentOverride`, as set for the page.
    pub(crate) agent: Value,
    /// Bandwidth limit of the page on the debugging pipe.
    pub(crate) share: Arc<Share>,
    until: watch::Sender<Instant>,
    keeper: AbortHandle,
}

/// Parameters for handling the requests of the page.
pub(crate) struct Watch {
    pub(crate) url: Url,
    pub(crate) headers: Box<HeadersFor<'static>>,
    pub(crate) rules: Option<Arc<Rules>>,
    pub(crate) bytes: u64,
}

/// State that a finished visit hands over.
pub(crate) struct Left {
    pub(crate) context: Context,
    /// Requests that were not handled yet.
    pub(crate) events: Events,
    pub(crate) agent: Value,
}

impl Held {
    /// Keeps the page open until `until`. `cpu` provides permits for the work that its hands cause.
    pub(crate) fn new(left: Left, watch: Watch, cpu: cpu::Share, until: Instant) -> Self {
        let Left { context, events, agent } = left;
        let context = Arc::new(context);
        let hands = Arc::new(Hands::new(Arc::clone(&context.tab), cpu));
        let share = Arc::<Share>::default();
        context.tab.session().restrain(Arc::clone(&share));
        let (until, end) = watch::channel(until);
        let weak = Arc::downgrade(&context);
        let keeper = tokio::spawn(keep(context, events, watch, end)).abort_handle();
        Self { context: weak, hands, agent, share, until, keeper }
    }

    /// Returns the operations on the page. After its end they all fail as for a closed page.
    #[must_use]
    pub fn hands(&self) -> &Arc<Hands> {
        &self.hands
    }

    /// Whether the page is gone: its time has expired, or its browser has ended.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.keeper.is_finished()
    }

    /// Changes the expiry to `end`. Returns `None` if the page is gone.
    pub(crate) fn prolong(&self, end: Instant) -> Option<Arc<Context>> {
        let context = self.context.upgrade()?;
        self.until.send_replace(end);
        Some(context)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

/// Handles the requests of the page until it expires. The task owns the context, so both end together.
async fn keep(context: Arc<Context>, events: Events, watch: Watch, end: watch::Receiver<Instant>) {
    let blocker = blocking(watch.rules);
    let requests = Requests::new(&watch.url, &*watch.headers, blocker.as_deref(), watch.bytes);
    tokio::select! {
        () = requests.serve(&context.tab, events) => {}
        _ = context.tab.ended() => {}
        () = over(end) => {}
    }
}

/// Returns at the expiry, which may be postponed meanwhile.
async fn over(mut end: watch::Receiver<Instant>) {
    loop {
        let until = *end.borrow_and_update();
        tokio::select! {
            () = sleep_until(until) => return,
            changed = end.changed() => if changed.is_err() {
                return;
            },
        }
    }
}
