//! Address of a PostgreSQL server. TLS parameters are parsed here with the meaning of libpq (PostgreSQL manual,
//! "Database Connection Control Functions"); `tokio_postgres` parses the rest.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// Value of `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// No TLS.
    Disable,
    /// TLS only if the server requires it.
    Allow,
    /// TLS if the server supports it.
    Prefer,
    /// TLS with any server, unverified.
    Require,
    /// TLS with a server whose certificate is signed by a trusted CA.
    VerifyCa,
    /// TLS with a server whose certificate is signed by a trusted CA and names the host.
    VerifyFull,
}

/// Trusted CAs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Roots {
    /// Any certificate: nothing is verified.
    Any,
    /// CAs of the machine.
    System,
    /// CAs in this file.
    File(PathBuf),
}

/// Parsed address.
pub(crate) struct Address {
    /// Everything except TLS.
    pub(crate) config: Config,
    pub(crate) mode: Mode,
    pub(crate) roots: Roots,
    /// Files with the client certificate and its key.
    pub(crate) client: Option<(PathBuf, PathBuf)>,
}

/// TLS parameters as given in the address.
#[derive(Default)]
struct TlsParameters {
    mode: Option<Mode>,
    root: Option<String>,
    cert: Option<String>,
    key: Option<String>,
}

impl Address {
    /// Parses `postgres://user:password@host:port/database?parameters`.
    ///
    /// # Errors
    /// Name of the invalid parameter and the reason. The text holds no part of the address except names of parameters
    /// and files.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let (rest, said) = split(url)?;
        let mut config: Config = rest.parse().map_err(|error: tokio_postgres::Error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            cause.unwrap_or_else(|| error.to_string())
        })?;
        // The handshake needs a name, even if it is not verified.
        if config.get_hosts().is_empty() {
            for ip in config.get_hostaddrs().to_vec() {
                config.host(ip.to_string());
            }
        }
        let (mut mode, roots) = trust(said.mode, said.root)?;
        // As in libpq: Unix sockets never use TLS.
        if config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_))) {
            mode = Mode::Disable;
        }
        let client = match (said.cert, said.key) {
            (Some(cert), Some(key)) => Some((cert.into(), key.into())),
            (None, None) => None,
            _ => return Err("sslcert and sslkey must be set together".to_owned()),
        };
        Ok(Self { config, mode, roots, client })
    }
}

/// Splits the TLS parameters off the address.
fn split(url: &str) -> Result<(String, TlsParameters), String> {
    // As in `tokio_postgres`: the password ends at the first `@`.
    let host = url.find('@').map_or(0, |at| at + 1);
    let Some(query) = url[host..].find('?').map(|at| host + at) else {
        return Ok((url.to_owned(), TlsParameters::default()));
    };
    let (mut said, mut others) = (TlsParameters::default(), Vec::new());
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
                "sslmode `{shown}` is unknown: use disable, allow, prefer, require, verify-ca or verify-full"
            ));
        }
    })
}

/// Returns the mode and the trusted CAs. `prefer` is the default, as in libpq. CAs with a mode that does not verify
/// them are rejected, because the intention is unclear.
fn trust(mode: Option<Mode>, root: Option<String>) -> Result<(Mode, Roots), String> {
    let root = root.filter(|root| !root.is_empty());
    match (mode, root.as_deref()) {
        (Some(Mode::VerifyCa | Mode::VerifyFull), None) => {
            Err("this sslmode needs sslrootcert: a file with the CA certificate that signed the server's, or with \
                 verify-full `system` for the CAs of this machine"
                .to_owned())
        }
        (mode, None) => Ok((mode.unwrap_or(Mode::Prefer), Roots::Any)),
        (None | Some(Mode::VerifyFull), Some("system")) => Ok((Mode::VerifyFull, Roots::System)),
        (Some(_), Some("system")) => Err("sslrootcert=system needs sslmode=verify-full, as public CAs issue \
                                          certificates to anybody"
            .to_owned()),
        // As in libpq: `require` with a root certificate verifies like `verify-ca`.
        (Some(Mode::Require | Mode::VerifyCa), Some(file)) => Ok((Mode::VerifyCa, Roots::File(file.into()))),
        (Some(Mode::VerifyFull), Some(file)) => Ok((Mode::VerifyFull, Roots::File(file.into()))),
        (_, Some(_)) => {
            Err("sslrootcert needs sslmode=verify-full or verify-ca: other modes do not verify it".to_owned())
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
        refused("?sslmode=full", "sslmode `full` is unknown: use disable");
        refused("?sslmode=", "sslmode `` is unknown");
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
