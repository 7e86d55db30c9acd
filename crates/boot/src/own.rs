//! Addresses of the deployment itself, which pages are never fetched from, even if `egress.allow` contains them.

use std::net::SocketAddr;

use url::Url;

use crate::config::{Config, ConfigError, Proxies};

/// Listeners and hosts of the deployment, each with its port.
#[derive(Debug, Default)]
pub(crate) struct OwnAddresses {
    /// Listening addresses. An unspecified IP means every address of this machine.
    pub(crate) listen: Vec<SocketAddr>,
    /// Hosts, by name or address, of the database, blob store, proxies, language models, product service, mail server and
    /// resolvers.
    pub(crate) hosts: Vec<(String, u16)>,
}

/// Returns all addresses in the settings, and `listen`, the actual address of this process. Servers and workers read the
/// same settings, so each knows the others.
///
/// # Errors
/// [`ConfigError`] for an invalid database URL.
pub(crate) fn own(config: &Config, listen: Option<SocketAddr>) -> Result<OwnAddresses, ConfigError> {
    let set = [config.server.listen, config.worker.listen];
    // With port 0 the system picks the port, which only the process itself knows.
    let listen = listen.into_iter().chain(set).chain(config.admin.listen).filter(|address| address.port() != 0);
    let mut hosts = match config.store.url.expose() {
        "" => Vec::new(),
        url => store::servers(url).map_err(|error| ConfigError::new("STORE__URL", error))?,
    };
    hosts.extend(Url::parse(&config.blobs.endpoint).ok().as_ref().and_then(host));
    let proxies = |list: &Proxies| list.0.iter().filter_map(|proxy| host(&proxy.url)).collect::<Vec<_>>();
    hosts.extend(proxies(&config.fetch.basic_proxies));
    hosts.extend(proxies(&config.fetch.enhanced_proxies));
    hosts.extend(config.llm.urls().filter_map(host));
    hosts.extend(config.search.searxng_url.as_ref().and_then(host));
    hosts.extend(config.extract.product_service_url.as_ref().and_then(host));
    hosts.extend(config.mail.url.as_ref().map(|server| (server.host().to_owned(), server.port())));
    hosts.extend(config.egress.resolvers.iter().map(|resolver| (resolver.ip().to_string(), resolver.port())));
    Ok(OwnAddresses { listen: listen.collect(), hosts })
}

fn host(url: &Url) -> Option<(String, u16)> {
    Some((url.host_str()?.to_owned(), url.port_or_known_default()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(url: &str) -> Proxies {
        Proxies(vec![net::Proxy { url: url.parse().unwrap(), resolves: false }])
    }

    #[test]
    fn every_role_knows_every_address() {
        let mut config = Config::default();
        config.server.listen = "0.0.0.0:3002".parse().unwrap();
        config.worker.listen = "10.0.0.2:3003".parse().unwrap();
        config.store.url = base::Secret::new("postgres://u:p@db.internal:5433,10.0.0.3/quarry?sslmode=require");
        config.blobs.endpoint = "http://minio:9000".to_owned();
        config.fetch.basic_proxies = proxy("http://u:p@10.0.0.4:3128");
        config.fetch.enhanced_proxies = proxy("https://proxy.internal");
        config.llm.url = Some("http://10.0.0.6:8080/v1".parse().unwrap());
        config.llm.roles.judge.url = Some("https://models.internal".parse().unwrap());
        config.search.searxng_url = Some("http://10.0.0.7:8888/".parse().unwrap());
        config.extract.product_service_url = Some("https://products.internal/base".parse().unwrap());
        config.mail.url = Some("smtps://u:p@mail.internal".parse().unwrap());
        config.egress.resolvers = vec!["10.0.0.5:53".parse().unwrap()];
        let own = own(&config, Some("127.0.0.1:40000".parse().unwrap())).unwrap();
        let listen: Vec<_> = own.listen.iter().map(ToString::to_string).collect();
        assert_eq!(listen, ["127.0.0.1:40000", "0.0.0.0:3002", "10.0.0.2:3003"]);
        let hosts: Vec<_> = own.hosts.iter().map(|(host, port)| format!("{host} {port}")).collect();
        let stores = ["10.0.0.3 5432", "db.internal 5433", "minio 9000"];
        let fetching = ["10.0.0.4 3128", "proxy.internal 443"];
        let services = [
            "10.0.0.6 8080",
            "models.internal 443",
            "10.0.0.7 8888",
            "products.internal 443",
            "mail.internal 465",
            "10.0.0.5 53",
        ];
        assert_eq!(hosts, [&stores[..], &fetching, &services].concat());
    }

    #[test]
    fn a_port_that_is_not_known_yet_is_none() {
        let mut config = Config::default();
        config.server.listen = "127.0.0.1:0".parse().unwrap();
        let own = own(&config, None).unwrap();
        assert_eq!(own.listen, [config.worker.listen]);
        assert!(own.hosts.is_empty());
    }
}
