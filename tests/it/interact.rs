//! Code and instructions for the page of a scrape.

use e2e::{Client, TestApp};
use serde_json::{Value, json};

use crate::browser::asked;
use crate::sessions::{Cdp, with_keys};

const PAGE: &str = r#"<!doctype html><title>Shop</title><h1>Granite</h1><p>Slabs of granite, cut to the size that you need, for kitchens and steps.</p>
<button onclick="document.title = 'Bought'">Buy</button><a href="/next">Next page</a>"#;

async fn scraped(client: &Client, body: Value) -> String {
    let answer = client.post("/v2/scrape", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let id = answer.body["data"]["metadata"]["scrapeId"].as_str().unwrap();
    format!("/v2/scrape/{id}/interact")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_finds_the_page_as_it_left_it() {
    let app = with_keys().await;
    app.site.html("/", PAGE);
    let (team, others) = (app.team(Some(100), json!({})).await, app.team(Some(100), json!({})).await);
    let path = scraped(&team, json!({ "url": app.page("/") })).await;
    let node = |code: &str| json!({ "code": code, "timeout": 60 });
    let first = team.post(&path, &node("await page.click('button'); console.log('clicked'); await page.title()")).await;
    assert_eq!((first.status, &first.body["success"]), (200, &json!(true)), "{}", first.body);
    assert_eq!(
        (&first.body["stdout"], &first.body["result"]),
        (&json!("clicked\n"), &json!("Bought")),
        "{}",
        first.body
    );
    assert_eq!((&first.body["exitCode"], &first.body["killed"]), (&json!(0), &json!(false)));
    assert!(first.body["cdpUrl"].as_str().is_some_and(|url| url.starts_with("ws://")));
    let second = team.post(&path, &node("await page.title()")).await;
    assert_eq!(second.body["result"], "Bought", "{}", second.body);
    // The session is reachable only through its scrape.
    let session = first.body["cdpUrl"].as_str().unwrap().split('/').nth(4).unwrap();
    let by_session = team.delete(&format!("/v2/browser/{session}")).await;
    assert_eq!((by_session.status, by_session.code()), (404, "SESSION_NOT_FOUND"), "{}", by_session.body);
    let broken = team.post(&path, &node("throw new Error('no such luck')")).await;
    assert_eq!((broken.status, &broken.body["success"]), (200, &json!(true)));
    assert_ne!(broken.body["exitCode"], 0);
    assert!(broken.body["error"].as_str().is_some_and(|error| error.contains("no such luck")), "{}", broken.body);

    let foreign = others.post(&path, &node("1")).await;
    assert_eq!((foreign.status, foreign.code()), (404, "NOT_FOUND"));
    assert_eq!(others.delete(&path).await.status, 404);
    let ended = team.delete(&path).await;
    assert_eq!((ended.status, &ended.body["status"]), (200, &json!("destroyed")), "{}", ended.body);
    let billed = ended.body["creditsBilled"].as_i64().unwrap();
    assert!(billed >= 1, "{}", ended.body);
    let left = team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"].as_i64().unwrap();
    assert_eq!(left, 100 - 1 - billed, "the scrape costs one");
    assert_eq!((team.delete(&path).await.status, others.delete(&path).await.status), (410, 404));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn actions_are_not_done_again_while_the_page_is_held() {
    let app = with_keys().await;
    app.site.html("/", PAGE);
    let (team, others) = (app.team(Some(100), json!({})).await, app.team(Some(100), json!({})).await);
    let body = json!({ "url": app.page("/"), "actions": [{ "type": "click", "selector": "button" }] });
    let (path, other_path) = (scraped(&team, body.clone()).await, scraped(&others, body).await);
    let before = asked(&app, "/");
    let node = json!({ "code": "await page.title()", "timeout": 60 });
    let (ours, theirs) = (team.post(&path, &node).await.body, others.post(&other_path, &node).await.body);
    assert_eq!((&ours["result"], &theirs["result"]), (&json!("Bought"), &json!("Bought")), "{ours} {theirs}");
    assert_eq!(asked(&app, "/"), before, "neither was opened again");

    // Both pages are in one browser, and neither client sees the other.
    let mut cdp = Cdp::connect(ours["cdpUrl"].as_str().unwrap()).await;
    let mut other = Cdp::connect(theirs["cdpUrl"].as_str().unwrap()).await;
    let found = other.result(None, "Target.getTargets", json!({})).await;
    let foreign = found["targetInfos"][0]["targetId"].clone();
    let found = cdp.result(None, "Target.getTargets", json!({})).await;
    assert_eq!(found["targetInfos"].as_array().map(Vec::len), Some(1), "{found}");
    assert_ne!(found["targetInfos"][0]["targetId"], foreign);
    for method in ["attachToTarget", "closeTarget", "activateTarget", "getTargetInfo"] {
        let answer = cdp.call(None, &format!("Target.{method}"), json!({ "targetId": foreign, "flatten": true })).await;
        assert!(answer["error"]["message"].is_string(), "{method}: {answer}");
    }
    for method in ["Target.createBrowserContext", "Target.attachToBrowserTarget", "Fetch.enable", "Network.enable"] {
        let answer = cdp.call(None, method, json!({})).await;
        assert!(answer["error"]["message"].is_string(), "{method}: {answer}");
    }

    // Like Playwright's start: the client is attached to its page before the answer, and to a new one too.
    cdp.events.clear();
    let all = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
    cdp.result(None, "Target.setAutoAttach", all).await;
    let attached = attached(&cdp.events);
    assert_eq!(attached.len(), 1, "{:?}", cdp.events);
    assert_eq!(cdp.evaluate(&attached[0].0, "document.title").await, "Bought");
    let new = cdp.result(None, "Target.createTarget", json!({ "url": "about:blank" })).await;
    assert!(self::attached(&cdp.events).iter().any(|(_, target)| *target == new["targetId"]), "{:?}", cdp.events);
    // No page of one client reports pages of the other, but reports its own frames and workers.
    let page = Some(attached[0].0.as_str());
    let answer = cdp.call(page, "Target.setDiscoverTargets", json!({ "discover": true })).await;
    assert!(answer["error"]["message"].is_string(), "{answer}");
    let below = json!({ "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true });
    cdp.result(page, "Target.setAutoAttach", below).await;
    cdp.result(None, "Target.setDiscoverTargets", json!({ "discover": true })).await;
    other.result(None, "Target.createTarget", json!({ "url": "data:text/html,<title>secret" })).await;
    let worker =
        "new Promise(done => { new Worker('data:text/javascript,postMessage(1)').onmessage = () => done('works') })";
    assert_eq!(cdp.evaluate(&attached[0].0, worker).await, "works");
    let heard = format!("{:?}", cdp.events);
    assert!(heard.contains("\"worker\"") && heard.contains("Target.targetCreated"), "{heard}");
    assert!(!heard.contains("secret") && !heard.contains(foreign.as_str().unwrap()), "{heard}");

    assert_eq!((team.delete(&path).await.status, others.delete(&other_path).await.status), (200, 200));
    // Afterwards the page is opened again, with its actions.
    let again = team.post(&path, &node).await.body;
    assert_eq!((&again["result"], asked(&app, "/")), (&json!("Bought"), before + 1), "{again}");
    assert_eq!(team.delete(&path).await.status, 200);
}

/// The page has changed since its scrape, so its actions cannot be repeated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_action_that_fails_when_the_page_is_opened_anew_is_named() {
    let app = with_keys().await;
    app.site.html("/", PAGE);
    let team = app.team(Some(100), json!({})).await;
    let actions = json!([{ "type": "wait", "milliseconds": 1 }, { "type": "click", "selector": "button" }]);
    let path = scraped(&team, json!({ "url": app.page("/"), "actions": actions })).await;
    let node = json!({ "code": "await page.title()", "timeout": 20 });
    assert_eq!(team.post(&path, &node).await.body["result"], "Bought");
    assert_eq!(team.delete(&path).await.status, 200);
    app.site.html("/", "<!doctype html><title>Shop</title><h1>Sold out</h1>");
    let answer = team.post(&path, &node).await;
    assert_eq!((answer.status, answer.code()), (422, "SCRAPE_ACTION_ERROR"), "{}", answer.body);
    let details = &answer.body["details"];
    let named = (&details["index"], &details["type"], &details["selector"]);
    assert_eq!(named, (&json!(1), &json!("click"), &json!("button")), "{details}");
}

/// Returns sessions and targets that a client was attached to.
fn attached(events: &[Value]) -> Vec<(String, Value)> {
    let attached = events.iter().filter(|event| event["method"] == "Target.attachedToTarget");
    attached
        .map(|event| {
            let params = &event["params"];
            (params["sessionId"].as_str().unwrap().to_owned(), params["targetInfo"]["targetId"].clone())
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plain_order_is_carried_out_and_costs_more() {
    let app = with_keys().await;
    app.site.html("/", PAGE);
    let team = app.team(Some(100), json!({})).await;
    let path = scraped(&team, json!({ "url": app.page("/") })).await;
    let answer = team.post(&path, &json!({ "prompt": "click Buy", "timeout": 60 })).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.body["output"].as_str().is_some_and(|output| !output.is_empty()), "{}", answer.body);
    let title = team.post(&path, &json!({ "code": "await page.title()", "timeout": 60 })).await;
    assert_eq!(title.body["result"], "Bought", "{}", title.body);
    let left = team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"].as_i64().unwrap();
    assert_eq!(left, 100 - 1 - 70, "ten minutes with orders are set aside");
    assert_eq!(team.delete(&path).await.status, 200);
}

/// The cost of a prompt is reserved before the code runs, because a later refusal would lose the results of the code.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_that_cannot_be_carried_out_is_refused_before_the_code() {
    let app = with_keys().await;
    app.site.html("/", PAGE);
    let poor = app.team(Some(40), json!({})).await;
    let path = scraped(&poor, json!({ "url": app.page("/") })).await;
    let both = |prompt: &str| json!({ "code": "await page.click('button')", "prompt": prompt, "timeout": 60 });
    let refused = poor.post(&path, &both("buy the cheapest slab")).await;
    assert_eq!((refused.status, refused.code()), (400, "BAD_REQUEST"), "{}", refused.body);
    assert_eq!(poor.delete(&path).await.code(), "SESSION_NOT_FOUND", "nothing was opened for it");
    let refused = poor.post(&path, &both("click Next page")).await;
    assert_eq!((refused.status, refused.code()), (402, "insufficient_credits"), "{}", refused.body);
    let title = poor.post(&path, &json!({ "code": "await page.title()", "timeout": 60 })).await;
    assert_eq!(title.body["result"], "Shop", "{}", title.body);
    assert_eq!(poor.delete(&path).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_is_paid_for_when_it_is_begun() {
    let app = with_keys().await;
    app.site.html("/", PAGE);
    let team = app.team(Some(100), json!({})).await;
    let left = async || team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"].as_i64().unwrap();
    let path = scraped(&team, json!({ "url": app.page("/") })).await;
    // The code fails, so the prompt is skipped and its reservation is returned.
    let failing = "await page.waitForTimeout(500); throw new Error('no such luck')";
    let failing = json!({ "code": failing, "prompt": "click Buy", "timeout": 60 });
    let failed = team.post(&path, &failing).await;
    assert!(failed.status == 200 && failed.body["exitCode"] != 0, "{}", failed.body);
    let mut looks = 0;
    while left().await != 100 - 1 - 20 {
        looks += 1;
        assert!(looks < 100, "nothing was given back");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    // A reservation that another prompt needs is not returned.
    let order = json!({ "prompt": "click Buy", "timeout": 60 });
    let (failed, obeyed) = tokio::join!(team.post(&path, &failing), team.post(&path, &order));
    assert!(failed.body["output"].is_null() && obeyed.body["output"].is_string(), "{} {}", failed.body, obeyed.body);
    assert_eq!(left().await, 100 - 1 - 70);
    assert_eq!(team.delete(&path).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_done_is_refused() {
    let app = TestApp::with_browser().await;
    app.site.html("/", PAGE);
    let client = app.anonymous();
    let unknown = "/v2/scrape/01900000-0000-7000-8000-000000000001/interact";
    let code = json!({ "code": "1" });
    assert_eq!((client.post(unknown, &code).await.status, client.delete(unknown).await.status), (404, 404));
    let hushed = scraped(&client, json!({ "url": app.page("/"), "zeroDataRetention": true })).await;
    let answer = client.post(&hushed, &code).await;
    assert_eq!((answer.status, answer.code()), (404, "NOT_FOUND"));
    for bad in [
        json!({}),
        json!({ "code": "" }),
        json!({ "code": "1", "language": "perl" }),
        json!({ "code": "1", "timeout": 0 }),
    ] {
        assert_eq!(client.post(unknown, &bad).await.code(), "BAD_REQUEST", "{bad}");
    }
    assert_eq!(client.post("/v2/scrape/x/interact", &code).await.status, 400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_messages_into_a_held_page_do_not_delay_the_scrapes_of_others() {
    let app = with_keys().await;
    app.site.html("/", PAGE);
    let (team, others) = (app.team(Some(100), json!({})).await, app.team(Some(100), json!({})).await);
    // A page with actions is held, in the browser of all scrapes.
    let wait = json!({ "type": "wait", "milliseconds": 10 });
    let path = scraped(&team, json!({ "url": app.page("/"), "actions": [wait] })).await;
    let held = team.post(&path, &json!({ "code": "await page.title()", "timeout": 60 })).await.body;
    let mut cdp = Cdp::connect(held["cdpUrl"].as_str().unwrap()).await;
    let targets = cdp.result(None, "Target.getTargets", json!({ "filter": [{ "type": "page" }] })).await;
    let attach = json!({ "targetId": targets["targetInfos"][0]["targetId"], "flatten": true });
    let page = cdp.result(None, "Target.attachToTarget", attach).await["sessionId"].as_str().unwrap().to_owned();
    let tree = cdp.result(Some(&page), "Page.getFrameTree", json!({})).await;
    let content = json!({ "frameId": tree["frameTree"]["frame"]["id"], "html": "x".repeat(20 << 20) });
    let hostile = async {
        for _ in 0..12 {
            let answer = cdp.call(Some(&page), "Page.setDocumentContent", content.clone()).await;
            let why = answer["error"]["message"].as_str().unwrap_or_default();
            assert!(why.contains("1048576 bytes in one message to a page of a shared browser"), "{answer}");
        }
        cdp.evaluate(&page, "document.title").await
    };
    let calm = async {
        for number in 0..5 {
            let url = app.page(&format!("/?{number}"));
            let body = json!({ "url": url, "waitFor": 100, "timeout": 15_000 });
            let answer = others.post("/v2/scrape", &body).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
        }
    };
    let (title, ()) = tokio::join!(hostile, calm);
    assert_eq!(title, "Shop", "the session goes on");
    assert_eq!(team.delete(&path).await.status, 200);
}
