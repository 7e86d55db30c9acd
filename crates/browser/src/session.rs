//! Browser sessions: a process of their own, or a page that a visit has left open. Either way all clients of a session
//! share one browser context.

use std::sync::Arc;

use cdp::{CdpError, Session as Cdp};
use cpu::Share;
use futures_util::FutureExt as _;
use net::EgressPass;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::task::AbortHandle;
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use visit::{State, Visit};

use crate::Browser;
use crate::ads::blocking;
use crate::context::{Context, Plan};
use crate::course::Course;
use crate::emulation::Emulation;
use crate::error::BrowserError;
use crate::hands::Hands;
use crate::held::{Held, MAX_AGE};
use crate::live::{self, Viewer};
use crate::pool::{Company, Pool};
use crate::relay::{self, Bounds, Client, RelayEnd};
use crate::requests::Requests;
use crate::results::Results;
use crate::run::Run;
use crate::settings::Settings;
use crate::state;
use crate::tab::{Children, Tab};
use crate::visited::OwnHeaders;
use cpu::line::Line;

/// Network budget of a session, in visits.
const VISITS: u64 = 20;
/// Time limit for attaching to another page.
const PATIENCE: Duration = Duration::from_secs(10);

/// A browser that is kept open. Dropping it ends the browser with all its processes.
pub struct Session {
    home: Home,
    context: Arc<Context>,
    bounds: Bounds,
    page: Mutex<Page>,
    gone: CancellationToken,
}

/// Kind of browser that a session uses.
enum Home {
    /// A process of its own, and the task that handles its requests if there is one.
    Own(Arc<Pool>, Option<AbortHandle>),
    /// A page in a browser of the pool.
    Shared(Mutex<Option<Held>>),
}

/// Page that code works on.
#[derive(Clone)]
struct Page {
    tab: Arc<Tab>,
    hands: Arc<Hands>,
}

impl Browser {
    /// Starts a separate browser and navigates as the visit says, including its actions; `about:blank` means nowhere.
    /// Captures nothing. The browser must not be used after `end`.
    ///
    /// # Errors
    /// [`BrowserError`]; [`BrowserError::Site`] if the URL is a file.
    pub async fn session(&self, visit: &Visit<'_>, headers: OwnHeaders, end: Instant) -> Result<Session, BrowserError> {
        let pool = Pool::new(alone(self.pool.settings()));
        let place = Line::new(1, 0).enter(&visit.owner, visit.deadline).await.map_err(|_| BrowserError::Timeout)?;
        let lease = pool.lease(Company::All, visit.deadline).await?;
        let gone = lease.process.end_token();
        let own = Arc::clone(&headers);
        let emulation = Emulation::of(visit, &*headers, &lease.process.version);
        let (_, agent) = emulation.for_workers();
        let timezone = emulation.timezone();
        let rules = self.rules(visit).await;
        let blocker = blocking(rules.clone());
        let requests = Requests::new(visit.url, &*own, blocker.as_deref(), self.client.page_bytes());
        let serves = goes(visit) && !headers(visit.url).is_empty() || blocker.is_some();
        let mut calls = vec![emulation.for_workers()];
        calls.extend(serves.then(|| requests.enable()));
        let children = Children { calls, keeps_popups: true, visits: 0 };
        let bytes = self.client.page_bytes().saturating_mul(VISITS);
        let pass = EgressPass { proxy: visit.proxy.clone(), bytes, deadline: Some(end), admits: None };
        let plan = Plan { client: self.client.clone(), pass, emulation, children };
        let opened = tokio::time::timeout_at(visit.deadline, Context::open(lease, Arc::new(place), plan)).await;
        let context = opened.unwrap_or(Err(CdpError::Timeout))?;
        // Subscribed before `begin` handles requests, so that none is missed in between. Requests that were handled
        // already are ignored by Chromium.
        let asked = serves.then(|| context.tab.session().events_of(&["Fetch."]));
        let course = &Course::lasting();
        // The results of the actions are discarded, but their size is limited.
        let results = &Results::new(self.client.page_bytes(), self.client.in_flight().room(&visit.owner));
        let (open, requests, shown) = (&context, &requests, rules.as_deref());
        let run = Run { visit, context: open, requests, results, rules: shown, course, timezone };
        begin(&run, serves).await?;
        let serving = asked.map(|asked| {
            let (url, tab, most) = (visit.url.clone(), Arc::clone(&context.tab), self.client.page_bytes());
            let serving = async move {
                let blocker = blocking(rules);
                Requests::new(&url, &*headers, blocker.as_deref(), most).serve(&tab, asked).await;
            };
            tokio::spawn(serving).abort_handle()
        });
        let proxy = format!("http://{}", context.proxy.addr());
        let bounds = Bounds { proxy, context: context.id().to_owned(), agent, share: None };
        let page = Mutex::new(Page::of(Arc::clone(&context.tab), self.cpu.share(&visit.owner)));
        Ok(Session { home: Home::Own(pool, serving), context: Arc::new(context), bounds, page, gone })
    }

