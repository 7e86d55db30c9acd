//! Parsers of addresses, names and levels in the settings; numbers are in [`base::setting`]. Every error tells what is
//! expected.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use base::Secret;
use base::setting::each;
use ipnet::IpNet;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use tracing_subscriber::filter::{LevelFilter, Targets};
use url::Url;
use uuid::Uuid;

use super::Keyless;
use crate::browser;

pub(super) fn head_kib<'de, D: Deserializer<'de>>(input: D) -> Result<usize, D::Error> {
    match usize::deserialize(input)? {
        kib @ 8..=1024 => Ok(kib * 1024),
        _ => Err(D::Error::custom("must be between 8 and 1024")),
    }
}

/// Parses networks; a single address is a network of its own.
pub(super) fn networks<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<IpNet>, D::Error> {
    each(input, |item| match item.parse::<IpAddr>() {
        Ok(address) => Ok(IpNet::from(address)),
        Err(_) => item.parse().map_err(|_| format!("{item}: expected an address or a network such as 10.0.0.0/8")),
    })
}

/// Parses names or addresses of this service, normalised like the hosts of requests by [`browser::host_name`].
pub(super) fn hosts<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    let why = |item: &str| format!("{item}: expected a name such as quarry.lan, without scheme and port");
    each(input, |item| match browser::host_name(item) {
        Some((name, None)) => Ok(name),
        _ => Err(why(item)),
    })
}

/// Parses the slots by queue name.
pub(super) fn queues<'de, D: Deserializer<'de>>(input: D) -> Result<BTreeMap<String, u32>, D::Error> {
    let slots = BTreeMap::<String, u32>::deserialize(input)?;
    match slots.keys().find(|name| app::QUEUES.iter().all(|queue| queue.name != *name)) {
        Some(name) => Err(D::Error::custom(format!("unknown field `{name}`: there is no such queue"))),
        None => Ok(slots),
    }
}

/// Parses the endpoints that need no key.
pub(super) fn keyless<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Keyless>, D::Error> {
    each(input, |item| match item {
        "scrape" => Ok(Keyless::Scrape),
        "search" => Ok(Keyless::Search),
        "research" => {
            Err("research: this version has no research endpoints yet; expected `scrape` or `search`".to_owned())
        }
        other => Err(format!("{other}: expected `scrape` or `search`")),
    })
}

/// Parses an id or an empty string.
pub(super) fn maybe_id<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Uuid>, D::Error> {
    match String::deserialize(input)?.trim() {
        "" => Ok(None),
        text => {
            text.parse().map(Some).map_err(|_| D::Error::custom("expected an id as printed by `teams list`, or empty"))
        }
    }
}

/// Parses an address and port; `localhost` is 127.0.0.1.
pub(super) fn address<'de, D: Deserializer<'de>>(input: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(input)?;
    read_address(text.trim()).ok_or_else(|| D::Error::custom(ADDRESS))
}

const ADDRESS: &str = "expected an address and port such as 127.0.0.1:3002 or localhost:3002, or 0.0.0.0:3002 for every address \
    of this machine";

fn read_address(text: &str) -> Option<SocketAddr> {
    text.parse().ok().or_else(|| match text.split_once(':') {
        Some((name, port)) if name.eq_ignore_ascii_case("localhost") => {
            Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse().ok()?)))
        }
        _ => None,
    })
}

/// Parses a database URL or an empty string.
pub(super) fn database<'de, D: Deserializer<'de>>(input: D) -> Result<Secret, D::Error> {
    let url = Secret::deserialize(input)?;
    if !url.is_empty() {
        store::servers(url.expose()).map_err(D::Error::custom)?;
    }
    Ok(url)
}

/// Parses an HTTP URL or an empty string.
pub(super) fn maybe_http<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    let text = String::deserialize(input)?;
    let is_http = |text: &str| text.starts_with("http://") || text.starts_with("https://");
    match text.is_empty() || is_http(&text) {
        true => Ok(text),
        false => Err(D::Error::custom("must begin with http:// or https://, as in http://localhost:9000")),
    }
}

/// Parses the base URL of a service or an empty string.
pub(super) fn maybe_service<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Url>, D::Error> {
    let text = String::deserialize(input)?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let url = Url::parse(text.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    match url.filter(|url| url.username().is_empty() && url.password().is_none()) {
        Some(url) => Ok(Some(url)),
        None => Err(D::Error::custom("expected a URL such as http://localhost:8000, without user name and password")),
    }
}

/// Parses an address and port or an empty string.
pub(super) fn maybe_address<'de, D: Deserializer<'de>>(input: D) -> Result<Option<SocketAddr>, D::Error> {
    match String::deserialize(input)?.trim() {
        "" => Ok(None),
        text => read_address(text).map(Some).ok_or_else(|| D::Error::custom(format!("{ADDRESS}; or empty"))),
    }
}

/// Parses proxies: URLs, which may end in `#proxy_resolves=true` (lists in the environment hold only strings), or tables
/// with `url` and `proxy_resolves`. URLs may contain passwords, so errors do not quote them.
pub(super) fn proxies<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<net::Proxy>, D::Error> {
    let items = Vec::<toml::Value>::deserialize(input)?;
    let read = |item: &toml::Value| match item {
        toml::Value::String(text) => proxy(text),
        toml::Value::Table(table) => proxy_table(table),
        _ => None,
    };
    items.iter().map(|item| read(item).ok_or_else(|| D::Error::custom(PROXY))).collect()
}

const PROXY: &str = "expected URLs such as http://user:password@host:port, followed by #proxy_resolves=true for a proxy \
    that resolves names itself, or tables with `url` and `proxy_resolves`";

fn proxy(text: &str) -> Option<net::Proxy> {
    let mut url = Url::parse(text).ok()?;
    let resolves = match url.fragment() {
        None | Some("proxy_resolves=false") => false,
        Some("proxy_resolves=true") => true,
        Some(_) => return None,
    };
    url.set_fragment(None);
    let is_usable = matches!(url.scheme(), "http" | "https") && url.has_host();
    is_usable.then_some(net::Proxy { url, resolves })
}

fn proxy_table(table: &toml::Table) -> Option<net::Proxy> {
    if table.keys().any(|key| !matches!(key.as_str(), "url" | "proxy_resolves")) {
        return None;
    }
    let proxy = proxy(table.get("url")?.as_str()?)?;
    match table.get("proxy_resolves") {
        None => Some(proxy),
        Some(value) => Some(net::Proxy { resolves: value.as_bool()?, ..proxy }),
    }
}

/// Parses one level or a list of `target=level`. `Targets` alone would accept any single word as the name of a target.
pub(super) fn level<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    let level = String::deserialize(input)?;
    let is_known = match level.contains('=') {
        true => level.parse::<Targets>().is_ok(),
        false => level.parse::<LevelFilter>().is_ok(),
    };
    match is_known {
        true => Ok(level),
        false => {
            Err(D::Error::custom(format!("{level}: expected off, error, warn, info, debug, trace or target=level,…")))
        }
    }
}
