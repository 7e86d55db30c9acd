//! Resolution of a URL's host to checked addresses, without connecting.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::lookup_ip::LookupIp;
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{Name, RecordType};
use url::{Host, Url};

use crate::config::{Config, ConfigError, LOCALHOST};
use crate::error::Error;
use crate::guard::Guard;
use crate::host_names;

/// Maximum number of addresses of a name; ordinary names have far fewer.
const MAX_ADDRESSES: usize = 128;
/// Maximum length of a CNAME chain; ordinary chains are far shorter.
const MAX_ALIASES: usize = 16;

/// Resolver of hosts to allowed addresses.
#[derive(Debug)]
pub(crate) struct Resolver {
    dns: TokioResolver,
    guard: Guard,
    timeout: Duration,
}

impl Resolver {
    pub(crate) fn new(config: &Config) -> Result<Self, ConfigError> {
        let dns = build(&config.egress.resolvers).map_err(|error| ConfigError::Resolver(error.to_string()))?;
        Ok(Self { dns, guard: Guard::new(&config.egress), timeout: config.limits.dns })
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Checks a URL without looking up its name. The addresses of this deployment are those that are known so far.
    ///
    /// # Errors
    /// `Blocked` when the scheme, the name or the address is blocked.
    pub(crate) fn check(&self, url: &Url) -> Result<(), Error> {
        let blocked = |reason| Error::Blocked { host: url.host_str().unwrap_or_default().to_owned(), reason };
        let port = self.admit_url(url).map_err(blocked)?;
        match url.host() {
            Some(Host::Ipv4(ip)) => self.guard.admit(SocketAddr::new(IpAddr::V4(ip), port)).map_err(blocked),
            Some(Host::Ipv6(ip)) => self.guard.admit(SocketAddr::new(IpAddr::V6(ip), port)).map_err(blocked),
            Some(Host::Domain(name)) if host_names::is_localhost(name) => {
                self.localhost(port).map(|_| ()).map_err(blocked)
            }
            Some(Host::Domain(name)) => self.admit_domain(name).map_err(blocked),
            None => Err(blocked("the URL has no host")),
        }
    }

    /// Checks the scheme and the name of a URL, and returns its port.
    fn admit_url(&self, url: &Url) -> Result<u16, &'static str> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err("only http and https are allowed");
        }
        let port = url.port_or_known_default().unwrap_or_default();
        self.guard.admit_name(url.host_str().unwrap_or_default(), port).map(|()| port)
    }

    fn admit_domain(&self, name: &str) -> Result<(), &'static str> {
        if self.guard.has_one_destination() {
            return Ok(());
        }
        host_names::check(name, self.guard.opens_a_network())
    }

    /// Returns all addresses of the URL's host with its port, alternating between both families (RFC 8305 section 4).
    ///
    /// # Errors
    /// `Blocked` when the scheme, the name or any single address is blocked; `Dns` when there is no usable answer.
    pub(crate) async fn resolve(&self, url: &Url) -> Result<Vec<SocketAddr>, Error> {
        let blocked = |reason| Error::Blocked { host: url.host_str().unwrap_or_default().to_owned(), reason };
        let port = self.admit_url(url).map_err(blocked)?;
        self.guard.prepare().await;
        let found = match url.host() {
            Some(Host::Ipv4(ip)) => vec![IpAddr::V4(ip)],
            Some(Host::Ipv6(ip)) => vec![IpAddr::V6(ip)],
            Some(Host::Domain(name)) if host_names::is_localhost(name) => self.localhost(port).map_err(blocked)?,
            Some(Host::Domain(name)) => {
                self.admit_domain(name).map_err(blocked)?;
                self.look_up(name).await.map_err(|reason| Error::Dns { host: name.to_owned(), reason })?
            }
            None => return Err(blocked("the URL has no host")),
        };
        let addresses: Vec<_> = alternate(&found).into_iter().map(|ip| SocketAddr::new(ip, port)).collect();
        for addr in &addresses {
            self.guard.admit(*addr).map_err(blocked)?;
        }
        Ok(addresses)
    }

    /// Returns the allowed loopback addresses. DNS is not queried, so that it cannot redefine `localhost`.
    fn localhost(&self, port: u16) -> Result<Vec<IpAddr>, &'static str> {
        let verdict = |ip: &IpAddr| self.guard.admit(SocketAddr::new(*ip, port));
        let open: Vec<IpAddr> = LOCALHOST.into_iter().filter(|ip| verdict(ip).is_ok()).collect();
        if open.is_empty() {
            LOCALHOST.iter().try_for_each(verdict)?;
        }
        Ok(open)
    }

    async fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, String> {
        if host.trim_end_matches('.').rsplit('.').next().is_some_and(|zone| zone.eq_ignore_ascii_case("invalid")) {
            return Err("names under .invalid never exist (RFC 6761)".to_owned());
        }
        let mut name = Name::from_ascii(host).map_err(|_| "not a valid DNS name".to_owned())?;
        // Prevents the search domains of the machine from being tried.
        name.set_fqdn(true);
        let lookup = match tokio::time::timeout(self.timeout, self.dns.lookup_ip(name)).await {
            Ok(Ok(lookup)) => lookup,
            Ok(Err(error)) => return Err(describe(&error)),
            Err(_) => return Err(format!("no answer within {} s", self.timeout.as_secs_f32())),
        };
        addresses(&lookup)
    }
}

