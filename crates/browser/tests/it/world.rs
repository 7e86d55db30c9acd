//! Test environment: a browser that may reach exactly two test origins.

use std::net::{IpAddr, Ipv4Addr};
use std::process::Command;
use std::time::Duration;

use browser::{Browser, BrowserError, Settings, Visit, Visited};
use net::{Allow, Client, Config, Egress, Limits};
use testkit::{Answer, Canary, Dns, Site};
use tokio::time::Instant;
use url::Url;

pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Two reachable origins, `origin.test` and `other.test`, an unreachable canary, and a browser.
pub(crate) struct World {
    pub(crate) site: Site,
    pub(crate) other: Site,
    pub(crate) dns: Dns,
    pub(crate) canary: Canary,
    pub(crate) browser: Browser,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(Settings::default()).await
    }

    pub(crate) async fn with(settings: Settings) -> Self {
        Self::limited(settings, Limits::default()).await
    }

    pub(crate) async fn limited(settings: Settings, limits: Limits) -> Self {
        let (site, other) = (Site::start().await, Site::start_tls().await);
        let dns = Dns::start().await;
        dns.set("origin.test", Answer::from(LOOPBACK));
        dns.set("other.test", Answer::from(LOOPBACK));
        let allow = vec![Allow::Address(site.addr()), Allow::Address(other.addr())];
        let egress = Egress { allow, resolvers: vec![dns.addr()], ..Egress::default() };
        let client = Client::new(Config { egress, limits }).unwrap();
        Self {
            site,
            other,
            dns,
            canary: Canary::start().await,
            browser: Browser::new(settings, client, cpu::Cpu::new(2)),
        }
    }

    /// Returns the URL of a path on the first origin, by name.
    pub(crate) fn url(&self, path: &str) -> Url {
        format!("http://origin.test:{}{path}", self.site.addr().port()).parse().unwrap()
    }

    /// Returns the URL of a path on the second origin, by name; it speaks plain HTTP on the same port too.
    pub(crate) fn other_url(&self, path: &str) -> Url {
        format!("http://other.test:{}{path}", self.other.addr().port()).parse().unwrap()
    }

    /// Visits a path of the first origin.
    pub(crate) async fn path(&self, path: &str) -> Result<Visited, BrowserError> {
        self.visit(&plain(&self.url(path))).await
    }

    /// Makes a visit without headers of a caller.
    pub(crate) async fn visit(&self, visit: &Visit<'_>) -> Result<Visited, BrowserError> {
        self.browser.visit(visit, &|_| Vec::new()).await
    }

    /// Visits a page that consists of `html`.
    pub(crate) async fn page(&self, html: &str) -> Result<Visited, BrowserError> {
        self.site.html("/page", html);
        self.path("/page").await
    }

    /// Waits until nothing is left of any visit.
    pub(crate) async fn quiet(&self) {
        within(5, || self.browser.counts().contexts == 0).await;
    }

    /// Returns the paths that were requested from the first origin so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.site.requests().into_iter().map(|seen| seen.path).collect()
    }
}

/// A visit with default options and a deadline of 20 s.
pub(crate) fn plain(url: &Url) -> Visit<'_> {
    Visit {
        skip_tls_verification: false,
        block_ads: false,
        owner: base::Owner::of_team("test"),
        ..Visit::new(url, Instant::now() + Duration::from_secs(20))
    }
}

pub(crate) fn dom(visited: &Visited) -> &str {
    std::str::from_utf8(visited.rendered.dom.as_deref().unwrap()).unwrap()
}

/// Waits until a condition holds.
///
/// # Panics
/// If it does not hold in time.
pub(crate) async fn within(seconds: u64, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(seconds);
    while !is_so() {
        assert!(Instant::now() < until, "not within {seconds} s");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns the command lines of the living processes of a group, with their process ids.
pub(crate) fn group(leader: u32) -> Vec<(u32, String)> {
    let output = Command::new("ps").args(["-eo", "pid=,pgid=,stat=,args="]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut found = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (pid, pgid, stat) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        if pgid == leader.to_string() && !stat.starts_with('Z') {
            found.push((pid.parse().unwrap(), words.collect::<Vec<_>>().join(" ")));
        }
    }
    found
}

pub(crate) fn kill(pid: u32) {
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}
