//! A visit, from the line to the end.

mod failure;
mod visited;

use std::sync::Arc;
use std::time::Duration;

use cpu::line::{NoPlace, Place};
use net::EgressPass;
use serde_json::json;
use tokio::time::Instant;
use url::Url;

use crate::Browser;
use crate::ads::{Rules, blocking};
use crate::cdp::CdpError;
use crate::clock::Clock;
use crate::context::{Context, Plan};
use crate::course::Course;
use crate::emulation::Emulation;
use crate::error::BrowserError;
use crate::held::{Held, Left, Watch};
use crate::page::Stay;
use crate::pool::Company;
use crate::requests::{Download, Requests};
use crate::results::Results;
use crate::session::{MAX_AGE, OwnHeaders};
use crate::state;
use crate::tab::{Children, Tab};
use crate::visit::{Acted, HeadersFor, Visit, Visited};
use failure::Failure;

/// Time that is kept at the end for what takes the page down, at most.
const RESERVE: Duration = Duration::from_secs(3);
/// How much longer than a visit a page can be held at least.
const LEAST_HOLD: Duration = Duration::from_secs(1);
/// An error status without a body: Chromium shows a page of its own in its place.
const EMPTY_ERROR: &str = "net::ERR_HTTP_RESPONSE_CODE_FAILURE";
/// Redirects that Chromium follows.
const MAX_REDIRECTS: usize = 20;

impl Browser {
    /// Visits a page: waits for a place, goes there, waits until it has settled, acts, captures, and leaves nothing behind.
    /// Dropping the future ends the visit with everything that it has opened.
    ///
    /// A browser that dies under a visit is replaced once, as long as nothing was acted on.
    ///
    /// # Errors
    /// See [`BrowserError`]. Statuses such as 404 and 500 are pages.
    pub async fn visit(&self, visit: &Visit<'_>) -> Result<Visited, BrowserError> {
        self.visit_until(visit, visit.deadline).await.map(|(visited, _)| visited)
    }

    /// As [`Browser::visit`], but the page is held open under `name` for a while ([`Settings::hold`](crate::Settings::hold)),
    /// for [`Browser::resume`]. `headers` are those of the visit. It is given up when another visit waits for its place.
    ///
    /// # Errors
    /// As there.
    pub async fn visit_and_keep(
        &self,
        visit: &Visit<'_>,
        headers: OwnHeaders,
        name: &str,
    ) -> Result<Visited, BrowserError> {
        let hold = self.settings().hold;
        if hold.is_zero() {
            return self.visit(visit).await;
        }
        let (visited, left) = self.visit_until(visit, visit.deadline + hold + MAX_AGE).await?;
        if visited.dom.is_some() && self.line.waiting() == 0 {
            let held = self.hold(visit, left, Box::new(move |url| headers(url)), Instant::now() + hold).await;
            self.holds.put(name, held);
        }
        Ok(visited)
    }

    /// As [`Browser::visit`], but the page stays open until `until`, or until what holds it is dropped. `headers` are those
    /// of the visit, for what the page asks for then. It keeps its place among the visits.
    ///
    /// # Errors
    /// As there, and `Unavailable` when the URL is a file, which nothing can be done with.
    pub async fn visit_and_hold(
        &self,
        visit: &Visit<'_>,
        headers: impl Fn(&Url) -> Vec<(String, String)> + Send + Sync + 'static,
        until: Instant,
    ) -> Result<(Visited, Held), BrowserError> {
        let (visited, left) = self.visit_until(visit, until.max(visit.deadline + LEAST_HOLD)).await?;
        if visited.dom.is_none() {
            return Err(BrowserError::Unavailable { reason: "the URL is a file and no page".to_owned() });
        }
        Ok((visited, self.hold(visit, left, Box::new(headers), until).await))
    }

    async fn hold(&self, visit: &Visit<'_>, left: Left, headers: Box<HeadersFor<'static>>, until: Instant) -> Held {
        let rules = self.rules(visit).await;
        let watch = Watch { url: visit.url.clone(), headers, rules, bytes: self.client.page_bytes() };
        Held::new(left, watch, self.cpu.share(&visit.owner), until)
    }