fn addresses(lookup: &LookupIp) -> Result<Vec<IpAddr>, String> {
    let records = lookup.as_lookup().answers();
    // The chain occurs once per family.
    if records.iter().filter(|record| record.record_type() == RecordType::CNAME).count() > 2 * MAX_ALIASES {
        return Err("the CNAME chain is too long".to_owned());
    }
    let mut found: Vec<_> = lookup.iter().take(MAX_ADDRESSES + 1).collect();
    if found.len() > MAX_ADDRESSES {
        return Err(format!("more than {MAX_ADDRESSES} addresses"));
    }
    found.dedup();
    if found.is_empty() { Err("no addresses".to_owned()) } else { Ok(found) }
}

fn describe(error: &NetError) -> String {
    if error.is_nx_domain() {
        "no such name".to_owned()
    } else if error.is_no_records_found() {
        "no addresses".to_owned()
    } else {
        error.to_string()
    }
}

/// Alternates between the families, IPv6 first.
fn alternate(found: &[IpAddr]) -> Vec<IpAddr> {
    let mut v6 = found.iter().filter(|ip| ip.is_ipv6());
    let mut v4 = found.iter().filter(|ip| ip.is_ipv4());
    let mut ordered = Vec::with_capacity(found.len());
    while ordered.len() < found.len() {
        ordered.extend(v6.next());
        ordered.extend(v4.next());
    }
    ordered
}

fn build(servers: &[SocketAddr]) -> Result<TokioResolver, NetError> {
    let mut builder = if servers.is_empty() {
        TokioResolver::builder_tokio().unwrap_or_else(|error| {
            tracing::warn!(%error, "could not read the system's DNS settings; using 127.0.0.1 as the DNS server");
            let local = NameServerConfig::udp_and_tcp(IpAddr::from([127, 0, 0, 1]));
            let config = ResolverConfig::from_name_servers(vec![local]);
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        })
    } else {
        let config = ResolverConfig::from_name_servers(servers.iter().map(name_server).collect());
        let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        builder.options_mut().use_hosts_file = ResolveHosts::Never;
        builder
    };
    let options = builder.options_mut();
    // Two attempts of 2 s fit into the 5 s of a lookup, so a family that never answers leaves time for the other.
    options.timeout = Duration::from_secs(2);
    options.attempts = 1;
    options.cache_size = 1024;
    options.positive_max_ttl = Some(Duration::from_secs(300));
    options.negative_max_ttl = Some(Duration::from_secs(30));
    options.preserve_intermediates = true;
    builder.build()
}

