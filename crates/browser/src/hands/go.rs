//! Navigation, and waiting for pages.

use cdp::CdpError;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep, sleep_until};
use url::Url;

use super::pattern::{MAX_URL, Pattern};
use super::{Failure, Hands, MAX_TEXT};
use crate::measure::measured;
use crate::tab::{Stage, World};

/// Polling interval for conditions without an event.
const PACE: Duration = Duration::from_millis(50);
/// Time after an action for a navigation to start.
const MOMENT: Duration = Duration::from_millis(60);

#[derive(Deserialize)]
pub(super) struct Goto {
    url: String,
    #[serde(default)]
    wait: LoadState,
}

#[derive(Deserialize)]
pub(super) struct WaitLoad {
    #[serde(default)]
    state: LoadState,
}

/// Load state to wait for, with the names of Playwright.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LoadState {
    Commit,
    DomContentLoaded,
    #[default]
    Load,
    NetworkIdle,
}

#[derive(Deserialize)]
pub(super) struct WaitUrl {
    url: Pattern,
    #[serde(default)]
    wait: LoadState,
}

#[derive(Deserialize)]
pub(super) struct Sleep {
    ms: f64,
}

#[derive(Deserialize)]
pub(super) struct SetContent {
    html: String,
}

/// Returns the URL to navigate to. Everything but http and https is refused: `file:`, for instance, would expose our
/// own files.
fn destination(text: &str, base: &str) -> Result<Url, Failure> {
    let refused = |why: &str| Err(Failure::new(format!("cannot navigate to `{}`: {why}", shortened(text))));
    if text.len() > MAX_URL {
        return refused("the URL is too long");
    }
    let parsed = Url::parse(text).or_else(|error| match Url::parse(base) {
        Ok(base) if text.starts_with(['/', '?', '#', '.']) => base.join(text),
        // `https://` in front of it would make the scheme a host name.
        _ if text.contains("://") => Err(error),
        _ => Url::parse(&format!("https://{text}")),
    });
    match parsed {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        Ok(url) if url.as_str() == "about:blank" => Ok(url),
        // `localhost:3000` parses as a scheme, but is meant as a host.
        Ok(url) if is_host_and_port(&url) => {
            Url::parse(&format!("http://{text}")).or_else(|_| refused("it is not a URL"))
        }
        Ok(_) => refused("only http and https are allowed"),
        Err(_) => refused("it is not a URL"),
    }
}

/// Whether a parsed URL is really a host with a port.
fn is_host_and_port(url: &Url) -> bool {
    const SCHEMES: [&str; 8] = ["about", "blob", "data", "file", "javascript", "mailto", "tel", "view-source"];
    let port = url.path().split('/').next().unwrap_or_default();
    url.cannot_be_a_base()
        && !SCHEMES.contains(&url.scheme())
        && !port.is_empty()
        && port.bytes().all(|c| c.is_ascii_digit())
}

fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}

impl Hands {
    pub(super) async fn goto(&self, args: Goto, by: Instant) -> Result<Value, Failure> {
        let url = destination(&args.url, &self.url())?;
        let before = self.tab.document().number;
        let answer = self.tab.session().call_by(by, "Page.navigate", json!({ "url": url.as_str() })).await?;
        if let Some(why) = answer["errorText"].as_str().filter(|why| !why.is_empty()) {
            return Err(Failure::new(format!("{why} at {url}")));
        }
        // A navigation within the document has no load to wait for.
        if answer["loaderId"].is_string() {
            self.document_after(before, by).await?;
        }
        self.loaded(args.wait, by).await?;
        self.arrived()
    }

    /// Moves through the history of the tab.
    pub(super) async fn step(&self, by_entries: i64, by: Instant) -> Result<Value, Failure> {
        let history = self.tab.session().call_by(by, "Page.getNavigationHistory", json!({})).await?;
        let at = history["currentIndex"].as_i64().unwrap_or_default() + by_entries;
        let entry = usize::try_from(at).ok().and_then(|at| history["entries"].get(at));
        let Some(entry) = entry else { return Ok(Value::Null) };
        let shown = entry["url"].as_str().unwrap_or_default();
        destination(shown, "")?;
        let (before, url) = (self.tab.document().number, self.url());
        let params = json!({ "entryId": entry["id"] });
        self.tab.session().call_by(by, "Page.navigateToHistoryEntry", params).await?;
        while self.tab.document().number == before && self.url() == url && shown != url {
            self.pause(by, "back", "the page has not changed").await?;
        }
        self.loaded(LoadState::Load, by).await?;
        self.arrived()
    }

    pub(super) async fn reload(&self, by: Instant) -> Result<Value, Failure> {
        let before = self.tab.document().number;
        self.tab.session().call_by(by, "Page.reload", json!({})).await?;
        self.document_after(before, by).await?;
        self.loaded(LoadState::Load, by).await?;
        self.arrived()
    }

    pub(super) async fn set_content(&self, args: SetContent, by: Instant) -> Result<Value, Failure> {
        let write = "(html) => { document.open(); document.write(html); document.close(); }";
        self.evaluate_anew(World::Own, write, &[args.html.into()], by).await
    }

    pub(super) async fn wait_load(&self, args: WaitLoad, by: Instant) -> Result<Value, Failure> {
        self.loaded(args.state, by).await.map(|()| Value::Null)
    }

