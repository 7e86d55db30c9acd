//! Special-use host names that are never looked up in DNS.

/// Names outside public DNS: this machine (RFC 6761 and common usage), other naming systems (RFC 7686, RFC 9476).
const NEVER: &[&str] = &["localhost", "localdomain", "ip6-localhost", "ip6-loopback", "onion", "alt"];

/// Names for private networks: RFC 6762 (local), RFC 8375 (home.arpa), ICANN's reserved internal.
const PRIVATE: &[&str] = &["local", "internal", "home.arpa"];

/// Reason for refusing a name in [`PRIVATE`].
pub(crate) const PRIVATE_NAME: &str = "name of a private network";

/// Returns whether a name is `localhost` or a subdomain of it.
pub(crate) fn is_localhost(host: &str) -> bool {
    is_below(host.trim_end_matches('.'), "localhost")
}

/// Returns whether a name without a trailing dot is a zone or below it.
fn is_below(host: &str, zone: &str) -> bool {
    host.len().checked_sub(zone.len()).is_some_and(|cut| {
        host.is_char_boundary(cut)
            && host[cut..].eq_ignore_ascii_case(zone)
            && (cut == 0 || host.as_bytes()[cut - 1] == b'.')
    })
}

/// Refuses special-use names and their subdomains. `private` allows the names of private networks, when `allow` contains a
/// network.
///
/// # Errors
/// The reason, fit for an error message.
pub(crate) fn check(host: &str, private: bool) -> Result<(), &'static str> {
    let host = host.trim_end_matches('.');
    let below = |zone: &&str| is_below(host, zone);
    if host.is_empty() {
        return Err("empty name");
    }
    if NEVER.iter().any(below) {
        return Err("special-use name");
    }
    if !private && PRIVATE.iter().any(below) {
        return Err(PRIVATE_NAME);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn special_names_are_refused_with_their_subnames() {
        for host in
            ["localhost", "LOCALHOST.", "a.localhost", "x.y.localhost.", "localhost.localdomain", "a.onion", ".", ""]
        {
            assert!(check(host, true).is_err(), "{host}");
        }
        for host in ["printer.local", "metadata.google.internal", "nas.home.arpa"] {
            assert!(check(host, false).is_err(), "{host}");
            assert!(check(host, true).is_ok(), "{host}");
        }
    }

    #[test]
    fn other_names_pass() {
        for host in [
            "example.com",
            "notlocalhost",
            "localhost.example.com",
            "origin.test",
            "home.arpa.example",
            "müller.example",
        ] {
            assert!(check(host, false).is_ok(), "{host}");
        }
    }
}
