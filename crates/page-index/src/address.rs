//! Parts of addresses that pages are found by.

use url::{Host, Url};

use crate::words::{fold_into, lower_into, words};

/// Returns the host of an address without `www.`, empty if there is none.
pub(crate) fn host(url: &Url) -> &str {
    let host = url.host_str().unwrap_or_default();
    host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(host)
}

/// Returns the registrable domain of a host, or the host where there is none.
pub(crate) fn site(host: &str) -> &str {
    domain(host).unwrap_or(host)
}

/// Returns the registrable domain of a host, if it is a name below a public suffix.
fn domain(host: &str) -> Option<&str> {
    psl::domain_str(host).filter(|_| is_name(host))
}

/// Returns whether a host is a name and no IP address.
fn is_name(host: &str) -> bool {
    !host.starts_with('[') && host.parse::<std::net::Ipv4Addr>().is_err()
}

/// Returns a host and all that are above it, the lowest first.
pub(crate) fn with_parents(host: &str) -> impl Iterator<Item = &str> {
    let is_name = is_name(host);
    std::iter::successors(Some(host), move |host| host.split_once('.').map(|(_, rest)| rest).filter(|_| is_name))
}

/// Returns a host as addresses have it: in lower case, international names encoded, without scheme and port.
pub(crate) fn plain_host(text: &str) -> Option<String> {
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let text = text.trim_start_matches("*.").trim_matches('.');
    let text = if text.starts_with('[') { text } else { text.split(':').next().unwrap_or_default() };
    Some(Host::parse(text).ok()?.to_string())
}

/// Calls `found` with each word of an address, in lower case without accents: those of its host without `www` and the public suffix, and
/// those of its path without the ending of the file name.
pub(crate) fn url_words(url: &Url, mut found: impl FnMut(&str)) {
    let host = host(url);
    let suffix = psl::suffix_str(host).filter(|_| is_name(host));
    let name = suffix.and_then(|suffix| host.strip_suffix(suffix)).unwrap_or(host);
    let path = percent_encoding::percent_decode_str(path_without_ending(url.path())).decode_utf8_lossy();
    for text in [name, &path] {
        plain_words(text, &mut found);
    }
}

/// Calls `found` with each word of a text, in lower case without accents.
pub(crate) fn plain_words(text: &str, mut found: impl FnMut(&str)) {
    let (mut lower, mut folded) = (String::new(), String::new());
    words(text, |word| {
        lower.clear();
        folded.clear();
        lower_into(word.text, &mut lower);
        fold_into(&lower, &mut folded);
        found(if word.pair { &lower } else { &folded });
    });
}

/// Returns the ending of the file name of an address, in lower case.
pub(crate) fn file_type(url: &Url) -> Option<String> {
    let (_, ending) = url.path().rsplit('/').next()?.rsplit_once('.')?;
    let is_ending = (1..=8).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_ending.then(|| ending.to_ascii_lowercase())
}

fn path_without_ending(path: &str) -> &str {
    match path.rsplit_once('.') {
        Some((rest, ending)) if ending.len() <= 5 && !ending.contains('/') => rest,
        _ => path,
    }
}

/// Returns the names by which the start page of a host is asked for: the host, and its registrable part without the
/// public suffix, letters and digits alone. Empty for other pages.
pub(crate) fn home_names(url: &Url) -> Vec<String> {
    let is_home = matches!(url.path(), "/" | "" | "/index.html") && url.query().is_none();
    let host = host(url);
    if !is_home || host.is_empty() {
        return Vec::new();
    }
    let mut names = vec![joined(host)];
    if let Some((name, _)) = domain(host).and_then(|site| site.split_once('.')) {
        names.push(joined(name));
    }
    names.dedup();
    names
}

/// Returns the letters and digits of a text, in lower case without accents.
pub(crate) fn joined(text: &str) -> String {
    let lower: String = text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let mut out = String::with_capacity(lower.len());
    fold_into(&lower, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn addresses_have_words_sites_and_endings() {
        let of = |text| {
            let mut out = Vec::new();
            url_words(&url(text), |word| out.push(word.to_owned()));
            out.join(" ")
        };
        assert_eq!(of("https://www.rust-lang.org/Learn/get_started.html?x=1"), "rust lang learn get started");
        assert_eq!(of("https://docs.example.co.uk/caf%C3%A9/"), "docs example cafe");
        assert_eq!(of("http://127.0.0.1:18310/labor"), "127 0 0 1 labor");
        assert_eq!(file_type(&url("https://a.org/x/Paper.PDF?download=1")).as_deref(), Some("pdf"));
        assert_eq!(file_type(&url("https://a.org/v1.0/")), None);
        assert_eq!(site("docs.example.co.uk"), "example.co.uk");
        assert_eq!(site("127.0.0.1"), "127.0.0.1");
        assert_eq!(with_parents("a.example.org").collect::<Vec<_>>(), ["a.example.org", "example.org", "org"]);
        assert_eq!(with_parents("127.0.0.1").collect::<Vec<_>>(), ["127.0.0.1"]);
        assert_eq!(home_names(&url("https://www.rust-lang.org/")), ["rustlangorg", "rustlang"]);
        assert!(home_names(&url("https://www.rust-lang.org/learn")).is_empty());
        for (given, plain) in
            [("*.Example.org", "example.org"), ("https://www.bücher.de:80", "www.xn--bcher-kva.de"), ("[::1]", "[::1]")]
        {
            assert_eq!(plain_host(given).as_deref(), Some(plain));
        }
        assert_eq!(plain_host("a b"), None);
    }
}
