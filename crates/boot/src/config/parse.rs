//! Addresses, names and levels of the settings; numbers are in [`base::setting`]. Every refusal says what is expected.

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

/// Networks, where a single address stands for itself.
pub(super) fn networks<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<IpNet>, D::Error> {
    each(input, |item| match item.parse::<IpAddr>() {
        Ok(address) => Ok(IpNet::from(address)),
        Err(_) => item.parse().map_err(|_| format!("{item}: expected an address or a network such as 10.0.0.0/8")),
    })
}

/// Names or addresses of this service, spelt as [`browser::host_name`] spells those of requests.
pub(super) fn hosts<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    let why = |item: &str| format!("{item}: expected a name such as quarry.lan, without scheme and port");
    each(input, |item| match browser::host_name(item) {
        Some((name, None)) => Ok(name),
        _ => Err(why(item)),
    })
}

/// Slots by the name of the queue.
pub(super) fn queues<'de, D: Deserializer<'de>>(input: D) -> Result<BTreeMap<String, u32>, D::Error> {
    let slots = BTreeMap::<String, u32>::deserialize(input)?;
    match slots.keys().find(|name| app::QUEUES.iter().all(|queue| queue.name != *name)) {
        Some(name) => Err(D::Error::custom(format!("unknown field `{name}`: there is no such queue"))),
        None => Ok(slots),
    }
}

/// What is answered without a key.
pub(super) fn keyless<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Keyless>, D::Error> {
    each(input, |item| match item {
        "scrape" => Ok(Keyless::Scrape),
        "research" => Err("research: this version has no research endpoints yet; `scrape` is there".to_owned()),
        other => Err(format!("{other}: expected `scrape`")),
    })
}

/// An id, or nothing.
pub(super) fn maybe_id<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Uuid>, D::Error> {
    match String::deserialize(input)?.trim() {
        "" => Ok(None),
        text => {
            text.parse().map(Some).map_err(|_| D::Error::custom("expected an id as `teams list` prints it, or nothing"))
        }
    }
}

/// An address and port; `localhost` is 127.0.0.1.
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

/// The address of a database, or nothing.
pub(super) fn database<'de, D: Deserializer<'de>>(input: D) -> Result<Secret, D::Error> {
    let url = Secret::deserialize(input)?;
    if !url.is_empty() {
        store::servers(url.expose()).map_err(D::Error::custom)?;
    }
    Ok(url)
}

/// The address of an HTTP server, or nothing.
pub(super) fn maybe_http<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    let text = String::deserialize(input)?;
    let is_http = |text: &str| text.starts_with("http://") || text.starts_with("https://");
    match text.is_empty() || is_http(&text) {
        true => Ok(text),
        false => Err(D::Error::custom("must begin with http:// or https://, as in http://localhost:9000")),
    }
}

/// An address and port, or nothing.
pub(super) fn maybe_address<'de, D: Deserializer<'de>>(input: D) -> Result<Option<SocketAddr>, D::Error> {
    match String::deserialize(input)?.trim() {
        "" => Ok(None),
        text => read_address(text).map(Some).ok_or_else(|| D::Error::custom(format!("{ADDRESS}; or nothing"))),
    }
}

/// Proxies as addresses, which may end in `#proxy_resolves=true` (a list in the environment holds only texts), or as tables
/// with `url` and `proxy_resolves`. Addresses hold passwords, so a refusal does not repeat them.
pub(super) fn proxies<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<net::Proxy>, D::Error> {
    let items = Vec::<toml::Value>::deserialize(input)?;
    let read = |item: &toml::Value| match item {
        toml::Value::String(text) => proxy(text),
        toml::Value::Table(table) => proxy_table(table),
        _ => None,
    };
    items.iter().map(|item| read(item).ok_or_else(|| D::Error::custom(PROXY))).collect()
}

const PROXY: &str = "expected addresses such as http://user:password@host:port, with #proxy_resolves=true behind one that \
    is to get names, or tables with `url` and `proxy_resolves`";

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

/// One level, or a list of `target=level`. To tracing a single unknown word is the name of a target.
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
