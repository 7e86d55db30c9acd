//! The environment of the service on loopback: hostile origin, second origin, receiver, canary, resolver.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use testkit::{Answer, Canary, Dns, Script, Site};

use super::alive::{ALIVE_PAGE, alive_page};
use super::case::{Case, Object};
use super::proxy::Proxy;
use super::redirects;
use super::setup::{self, OriginPaths};
use super::traps;
use super::words::Words;

/// Members of `setup` that other modules handle.
const ELSEWHERE: &[&str] = &[
    "cancel_at",
    "connections",
    "credits",
    "fail_point",
    "from",
    "h2",
    "idle_connections",
    "innocent",
    "job",
    "log_level",
    "needs",
    "parallel",
    "proxy",
    "raw",
    "read",
    "receiver",
    "repeat",
    "server",
    "signal",
    "streams",
    "team",
    "websockets",
];

/// Path on the second origin of the bystander's page.
pub(crate) const INNOCENT_PAGE: &str = "/innocent";

/// Path that never answers, for clients that disconnect.
pub(crate) const SLOW_PAGE: &str = "/never-answers";

/// The listeners around the service.
pub(crate) struct Stage {
    pub(crate) origin: Site,
    pub(crate) origin2: Site,
    pub(crate) receiver: Site,
    pub(crate) canary: Canary,
    pub(crate) dns: Dns,
    pub(crate) proxy: Proxy,
}

/// Counters that only grow during a case.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counters {
    pub(crate) canary: usize,
    pub(crate) packets: usize,
    pub(crate) dns: usize,
    /// Connections to any of the listeners, and requests on them, because a connection may be older than the case.
    pub(crate) outbound: usize,
}

impl Stage {
    /// Starts all listeners, on the ports of the case file if they are free.
    pub(crate) async fn start() -> Result<Self> {
        let canary = match Canary::bind(loopback(18200), loopback(18201)).await {
            Ok(canary) => canary,
            Err(_) => Canary::start().await,
        };
        Ok(Self {
            origin: site(18100).await.context("cannot start the origin")?,
            origin2: site(18101).await.context("cannot start the second origin")?,
            receiver: site(18102).await.context("cannot start the receiver")?,
            canary,
            dns: Dns::start().await,
            proxy: Proxy::start().await.context("cannot start the proxy")?,
        })
    }

    /// Returns the placeholders for the listeners.
    pub(crate) fn words(&self) -> Words {
        let mut words = Words::default();
        let [origin, origin2, receiver] = [&self.origin, &self.origin2, &self.receiver].map(|site| site.addr().port());
        words.set("ORIGIN", format!("http://origin.test:{origin}"));
        words.set("ORIGIN2", format!("http://origin2.test:{origin2}"));
        words.set("RECEIVER", format!("http://hook.test:{receiver}"));
        words.set("ORIGIN_PORT", origin.to_string());
        words.set("ORIGIN2_PORT", origin2.to_string());
        words.set("ORIGIN_IP", "127.0.0.1");
        words.set("CANARY_PORT", self.canary.addr().port().to_string());
        words.set("CANARY_UDP", self.canary.udp_addr().port().to_string());
        words.set("CATALOG", "catalog");
        words.set("WEBHOOK_SECRET", "whsec-of-the-hostile-run");
        words.moved("origin.test:18100", &format!("origin.test:{origin}"));
        words
    }

    /// Returns the URL of a page of the origin.
    pub(crate) fn page(&self, path: &str) -> String {
        format!("http://origin.test:{}{path}", self.origin.addr().port())
    }

    /// Returns the addresses that the egress guard has to admit.
    pub(crate) fn allow(&self) -> String {
        [&self.origin, &self.origin2, &self.receiver].map(|site| site.addr().to_string()).join(",")
    }

