//! The address of a PostgreSQL server. What concerns TLS is read here, as libpq reads it
//! (PostgreSQL manual, "Database Connection Control Functions"); `tokio_postgres` reads the rest.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// The values of `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Never.
    Disable,
    /// Only when the server wants it.
    Allow,
    /// When the server can.
    Prefer,
    /// Always, with whoever answers.
    Require,
    /// Always, with a server whose certificate an authority of ours has signed.
    VerifyCa,
    /// The same, and the certificate names the host.
    VerifyFull,
}

/// Whose certificates are believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Roots {
    /// Everybody's: nothing is checked.
    Any,
    /// Those that the authorities of the machine have signed.
    System,
    /// Those that the authorities in this file have signed.
    File(PathBuf),
}

/// An address, read.
pub(crate) struct Address {
    /// Everything that does not concern TLS.
    pub(crate) config: Config,
    pub(crate) mode: Mode,
    pub(crate) roots: Roots,
    /// Files with the client's certificate and its key.
    pub(crate) client: Option<(PathBuf, PathBuf)>,
}

/// What the address says about TLS.
#[derive(Default)]
struct Said {
    mode: Option<Mode>,
    root: Option<String>,
    cert: Option<String>,
    key: Option<String>,
}

impl Address {
    /// Reads `postgres://user:password@host:port/database?parameters`.
    ///
    /// # Errors
    /// The parameter that is to blame, and why. The text holds no part of the address but names of parameters and files.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let (rest, said) = split(url)?;
        let mut config: Config = rest.parse().map_err(|error: tokio_postgres::Error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            cause.unwrap_or_else(|| error.to_string())
        })?;
        // A name is needed for the handshake, whatever is checked of it.
        if config.get_hosts().is_empty() {
            for ip in config.get_hostaddrs().to_vec() {
                config.host(ip.to_string());
            }
        }
        let (mut mode, roots) = trust(said.mode, said.root)?;
        // As in libpq: a socket in the file system is never encrypted.
        if config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_))) {
            mode = Mode::Disable;
        }
        let client = match (said.cert, said.key) {
            (Some(cert), Some(key)) => Some((cert.into(), key.into())),
            (None, None) => None,
            _ => return Err("sslcert and sslkey go together: name both files or none".to_owned()),
        };
        Ok(Self { config, mode, roots, client })
    }
}

/// The address without the parameters that are ours, and those.
fn split(url: &str) -> Result<(String, Said), String> {
    // As `tokio_postgres` does: a password ends at the first `@`, whatever is in it.
    let host = url.find('@').map_or(0, |at| at + 1);
    let Some(query) = url[host..].find('?').map(|at| host + at) else {
        return Ok((url.to_owned(), Said::default()));
    };
    let (mut said, mut others) = (Said::default(), Vec::new());
    for pair in url[query + 1..].split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let key = percent_decode_str(key).decode_utf8_lossy();
        let value = || percent_decode_str(value).decode_utf8_lossy().into_owned();
        match key.as_ref() {
            "sslmode" => said.mode = Some(mode(&value())?),
            "sslrootcert" => said.root = Some(value()),
            "sslcert" => said.cert = Some(value()),
            "sslkey" => said.key = Some(value()),
            _ => others.push(pair),
        }
    }
    let others = others.join("&");
    let rest = if others.is_empty() { url[..query].to_owned() } else { format!("{}?{others}", &url[..query]) };
    Ok((rest, said))
}

fn mode(text: &str) -> Result<Mode, String> {
    Ok(match text {
        "disable" => Mode::Disable,
        "allow" => Mode::Allow,
        "prefer" => Mode::Prefer,
        "require" => Mode::Require,
        "verify-ca" => Mode::VerifyCa,
        "verify-full" => Mode::VerifyFull,
        other => {
            let shown: String = other.chars().take(40).collect();
            return Err(format!(
                "sslmode `{shown}` is none of disable, allow, prefer, require, verify-ca and verify-full"
            ));
        }
    })
}

