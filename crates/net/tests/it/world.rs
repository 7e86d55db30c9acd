//! A client whose egress rule admits exactly the test origins.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use net::{Allow, Client, Config, Egress, Error, Limits, Request, Response};
use testkit::{Answer, Canary, Dns, Reply, Site};
use tokio::time::Instant;
use url::Url;

/// Two origins that may be reached, a canary that may not, and names for them: `origin.test`, `other.test`.
pub(crate) struct World {
    pub(crate) site: Site,
    pub(crate) other: Site,
    pub(crate) dns: Dns,
    pub(crate) canary: Canary,
    pub(crate) client: Client,
}

pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(Limits::default(), vec![]).await
    }

    pub(crate) async fn with(limits: Limits, allow: Vec<Allow>) -> Self {
        let (site, other) = (Site::start().await, Site::start().await);
        let dns = Dns::start().await;
        dns.set("origin.test", Answer::from(LOOPBACK));
        dns.set("other.test", Answer::from(LOOPBACK));
        let mut rules = vec![Allow::Address(site.addr()), Allow::Address(other.addr())];
        rules.extend(allow);
        let egress = Egress { allow: rules, resolvers: vec![dns.addr()], ..Egress::default() };
        let client = Client::new(Config { egress, limits }).unwrap();
        Self { site, other, dns, canary: Canary::start().await, client }
    }

    /// A path of the first origin, by name.
    pub(crate) fn url(&self, path: &str) -> Url {
        named("http", "origin.test", self.site.addr(), path)
    }

    /// A path of the second origin, by name.
    pub(crate) fn other_url(&self, path: &str) -> Url {
        named("http", "other.test", self.other.addr(), path)
    }

    pub(crate) async fn get(&self, url: impl AsRef<str>) -> Result<Response, Error> {
        self.client.send(get(url)).await
    }

    /// Fetches a path of the first origin.
    pub(crate) async fn path(&self, path: &str) -> Result<Response, Error> {
        self.get(self.url(path)).await
    }
}

pub(crate) fn named(scheme: &str, host: &str, addr: SocketAddr, path: &str) -> Url {
    format!("{scheme}://{host}:{}{path}", addr.port()).parse().unwrap()
}

pub(crate) fn get(url: impl AsRef<str>) -> Request {
    Request::get(url.as_ref().parse().unwrap())
}

/// A request that has this long.
pub(crate) fn hurried(url: &Url, time: Duration) -> Request {
    Request { deadline: Instant::now() + time, ..get(url) }
}

pub(crate) fn redirect(status: u16, location: &str) -> Reply {
    Reply { status, body: "<p>moved</p>".into(), ..Reply::default() }.header("location", location)
}