    /// Resumes the page that a visit has left open under this name ([`Browser::visit_and_keep`]), until `end` at the
    /// latest, and frees its slot. Returns `None` if the page is gone.
    #[must_use]
    pub fn resume(&self, name: &str, end: Instant) -> Option<Session> {
        let held = self.holds.take(name)?;
        let context = held.prolong(end).filter(|context| !context.is_browser_gone() && !context.proxy.is_spent())?;
        let gone = context.end_token()?;
        context.keep();
        context.tab.allow(VISITS);
        context.proxy.allow(self.client.page_bytes().saturating_mul(VISITS));
        let (proxy, id) = (format!("http://{}", context.proxy.addr()), context.id().to_owned());
        let share = Some(Arc::clone(&held.share));
        let bounds = Bounds { proxy, context: id, agent: held.agent.clone(), share };
        let page = Page { tab: Arc::clone(&context.tab), hands: Arc::clone(held.hands()) };
        let (home, page) = (Home::Shared(Mutex::new(Some(held))), Mutex::new(page));
        Some(Session { home, context, bounds, page, gone })
    }
}

/// Whether a session starts by visiting a page.
fn goes(visit: &Visit<'_>) -> bool {
    visit.url.scheme() != "about"
}

/// Navigates to the first page. `serves` says whether requests are still handled afterwards.
async fn begin(run: &Run<'_>, serves: bool) -> Result<(), BrowserError> {
    let page = run.context.tab.session();
    if goes(run.visit) {
        arrive(run).await?;
        if !serves {
            // No task handles paused requests any more.
            page.post("Fetch.disable", json!({})).await;
        }
        return Ok(());
    }
    if let Some(state) = run.visit.state {
        state::load(run.context, state, run.visit.deadline).await?;
    }
    if serves {
        let (method, params) = run.requests.enable();
        page.call(method, params).await?;
    }
    Ok(())
}

async fn arrive(run: &Run<'_>) -> Result<(), BrowserError> {
    let tab = &run.context.tab;
    let events = tab.session().events_of(&["Fetch."]);
    let arrived = tokio::select! {
        arrived = run.arrive() => arrived?,
        () = run.requests.serve(tab, events) => return Err(BrowserError::Crashed),
        error = tab.ended() => return Err(error.into()),
        () = tokio::time::sleep_until(run.visit.deadline) => return Err(BrowserError::Timeout),
    };
    match arrived {
        crate::run::Arrived::Page(..) => Ok(()),
        crate::run::Arrived::File(_) => Err(BrowserError::Site { reason: "the URL is a file, not a page".to_owned() }),
    }
}

/// Returns the settings of a pool with one browser for one context.
fn alone(settings: &Settings) -> Settings {
    Settings { processes: 1, contexts: 1, waiting: 0, max_pages: 1, max_age: MAX_AGE, ..settings.clone() }
}

