//! Mails in parts: what follows an attempt, and what is said of pages and checks.

use base::Timestamp;
use chrono::TimeDelta;
use mail::SendError;
use serde_json::{Map, Value, json};
use store::mails::{CheckMail, FAILED, QUEUED, SENT, SKIPPED};
use store::monitors::Page;

use super::{Outcome, notification, outcome};
use crate::fixture::check;
use crate::told::told;

#[test]
fn a_mail_is_tried_by_the_timetable_of_webhooks() {
    let (now, gone) = (Timestamp::UNIX_EPOCH, SendError::Later("connection refused".to_owned()));
    let mut at = now;
    let mut waited = Vec::new();
    for attempt in 1.. {
        match outcome(&gone, attempt, at) {
            Outcome::Later { at: next, .. } => {
                waited.push((next - at).num_seconds());
                at = next;
            }
            end => {
                assert_eq!(end, Outcome::Failed { error: "connection refused".to_owned(), is_refused: false });
                break;
            }
        }
    }
    assert_eq!(waited, [60, 300, 900]);
    assert!(at - now > TimeDelta::minutes(20), "a server that is gone for ten minutes loses no mail");
    let refused = SendError::Refused("550 no such user".to_owned());
    let end = Outcome::Failed { error: "550 no such user".to_owned(), is_refused: true };
    assert_eq!(outcome(&refused, 1, now), end);
}

fn page(status: &str) -> Page {
    Page {
        id: "p".to_owned(),
        check_id: "check".to_owned(),
        target_id: "t".to_owned(),
        key: "k".to_owned(),
        seq: 0,
        url: "https://a.test/".to_owned(),
        status: status.to_owned(),
        previous_scrape_id: None,
        current_scrape_id: None,
        status_code: None,
        error: None,
        metadata: Some(json!({ "title": "A", "warning": "nothing is left of the page" }).to_string()),
        judgment: None,
        bytes: 0,
        created_at: Timestamp::UNIX_EPOCH,
    }
}

#[test]
fn a_letter_says_why_a_page_is_in_it() {
    let plain = told(&page("changed"), None);
    assert_eq!((plain.title.as_deref(), plain.note.as_deref()), (Some("A"), Some("nothing is left of the page")));
    let judged = |meaningful: bool| {
        let judgment = json!({ "meaningful": meaningful, "reason": "a price fell" }).to_string();
        told(&Page { judgment: Some(judgment), metadata: None, ..page("changed") }, None).note.unwrap()
    };
    assert_eq!((judged(true).as_str(), judged(false).as_str()), ("a price fell", "judged as noise: a price fell"));
    let failed = told(&Page { error: Some("timeout".to_owned()), metadata: None, ..page("error") }, None);
    assert_eq!((failed.note.as_deref(), failed.title), (Some("timeout"), None));
}

#[test]
fn diffs_are_texts_or_changed_fields() {
    let diff = |value: Value| {
        let content: Map<String, Value> = [("diff".to_owned(), value)].into_iter().collect();
        told(&page("changed"), Some(&content)).diff
    };
    assert_eq!(diff(json!({ "text": "-a\n+b\n", "json": { "files": [] } })).as_deref(), Some("-a\n+b\n"));
    let fields = json!({ "json": { "plans[0].price": { "previous": 10, "current": 12 } } });
    assert_eq!(diff(fields).as_deref(), Some("plans[0].price: 10 → 12\n"));
    assert_eq!(diff(json!({ "text": "" })), None);
    assert_eq!(diff(json!({ "json": {} })), None);
}

#[test]
fn a_check_tells_the_state_of_its_mails() {
    let mut check = check();
    assert_eq!(notification(&check, &[]), None);
    check.notification = Some(json!({ "email": { "status": "queued" } }).to_string());
    let state = |statuses: &[&str]| {
        let mail = |(number, status): (usize, &&str)| CheckMail {
            check_id: "check".to_owned(),
            address: format!("{number}@a.test"),
            status: (*status).to_owned(),
            error: None,
            updated_at: Timestamp::UNIX_EPOCH,
        };
        let mails: Vec<CheckMail> = statuses.iter().enumerate().map(mail).collect();
        notification(&check, &mails).unwrap()["email"]["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(state(&[]), "queued");
    assert_eq!(state(&[SENT, QUEUED, FAILED]), "queued");
    assert_eq!(state(&[SENT, SKIPPED]), "sent");
    assert_eq!(state(&[SENT, FAILED]), "partial");
    assert_eq!(state(&[FAILED, SKIPPED]), "failed");
    assert_eq!(state(&[SKIPPED]), "skipped");
    let other = CheckMail {
        check_id: "another".to_owned(),
        address: "a@a.test".to_owned(),
        status: FAILED.to_owned(),
        error: None,
        updated_at: Timestamp::UNIX_EPOCH,
    };
    assert_eq!(notification(&check, &[other]).unwrap()["email"], json!({ "status": "queued" }));
}
