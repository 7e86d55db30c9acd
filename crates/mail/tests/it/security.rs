//! Nothing is sent without encryption, unless the settings tell otherwise.

use std::time::Duration;

use mail::{Mailer, SendError, Settings};

use crate::double::{Behaviour, Double};
use crate::{mailer, send};

const PLAIN: Behaviour = Behaviour {
    wrapped: false,
    starttls: false,
    login: None,
    answer: None,
    hangs_at: None,
    closes: false,
    slow: Duration::ZERO,
};

#[tokio::test]
async fn without_starttls_no_letter_and_no_password_is_sent() {
    let server = Double::start(Behaviour { starttls: false, ..Behaviour::default() }).await;
    let error = send(&mailer(&server, "smtp://user:p%3Ass@SERVER"), "ops@example.com", "text").await.unwrap_err();
    assert!(error.is_temporary() && error.to_string().contains("STARTTLS"), "{error}");
    let error = send(&mailer(&server, "smtp://user:p%3Ass@SERVER?tls=opportunistic"), "ops@example.com", "text")
        .await
        .unwrap_err();
    assert!(error.is_temporary() && error.to_string().contains("password"), "{error}");
    let commands = server.commands();
    assert!(!commands.iter().any(|command| matches!(command.as_str(), "AUTH" | "MAIL" | "DATA")), "{commands:?}");
}

#[tokio::test]
async fn the_settings_can_do_without_encryption() {
    let server = Double::start(PLAIN).await;
    send(&mailer(&server, "smtp://SERVER?tls=opportunistic"), "ops@example.com", "text").await.unwrap();
    send(&mailer(&server, "smtp://SERVER?tls=none"), "ops@example.com", "text").await.unwrap();
    server.behave(Behaviour { login: Some("\0user\0secret"), ..PLAIN });
    send(&mailer(&server, "smtp://user:secret@SERVER?tls=none"), "ops@example.com", "text").await.unwrap();
    assert!(server.letters().iter().all(|letter| !letter.is_encrypted) && server.letters().len() == 3);
}

#[tokio::test]
async fn starttls_that_is_offered_is_used() {
    let server = Double::start(Behaviour::default()).await;
    send(&mailer(&server, "smtp://user:p%3Ass@SERVER?tls=opportunistic"), "ops@example.com", "text").await.unwrap();
    assert!(server.letters()[0].is_encrypted);
}

#[tokio::test]
async fn answers_from_before_tls_do_not_count_after_it() {
    let answer = Some(("STARTTLS", "220 go ahead\r\n250-double\r\n250 AUTH PLAIN"));
    let server = Double::start(Behaviour { answer, ..Behaviour::default() }).await;
    let error = send(&mailer(&server, "smtp://user:p%3Ass@SERVER"), "ops@example.com", "text").await.unwrap_err();
    assert!(error.is_temporary(), "{error}");
    assert_eq!(server.commands(), ["EHLO", "STARTTLS"]);
}

#[tokio::test]
async fn tls_from_the_first_byte() {
    let server = Double::start(Behaviour { wrapped: true, ..Behaviour::default() }).await;
    send(&mailer(&server, "smtps://user:p%3Ass@SERVER"), "ops@example.com", "text").await.unwrap();
    assert!(server.letters()[0].is_encrypted);
    assert!(!server.commands().contains(&"STARTTLS".to_owned()));
}

#[tokio::test]
async fn a_certificate_that_no_one_vouches_for_gets_no_letter() {
    let server = Double::start(Behaviour::default()).await;
    let settings = Settings {
        url: Some(format!("smtp://user:p%3Ass@localhost:{}", server.port()).parse().unwrap()),
        from: "quarry@example.org".to_owned(),
        ..Settings::default()
    };
    let stranger = Mailer::new(&settings).unwrap().unwrap();
    let error = send(&stranger, "ops@example.com", "text").await.unwrap_err();
    assert!(matches!(error, SendError::Later(_)), "{error}");
    assert!(!server.commands().contains(&"AUTH".to_owned()));
}

#[tokio::test]
async fn settings_that_cannot_be_used_are_named() {
    let server = Double::start(PLAIN).await;
    let url = Some(format!("smtp://localhost:{}", server.port()).parse().unwrap());
    let no_sender = Settings { url: url.clone(), ..Settings::default() };
    assert_eq!(Mailer::new(&no_sender).unwrap_err().key, "from");
    let from = "Quarry <quarry@example.org>".to_owned();
    for file in ["/nowhere/ca.pem", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")] {
        let (url, from, ca_file) = (url.clone(), from.clone(), Some(file.into()));
        assert_eq!(
            Mailer::new(&Settings { url, from, ca_file, ..Settings::default() }).unwrap_err().key,
            "ca_file",
            "{file}"
        );
    }
    assert!(Mailer::new(&Settings::default()).unwrap().is_none());
}
