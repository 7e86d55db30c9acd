//! Settings of section `mail`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use base::{Secret, setting};
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Deserializer, de};
use thiserror::Error;
use url::Url;

/// Settings of section `mail`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Server: `smtps://user:password@host:port`, or `smtp://…` with STARTTLS. Default: none, and no mail.
    #[serde(deserialize_with = "server")]
    pub url: Option<ServerUrl>,
    /// Sender, such as `Quarry <quarry@example.com>`.
    pub from: String,
    /// PEM file of certificates to trust besides those of the system. Default: none.
    #[serde(deserialize_with = "setting::path")]
    pub ca_file: Option<PathBuf>,
    /// Time for one letter, connecting included. Default: 30 s.
    #[serde(rename = "timeout_s", deserialize_with = "setting::some_seconds")]
    pub timeout: Duration,
    /// Connections at a time. Default: 2.
    #[serde(deserialize_with = "setting::positive")]
    pub connections: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { url: None, from: String::new(), ca_file: None, timeout: Duration::from_secs(30), connections: 2 }
    }
}

/// Encryption of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    /// TLS from the first byte: `smtps://`.
    Tls,
    /// STARTTLS, or no letter: `smtp://`.
    StartTls,
    /// STARTTLS where the server offers it: `smtp://…?tls=opportunistic`. Without it no password is sent.
    Opportunistic,
    /// None: `smtp://…?tls=none`.
    None,
}

/// Address of a mail server. Its password is not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) security: Security,
    pub(crate) user: String,
    pub(crate) password: Secret,
}

impl ServerUrl {
    /// Returns the host.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns how connections are encrypted.
    #[must_use]
    pub fn security(&self) -> Security {
        self.security
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} ({:?})", self.host, self.port, self.security)
    }
}

impl FromStr for ServerUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected an address such as smtps://user:password@mail.example.com".to_owned();
        let url = Url::parse(text.trim()).map_err(|_| expected())?;
        let tls = match url.query() {
            None => None,
            Some(query) => Some(query.strip_prefix("tls=").ok_or_else(expected)?),
        };
        let (security, port) = match (url.scheme(), tls) {
            ("smtps", None) => (Security::Tls, 465),
            ("smtp", None | Some("required")) => (Security::StartTls, 587),
            ("smtp", Some("opportunistic")) => (Security::Opportunistic, 587),
            ("smtp", Some("none")) => (Security::None, 587),
            ("smtp", Some(_)) => return Err("tls is required, opportunistic or none".to_owned()),
            _ => return Err(expected()),
        };
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(expected)?;
        if !matches!(url.path(), "" | "/") || url.fragment().is_some() {
            return Err(expected());
        }
        let decoded = |text: &str| percent_decode_str(text).decode_utf8().map(String::from).map_err(|_| expected());
        let password = url.password().map(decoded).transpose()?.unwrap_or_default();
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port().unwrap_or(port),
            security,
            user: decoded(url.username())?,
            password: Secret::new(password),
        })
    }
}

/// Setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("mail.{key}: {reason}")]
pub struct SettingsError {
    /// Key in section `mail`.
    pub key: &'static str,
    /// Reason, in a sentence.
    pub reason: String,
}

fn server<'de, D: Deserializer<'de>>(input: D) -> Result<Option<ServerUrl>, D::Error> {
    let text = String::deserialize(input)?;
    match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(de::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_servers() {
        let parsed = |text: &str| text.parse::<ServerUrl>().unwrap();
        let tls = parsed("smtps://user%40example.com:p%3Ass@mail.example.com");
        assert_eq!((tls.host(), tls.port(), tls.security()), ("mail.example.com", 465, Security::Tls));
        assert_eq!((tls.user.as_str(), tls.password.expose()), ("user@example.com", "p:ss"));
        assert!(!format!("{tls:?}").contains("p:ss"));
        assert_eq!(parsed("smtp://mail.example.com").security(), Security::StartTls);
        assert_eq!(parsed("smtp://mail.example.com").port(), 587);
        assert_eq!(parsed("smtp://10.0.0.1:25?tls=none").security(), Security::None);
        assert_eq!(parsed("smtp://h.example/?tls=opportunistic").security(), Security::Opportunistic);
        assert_eq!(parsed("smtp://[::1]:2525").host(), "::1");
        for bad in [
            "mail.example.com",
            "http://h.example",
            "smtps://",
            "smtp://h/?tls=maybe",
            "smtp://h/path",
            "smtps://h?tls=none",
        ] {
            assert!(bad.parse::<ServerUrl>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_empty_address_is_no_mail() {
        let settings: Settings = serde_json::from_str(r#"{"url": " ", "timeout_s": 5}"#).unwrap();
        assert_eq!((settings.url, settings.timeout.as_secs(), settings.connections), (None, 5, 2));
        let fault = serde_json::from_str::<Settings>(r#"{"url": "mail.example.com:25"}"#).unwrap_err();
        assert!(fault.to_string().contains("smtps://"), "{fault}");
    }
}
