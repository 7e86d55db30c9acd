//! A visit, from the queue to the result.

mod failure;
mod visited;

use std::sync::Arc;
use std::time::Duration;

use cdp::CdpError;
use cpu::line::{NoPlace, Place};
use net::EgressPass;
use serde_json::json;
use tokio::time::Instant;
use url::Url;
use visit::{Acted, Visit};

use crate::Browser;
use crate::ads::{Rules, blocking};
use crate::clock::Clock;
use crate::context::{Context, Plan};
use crate::course::Course;
use crate::emulation::Emulation;
use crate::error::BrowserError;
use crate::held::{Held, Left, MAX_AGE, Watch};
use crate::page::Stay;
use crate::pool::Company;
use crate::requests::{Download, Requests};
use crate::results::Results;
use crate::state;
use crate::tab::{Children, Tab};
use crate::visited::{HeadersFor, OwnHeaders, Visited};
use failure::Failure;

/// Time at the end of the proxy's deadline that is reserved for removing the page.
const RESERVE: Duration = Duration::from_secs(3);
/// Minimum time that a held page outlives the visit's deadline.
const LEAST_HOLD: Duration = Duration::from_secs(1);
/// Chromium's error for an error status without a body, for which it shows a page of its own.
const EMPTY_ERROR: &str = "net::ERR_HTTP_RESPONSE_CODE_FAILURE";
/// Number of redirects that Chromium follows.
const MAX_REDIRECTS: usize = 20;

impl Browser {
    /// Visits a page: waits for a slot, navigates, waits until the page has settled, acts, captures, and removes
    /// everything. `headers` are those of the caller. Dropping the future aborts the visit and removes what it has
    /// opened.
    ///
    /// If the browser dies, the visit is retried once in a new one, unless an action was carried out.
    ///
    /// # Errors
    /// [`BrowserError`]. Error statuses such as 404 and 500 are pages.
    pub async fn visit(&self, visit: &Visit<'_>, headers: &HeadersFor<'_>) -> Result<Visited, BrowserError> {
        self.visit_until(visit, headers, visit.deadline).await.map(|(visited, _)| visited)
    }

    /// Visits a page like [`Browser::visit`] and holds it open under `name` for a while
    /// ([`Settings::hold`](crate::Settings::hold)), for [`Browser::resume`]. The page is evicted when another visit
    /// waits for its slot.
    ///
    /// # Errors
    /// [`BrowserError`].
    pub async fn visit_and_keep(
        &self,
        visit: &Visit<'_>,
        headers: OwnHeaders,
        name: &str,
    ) -> Result<Visited, BrowserError> {
        let hold = self.settings().hold;
        if hold.is_zero() {
            return self.visit(visit, &*headers).await;
        }
        let (visited, left) = self.visit_until(visit, &*headers, visit.deadline + hold + MAX_AGE).await?;
        // A file has no page to hold, and a waiting visit has more use for the slot.
        if visited.rendered.dom.is_some() && self.line.waiting() == 0 {
            let held = self.hold(visit, left, Box::new(move |url| headers(url)), Instant::now() + hold).await;
            self.holds.put(name, held);
        }
        Ok(visited)
    }

    /// Visits a page like [`Browser::visit`] and keeps it open until `until`, or until the returned [`Held`] is
    /// dropped. The page keeps its slot.
    ///
    /// # Errors
    /// [`BrowserError`]; `Unavailable` if the URL is a file, on which nothing can be done.
    pub async fn visit_and_hold(
        &self,
        visit: &Visit<'_>,
        headers: impl Fn(&Url) -> Vec<(String, String)> + Send + Sync + 'static,
        until: Instant,
    ) -> Result<(Visited, Held), BrowserError> {
        let (visited, left) = self.visit_until(visit, &headers, until.max(visit.deadline + LEAST_HOLD)).await?;
        if visited.rendered.dom.is_none() {
            return Err(BrowserError::Unavailable { reason: "the URL is a file, not a page".to_owned() });
        }
        Ok((visited, self.hold(visit, left, Box::new(headers), until).await))
    }

