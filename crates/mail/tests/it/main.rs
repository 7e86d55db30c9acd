//! Letters handed to a real SMTP server on loopback, which refuses, hangs or is gone.

#![expect(clippy::unwrap_used, reason = "a test stops when it cannot go on")]

mod double;
mod letters;
mod refusals;
mod security;

use std::time::Duration;

use chrono::DateTime;
use double::Double;
use mail::{Address, Content, Letter, Mailer, Part, SendError, Settings};

/// Returns a mailer whose settings are for the server, with a timeout of five seconds.
fn mailer(server: &Double, url: &str) -> Mailer {
    let url = url.replace("SERVER", &format!("localhost:{}", server.port()));
    let settings = Settings {
        url: Some(url.parse().unwrap()),
        from: "Quarry <quarry@example.org>".to_owned(),
        ca_file: Some(server.ca_file()),
        timeout: Duration::from_secs(5),
        connections: 2,
    };
    Mailer::new(&settings).unwrap().unwrap()
}

/// Sends a letter with some text.
async fn send(mailer: &Mailer, to: &str, text: &str) -> Result<(), SendError> {
    let to: Address = to.parse().unwrap();
    let content = Content::new("Prices: 1 changed").with(Part::Text(text.to_owned()));
    mailer.send(&Letter { key: "check 1", to: &to, content, unsubscribe: None, date: DateTime::UNIX_EPOCH }).await
}