fn name_server(server: &SocketAddr) -> NameServerConfig {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()];
    let connections = connections.map(|mut connection| {
        connection.port = server.port();
        connection
    });
    NameServerConfig::new(server.ip(), true, connections.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn localhost_is_what_the_operator_has_opened_of_it() {
        let resolver = |allow: &[&str]| {
            let allow = allow.iter().map(|rule| rule.parse().unwrap()).collect();
            // A DNS server that never answers: no query may be sent.
            let (resolvers, refuse) = (vec!["127.0.0.1:9".parse().unwrap()], vec!["127.0.0.1:3002".parse().unwrap()]);
            let egress = crate::config::Egress { allow, resolvers, refuse, ..Default::default() };
            Resolver::new(&Config { egress, ..Config::default() }).unwrap()
        };
        let check = async |allow: &[&str], url: &str, want: Result<&[&str], &str>| {
            let resolver = resolver(allow);
            let url: Url = url.parse().unwrap();
            let got = resolver.resolve(&url).await;
            assert_eq!(resolver.check(&url).is_ok(), got.is_ok(), "{allow:?} {url}: without a lookup");
            let want = want.map(|list| list.iter().map(|addr| addr.parse().unwrap()).collect::<Vec<SocketAddr>>());
            let got = got.map_err(|error| match error {
                Error::Blocked { reason, .. } => reason,
                other => panic!("{other}"),
            });
            assert_eq!(got, want, "{allow:?} {url}");
        };
        check(&[], "http://localhost/", Err("loopback")).await;
        check(&["127.0.0.1"], "http://localhost:81/", Ok(&["127.0.0.1:81"])).await;
        check(&["127.0.0.1:81"], "http://LOCALHOST.:81/", Ok(&["127.0.0.1:81"])).await;
        check(&["127.0.0.1:81"], "http://localhost:82/", Err("loopback")).await;
        check(&["::1"], "http://a.localhost:81/", Ok(&["[::1]:81"])).await;
        check(&["localhost"], "http://localhost:81/", Ok(&["[::1]:81", "127.0.0.1:81"])).await;
        check(&["localhost"], "http://127.0.0.1:81/", Ok(&["127.0.0.1:81"])).await;
        check(&["127.0.0.1"], "http://localhost:3002/", Err("own listen address")).await;
        check(&["127.0.0.0/8"], "http://localhost.localdomain/", Err("special-use name")).await;
    }

    #[tokio::test]
    async fn a_url_is_checked_without_a_lookup() {
        let allow = vec!["127.0.0.1:81".parse().unwrap()];
        let refuse_hosts = vec![("search.internal".to_owned(), 8888), ("10.0.0.7".to_owned(), 8888)];
        let egress = crate::config::Egress { allow, refuse_hosts, ..Default::default() };
        let resolver = Resolver::new(&Config { egress, ..Config::default() }).unwrap();
        for (url, is_open) in [
            ("http://example.com/", true),
            ("https://93.184.216.34/", true),
            ("http://127.0.0.1:81/", true),
            ("http://127.0.0.1:82/", false),
            ("http://10.0.0.7:8888/", false),
            ("http://search.internal:8888/", false),
            ("http://[::1]/", false),
            ("http://printer.local/", false),
            ("ftp://example.com/", false),
            ("data:text/html,x", false),
        ] {
            assert_eq!(resolver.check(&url.parse().unwrap()).is_ok(), is_open, "{url}");
        }
    }

    #[test]
    fn families_alternate_and_nothing_is_lost() {
        let ips = |list: &[&str]| list.iter().map(|ip| ip.parse().unwrap()).collect::<Vec<IpAddr>>();
        let mixed = ips(&["1.1.1.1", "2.2.2.2", "3.3.3.3", "2000::1"]);
        assert_eq!(alternate(&mixed), ips(&["2000::1", "1.1.1.1", "2.2.2.2", "3.3.3.3"]));
        assert_eq!(alternate(&[]), ips(&[]));
    }
}