    async fn hold(&self, visit: &Visit<'_>, left: Left, headers: Box<HeadersFor<'static>>, until: Instant) -> Held {
        let rules = self.rules(visit).await;
        let watch = Watch { url: visit.url.clone(), headers, rules, bytes: self.client.page_bytes() };
        Held::new(left, watch, self.cpu.share(&visit.owner), until)
    }

    /// Returns the ad-blocking rules, if the visit wants them.
    pub(crate) async fn rules(&self, visit: &Visit<'_>) -> Option<Arc<Rules>> {
        if visit.block_ads { Some(self.ads.rules(self.settings()).await) } else { None }
    }

    /// Visits a page. `until` is the time after which nothing may be loaded, even if the page is kept.
    async fn visit_until(
        &self,
        visit: &Visit<'_>,
        headers: &HeadersFor<'_>,
        until: Instant,
    ) -> Result<(Visited, Left), BrowserError> {
        let began = Instant::now();
        let place = Arc::new(self.enter(visit).await?);
        let waited = began.elapsed();
        let common = Common { visit, headers, place, course: Course::of(visit, until > visit.deadline), until };
        let mut result = self.attempt(&common).await;
        let is_gone = matches!(result, Err(Failure { is_browser_gone: true, .. }));
        if common.course.goes_again(is_gone) {
            result = self.attempt(&common).await;
        }
        let (mut visited, left) = result.map_err(Failure::told)?;
        visited.rendered.waited = waited;
        Ok((visited, left))
    }

    async fn enter(&self, visit: &Visit<'_>) -> Result<Place, BrowserError> {
        // A page that is only held for a client that may come back gives way before this visit has to wait.
        if !self.line.has_room() {
            self.holds.give_up_one();
        }
        self.line.enter(&visit.owner, visit.deadline).await.map_err(|none| match none {
            NoPlace::Late => BrowserError::Timeout,
            NoPlace::Full => BrowserError::Unavailable { reason: "the queue is full (browser.waiting)".to_owned() },
        })
    }

    async fn attempt(&self, common: &Common<'_>) -> Result<(Visited, Left), Failure> {
        // Noisy sites and teams get a browser of their own, so that a crash costs only their pages.
        let Common { visit, headers, ref place, ref course, until } = *common;
        let company = if self.noisy.is_noisy(visit.url, &visit.owner.team) { Company::Noisy } else { Company::All };
        let lease = self.pool.lease(company, visit.deadline).await?;
        let emulation = Emulation::of(visit, headers, &lease.process.version);
        let (timezone, agent) = (emulation.timezone(), emulation.for_workers().1);
        let rules = self.rules(visit).await;
        let blocker = blocking(rules.clone());
        let requests = Requests::new(visit.url, headers, blocker.as_deref(), self.client.page_bytes());
        let pass = EgressPass {
            proxy: visit.proxy.clone(),
            bytes: self.client.page_bytes(),
            deadline: Some(until.max(visit.deadline) + RESERVE),
            admits: None,
        };
        let calls = vec![emulation.for_workers(), requests.enable()];
        let children = Children { calls, keeps_popups: false, visits: 1 };
        let plan = Plan { client: self.client.clone(), pass, emulation, children };
        let process = Arc::clone(&lease.process);
        let opened = tokio::time::timeout_at(visit.deadline, Context::open(lease, Arc::clone(place), plan)).await;
        let context = opened
            .unwrap_or(Err(CdpError::Timeout))
            .map_err(|error| Failure { is_browser_gone: process.is_gone(), error: error.into() })?;
        let results = Results::new(self.client.page_bytes(), self.client.in_flight().room(&visit.owner));
        let (rules, results) = (rules.as_deref(), &results);
        let run = Run { visit, context: &context, requests: &requests, results, rules, course, timezone };
        let events = context.tab.session().events_of(&["Fetch."]);
        // Subscribed before `events` ends, so that a page that is kept misses no request in between.
        let later = context.tab.session().events_of(if until > visit.deadline { &["Fetch."] } else { &[] });
        let result = tokio::select! {
            result = run.steps() => result,
            () = requests.serve(&context.tab, events) => Err(BrowserError::Crashed),
            error = context.tab.ended() => Err(error.into()),
            () = tokio::time::sleep_until(visit.deadline) => Err(BrowserError::Timeout),
        };
        match result {
            Ok(visited) => Ok((visited, Left { context, events: later, agent })),
            Err(error) => Err(self.judge(visit, &context, &process, error).await),
        }
    }
}

