//! Letters that arrive.

use std::time::Duration;

use futures_util::future::join_all;
use mail::letters;
use url::Url;

use crate::double::{Behaviour, Double};
use crate::{mailer, send};

const STARTTLS: &str = "smtp://user:p%3Ass@SERVER";

#[tokio::test]
async fn a_letter_arrives_encrypted_in_html_and_plain_text() {
    let server = Double::start(Behaviour::default()).await;
    let mailer = mailer(&server, STARTTLS);
    send(&mailer, "ops@example.com", ".Ein Preis <fiel> auf 10 €\n.").await.unwrap();
    let letters = server.letters();
    let letter = &letters[0];
    assert_eq!((letters.len(), letter.is_encrypted), (1, true));
    assert_eq!(letter.to, ["RCPT TO:<ops@example.com>"]);
    let head = letter.message.split("\r\n\r\n").next().unwrap();
    for header in
        ["From: Quarry <quarry@example.org>", "To: ops@example.com", "Subject: Prices: 1 changed", "Message-ID: <"]
    {
        assert!(head.contains(header), "{header}: {head}");
    }
    let parts: Vec<&str> = letter.message.lines().filter(|line| line.starts_with("Content-Type: ")).collect();
    assert!(parts[0].contains("multipart/alternative") && parts[1].contains("text/plain"), "{parts:?}");
    assert!(parts[2].contains("text/html"), "{parts:?}");
}

#[tokio::test]
async fn letters_share_a_connection() {
    let server = Double::start(Behaviour::default()).await;
    let mailer = mailer(&server, STARTTLS);
    for _ in 0..3 {
        send(&mailer, "ops@example.com", "text").await.unwrap();
    }
    assert_eq!((server.letters().len(), server.connections()), (3, 1));
    let ids: Vec<String> = server
        .letters()
        .iter()
        .map(|letter| letter.message.lines().find(|line| line.starts_with("Message-ID")).unwrap().to_owned())
        .collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "another attempt has the same id: {ids:?}");
}

#[tokio::test]
async fn there_are_no_more_connections_than_the_settings_say() {
    let server = Double::start(Behaviour { slow: Duration::from_millis(50), ..Behaviour::default() }).await;
    let mailer = mailer(&server, STARTTLS);
    let sent = join_all((0..8).map(|_| send(&mailer, "ops@example.com", "text"))).await;
    assert!(sent.iter().all(Result::is_ok), "{sent:?}");
    assert_eq!((server.letters().len(), server.most_open(), server.connections()), (8, 2, 2));
}

#[tokio::test]
async fn a_connection_that_the_server_has_closed_is_replaced() {
    let server = Double::start(Behaviour { closes: true, ..Behaviour::default() }).await;
    let mailer = mailer(&server, STARTTLS);
    for _ in 0..3 {
        send(&mailer, "ops@example.com", "text").await.unwrap();
    }
    assert_eq!((server.letters().len(), server.connections()), (3, 3));
}

#[tokio::test]
async fn an_unsubscribe_link_is_in_the_headers() {
    let server = Double::start(Behaviour::default()).await;
    let mailer = mailer(&server, STARTTLS);
    let link = Url::parse("https://quarry.example.com/v2/monitor/email/unsubscribe?token=abc").unwrap();
    let letter = mail::Letter {
        key: "check",
        to: &"ops@example.com".parse().unwrap(),
        content: letters::confirmation("Prices", &link),
        unsubscribe: Some(&link),
        date: chrono::DateTime::UNIX_EPOCH,
    };
    mailer.send(&letter).await.unwrap();
    let message = server.letters()[0].message.clone();
    assert!(message.contains(&format!("List-Unsubscribe: <{link}>\r\n")), "{message}");
    assert!(message.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"), "{message}");
    assert!(message.contains("Date: Thu, 01 Jan 1970 00:00:00 +0000\r\n"), "{message}");
}