impl Session {
    /// Waits until the browser has ended for any reason.
    pub async fn gone(&self) {
        self.gone.cancelled().await;
    }

    /// Whether the browser has ended.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.gone.is_cancelled()
    }

    /// Returns the operations on the page. If the page was closed, switches to another page of the session or opens a
    /// new one.
    ///
    /// # Errors
    /// [`BrowserError::Crashed`] if the browser has ended or does not respond.
    pub async fn hands(&self) -> Result<Arc<Hands>, BrowserError> {
        let page = self.page.lock().clone();
        if page.tab.ended().now_or_never().is_none() {
            return Ok(page.hands);
        }
        let tab = tokio::time::timeout(PATIENCE, self.another_page()).await;
        let tab = tab.unwrap_or(Err(CdpError::Timeout))?;
        let page = Page::of(Arc::new(tab), page.hands.share().clone());
        *self.page.lock() = page.clone();
        Ok(page.hands)
    }

    /// Relays the DevTools protocol for a client until it disconnects.
    pub async fn relay(&self, client: Client) -> RelayEnd {
        let Some(browser) = self.browser() else { return RelayEnd::Gone };
        relay::relay(&browser, &self.bounds, client).await.unwrap_or(RelayEnd::Gone)
    }

    /// Shows the page to a viewer until it disconnects.
    pub async fn show(&self, viewer: Viewer) {
        if let Some(browser) = self.browser() {
            live::show(&browser, &self.bounds, viewer).await;
        }
    }

    /// Reads the current cookies and storage. `before` is the state that the session started with.
    ///
    /// # Errors
    /// [`BrowserError::Crashed`] if the browser has ended, [`BrowserError::Timeout`] at the deadline.
    pub async fn state(&self, before: &State, deadline: Instant) -> Result<State, BrowserError> {
        let page = self.page.lock().clone();
        state::save_page(&self.context, &page.tab, before, deadline).await.map_err(BrowserError::from)
    }

    /// Ends the session, and waits until its browser or page is gone.
    pub async fn close(&self) {
        match &self.home {
            Home::Own(pool, _) => pool.close().await,
            Home::Shared(held) => {
                drop(held.lock().take());
                self.context.remove().await;
            }
        }
    }

    fn browser(&self) -> Option<Cdp> {
        self.context.browser()
    }

    async fn another_page(&self) -> Result<Tab, CdpError> {
        let browser = self.browser().ok_or(CdpError::Closed)?;
        let found = browser.call("Target.getTargets", json!({ "filter": [{ "type": "page" }] })).await?;
        let known = found["targetInfos"].as_array().into_iter().flatten();
        let mut ours = known.filter(|target| target["browserContextId"] == self.bounds.context.as_str());
        let target = match ours.next() {
            Some(target) => target["targetId"].clone(),
            None => {
                let new = json!({ "url": "about:blank", "browserContextId": self.bounds.context });
                browser.call("Target.createTarget", new).await?["targetId"].take()
            }
        };
        let attached = browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true })).await?;
        let session = browser.sibling(text(&attached["sessionId"]));
        if let Some(share) = &self.bounds.share {
            session.restrain(Arc::clone(share));
        }
        session.call("Emulation.setUserAgentOverride", self.bounds.agent.clone()).await?;
        let calls = vec![("Emulation.setUserAgentOverride", self.bounds.agent.clone())];
        let is_alone = self.bounds.is_alone();
        let visits = if is_alone { 0 } else { VISITS };
        Tab::open(session, text(&target), Children { calls, keeps_popups: is_alone, visits }).await
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl Page {
    fn of(tab: Arc<Tab>, share: Share) -> Self {
        Self { hands: Arc::new(Hands::new(Arc::clone(&tab), share)), tab }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Self::Own(_, Some(serving)) = self {
            serving.abort();
        }
    }
}
