//! Mail over SMTP: letters whose texts cannot add headers or markup, signed links in them, and a server that refuses, hangs
//! or is gone.
//!
//! ```
//! use mail::{Address, Letter, Mailer, Settings, letters};
//! use url::Url;
//!
//! let settings: Settings = serde_json::from_str(
//!     r#"{"url": "smtps://user:secret@mail.example.com", "from": "Quarry <quarry@example.com>"}"#,
//! )?;
//! let mailer = Mailer::new(&settings)?.expect("a server is set");
//! let to: Address = "ops@example.com".parse()?;
//! let letter = Letter {
//!     // The same key gives the same Message-ID: who gets the letter twice sees it once.
//!     key: "check 1, ops@example.com",
//!     to: &to,
//!     content: letters::confirmation("Prices <of> tea", &Url::parse("https://quarry.example.com/confirm?token=1")?),
//!     unsubscribe: None,
//!     date: chrono::DateTime::UNIX_EPOCH,
//! };
//! # let _ = async {
//! mailer.send(&letter).await?;
//! # Ok::<(), mail::SendError>(())
//! # };
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Mailer`] keeps a few connections to one server, which it talks to in TLS, unless the settings tell otherwise. Each
//! letter has one recipient, so that one that is refused does not hold up others; [`SendError`] says whether to try again.
//! [`Tokens`] signs the links with which a recipient confirms or unsubscribes.

mod address;
mod connections;
mod content;
mod error;
mod letter;
pub mod letters;
mod limited;
mod mailer;
mod plain;
mod settings;
mod token;

pub use address::{Address, AddressError};
pub use content::{Content, Part};
pub use error::SendError;
pub use letter::Letter;
pub use mailer::Mailer;
pub use settings::{Security, ServerUrl, Settings, SettingsError};
pub use token::{Purpose, TokenError, Tokens};