    /// What keeps advertisements out, if the visit wants that.
    pub(crate) async fn rules(&self, visit: &Visit<'_>) -> Option<Arc<Rules>> {
        if visit.block_ads { Some(self.ads.rules(self.settings()).await) } else { None }
    }

    /// `until` is when nothing may be loaded any more, whatever becomes of the page after the visit.
    async fn visit_until(&self, visit: &Visit<'_>, until: Instant) -> Result<(Visited, Left), BrowserError> {
        let began = Instant::now();
        let place = Arc::new(self.enter(visit).await?);
        let waited = began.elapsed();
        let course = Course::of(visit, until > visit.deadline);
        let mut result = self.attempt(visit, &place, &course, until).await;
        let is_gone = matches!(result, Err(Failure { is_browser_gone: true, .. }));
        if course.goes_again(is_gone) {
            result = self.attempt(visit, &place, &course, until).await;
        }
        let (visited, left) = result.map_err(Failure::told)?;
        Ok((Visited { waited, ..visited }, left))
    }

    async fn enter(&self, visit: &Visit<'_>) -> Result<Place, BrowserError> {
        if !self.line.has_room() {
            self.holds.give_up_one();
        }
        self.line.enter(&visit.owner, visit.deadline).await.map_err(|none| match none {
            NoPlace::Late => BrowserError::Timeout,
            NoPlace::Full => BrowserError::Unavailable { reason: "too many visits wait already".to_owned() },
        })
    }

    async fn attempt(
        &self,
        visit: &Visit<'_>,
        place: &Arc<Place>,
        course: &Course,
        until: Instant,
    ) -> Result<(Visited, Left), Failure> {
        let company = if self.noisy.is_noisy(visit.url, &visit.owner.team) { Company::Noisy } else { Company::All };
        let lease = self.pool.lease(company, visit.deadline).await?;
        let emulation = Emulation::of(visit, &lease.process.version);
        let (timezone, agent) = (emulation.timezone(), emulation.for_workers().1);
        let rules = self.rules(visit).await;
        let blocker = blocking(rules.clone());
        let requests = Requests::new(visit.url, visit.headers, blocker.as_deref(), self.client.page_bytes());
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
            .map_err(|error| Failure { is_browser_gone: process.is_gone(), error: broken(&error) })?;
        let results = Results::new(self.client.page_bytes(), self.client.in_flight().room(&visit.owner));
        let (rules, results) = (rules.as_deref(), &results);
        let run = Run { visit, context: &context, requests: &requests, results, rules, course, timezone };
        let events = context.tab.session().events_of(&["Fetch."]);
        // For whoever holds the page afterwards: no request may fall into the gap between.
        let later = context.tab.session().events_of(if until > visit.deadline { &["Fetch."] } else { &[] });
        let result = tokio::select! {
            result = run.steps() => result,
            () = requests.serve(&context.tab, events) => Err(BrowserError::Crashed),
            error = context.tab.ended() => Err(broken(&error)),
            () = tokio::time::sleep_until(visit.deadline) => Err(BrowserError::Timeout),
        };
        match result {
            Ok(visited) => Ok((visited, Left { context, events: later, agent })),
            Err(error) => Err(self.judge(visit, &context, &process, error).await),
        }
    }
}

/// What went wrong between the browser and us.
pub(crate) fn broken(error: &CdpError) -> BrowserError {
    match error {
        CdpError::Timeout => BrowserError::Timeout,
        CdpError::Closed | CdpError::Crashed => BrowserError::Crashed,
        CdpError::TooLarge { limit, .. } => {
            BrowserError::TooLarge { what: "bytes of one answer", limit: *limit as u64 }
        }
        CdpError::TooMany { limit, .. } => {
            BrowserError::TooLarge { what: "values in one answer", limit: *limit as u64 }
        }
        CdpError::Noisy { what, limit } => BrowserError::TooLarge { what, limit: *limit },
        other => BrowserError::Site { reason: other.to_string() },
    }
}

/// One attempt, once it has a context.
pub(crate) struct Run<'a> {
    pub(crate) visit: &'a Visit<'a>,
    pub(crate) context: &'a Context,
    pub(crate) requests: &'a Requests<'a>,
    pub(crate) results: &'a Results,
    pub(crate) rules: Option<&'a Rules>,
    pub(crate) course: &'a Course,
    pub(crate) timezone: &'static str,
}

