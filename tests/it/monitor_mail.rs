//! Mails of monitors, through a mail server on loopback: confirmation, summaries, one click to unsubscribe, and refusals.

use std::time::Duration;

use boot::config::AuthMode;
use bytes::Bytes;
use e2e::{Client, TestApp};
use http::Method;
use serde_json::{Value, json};
use testkit::{MailServer, TakenMail};

/// Address at which links begin.
const PUBLIC: &str = "https://quarry.example.org/q";

/// Starts a service with a mail server.
async fn with_mail(server: &MailServer) -> TestApp {
    let url = server.url().parse().unwrap();
    TestApp::with(|config| {
        config.auth.mode = AuthMode::Keys;
        config.mail.url = Some(url);
        config.mail.from = "Quarry <quarry@example.org>".to_owned();
        config.server.public_url = Some(PUBLIC.parse().unwrap());
    })
    .await
}

/// Creates a team with alert addresses.
async fn team(app: &TestApp, alerts: &[&str]) -> Client {
    let made = app.operator().post("/admin/teams", &json!({ "name": "a team", "alertEmails": alerts })).await;
    assert_eq!(made.status, 200, "{}", made.body);
    app.bearer(made.body["apiKey"].as_str().unwrap())
}

/// Creates a monitor of `/a`, and returns it.
async fn create(app: &TestApp, client: &Client, email: Value) -> Value {
    let body = json!({
        "name": "Prices <b>now</b> =?utf-8?q?=0D=0ABcc:x@evil.test?=",
        "schedule": { "cron": "0 9 * * 1" }, "targets": [{ "type": "scrape", "urls": [app.page("/a")] }],
        "notification": { "email": email },
    });
    let made = client.post("/v2/monitor", &body).await;
    assert_eq!(made.status, 200, "{}", made.body);
    made.body["data"].clone()
}

fn path(monitor: &Value) -> String {
    format!("/v2/monitor/{}", monitor["id"].as_str().unwrap())
}

