//! Sites of the categories, and domains in general.

/// Site of the category `github`.
pub(crate) const GITHUB: &str = "github.com";

/// Returns whether a host is a domain or one of its subdomains.
pub(crate) fn is_within(host: &str, domain: &str) -> bool {
    let host = host.trim_end_matches('.');
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Returns the domains that both lists cover; `None` means every domain.
pub(crate) fn common(one: Option<&[String]>, other: Option<&[String]>) -> Option<Vec<String>> {
    let (one, other) = match (one, other) {
        (Some(one), Some(other)) => (one, other),
        (only, None) | (None, only) => return only.map(<[String]>::to_vec),
    };
    let mut common: Vec<String> = Vec::new();
    for domain in one {
        for site in other {
            let narrower = if is_within(domain, site) {
                domain
            } else if is_within(site, domain) {
                site
            } else {
                continue;
            };
            if !common.contains(narrower) {
                common.push(narrower.clone());
            }
        }
    }
    Some(common)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(domains: &[&str]) -> Vec<String> {
        domains.iter().map(|&domain| domain.to_owned()).collect()
    }

    #[test]
    fn subdomains_are_within() {
        assert!(is_within("a.test", "a.test") && is_within("x.a.test", "a.test") && is_within("a.test.", "a.test"));
        assert!(!is_within("ba.test", "a.test") && !is_within("a.test", "x.a.test") && !is_within("", "a.test"));
    }

    #[test]
    fn common_domains_are_the_narrower_ones() {
        let check = |one: &[&str], other: &[&str], expect: &[&str]| {
            assert_eq!(common(Some(&list(one)), Some(&list(other))), Some(list(expect)), "{one:?} {other:?}");
        };
        check(&["a.test"], &["b.test"], &[]);
        check(&["a.test", "b.test"], &["b.test"], &["b.test"]);
        check(&["x.a.test"], &["a.test"], &["x.a.test"]);
        check(&["a.test"], &["x.a.test", "y.a.test", "x.a.test"], &["x.a.test", "y.a.test"]);
        assert_eq!(common(None, Some(&list(&["a.test"]))), Some(list(&["a.test"])));
        assert_eq!(common(None, None), None);
    }
}