    pub(super) async fn wait_url(&self, args: WaitUrl, by: Instant) -> Result<Value, Failure> {
        let mut matcher = args.url.matcher()?;
        loop {
            let address = self.url();
            // Pages can make addresses of any length.
            if address.len() > MAX_URL {
                let bytes = address.len();
                let why = format!("the address of the page has {bytes} bytes, and only {MAX_URL} are matched");
                return Err(Failure::new(format!("{why}: {}", shortened(&address))));
            }
            let why = format!("the page is at {}", shortened(&address));
            if matcher.matches(address, &self.share, by).await? {
                break;
            }
            self.pause(by, "waiting for the URL", &why).await?;
        }
        self.loaded(args.wait, by).await.map(|()| Value::Null)
    }

    pub(super) async fn sleep(&self, args: Sleep, by: Instant) -> Result<Value, Failure> {
        let until = Instant::now() + Duration::from_millis(args.ms.clamp(0.0, 300_000.0) as u64);
        sleep_until(until.min(by + PACE)).await;
        if until > by { Err(Failure::timeout("waiting", "the call ends earlier")) } else { Ok(Value::Null) }
    }

    /// Returns URL and status of the current document, or why it failed to load.
    fn arrived(&self) -> Result<Value, Failure> {
        let document = self.tab.document();
        match document.failure {
            Some(why) => Err(Failure::new(format!("{why} at {}", shortened(&document.url)))),
            None => Ok(json!({ "url": document.url, "status": document.status })),
        }
    }

    async fn document_after(&self, number: u64, by: Instant) -> Result<(), Failure> {
        let mut stage = self.tab.stage();
        let newer = stage.wait_for(|(shown, _)| *shown > number);
        match tokio::time::timeout_at(by, newer).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(CdpError::Closed.into()),
            Err(_) => Err(Failure::timeout("navigating", "the page has not loaded")),
        }
    }

    /// Waits until the page has reached a load state.
    pub(super) async fn loaded(&self, state: LoadState, by: Instant) -> Result<(), Failure> {
        let wanted = match state {
            LoadState::Commit => return Ok(()),
            LoadState::DomContentLoaded => Stage::Parsed,
            LoadState::Load | LoadState::NetworkIdle => Stage::Loaded,
        };
        // The initial blank page has loaded before it was watched.
        let mut stage = self.tab.stage();
        let there = stage.wait_for(|(number, now)| *number == 0 || *now >= wanted);
        match tokio::time::timeout_at(by, there).await {
            Ok(Ok(_)) => {}
            Ok(Err(_)) => return Err(CdpError::Closed.into()),
            Err(_) => return Err(Failure::timeout("waiting for the page", "it is still loading")),
        }
        while matches!(state, LoadState::NetworkIdle) && !self.is_quiet() {
            self.pause(by, "waiting for the network", "it is still busy").await?;
        }
        Ok(())
    }

    fn is_quiet(&self) -> bool {
        let network = self.tab.network();
        network.open_that_count() == 0 && network.last_change().elapsed() >= Duration::from_millis(500)
    }

    /// Performs an action that may navigate, and waits until the new page is there, so that the next verb sees it.
    pub(super) async fn leading_on<T>(
        &self,
        by: Instant,
        act: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let before = self.tab.document().number;
        let mut events = self.tab.session().events_of(&["Page.frame"]);
        let done = act.await?;
        let main = self.tab.main_frame();
        let starts = async {
            while let Some(event) = events.next().await {
                let of_main = main.as_ref().is_some_and(|main| event.params["frameId"] == *main.0);
                let starts =
                    matches!(event.method.as_str(), "Page.frameRequestedNavigation" | "Page.frameStartedNavigating");
                if starts && of_main && event.params["navigationType"] != "sameDocument" {
                    return true;
                }
            }
            false
        };
        if tokio::time::timeout(MOMENT, starts).await == Ok(true) {
            // Downloads and answers without content do not replace the page.
            let patience = by.min(Instant::now() + Duration::from_secs(10));
            if self.document_after(before, patience).await.is_ok() {
                let _ = self.loaded(LoadState::DomContentLoaded, patience).await;
            }
        }
        Ok(done)
    }

    /// Waits for the next poll.
    pub(super) async fn pause(&self, by: Instant, what: &str, why: &str) -> Result<(), Failure> {
        if self.tab.session().is_closed() {
            return Err(CdpError::Closed.into());
        }
        if Instant::now() + PACE > by {
            return Err(Failure::timeout(what, why));
        }
        sleep(PACE).await;
        Ok(())
    }

    /// Evaluates a function, and repeats that if the document is replaced meanwhile.
    pub(super) async fn evaluate_anew(
        &self,
        world: World,
        function: &str,
        args: &[Value],
        by: Instant,
    ) -> Result<Value, Failure> {
        let function = measured(function, MAX_TEXT);
        loop {
            match self.tab.evaluate(world, &function, args, by).await {
                Err(CdpError::Navigated | CdpError::NoContext) => {
                    self.pause(by, "the page", "it keeps navigating").await?;
                }
                other => return Ok(other?),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_web_can_be_gone_to() {
        for text in [
            "file:///etc/passwd",
            "chrome://version",
            "view-source:http://a.b",
            "javascript:1",
            "data:text/html,x",
            "about:srcdoc",
            "blob:http://a.b/1",
            "FILE:/etc/passwd",
            " file:///x",
            "ftp://a.b/",
            "http://",
            "devtools://x",
        ] {
            assert!(destination(text, "http://here.test/").is_err(), "{text}");
        }
        let to = |text: &str| destination(text, "http://here.test/a/b").unwrap().to_string();
        assert_eq!(to("example.com"), "https://example.com/");
        assert_eq!(to("/c?d"), "http://here.test/c?d");
        assert_eq!(to("localhost:3000/x"), "http://localhost:3000/x");
        assert_eq!(to("about:blank"), "about:blank");
    }
}