/// Data that the attempts at one visit share.
struct Common<'a> {
    visit: &'a Visit<'a>,
    headers: &'a HeadersFor<'a>,
    place: Arc<Place>,
    course: Course,
    /// Time after which nothing may be loaded, even if the page is kept.
    until: Instant,
}

/// One attempt at a visit, with its context.
pub(crate) struct Run<'a> {
    pub(crate) visit: &'a Visit<'a>,
    pub(crate) context: &'a Context,
    pub(crate) requests: &'a Requests<'a>,
    pub(crate) results: &'a Results,
    pub(crate) rules: Option<&'a Rules>,
    pub(crate) course: &'a Course,
    pub(crate) timezone: &'static str,
}

/// Result of navigation and actions, before the capture.
pub(crate) enum Arrived<'a> {
    /// The URL is a file.
    File(Download),
    /// A page, with the results of its actions.
    Page(Stay<'a>, Acted),
}

impl Run<'_> {
    fn tab(&self) -> &Tab {
        &self.context.tab
    }

    async fn steps(&self) -> Result<Visited, BrowserError> {
        match self.arrive().await? {
            Arrived::File(file) => self.file(file).await,
            Arrived::Page(mut stay, acted) => {
                let shown = stay.capture().await?;
                if self.context.proxy.is_spent() {
                    let mib = self.requests.max_body() >> 20;
                    stay.warnings.push(format!(
                        "the page and its resources exceed the limit of {mib} MiB (fetch.max_decoded_mib); the rest was not loaded"
                    ));
                }
                self.visited(acted, shown, stay.warnings).await
            }
        }
    }

    /// Navigates to the page, waits until it has settled, and carries out the actions.
    pub(crate) async fn arrive(&self) -> Result<Arrived<'_>, BrowserError> {
        let visit = self.visit;
        self.introduce().await?;
        if let Some(file) = self.go().await? {
            return Ok(Arrived::File(file));
        }
        // Checked again after each step: any of them may have led to another document.
        self.check()?;
        let clock = if self.course.may_hurry() { Clock::fast(self.tab()) } else { Clock::real(self.tab()) };
        let mut stay = Stay::new(clock, visit, self.results);
        stay.arrive().await?;
        if stay.is_stuck() {
            self.unstick().await?;
        }
        self.check()?;
        if let Some(rules) = self.rules
            && let Err(error) = rules.hide(self.tab(), visit.deadline).await
        {
            tracing::debug!(%error, "could not hide advertisements and consent notices; the page is captured with them");
        }
        let acted = stay.act(self.course).await?;
        self.check()?;
        Ok(Arrived::Page(stay, acted))
    }

    /// Handles a script that waits for a stopped clock: fails the attempt so that the next one uses real time, or just
    /// terminates the script if there is no time for that.
    async fn unstick(&self) -> Result<(), BrowserError> {
        self.tab().session().post("Runtime.terminateExecution", json!({})).await;
        if self.course.slow_down(self.visit.deadline) { Err(BrowserError::Timeout) } else { Ok(()) }
    }

    /// Sets up the page before its first navigation.
    async fn introduce(&self) -> Result<(), BrowserError> {
        let session = self.tab().session();
        if let Some(state) = self.visit.state {
            state::load(self.context, state, self.visit.deadline).await?;
        }
        let (method, params) = self.requests.enable();
        session.call(method, params).await?;
        Ok(())
    }

    /// Navigates to the page. Returns the file if the URL is one.
    async fn go(&self) -> Result<Option<Download>, BrowserError> {
        let before = self.tab().document().number;
        self.requests.begin(before);
        if let Some(file) = self.navigate().await? {
            return Ok(Some(file));
        }
        // The answer to the call may overtake the events.
        let mut stage = self.tab().stage();
        let _ = tokio::time::timeout_at(self.visit.deadline, stage.wait_for(|(number, _)| *number > before)).await;
        Ok(None)
    }

    async fn navigate(&self) -> Result<Option<Download>, BrowserError> {
        for is_second in [false, true] {
            let navigate = json!({"url": self.visit.url.as_str()});
            let session = self.tab().session();
            let answer = session.call_by(self.visit.deadline, "Page.navigate", navigate).await?;
            let Some(error) = answer["errorText"].as_str() else { return Ok(None) };
            match (error, self.requests.take_download()) {
                (_, Some(file)) => return Ok(Some(file)),
                (EMPTY_ERROR, None) => return Ok(None),
                // Chromium took it for a download; the second attempt reads the body itself.
                ("net::ERR_ABORTED", None) if !is_second => self.requests.take_all(),
                _ => return Err(self.failure(error)),
            }
        }
        Err(self.failure("net::ERR_ABORTED"))
    }

    /// Returns the reason why the last document failed. The proxy knows it better than Chromium.
    fn failure(&self, error: &str) -> BrowserError {
        let limit = self.requests.max_body();
        if self.context.proxy.is_spent() {
            return BrowserError::TooLarge { what: "bytes of a page and its resources (fetch.max_decoded_mib)", limit };
        }
        let asked = self.tab().asked();
        self.refusal(&asked).unwrap_or_else(|| named(error, &asked))
    }

    fn refusal(&self, url: &str) -> Option<BrowserError> {
        let url = Url::parse(url).ok()?;
        let why = self.context.proxy.failure(url.host_str()?, url.port_or_known_default()?)?;
        Some(match why {
            net::Error::Blocked { host, reason } => BrowserError::Blocked { host, reason },
            net::Error::Timeout => BrowserError::Timeout,
            known @ (net::Error::Dns { .. } | net::Error::Tls { .. } | net::Error::Proxy { .. }) => known.into(),
            other => BrowserError::Site { reason: other.to_string() },
        })
    }

    /// Checks that the document is the site's, not an error page of Chromium or the proxy.
    fn check(&self) -> Result<(), BrowserError> {
        let document = self.tab().document();
        if let Some(error) = document.failure.as_deref().filter(|error| *error != EMPTY_ERROR) {
            return Err(self.failure(error));
        }
        if let Some(error) = document.cut_short.as_deref() {
            return Err(self.failure(error));
        }
        // A refusal of our proxy is an answer like any other to Chromium, which shows it as a page.
        if document.header("proxy-status").is_some_and(|status| status.starts_with("quarry;"))
            && let Some(error) = self.refusal(&document.url)
        {
            return Err(error);
        }
        Ok(())
    }
}

/// Maps an error of Chromium to one of the visit.
fn named(error: &str, asked: &str) -> BrowserError {
    let reason = error.trim_start_matches("net::").to_owned();
    if reason == "ERR_TOO_MANY_REDIRECTS" {
        return net::Error::TooManyRedirects { limit: MAX_REDIRECTS }.into();
    }
    if reason.starts_with("ERR_CERT_") || reason.starts_with("ERR_SSL_") {
        let url = Url::parse(asked).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or_default().to_owned();
        let is_certificate = reason.starts_with("ERR_CERT_");
        return net::Error::Tls { host, reason, is_certificate }.into();
    }
    BrowserError::Site { reason }
}

#[cfg(test)]
mod tests;
