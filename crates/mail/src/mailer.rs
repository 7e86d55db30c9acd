//! Sends letters by the server of the settings.

use std::fmt;
use std::sync::Arc;

use lettre::message::Mailbox;

use crate::connections::Connections;
use crate::{Letter, SendError, ServerUrl, Settings, SettingsError};

/// Sends letters by one server. Clones share its connections.
#[derive(Clone)]
pub struct Mailer {
    from: Mailbox,
    server: ServerUrl,
    connections: Arc<Connections>,
}

impl Mailer {
    /// Takes the settings, and connects with the first letter. `None` when no server is set.
    ///
    /// # Errors
    /// The sender is no address, or the file of certificates cannot be read.
    pub fn new(settings: &Settings) -> Result<Option<Self>, SettingsError> {
        let Some(server) = &settings.url else { return Ok(None) };
        let from: Mailbox = settings.from.trim().parse().map_err(|_| SettingsError {
            key: "from",
            reason: "expected a sender such as Quarry <quarry@example.com>".to_owned(),
        })?;
        let connections = Arc::new(Connections::new(settings, server, from.email.domain())?);
        Ok(Some(Self { from, server: server.clone(), connections }))
    }

    /// Returns the server, which is an address of the operator's own.
    #[must_use]
    pub fn server(&self) -> &ServerUrl {
        &self.server
    }

    /// Sends one letter.
    ///
    /// When the connection breaks after the last byte, the server may have taken the letter: another attempt has the same
    /// Message-ID.
    ///
    /// # Errors
    /// The server refuses the letter for good, or another attempt may succeed.
    pub async fn send(&self, letter: &Letter<'_>) -> Result<(), SendError> {
        let message = letter.message(&self.from)?;
        self.connections.send(message.envelope(), &message.formatted()).await
    }
}

impl fmt::Debug for Mailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailer").field("server", &self.server).finish_non_exhaustive()
    }
}
