//! Restrictions of API keys (endpoints, formats) and of teams (networks).

use std::net::IpAddr;

use ipnet::IpNet;

use crate::format::FormatKind;
use crate::read::Field;
use crate::words::{Word, words};

/// Maximum number of networks in a team's restriction.
pub const MAX_ADDRESSES: usize = 100;

words! {
    /// Groups of endpoints under `/v2` to which a key may be restricted.
    pub enum EndpointGroup {
        /// `/v2/scrape`, except `interact`.
        Scrape = "scrape",
        /// `/v2/batch/scrape`.
        Batch = "batch",
        /// `/v2/crawl`.
        Crawl = "crawl",
        /// `/v2/map`.
        Map = "map",
        /// `/v2/search`, and feedback on calls.
        Search = "search",
        /// `/v2/parse`.
        Parse = "parse",
        /// `/v2/scrape/{id}/interact`.
        Interact = "interact",
        /// `/v2/browser`.
        Browser = "browser",
        /// `/v2/monitor`.
        Monitor = "monitor",
        /// `/v2/team` and `/v2/concurrency-check`: usage and limits of the team.
        Team = "team",
    }
}

/// Reads endpoint groups, each at most once. An empty list allows all.
pub(crate) fn endpoints(field: Field<'_>) -> Option<Vec<EndpointGroup>> {
    each_once(field)
}

/// Reads format names, each at most once. An empty list allows all.
pub(crate) fn formats(field: Field<'_>) -> Option<Vec<FormatKind>> {
    each_once(field)
}

fn each_once<W: Word + PartialEq>(field: Field<'_>) -> Option<Vec<W>> {
    field.one_of_each(0..=W::WORDS.len(), |word| *word, Field::word)
}

/// Reads networks, in the normal form of [`network`]. An empty list allows all.
pub(crate) fn addresses(field: Field<'_>) -> Option<Vec<String>> {
    field.list(0..=MAX_ADDRESSES, |entry| entry.parse(network))
}

/// Parses a network in CIDR notation and returns its normal form. A single address is a network of its own.
fn network(text: &str) -> Result<String, String> {
    let expected = || "must be an address or a network such as 10.0.0.0/8 or 2001:db8::/32".to_owned();
    let text = text.trim();
    let network = match text.parse::<IpAddr>() {
        Ok(address) => IpNet::from(address),
        Err(_) => text.parse::<IpNet>().map_err(|_| expected())?,
    };
    if let IpAddr::V6(address) = network.addr()
        && address.to_ipv4_mapped().is_some()
    {
        return Err("must be written as an IPv4 network".to_owned());
    }
    let whole = network.trunc();
    if whole != network {
        let address = network.addr();
        return Err(format!("is not a network: {address} is a host in {whole}; use {whole} or {address}"));
    }
    Ok(network.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks() {
        let check = |text: &str, expect: Result<&str, &str>| match (network(text), expect) {
            (Ok(found), Ok(expect)) => assert_eq!(found, expect, "{text}"),
            (Err(found), Err(expect)) => assert!(found.contains(expect), "{text}: {found}"),
            (found, _) => panic!("{text}: {found:?}"),
        };
        check("10.0.0.0/8", Ok("10.0.0.0/8"));
        check(" 192.0.2.7 ", Ok("192.0.2.7/32"));
        check("2001:DB8:0::/32", Ok("2001:db8::/32"));
        check("::1", Ok("::1/128"));
        check("0.0.0.0/0", Ok("0.0.0.0/0"));
        check("::/0", Ok("::/0"));
        check("10.1.2.3/8", Err("10.1.2.3 is a host in 10.0.0.0/8"));
        check("2001:db8::7/32", Err("a host in 2001:db8::/32"));
        check("::ffff:10.0.0.0/104", Err("as an IPv4 network"));
        check("::ffff:10.0.0.1", Err("as an IPv4 network"));
        for bad in ["", "10.0.0.0/33", "10.0.0/8", "example.com", "10.0.0.1:80", "10.0.0.0/8,10.1.0.0/16", "*"] {
            check(bad, Err("must be an address or a network"));
        }
    }
}