/// How strict to be, and by which authorities. `prefer` is the default, as in libpq; with authorities and without a mode
/// that checks them, nobody can tell what was meant.
fn trust(mode: Option<Mode>, root: Option<String>) -> Result<(Mode, Roots), String> {
    let root = root.filter(|root| !root.is_empty());
    match (mode, root.as_deref()) {
        (Some(Mode::VerifyCa | Mode::VerifyFull), None) => {
            Err("this sslmode needs sslrootcert: the file with the certificate of the authority that signed the \
                 server's, or with verify-full `system` for those of this machine"
                .to_owned())
        }
        (mode, None) => Ok((mode.unwrap_or(Mode::Prefer), Roots::Any)),
        (None | Some(Mode::VerifyFull), Some("system")) => Ok((Mode::VerifyFull, Roots::System)),
        (Some(_), Some("system")) => Err("sslrootcert=system needs sslmode=verify-full, since anybody can have a \
                                          certificate of the machine's authorities"
            .to_owned()),
        // As in libpq.
        (Some(Mode::Require | Mode::VerifyCa), Some(file)) => Ok((Mode::VerifyCa, Roots::File(file.into()))),
        (Some(Mode::VerifyFull), Some(file)) => Ok((Mode::VerifyFull, Roots::File(file.into()))),
        (_, Some(_)) => {
            Err("sslrootcert needs sslmode=verify-full or verify-ca: others go on without a check".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "postgres://u:p?w@h:1/d";

    fn check(query: &str, mode: Mode, roots: Roots) {
        let address = Address::parse(&format!("{BASE}{query}")).unwrap_or_else(|error| panic!("{query}: {error}"));
        assert_eq!((address.mode, address.roots), (mode, roots), "{query}");
        assert_eq!(address.config.get_password(), Some(&b"p?w"[..]), "{query}");
        assert_eq!(address.config.get_dbname(), Some("d"), "{query}");
    }

    fn refused(query: &str, part: &str) {
        let error = Address::parse(&format!("{BASE}{query}")).err().unwrap_or_else(|| panic!("{query} was taken"));
        assert!(error.contains(part) && !error.contains("p?w"), "{query}: {error}");
    }

    #[test]
    fn modes_and_authorities() {
        let file = || Roots::File("/etc/ca.pem".into());
        check("", Mode::Prefer, Roots::Any);
        check("?connect_timeout=3", Mode::Prefer, Roots::Any);
        check("?sslmode=disable", Mode::Disable, Roots::Any);
        check("?sslmode=allow", Mode::Allow, Roots::Any);
        check("?connect_timeout=3&sslmode=require&application_name=q", Mode::Require, Roots::Any);
        check("?sslmode=require&sslrootcert=/etc/ca.pem", Mode::VerifyCa, file());
        check("?sslrootcert=%2Fetc%2Fca.pem&sslmode=verify-full", Mode::VerifyFull, file());
        check("?sslmode=verify-ca&sslrootcert=/etc/ca.pem", Mode::VerifyCa, file());
        check("?sslrootcert=system", Mode::VerifyFull, Roots::System);
        check("?sslmode=disable&sslmode=require", Mode::Require, Roots::Any);
    }

    #[test]
    fn what_cannot_be_meant_is_refused_by_name() {
        refused("?sslmode=full", "sslmode `full` is none of disable");
        refused("?sslmode=", "sslmode `` is none of");
        refused("?sslmode=verify-full", "sslrootcert");
        refused("?sslmode=verify-ca", "sslrootcert");
        refused("?sslmode=require&sslrootcert=system", "sslmode=verify-full");
        refused("?sslrootcert=/etc/ca.pem", "sslrootcert needs sslmode=verify-full");
        refused("?sslmode=prefer&sslrootcert=/etc/ca.pem", "sslrootcert needs sslmode=verify-full");
        refused("?sslcert=/a.pem", "sslkey");
        refused("?sslcrl=/a.pem", "sslcrl");
    }

    #[test]
    fn sockets_are_never_encrypted() {
        let address = Address::parse("postgres://u@%2Frun%2Fpostgresql/d?sslmode=require").unwrap();
        assert_eq!(address.mode, Mode::Disable);
    }

    #[test]
    fn hosts_are_listed_with_their_ports() {
        let check = |url: &str, expect: &[(&str, u16)]| {
            let found = crate::postgres::servers(url).unwrap();
            let expect: Vec<_> = expect.iter().map(|(host, port)| ((*host).to_owned(), *port)).collect();
            assert_eq!(found, expect, "{url}");
        };
        check("postgres://u:p@db.internal/d?sslmode=require", &[("db.internal", 5432)]);
        check("postgres://u@a:1,b:2/d", &[("a", 1), ("b", 2)]);
        check("postgres://u@[::1]:7/d", &[("::1", 7)]);
        check("postgres://u@a:1/d?hostaddr=10.0.0.1", &[("10.0.0.1", 1), ("a", 1)]);
        check("postgres://u@%2Frun%2Fpostgresql/d", &[]);
        check("sqlite:///x.db", &[]);
    }
}