/// Runs a check, and returns it when its mails have been sent or given up.
async fn run(client: &Client, monitor: &Value) -> Value {
    let begun = client.post(&format!("{}/run", path(monitor)), &json!({})).await;
    assert_eq!(begun.status, 200, "{}", begun.body);
    let check = format!("{}/checks/{}", path(monitor), begun.body["data"]["id"].as_str().unwrap());
    client.checked(&check).await;
    for _ in 0..200 {
        let read = client.get(&check).await.body["data"].clone();
        if read["notificationStatus"]["email"]["status"] != "queued" {
            return read;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the mails of a check are still queued");
}

/// Waits until an address has this number of mails, and returns them.
async fn mails(server: &MailServer, to: &str, count: usize) -> Vec<TakenMail> {
    for _ in 0..200 {
        let mut mails = server.mails();
        mails.retain(|mail| mail.to == [to]);
        if mails.len() >= count {
            return mails;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("fewer than {count} mails to {to} after 10 s");
}

fn page(app: &TestApp, price: u32) {
    app.site.html("/a", format!("<title>Tea &lt;i&gt;\r\nBcc: y@evil.test</title><p>The price is {price} EUR.</p>"));
}

fn status_of(monitor: &Value, email: &str) -> Value {
    let all = monitor["emailRecipientSubscriptions"].as_array().unwrap();
    all.iter().find(|known| known["email"] == email).unwrap()["status"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recipient_confirms_and_unsubscribes() {
    let server = MailServer::start().await;
    let app = with_mail(&server).await;
    let client = team(&app, &["ops@example.com"]).await;
    page(&app, 10);
    let email = json!({ "recipients": ["ops@example.com", "Guest@example.net"], "includeDiffs": true });
    let monitor = create(&app, &client, email.clone()).await;
    let guest = "Guest@example.net";
    assert_eq!(
        monitor["emailRecipientSubscriptions"],
        json!([
            { "email": "ops@example.com", "status": "confirmed", "source": "team" },
            { "email": guest, "status": "pending", "source": "opt_in", "confirmationEmailSent": true },
        ])
    );
    assert_eq!(monitor.get("warning"), None);

    // Until it has confirmed, a stranger gets the one mail that asks.
    let asked = mails(&server, guest, 1).await.remove(0);
    let first = run(&client, &monitor).await;
    assert_eq!(first["notificationStatus"]["email"]["status"], "sent");
    assert_eq!(
        first["notificationStatus"]["email"]["recipients"],
        json!([{ "email": "ops@example.com", "status": "sent", "error": null }])
    );
    assert_eq!(mails(&server, "ops@example.com", 1).await.len(), 1);
    assert_eq!(mails(&server, guest, 1).await.len(), 1);

    // Opening the link changes nothing; the button does.
    let token = asked.token("confirm").unwrap();
    assert!(asked.decoded().contains(&format!("{PUBLIC}/v2/monitor/email/confirm?token={token}")));
    let anyone = app.anonymous();
    let opened = anyone.get(&format!("/v2/monitor/email/confirm?token={token}")).await;
    assert_eq!((opened.status, opened.header("content-type")), (200, "text/html; charset=utf-8"));
    let shown = opened.body.as_str().unwrap();
    assert!(shown.contains("<form method=\"post\">") && shown.contains(&format!("value=\"{token}\"")), "{shown}");
    assert!(opened.header("content-security-policy").contains("default-src 'none'"));
    let read = client.get(&path(&monitor)).await.body["data"].clone();
    assert_eq!(status_of(&read, guest), "pending");
    let form = anyone.request(Method::POST, "/v2/monitor/email/confirm").header("accept", "text/html");
    let form = form.header("content-type", "application/x-www-form-urlencoded");
    let pressed = anyone.send(form, Bytes::from(format!("token={token}"))).await;
    assert!(pressed.status == 200 && pressed.body.as_str().unwrap().contains("Confirmed"), "{}", pressed.body);
    let read = client.get(&path(&monitor)).await.body["data"].clone();
    assert_eq!(status_of(&read, guest), "confirmed");

    // From then on it gets summaries with diffs; texts of the page add no headers.
    page(&app, 12);
    run(&client, &monitor).await;
    let told = mails(&server, guest, 2).await.remove(1);
    assert!(told.decoded().contains("+The price is 12 EUR."), "{}", told.decoded());
    assert!(told.headers("bcc").is_empty() && told.headers("to") == [guest], "{}", told.message);
    assert!(!told.decoded().contains("<b>now") || told.decoded().contains("&lt;b&gt;now"), "{}", told.decoded());

    // One click, as mail programs do it.
    assert_eq!(told.headers("list-unsubscribe-post"), ["List-Unsubscribe=One-Click"]);
    let link = told.headers("list-unsubscribe").remove(0);
    let link = link.trim_matches(['<', '>']).strip_prefix(PUBLIC).unwrap().to_owned();
    let click = anyone.request(Method::POST, &link).header("content-type", "application/x-www-form-urlencoded");
    let clicked = anyone.send(click, Bytes::from_static(b"List-Unsubscribe=One-Click")).await;
    let expect = json!({ "email": guest.to_lowercase(), "status": "unsubscribed" });
    assert_eq!((clicked.status, &clicked.body["data"]), (200, &expect));
    // It wins over later names.
    let named =
        client.patch(&path(&monitor), &json!({ "notification": { "email": email } })).await.body["data"].clone();
    assert_eq!(status_of(&named, guest), "unsubscribed");
    page(&app, 13);
    run(&client, &monitor).await;
    mails(&server, "ops@example.com", 3).await;
    assert_eq!(mails(&server, guest, 2).await.len(), 2);
    app.leaves_jobs();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_are_checked() {
    let server = MailServer::start().await;
    let app = with_mail(&server).await;
    let client = team(&app, &[]).await;
    page(&app, 10);
    create(&app, &client, json!({ "recipients": ["guest@example.net"] })).await;
    let asked = mails(&server, "guest@example.net", 1).await.remove(0);
    let (confirm, unsubscribe) = (asked.token("confirm").unwrap(), asked.token("unsubscribe").unwrap());
    let anyone = app.anonymous();
    for (word, token) in
        [("confirm", "x"), ("confirm", ""), ("confirm", unsubscribe.as_str()), ("unsubscribe", confirm.as_str())]
    {
        let path = format!("/v2/monitor/email/{word}");
        let refused = anyone.post(&path, &json!({ "token": token })).await;
        assert_eq!((refused.status, refused.code()), (400, "invalid_token"), "{}", refused.body);
        let opened = anyone.get(&format!("{path}?token={token}")).await;
        assert!(opened.status == 400 && opened.body.as_str().unwrap().contains("does not work"), "{}", opened.body);
    }
    assert_eq!(anyone.post("/v2/monitor/email/confirm", &json!({})).await.status, 400);
    let answered = anyone.post("/v2/monitor/email/unsubscribe", &json!({ "token": unsubscribe })).await;
    assert_eq!(answered.body["data"]["status"], "unsubscribed");
    // Another method of the path needs no key to be refused.
    assert_eq!(anyone.delete("/v2/monitor/email/confirm").await.status, 405);
    assert_eq!(anyone.get("/v2/monitor/email").await.status, 401);
    app.leaves_jobs();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_refused_recipient_holds_up_no_other() {
    let server = MailServer::start().await;
    server.answer("gone@example.com", "550 5.1.1 no such user");
    let app = with_mail(&server).await;
    let client = team(&app, &["ops@example.com", "gone@example.com", "dev@example.com"]).await;
    page(&app, 10);
    // Without names, the alert addresses of the team are told.
    let monitor = create(&app, &client, json!({ "enabled": true })).await;
    let check = run(&client, &monitor).await;
    let state = &check["notificationStatus"]["email"];
    assert_eq!(state["status"], "partial");
    let statuses: Vec<(&str, &str)> = state["recipients"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mail| (mail["email"].as_str().unwrap(), mail["status"].as_str().unwrap()))
        .collect();
    assert_eq!(statuses, [("dev@example.com", "sent"), ("gone@example.com", "failed"), ("ops@example.com", "sent")]);
    assert!(state["recipients"][1]["error"].as_str().unwrap().contains("no such user"), "{state}");
    let second = run(&client, &monitor).await;
    assert_eq!(
        second["notificationStatus"],
        json!({ "email": { "status": "skipped", "reason": "nothing has changed" } })
    );
    assert_eq!(server.mails().len(), 2);
    app.leaves_jobs();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_mail_says_so() {
    let app = TestApp::with_keys().await;
    let client = team(&app, &["ops@example.com"]).await;
    page(&app, 10);
    let monitor = create(&app, &client, json!({ "recipients": ["ops@example.com", "guest@example.net"] })).await;
    assert!(monitor["warning"].as_str().unwrap().contains("mail.url"), "{monitor}");
    assert_eq!(status_of(&monitor, "guest@example.net"), "pending");
    assert_eq!(monitor["emailRecipientSubscriptions"][1]["confirmationEmailSent"], false);
    let check = run(&client, &monitor).await;
    assert_eq!(check["status"], "completed");
    assert_eq!(check["notificationStatus"]["email"]["status"], "failed");
    let cleared = client.patch(&path(&monitor), &json!({ "notification": null })).await.body["data"].clone();
    assert!(cleared.get("warning").is_none() && cleared.get("emailRecipientSubscriptions").is_none(), "{cleared}");
    app.leaves_jobs();
}
