//! Actions of the caller on the page, one after the other.

mod click;
mod keyboard;
pub(crate) mod keys;
mod script;
mod scroll;
mod wait;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cdp::CdpError;
use serde_json::Value;
use tokio::time::Instant;
use url::Url;
use wire::Action;

use crate::clock::Clock;
use crate::results::{Results, TooMuch};
use crate::run::broken;
use crate::tab::{Tab, World};
use crate::visit::{Acted, ScrapedPage};
use crate::wait::{Patience, settle};
use crate::{BrowserError, dom, pdf, screenshot};

/// Script with the functions that find elements; precedes every other action script.
const FIND: &str = include_str!("../js/find.js");
/// Time limit for the page to settle after an action; what takes longer is waited for at the end.
const MAX_FOLLOW: Duration = Duration::from_secs(5);

/// Context in which actions are carried out.
pub(crate) struct Actor<'t> {
    pub(crate) tab: &'t Tab,
    /// Whether touch is used instead of a mouse.
    pub(crate) is_mobile: bool,
    /// Deadline of all actions.
    pub(crate) until: Instant,
    /// Counter for the size of the results.
    pub(crate) results: &'t Results,
    /// Set before the first action that may change something and must not be repeated.
    pub(crate) has_acted: &'t AtomicBool,
}

/// Reason why an action failed.
enum Failure {
    /// The whole visit failed.
    Visit(BrowserError),
    /// The page did not allow the action.
    Page { selector: Option<String>, reason: String },
}

impl Failure {
    fn of(selector: &str, reason: impl Into<String>) -> Self {
        Self::Page { selector: Some(selector.to_owned()), reason: reason.into() }
    }
}

impl From<BrowserError> for Failure {
    fn from(error: BrowserError) -> Self {
        Self::Visit(error)
    }
}

impl From<TooMuch> for Failure {
    fn from(error: TooMuch) -> Self {
        Self::Page { selector: None, reason: error.to_string() }
    }
}

impl From<CdpError> for Failure {
    fn from(error: CdpError) -> Self {
        Self::Visit(broken(&error))
    }
}

/// Carries out the actions in order, up to the first failure.
///
/// # Errors
/// `Action` for the failed action; `Timeout`, `TooLarge` and `Crashed`.
pub(crate) async fn perform(
    actor: &Actor<'_>,
    actions: &[Action],
    warnings: &mut Vec<String>,
) -> Result<Acted, BrowserError> {
    let mut acted = Acted::default();
    for (index, action) in actions.iter().enumerate() {
        match actor.act(action, &mut acted, warnings).await {
            Ok(()) => {}
            Err(Failure::Visit(error)) => return Err(error),
            Err(Failure::Page { selector, reason }) => {
                return Err(BrowserError::Action { index, kind: kind(action), selector, reason });
            }
        }
    }
    Ok(acted)
}

impl Actor<'_> {
    async fn act(&self, action: &Action, acted: &mut Acted, warnings: &mut Vec<String>) -> Result<(), Failure> {
        if Instant::now() >= self.until {
            return Err(BrowserError::Timeout.into());
        }
        if may_change(action) {
            self.has_acted.store(true, Ordering::Relaxed);
        }
        match action {
            Action::Wait(action) => return wait::wait(self, action).await,
            Action::Screenshot(options) => {
                let picture = screenshot::take(self.tab, options, self.is_mobile, self.until, warnings).await?;
                self.results.add(picture.bytes.len()).await?;
                acted.screenshots.push(picture);
                return Ok(());
            }
            Action::Pdf(options) => {
                let printed = pdf::print(self.tab, options, self.until, self.results).await??;
                self.results.add(printed.bytes.len()).await?;
                acted.pdfs.push(printed);
                return Ok(());
            }
            Action::Scrape => {
                let page = self.scrape(warnings).await?;
                self.results.add(page.html.len()).await?;
                acted.scrapes.push(page);
                return Ok(());
            }
            Action::Click(action) => click::click(self, action).await?,
            Action::Write(action) => keyboard::write(self, &action.text, warnings).await?,
            Action::Press(action) => keyboard::press(self, &action.key).await?,
            Action::Scroll(action) => scroll::scroll(self, action).await?,
            Action::ExecuteJavascript(action) => {
                let returned = script::run(self, &action.script).await?;
                self.results.add(returned.memory()).await?;
                acted.returns.push(returned);
            }
        }
        self.follow().await
    }

    async fn scrape(&self, warnings: &mut Vec<String>) -> Result<ScrapedPage, Failure> {
        let capture = dom::capture_by_force(self.tab, self.until).await?;
        if capture.is_cut {
            warnings.push(dom::CUT.to_owned());
        }
        let nowhere = |_| BrowserError::Site { reason: "the page has no address".to_owned() };
        let url = Url::parse(&self.tab.document().url).map_err(nowhere)?;
        Ok(ScrapedPage { url, html: capture.html })
    }

    /// Waits until the effects of the action have settled.
    async fn follow(&self) -> Result<(), Failure> {
        let until = self.until.min(Instant::now() + MAX_FOLLOW);
        match settle(&mut Clock::real(self.tab), Patience::Step, until).await {
            // A timeout means a page without text, on which further actions may work.
            Ok(_) | Err(BrowserError::Timeout) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs the function `run` of an action script in the page, after js/find.js.
    async fn run(&self, file: &str, args: &[Value], until: Instant) -> Result<Value, CdpError> {
        let function = format!("async function (...args) {{\n{}\n{file}\nreturn run(...args);\n}}", FIND);
        self.tab.evaluate(World::Own, &function, args, until.min(self.until)).await
    }
}

/// Whether an action may change something on the page or its site, so that it must not be repeated.
fn may_change(action: &Action) -> bool {
    match action {
        Action::Wait(_) | Action::Screenshot(_) | Action::Scrape | Action::Pdf(_) | Action::Scroll(_) => false,
        Action::Click(_) | Action::Write(_) | Action::Press(_) | Action::ExecuteJavascript(_) => true,
    }
}

/// Returns the type of an action as on the wire.
fn kind(action: &Action) -> &'static str {
    match action {
        Action::Wait(_) => "wait",
        Action::Screenshot(_) => "screenshot",
        Action::Click(_) => "click",
        Action::Write(_) => "write",
        Action::Press(_) => "press",
        Action::Scroll(_) => "scroll",
        Action::Scrape => "scrape",
        Action::ExecuteJavascript(_) => "executeJavascript",
        Action::Pdf(_) => "pdf",
    }
}
