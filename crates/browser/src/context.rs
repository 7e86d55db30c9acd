//! One browser context: the cookies, storage, cache and proxy of one visit. Nothing of it is left when it is gone.

use std::sync::Arc;
use std::time::Duration;

use cpu::line::Place;
use net::{EgressPass, EgressProxy};
use serde_json::{Value, json};

use crate::cdp::CdpError;
use crate::emulation::Emulation;
use crate::pool::Lease;
use crate::tab::Tab;

/// How long Chromium may take to remove a context.
const PATIENCE: Duration = Duration::from_secs(3);

/// A context with its page. Dropping it removes both, and then gives back its place.
pub(crate) struct Context {
    pub(crate) tab: Tab,
    pub(crate) proxy: EgressProxy,
    id: String,
    held: Option<Held>,
}

/// What a context keeps for as long as Chromium has it.
struct Held {
    lease: Lease,
    _place: Arc<Place>,
}

/// What a context is made with.
pub(crate) struct Plan {
    pub(crate) client: net::Client,
    pub(crate) pass: EgressPass,
    pub(crate) emulation: Emulation,
    /// Called in each session below the page before its scripts run.
    pub(crate) for_children: Vec<(&'static str, Value)>,
}

impl Context {
    /// Makes one. In a task of its own: what was begun must be taken back also when nobody waits for it.
    ///
    /// # Errors
    /// Those of the calls.
    pub(crate) async fn open(lease: Lease, place: Arc<Place>, plan: Plan) -> Result<Self, CdpError> {
        tokio::spawn(Self::make(lease, place, plan)).await.unwrap_or(Err(CdpError::Closed))
    }

    async fn make(lease: Lease, place: Arc<Place>, plan: Plan) -> Result<Self, CdpError> {
        let browser = lease.process.browser();
        let proxy = plan
            .client
            .egress_proxy(plan.pass)
            .await
            .map_err(|error| CdpError::Refused { method: "egress proxy".to_owned(), message: error.to_string() })?;
        let params = json!({"disposeOnDetach": true, "proxyServer": format!("http://{}", proxy.addr()),
            "proxyBypassList": "<-loopback>"});
        let id = text(&browser.call("Target.createBrowserContext", params).await?, "browserContextId")?;
        let guard = Guard { id: id.clone(), held: Some(Held { lease, _place: place }) };
        let deny = json!({"behavior": "deny", "browserContextId": id});
        let target = json!({"url": "about:blank", "browserContextId": id});
        let (_, made) = tokio::try_join!(
            browser.call("Browser.setDownloadBehavior", deny),
            browser.call("Target.createTarget", target),
        )?;
        let target = text(&made, "targetId")?;
        let attach = json!({"targetId": target, "flatten": true});
        let session = text(&browser.call("Target.attachToTarget", attach).await?, "sessionId")?;
        let session = browser.sibling(session);
        let tab = Tab::open(session, plan.for_children).await?;
        plan.emulation.apply(&browser, &id, tab.session()).await?;
        Ok(Self { tab, proxy, id, held: guard.defuse() })
    }

    /// Whether the browser has ended, and not only this page.
    pub(crate) fn is_browser_gone(&self) -> bool {
        self.held.as_ref().is_none_or(|held| held.lease.process.is_gone())
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        drop(Guard { id: std::mem::take(&mut self.id), held: self.held.take() });
    }
}

/// Removes a context unless it is told otherwise.
struct Guard {
    id: String,
    held: Option<Held>,
}

impl Guard {
    fn defuse(mut self) -> Option<Held> {
        self.held.take()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some(held) = self.held.take() else { return };
        // Without a runtime everything ends, the browser too.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(remove(std::mem::take(&mut self.id), held));
        }
    }
}

/// A browser that cannot remove a context is of no use any more.
async fn remove(id: String, held: Held) {
    let browser = held.lease.process.browser();
    let call = browser.call("Target.disposeBrowserContext", json!({"browserContextId": id}));
    if tokio::time::timeout(PATIENCE, call).await.is_err() {
        tracing::warn!("a browser did not remove a context in time and is ended");
        held.lease.process.kill();
    }
}

fn text(answer: &Value, name: &'static str) -> Result<String, CdpError> {
    let malformed = || CdpError::Malformed { method: "Target".to_owned(), lacks: name };
    answer[name].as_str().map(str::to_owned).ok_or_else(malformed)
}