    /// Clears the previous case, and sets up this one.
    pub(crate) fn prepare(&self, case: &Case) -> Result<()> {
        [&self.origin, &self.origin2, &self.receiver].iter().for_each(|site| site.reset());
        self.dns.reset();
        for name in ["origin.test", "origin2.test", "hook.test"] {
            self.dns.set(name, Answer::from(IpAddr::from(Ipv4Addr::LOCALHOST)));
        }
        if case.setup.get("origin").and_then(Value::as_array).is_some_and(|pages| pages.iter().any(traps::has_hosts)) {
            // Every name resolves to the site, so that all hosts of a trap can be reached.
            self.dns.set("*", Answer::from(IpAddr::from(Ipv4Addr::LOCALHOST)));
        }
        self.dns.set("meta.rebind.test", Answer::from(IpAddr::from([169, 254, 169, 254])));
        self.proxy.prepare(case.setup.get("proxy"))?;
        let words = "Somebody else reads this page while a case is played. ".repeat(40);
        self.origin2.html(INNOCENT_PAGE, format!("<h1>A page of its own</h1><p>{words}</p>"));
        self.origin2.html(ALIVE_PAGE, alive_page());
        self.origin.script(SLOW_PAGE, vec![Script::Hang(std::time::Duration::from_secs(60))]);
        for (key, value) in &case.setup {
            match key.as_str() {
                "origin" => self.pages(&self.origin, value)?,
                "origin2" => self.pages(&self.origin2, value)?,
                "dns" => self.names(value.as_object().context("setup.dns is no object")?)?,
                known if ELSEWHERE.contains(&known) => {}
                other => bail!("setup.{other} is not known"),
            }
        }
        Ok(())
    }

    /// Returns the current counters.
    pub(crate) fn counters(&self) -> Counters {
        let sites =
            [&self.origin, &self.origin2, &self.receiver].map(|site| site.connections() + site.requests().len());
        Counters {
            canary: self.canary.connects(),
            packets: self.canary.packets(),
            dns: self.dns.queries().len(),
            outbound: sites.iter().sum::<usize>() + self.canary.connects(),
        }
    }

    fn pages(&self, site: &Site, pages: &Value) -> Result<()> {
        let mut makers = Vec::new();
        let mut places: Vec<(OriginPaths, Vec<Script>)> = Vec::new();
        for page in pages.as_array().context("the pages of an origin are no array")? {
            let page = page.as_object().context("a page of an origin is no object")?;
            let origin = format!("http://origin.test:{}", site.addr().port());
            if let Some(make) = traps::site(page, &origin)? {
                makers.push(make);
                continue;
            }
            if let Some(make) = redirects::chain(page)? {
                makers.push(make);
                continue;
            }
            let canary = self.canary.addr().port();
            if let Some(make) = traps::numbered(page, canary)? {
                makers.push(make);
                continue;
            }
            let (place, script) = setup::page(page, canary)?;
            if let Script::H2(attack) = script {
                site.attack_h2(Some(attack));
            }
            match places.iter_mut().find(|(known, _)| *known == place) {
                Some((_, scripts)) => scripts.push(script),
                None => places.push((place, vec![script])),
            }
        }
        for (place, scripts) in places {
            match place {
                OriginPaths::Path(path) => site.script(&path, scripts),
                OriginPaths::Below(prefix) => site.script_below(&prefix, scripts),
            }
        }
        site.others(move |seen| makers.iter().find_map(|make| make(seen)));
        Ok(())
    }

    fn names(&self, names: &Object) -> Result<()> {
        for (name, answer) in names {
            self.dns.set(name, setup::dns(answer)?);
        }
        Ok(())
    }
}

/// Whether a member of `setup` is known.
pub(crate) fn knows(key: &str) -> bool {
    ["dns", "origin", "origin2"].contains(&key) || ELSEWHERE.contains(&key)
}

/// Whether a page of the case attacks over HTTP/2. The service speaks HTTP/2 only over TLS, so such a case uses https.
pub(crate) fn needs_tls(case: &Case) -> bool {
    let pages = case.setup.get("origin").and_then(Value::as_array);
    pages.is_some_and(|pages| pages.iter().any(|page| page.get("h2").is_some()))
}

async fn site(port: u16) -> io::Result<Site> {
    match Site::bind(loopback(port)).await {
        Ok(site) => Ok(site),
        Err(_) => Site::bind(loopback(0)).await,
    }
}

fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}
