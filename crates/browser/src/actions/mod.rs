//! Actions of the caller on the page, one after the other.

mod actor;
mod click;
mod keyboard;
pub(crate) mod keys;
mod script;
mod scroll;
mod wait;

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;
use url::Url;
use visit::{Acted, ActionFailure, ScrapedPage};
use wire::Action;

use crate::clock::Clock;
use crate::wait::{Patience, settle};
use crate::{BrowserError, dom, pdf, screenshot};
pub(crate) use actor::Actor;
use actor::Failure;

/// Time limit for the page to settle after an action; what takes longer is waited for at the end.
const MAX_FOLLOW: Duration = Duration::from_secs(5);

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
                return Err(ActionFailure { index, kind: kind(action), selector, reason }.into());
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
