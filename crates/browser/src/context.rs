//! Browser context: cookies, storage, cache and proxy of one visit, all removed with it.

use std::sync::Arc;
use std::time::Duration;

use cdp::{CdpError, Session};
use cpu::line::Place;
use net::{EgressPass, EgressProxy};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::emulation::Emulation;
use crate::pool::Lease;
use crate::tab::{Children, Tab};

/// Time limit for Chromium to remove a context.
const PATIENCE: Duration = Duration::from_secs(3);

/// A browser context with its page. Dropping it removes both, then frees its slot.
pub(crate) struct Context {
    pub(crate) tab: Arc<Tab>,
    pub(crate) proxy: Arc<EgressProxy>,
    id: String,
    held: Mutex<Option<Held>>,
}

/// Resources that a context holds for as long as Chromium has it.
struct Held {
    lease: Lease,
    /// `None` once the page is kept for a client, which needs no slot.
    place: Option<Arc<Place>>,
    /// Chromium retries requests that were cut off, so the proxy must stay up to refuse them until the context is gone.
    _proxy: Arc<EgressProxy>,
}

/// Parameters of a new context.
pub(crate) struct Plan {
    pub(crate) client: net::Client,
    pub(crate) pass: EgressPass,
    pub(crate) emulation: Emulation,
    /// Handling of pages and workers that the page opens.
    pub(crate) children: Children,
}

impl Context {
    /// Creates a context, in a task of its own so that a half-made context is removed even if the caller has gone away.
    ///
    /// # Errors
    /// Errors of the protocol calls.
    pub(crate) async fn open(lease: Lease, place: Arc<Place>, plan: Plan) -> Result<Self, CdpError> {
        tokio::spawn(Self::make(lease, place, plan)).await.unwrap_or(Err(CdpError::Closed))
    }

    async fn make(lease: Lease, place: Arc<Place>, plan: Plan) -> Result<Self, CdpError> {
        let browser = lease.process.browser();
        let peers = Arc::clone(lease.process.peers());
        let admits: net::Admits = Arc::new(move |theirs, ours| peers.has(theirs, ours));
        let proxy = plan
            .client
            .egress_proxy(EgressPass { admits: Some(admits), ..plan.pass })
            .await
            .map_err(|error| CdpError::Refused { method: "egress proxy".to_owned(), message: error.to_string() })?;
        let params = json!({"disposeOnDetach": true, "proxyServer": format!("http://{}", proxy.addr()),
            "proxyBypassList": "<-loopback>"});
        let proxy = Arc::new(proxy);
        let id = text(&browser.call("Target.createBrowserContext", params).await?, "browserContextId")?;
        let held = Held { lease, place: Some(place), _proxy: Arc::clone(&proxy) };
        // From here on any failure drops the guard, which removes the context.
        let guard = Guard { id: id.clone(), held: Some(held) };
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
        let tab = Tab::open(session, target, plan.children).await?;
        plan.emulation.apply(&browser, &id, tab.session()).await?;
        Ok(Self { tab: Arc::new(tab), proxy, id, held: Mutex::new(guard.defuse()) })
    }

    /// Returns the id of the context in the protocol.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Returns the session of the browser itself; `None` if the context is removed already.
    pub(crate) fn browser(&self) -> Option<Session> {
        self.held.lock().as_ref().map(|held| held.lease.process.browser())
    }

    /// Whether the whole browser has ended, not just this page.
    pub(crate) fn is_browser_gone(&self) -> bool {
        self.held.lock().as_ref().is_none_or(|held| held.lease.process.is_gone())
    }

    /// Returns a token that is cancelled when the browser ends; `None` if the context is removed already.
    pub(crate) fn end_token(&self) -> Option<CancellationToken> {
        self.held.lock().as_ref().map(|held| held.lease.process.end_token())
    }

    /// Frees the slot of the context, which itself stays.
    pub(crate) fn keep(&self) {
        let mut held = self.held.lock();
        let place = held.as_mut().and_then(|held| {
            held.lease.keep();
            held.place.take()
        });
        drop(held);
        drop(place);
    }

    /// Removes the context and waits until it is removed.
    pub(crate) async fn remove(&self) {
        let held = self.held.lock().take();
        if let Some(held) = held {
            let _ = tokio::spawn(remove(self.id.clone(), held)).await;
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        drop(Guard { id: std::mem::take(&mut self.id), held: self.held.get_mut().take() });
    }
}

/// Removes a context when dropped, unless defused.
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
        // Without a runtime everything shuts down, including the browser.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(remove(std::mem::take(&mut self.id), held));
        }
    }
}

/// Removes a context. Kills the browser if that takes too long: such a browser is of no further use.
async fn remove(id: String, held: Held) {
    let browser = held.lease.process.browser();
    let call = browser.call("Target.disposeBrowserContext", json!({"browserContextId": id}));
    if tokio::time::timeout(PATIENCE, call).await.is_err() {
        tracing::warn!("a browser did not remove a context in time; it is killed");
        held.lease.process.kill();
    }
}

fn text(answer: &Value, name: &'static str) -> Result<String, CdpError> {
    let malformed = || CdpError::Malformed { method: "Target".to_owned(), lacks: name };
    answer[name].as_str().map(str::to_owned).ok_or_else(malformed)
}

#[cfg(test)]
mod tests {
    use cpu::line::Line;
    use net::{Allow, Client, Config, Egress, Limits};
    use testkit::Site;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use tokio::time::Instant;
    use visit::Visit;

    use super::*;
    use crate::pool::Company;
    use crate::{Browser, Settings};

    #[tokio::test]
    async fn only_the_browser_may_use_the_proxy_of_a_context() {
        let site = Site::start().await;
        site.html("/", "<p>seen");
        let egress = Egress { allow: vec![Allow::Address(site.addr())], ..Egress::default() };
        let client = Client::new(Config { egress, limits: Limits::default() }).unwrap();
        let browser = Browser::new(Settings::default(), client.clone(), cpu::Cpu::new(1));
        let (url, deadline) = (site.url("/"), Instant::now() + Duration::from_secs(20));
        let visit = Visit::new(&url, deadline);
        let lease = browser.pool.lease(Company::All, deadline).await.unwrap_or_else(|error| panic!("{error}"));
        let emulation = Emulation::of(&visit, &|_| Vec::new(), &lease.process.version);
        let owner = base::Owner::of_team("test");
        let place = Line::new(1, 0).enter(&owner, deadline).await.unwrap_or_else(|_| panic!("a place"));
        let pass = EgressPass { proxy: None, bytes: 1 << 20, deadline: Some(deadline), admits: None };
        let plan = Plan { client, pass, emulation, children: Children::default() };
        let context = Context::open(lease, Arc::new(place), plan).await.unwrap();

        // Another program on this machine, here even of the same user as the service.
        let mut stranger = TcpStream::connect(context.proxy.addr()).await.unwrap();
        let request = format!("GET {url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let _ = stranger.write_all(request.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = stranger.read_to_end(&mut answer).await;
        assert!(answer.is_empty(), "{}", String::from_utf8_lossy(&answer));
        assert!(site.requests().is_empty());

        let went = context.tab.session().call("Page.navigate", json!({"url": url.as_str()})).await.unwrap();
        assert!(went["errorText"].is_null(), "{went}");
        assert_eq!(site.requests().first().map(|seen| seen.path.as_str()), Some("/"));
        context.remove().await;
    }
}
