//! A server that refuses, hangs or is gone.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use mail::{Mailer, SendError, Settings};

use crate::double::{Behaviour, Double};
use crate::{mailer, send};

const STARTTLS: &str = "smtp://user:p%3Ass@SERVER";

fn faulty(at: &'static str, answer: &'static str) -> Behaviour {
    Behaviour { answer: Some((at, answer)), ..Behaviour::default() }
}

#[tokio::test]
async fn one_of_three_recipients_is_refused_for_good() {
    let server = Double::start(faulty("gone@example.com", "550 5.1.1 no such user")).await;
    let mailer = mailer(&server, STARTTLS);
    for (to, is_taken) in [("a@example.com", true), ("gone@example.com", false), ("b@example.com", true)] {
        match send(&mailer, to, "text").await {
            Ok(()) => assert!(is_taken, "{to}"),
            Err(SendError::Refused(reason)) => assert!(!is_taken && reason.contains("no such user"), "{to}: {reason}"),
            Err(other) => panic!("{to}: {other}"),
        }
    }
    let to: Vec<_> = server.letters().into_iter().flat_map(|letter| letter.to).collect();
    assert_eq!(to, ["RCPT TO:<a@example.com>", "RCPT TO:<b@example.com>"]);
}

#[tokio::test]
async fn a_busy_server_is_tried_later() {
    for (at, answer) in
        [("", "421 4.3.2 busy"), ("MAIL", "451 4.7.1 greylisted"), ("DATA", "452 full"), (".", "451 later")]
    {
        let server = Double::start(faulty(at, answer)).await;
        let mailer = mailer(&server, STARTTLS);
        let error = send(&mailer, "ops@example.com", "text").await.unwrap_err();
        assert!(error.is_temporary(), "{answer}: {error}");
        server.behave(Behaviour::default());
        send(&mailer, "ops@example.com", "text").await.unwrap();
    }
}

#[tokio::test]
async fn a_login_that_fails_is_no_fault_of_the_letter() {
    let server = Double::start(Behaviour::default()).await;
    for url in ["smtp://user:wrong@SERVER", "smtp://SERVER"] {
        let error = send(&mailer(&server, url), "ops@example.com", "text").await.unwrap_err();
        assert!(error.is_temporary(), "{url}: {error}");
    }
    assert!(server.letters().is_empty());
}

#[tokio::test]
async fn a_letter_that_is_refused_as_a_whole_is_not_tried_again() {
    let server = Double::start(faulty(".", "554 5.7.1 spam\u{7}")).await;
    let error = send(&mailer(&server, STARTTLS), "ops@example.com", "text").await.unwrap_err();
    assert!(!error.is_temporary() && !error.to_string().contains('\u{7}'), "{error}");
}

#[tokio::test]
async fn a_server_that_hangs_costs_the_timeout_and_its_connection() {
    join_all(["", "EHLO", "AUTH", "MAIL", "DATA", "."].map(hang)).await;
}

async fn hang(at: &'static str) {
    let server = Double::start(Behaviour { hangs_at: Some(at), ..Behaviour::default() }).await;
    let mailer = mailer(&server, STARTTLS);
    let begin = Instant::now();
    let error = send(&mailer, "ops@example.com", "text").await.unwrap_err();
    assert!(error.is_temporary() && begin.elapsed() < Duration::from_secs(20), "{at}: {error}");
    server.behave(Behaviour::default());
    send(&mailer, "ops@example.com", "other").await.unwrap();
    assert_eq!(server.connections(), 2, "{at}: the broken conversation is not continued");
}

#[tokio::test]
async fn an_idle_connection_on_which_the_server_hangs_is_given_up() {
    let server = Double::start(Behaviour { hangs_at: Some("NOOP"), ..Behaviour::default() }).await;
    let mailer = mailer(&server, STARTTLS);
    send(&mailer, "ops@example.com", "text").await.unwrap();
    assert!(send(&mailer, "ops@example.com", "text").await.unwrap_err().is_temporary());
    send(&mailer, "ops@example.com", "text").await.unwrap();
    assert_eq!((server.letters().len(), server.connections()), (2, 2));
}

#[tokio::test]
async fn a_server_that_is_gone_is_tried_later() {
    let settings = Settings {
        url: Some("smtp://localhost:1?tls=none".parse().unwrap()),
        from: "quarry@example.org".to_owned(),
        ..Settings::default()
    };
    let mailer = Mailer::new(&settings).unwrap().unwrap();
    assert!(send(&mailer, "ops@example.com", "text").await.unwrap_err().is_temporary());
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off() {
    let endless: &'static str = Box::leak(format!("250-{}\r\n", "x".repeat(900)).repeat(200).into_boxed_str());
    let server = Double::start(faulty("EHLO", endless)).await;
    let error = send(&mailer(&server, STARTTLS), "ops@example.com", "text").await.unwrap_err();
    assert!(error.is_temporary() && error.to_string().len() < 400, "{error}");
    let until = Instant::now() + Duration::from_secs(5);
    while server.open() > 0 && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(server.open(), 0);
}