/// What a page brought before it is captured.
pub(crate) enum Arrived<'a> {
    /// The URL is a file.
    File(Download),
    /// A page, with what its actions brought.
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
                        "the page wanted more than {mib} MiB with all that belongs to it, and did not get the rest"
                    ));
                }
                self.visited(acted, shown, stay.warnings).await
            }
        }
    }

    /// Goes to the page, waits until it has settled, and acts.
    pub(crate) async fn arrive(&self) -> Result<Arrived<'_>, BrowserError> {
        let visit = self.visit;
        self.introduce().await?;
        if let Some(file) = self.go().await? {
            return Ok(Arrived::File(file));
        }
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
            tracing::debug!(%error, "nothing was hidden");
        }
        let acted = stay.act(self.course).await?;
        self.check()?;
        Ok(Arrived::Page(stay, acted))
    }

    /// A script waits for a clock that stands. It is visited once more with its own clock, or loses that script if there is no
    /// time for it.
    async fn unstick(&self) -> Result<(), BrowserError> {
        self.tab().session().post("Runtime.terminateExecution", json!({})).await;
        if self.course.slow_down(self.visit.deadline) { Err(BrowserError::Timeout) } else { Ok(()) }
    }

    /// What is told to the page before it goes anywhere.
    async fn introduce(&self) -> Result<(), BrowserError> {
        let session = self.tab().session();
        if let Some(state) = self.visit.state {
            let loaded = state::load(self.context, state, self.visit.deadline).await;
            loaded.map_err(|error| broken(&error))?;
        }
        let (method, params) = self.requests.enable();
        session.call(method, params).await.map_err(|error| broken(&error))?;
        Ok(())
    }

    /// Goes to the page. Returns a file when it is one.
    async fn go(&self) -> Result<Option<Download>, BrowserError> {
        let before = self.tab().document().number;
        self.requests.begin(before);
        if let Some(file) = self.navigate().await? {
            return Ok(Some(file));
        }
        // The answer to the call may be faster than the events.
        let mut stage = self.tab().stage();
        let _ = tokio::time::timeout_at(self.visit.deadline, stage.wait_for(|(number, _)| *number > before)).await;
        Ok(None)
    }

    async fn navigate(&self) -> Result<Option<Download>, BrowserError> {
        for is_second in [false, true] {
            let navigate = json!({"url": self.visit.url.as_str()});
            let session = self.tab().session();
            let answer = session.call_by(self.visit.deadline, "Page.navigate", navigate).await;
            let answer = answer.map_err(|error| broken(&error))?;
            let Some(error) = answer["errorText"].as_str() else { return Ok(None) };
            match (error, self.requests.take_download()) {
                (_, Some(file)) => return Ok(Some(file)),
                (EMPTY_ERROR, None) => return Ok(None),
                // Chromium looked into it and would save it.
                ("net::ERR_ABORTED", None) if !is_second => self.requests.take_all(),
                _ => return Err(self.failure(error)),
            }
        }
        Err(self.failure("net::ERR_ABORTED"))
    }

    /// Why the last document did not come: the proxy knows better than Chromium.
    fn failure(&self, error: &str) -> BrowserError {
        let limit = self.requests.max_body();
        if self.context.proxy.is_spent() {
            return BrowserError::TooLarge { what: "page with all that belongs to it", limit };
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

    /// Whether what is shown is a page of the site, and not one of Chromium's or the proxy's about why there is none.
    fn check(&self) -> Result<(), BrowserError> {
        let document = self.tab().document();
        if let Some(error) = document.failure.as_deref().filter(|error| *error != EMPTY_ERROR) {
            return Err(self.failure(error));
        }
        if let Some(error) = document.cut_short.as_deref() {
            return Err(self.failure(error));
        }
        if document.header("proxy-status").is_some_and(|status| status.starts_with("quarry;"))
            && let Some(error) = self.refusal(&document.url)
        {
            return Err(error);
        }
        Ok(())
    }
}

/// What an error of Chromium says of the site that was asked.
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
