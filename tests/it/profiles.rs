//! Profiles: persistent cookies and storage of browsers.

use e2e::TestApp;
use serde_json::{Value, json};

use crate::privacy::files_with;
use crate::sessions::{Cdp, session};

const LOGIN: &str = "<!doctype html><title>Login</title><p>Nothing to see.";
const STORE: &str = r"
  document.cookie = 'sid=granite; path=/; max-age=3600';
  localStorage.setItem('cart', '3 slabs');
  sessionStorage.setItem('step', 'two');
  new Promise((done, failed) => {
    const opening = indexedDB.open('shop', 2);
    opening.onupgradeneeded = () => opening.result.createObjectStore('orders', { keyPath: 'id' });
    opening.onerror = failed;
    opening.onsuccess = () => {
      const storing = opening.result.transaction('orders', 'readwrite');
      storing.objectStore('orders').put({ id: 7, when: new Date(5) });
      storing.oncomplete = () => done('stored');
    };
  })";
const READ: &str = r"
  new Promise((done) => {
    const found = { cookie: document.cookie, cart: localStorage.getItem('cart'), step: sessionStorage.getItem('step') };
    const opening = indexedDB.open('shop');
    opening.onupgradeneeded = () => opening.transaction.abort();
    opening.onerror = () => done(found);
    opening.onsuccess = () => {
      const reading = opening.result.transaction('orders').objectStore('orders').get(7);
      reading.onsuccess = () => done({ ...found, when: reading.result.when.getTime() });
    };
  })";

/// Starts a session with a profile, runs a script on the page, ends the session.
async fn visit(app: &TestApp, profile: Value, script: &str) -> Value {
    let client = app.anonymous();
    let started = session(&client, json!({ "profile": profile })).await;
    let mut cdp = Cdp::connect(started["cdpUrl"].as_str().unwrap()).await;
    let targets = cdp.result(None, "Target.getTargets", json!({ "filter": [{ "type": "page" }] })).await;
    let attach = json!({ "targetId": targets["targetInfos"][0]["targetId"], "flatten": true });
    let page = cdp.result(None, "Target.attachToTarget", attach).await["sessionId"].as_str().unwrap().to_owned();
    cdp.goto(&page, &app.page("/login")).await;
    let found = cdp.evaluate(&page, script).await;
    let ended = client.delete(&format!("/v2/browser/{}", started["id"].as_str().unwrap())).await;
    assert_eq!(ended.status, 200, "{}", ended.body);
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_is_kept_unless_it_is_not_to_be() {
    let app = TestApp::with_browser().await;
    app.site.html("/login", LOGIN);
    let nothing = json!({ "cookie": "", "cart": null, "step": null });
    let all = json!({ "cookie": "sid=granite", "cart": "3 slabs", "step": "two", "when": 5 });
    assert_eq!(visit(&app, json!({ "name": "shop", "saveChanges": false }), STORE).await, "stored");
    assert_eq!(visit(&app, json!({ "name": "shop" }), READ).await, nothing, "it was only to be read");
    assert_eq!(visit(&app, json!({ "name": "shop" }), STORE).await, "stored");
    assert_eq!(visit(&app, json!({ "name": "shop", "saveChanges": false }), READ).await, all);
    assert_eq!(visit(&app, json!({ "name": "Shop" }), READ).await, nothing, "another name");
    // Removed values stay removed.
    let remove = "localStorage.removeItem('cart'); document.cookie = 'sid=; path=/; max-age=0'; 'removed'";
    assert_eq!(visit(&app, json!({ "name": "shop" }), remove).await, "removed");
    let rest = visit(&app, json!({ "name": "shop" }), READ).await;
    assert_eq!((&rest["cookie"], &rest["cart"], &rest["when"]), (&json!(""), &Value::Null, &json!(5)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scrapes_begin_with_it_and_save_it() {
    let app = TestApp::with_browser().await;
    app.site.html("/login", LOGIN);
    let client = app.anonymous();
    let scrape = async |profile: Value, script: &str| {
        let actions = json!([{ "type": "executeJavascript", "script": script }]);
        let body = json!({ "url": app.page("/login"), "profile": profile, "actions": actions });
        let answer = client.scrape(&body).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body["data"]["actions"]["javascriptReturns"][0]["value"].clone()
    };
    let count = "localStorage.n = Number(localStorage.n ?? 0) + 1; localStorage.mark = ['GRAN', 'ITE7'].join(''); localStorage.n";
    let (saves, reads) = (json!({ "name": "shop" }), json!({ "name": "shop", "saveChanges": false }));
    assert_eq!(scrape(saves.clone(), count).await, "1");
    assert_eq!(scrape(reads.clone(), count).await, "2");
    assert_eq!(scrape(reads, count).await, "2", "what only reads saves nothing");
    assert_eq!(scrape(saves, count).await, "2");
    assert_eq!(scrape(json!({ "name": "other" }), count).await, "1");
    // While a session may save the profile, scrapes cannot, and warn about it.
    let started = session(&client, json!({ "profile": { "name": "shop" } })).await;
    let refused = client.scrape(&json!({ "url": app.page("/login"), "profile": { "name": "shop" } })).await;
    assert_eq!((refused.status, refused.code()), (409, "PROFILE_IN_USE"), "{}", refused.body);
    assert_eq!(client.delete(&format!("/v2/browser/{}", started["id"].as_str().unwrap())).await.status, 200);
    // On disk everything is encrypted.
    assert_eq!(files_with(app.data(), "GRANITE7"), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_profile_that_is_too_large_to_be_saved_is_told() {
    let app = TestApp::with_browser().await;
    app.site.html("/login", LOGIN);
    let script = "new Promise((done, failed) => {
        const opening = indexedDB.open('large', 1);
        opening.onupgradeneeded = () => opening.result.createObjectStore('all').put('\u{20ac}'.repeat(7500000), 'x');
        opening.onerror = failed;
        opening.onsuccess = () => { opening.result.close(); done('stored'); };
    })";
    let actions = json!([{ "type": "executeJavascript", "script": script }]);
    let body =
        json!({ "url": app.page("/login"), "profile": { "name": "shop" }, "actions": actions, "timeout": 60_000 });
    let answer = app.anonymous().scrape(&body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    for warning in [&answer.body["data"]["warning"], &answer.body["warning"]] {
        assert!(
            warning.as_str().is_some_and(|warning| warning.contains("the profile was not saved")),
            "{}",
            answer.body
        );
    }
    let small = json!({ "url": app.page("/login"), "profile": { "name": "other" } });
    let answer = app.anonymous().scrape(&small).await;
    assert!(answer.status == 200 && answer.body["data"].get("warning").is_none(), "{}", answer.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_saves_at_a_time() {
    let app = TestApp::with_browser().await;
    let client = app.anonymous();
    let started = session(&client, json!({ "profile": { "name": "shop" } })).await;
    let second = client.post("/v2/browser", &json!({ "profile": { "name": "shop" } })).await;
    assert_eq!((second.status, second.code()), (409, "PROFILE_IN_USE"), "{}", second.body);
    let reader = session(&client, json!({ "profile": { "name": "shop", "saveChanges": false } })).await;
    for started in [&started, &reader] {
        assert_eq!(client.delete(&format!("/v2/browser/{}", started["id"].as_str().unwrap())).await.status, 200);
    }
    let third = session(&client, json!({ "profile": { "name": "shop" } })).await;
    assert_eq!(client.delete(&format!("/v2/browser/{}", third["id"].as_str().unwrap())).await.status, 200);
}
