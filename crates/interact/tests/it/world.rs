//! A browser that may reach one site, an open page of it, and a runner of code.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use browser::{Browser, Held, Settings as BrowserSettings, Visit};
use children::User;
use interact::{Code, Interact, InteractError, Language, Ran, Settings, Work};
use net::{Allow, Client, Config, Egress, Limits};
use testkit::{Answer, Dns, Site};
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

/// User `nobody` and its group, on all common systems.
pub(crate) const NOBODY: User = User { uid: 65534, gid: 65534 };

const PAGE: &str = r#"<!doctype html><title>Shop</title><h1>Welcome</h1>
<nav><a href="/about">About us</a> <a href="/other" id="other">Other page</a></nav>
<form onsubmit="event.preventDefault(); out.textContent = `sent ${user.value} ${colour.value} ${terms.checked}`">
<label>Name <input id="user"></label> <label>Search <input type="search" id="q"></label>
<label>Colour <select id="colour"><option value="r">Red</option><option value="b">Blue</option></select></label>
<label><input type="checkbox" id="terms"> Terms</label> <button>Send</button></form>
<button id="more" onclick="setTimeout(() => { out.textContent = 'more' }, 150)">Show more</button>
<p id="out">nothing yet</p><ul><li class="i">one</li><li class="i">two</li></ul><div style="height:3000px"></div>
<p id="end">the end</p>"#;

/// Everything that a test needs, kept until its end.
pub(crate) struct World {
    pub(crate) site: Site,
    _dns: Dns,
    _browser: Browser,
    pub(crate) held: Held,
    pub(crate) interact: Interact,
    pub(crate) work: Mutex<Work>,
}

impl World {
    /// Starts a world with child processes for code.
    pub(crate) async fn start() -> Self {
        Self::with(Some(Self::program())).await
    }

    /// Returns the path of our example program, which runs code.
    pub(crate) fn program() -> PathBuf {
        let tests = std::env::current_exe().unwrap();
        let program = tests.parent().unwrap().parent().unwrap().join("examples/code_child");
        assert!(program.exists(), "{} is not built", program.display());
        program
    }

    pub(crate) async fn with(program: Option<PathBuf>) -> Self {
        let site = Site::start().await;
        site.html("/", PAGE);
        site.html("/about", "<title>About</title><h1>About us</h1><a href=/>Home</a>");
        site.html("/other", "<title>Other</title><p>elsewhere");
        let dns = Dns::start().await;
        dns.set("shop.test", Answer::from(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        let egress =
            Egress { allow: vec![Allow::Address(site.addr())], resolvers: vec![dns.addr()], ..Egress::default() };
        let client = Client::new(Config { egress, limits: Limits::default() }).unwrap();
        let browser = Browser::new(BrowserSettings::default(), client, cpu::Cpu::new(2));
        let url: Url = format!("http://shop.test:{}/", site.addr().port()).parse().unwrap();
        let visit = Visit {
            skip_tls_verification: false,
            block_ads: false,
            owner: base::Owner::of_team("test"),
            ..Visit::new(&url, Instant::now() + Duration::from_secs(20))
        };
        let until = Instant::now() + Duration::from_secs(120);
        let (_, held) = browser.visit_and_hold(&visit, |_: &Url| Vec::new(), until).await.unwrap();
        let interact = Interact::new(Settings { program, user: Some(NOBODY), places: 4 });
        Self { site, _dns: dns, _browser: browser, held, interact, work: Mutex::default() }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://shop.test:{}{path}", self.site.addr().port())
    }

    pub(crate) async fn try_run(
        &self,
        language: Language,
        text: &str,
        timeout: Duration,
    ) -> Result<Ran, InteractError> {
        let code = Code { language, text, timeout };
        self.interact.run(self.held.hands(), &code, &mut *self.work.lock().await).await
    }

    /// Runs code that must start, and may fail.
    pub(crate) async fn run(&self, language: Language, text: &str) -> Ran {
        self.try_run(language, text, Duration::from_secs(20)).await.unwrap()
    }

    /// Runs code that must succeed, and returns its result.
    pub(crate) async fn node(&self, text: &str) -> String {
        let ran = self.run(Language::Node, text).await;
        assert_eq!((ran.exit_code, ran.error), (0, None), "{text}\n{}\n{}", ran.stdout, ran.stderr);
        ran.result
    }
}
