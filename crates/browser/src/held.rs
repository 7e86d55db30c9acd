//! A page that stays open after its visit.

use std::sync::{Arc, Weak};

use serde_json::Value;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};
use url::Url;

use crate::ads::{Rules, blocking};
use crate::cdp::{Events, Share};
use crate::context::Context;
use crate::hands::Hands;
use crate::requests::Requests;
use crate::visit::HeadersFor;

/// A page that stays open after its visit. Dropping it closes the page with all that belongs to it.
pub struct Held {
    context: Weak<Context>,
    hands: Arc<Hands>,
    /// Parameters of `Emulation.setUserAgentOverride`, as the page was told.
    pub(crate) agent: Value,
    /// What is said to the page from now on takes no more of the pipe than this.
    pub(crate) share: Arc<Share>,
    until: watch::Sender<Instant>,
    keeper: AbortHandle,
}

/// What the requests of the page are looked at with.
pub(crate) struct Watch {
    pub(crate) url: Url,
    pub(crate) headers: Box<HeadersFor<'static>>,
    pub(crate) rules: Option<Arc<Rules>>,
    pub(crate) bytes: u64,
}

/// What a visit leaves when it is over.
pub(crate) struct Left {
    pub(crate) context: Context,
    /// Requests that nobody has looked at yet.
    pub(crate) events: Events,
    pub(crate) agent: Value,
}

impl Held {
    /// `cpu` has the places for the work that its hands make.
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

    /// What can be done with the page. After its end everything fails as with a page that is gone.
    #[must_use]
    pub fn hands(&self) -> &Arc<Hands> {
        &self.hands
    }

    /// Whether the page is gone: its time is over, or its browser has ended.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.keeper.is_finished()
    }

    /// Lets it stay open until `end` instead. None when it is gone.
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

/// Looks at the requests of the page, as the visit has, until its end. The context goes with the task.
async fn keep(context: Arc<Context>, events: Events, watch: Watch, end: watch::Receiver<Instant>) {
    let blocker = blocking(watch.rules);
    let requests = Requests::new(&watch.url, &*watch.headers, blocker.as_deref(), watch.bytes);
    tokio::select! {
        () = requests.serve(&context.tab, events) => {}
        _ = context.tab.ended() => {}
        () = over(end) => {}
    }
}

/// Returns at the end, which may be put off meanwhile.
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
