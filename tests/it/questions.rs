//! Formats that need judgement: json, summary, question, query and highlights, with a language model and without.

use std::time::Duration;

use e2e::{Answer, Client, TestApp};
use serde_json::{Value, json};
use testkit::{Asked, ModelFault, ModelServer};

use crate::parse::parse;

const HARVEST: &str = "The first harvest of 1839 was sold in London for 12 shillings.";
pub(crate) const TEA: &str = "<!doctype html><html lang=en><title>Tea of the valley</title><main><h1>Tea of the valley</h1>\
    <p>Tea is made from the young leaves of an evergreen shrub that grows in the upper valley. The gardens lie between \
    two rivers, and their soil is red. The first harvest of 1839 was sold in London for 12 shillings. Today the \
    gardens employ four hundred people and export most of what they pick.</p>\
    <p>Visitors may walk through the gardens from May to October. The <a href=/tea/map>map of the paths</a> is free.</p></main>";

/// A model that answers by what it is asked for: with a price, the third sentence, or a text.
pub(crate) fn answer(asked: &Asked) -> String {
    let properties = asked.schema.as_ref().map(|schema| schema["properties"].clone()).unwrap_or_default();
    if properties.get("sentences").is_some() {
        let line = asked.user.lines().find(|line| line.contains("harvest of 1839"));
        let number = line.and_then(|line| line.split(':').next()?.parse::<u32>().ok());
        return json!({ "sentences": number.into_iter().collect::<Vec<_>>() }).to_string();
    }
    if properties.get("answer").is_some() {
        let is_there = asked.user.contains("shillings") && asked.user.contains("harvest sold");
        return json!({ "answer": if is_there { "In London, in 1839." } else { "" } }).to_string();
    }
    if asked.system.contains("summarise") {
        return "One. Two. Three. Four. Five. Six. Seven. Eight.".to_owned();
    }
    json!({ "shillings": 12 }).to_string()
}

pub(crate) fn of(name: &str) -> Value {
    match name {
        "json" => {
            let schema = json!({ "type": "object", "properties": { "shillings": { "type": "integer" } } });
            json!({ "type": "json", "schema": schema })
        }
        "question" => json!({ "type": "question", "question": "Where was the first harvest sold?" }),
        "query" => json!({ "type": "query", "prompt": "Where was the first harvest sold?" }),
        "quote" => json!({ "type": "query", "mode": "directQuote", "prompt": "Where was the first harvest sold?" }),
        "highlights" => json!({ "type": "highlights", "query": "Where was the first harvest sold?" }),
        other => json!(other),
    }
}

pub(crate) async fn ask(client: &Client, app: &TestApp, names: &[&str]) -> Answer {
    let formats: Vec<Value> = names.iter().map(|name| of(name)).collect();
    client.scrape(&json!({ "url": app.page("/tea"), "formats": formats, "maxAge": 0 })).await
}

pub(crate) fn warning(answer: &Answer) -> String {
    answer.body["data"]["warning"].as_str().unwrap_or_default().to_owned()
}

/// Returns what the team has spent.
pub(crate) async fn spent(client: &Client) -> i64 {
    1000 - client.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_model_the_sentences_of_the_page_answer() {
    let app = TestApp::with_keys().await;
    app.site.html("/tea", TEA);
    let team = app.team(Some(1000), json!({})).await;
    let found = ask(&team, &app, &["markdown", "summary", "question", "highlights"]).await;
    let data = &found.body["data"];
    assert_eq!((found.status, &data["answer"]), (200, &json!(HARVEST)), "{}", found.body);
    let highlights = data["highlights"].as_str().unwrap();
    assert!(highlights.contains(HARVEST) && data["markdown"].as_str().unwrap().contains(highlights), "{data}");
    let summary = data["summary"].as_str().unwrap();
    assert!(summary.matches('.').count() >= 3 && data["markdown"].as_str().unwrap().contains(&summary[..30]), "{data}");
    for field in ["answer", "highlights", "summary"] {
        let expect = format!("`{field}` is made of the page's own sentences, without a language model");
        assert!(warning(&found).contains(&expect), "{data}");
    }
    assert_eq!((&data["metadata"]["creditsUsed"], spent(&team).await), (&json!(9), 9));
    let quote = ask(&team, &app, &["quote"]).await;
    assert_eq!(quote.body["data"]["answer"], HARVEST, "{}", quote.body);
    let body = json!({ "url": app.page("/tea"), "formats": [{ "type": "question", "question": "Who won the World Cup in 1954?" }] });
    let none = team.scrape(&body).await;
    assert_eq!(none.body["data"]["answer"], "", "{}", none.body);
    assert!(warning(&none).contains("`answer` is empty: the page has nothing that answers it"), "{}", none.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_needs_a_model_is_refused_before_anything_is_fetched() {
    let app = TestApp::with_keys().await;
    let team = app.team(Some(1000), json!({})).await;
    let tracking = json!({ "type": "changeTracking", "modes": ["json"], "prompt": "price" });
    for (format, code) in
        [(of("json"), "SCRAPE_JSON_NOT_SUPPORTED"), (tracking, "SCRAPE_CHANGE_TRACKING_NOT_SUPPORTED")]
    {
        let refused = team.scrape(&json!({ "url": app.page("/tea"), "formats": ["markdown", format] })).await;
        assert_eq!((refused.status, refused.code()), (400, code), "{}", refused.body);
        assert!(refused.body["error"].as_str().unwrap().contains("llm.url"), "{}", refused.body);
    }
    let off = TestApp::with(|config| config.llm.extractive = false).await;
    for (name, code) in [
        ("summary", "SCRAPE_SUMMARY_NOT_SUPPORTED"),
        ("question", "SCRAPE_QUESTION_NOT_SUPPORTED"),
        ("query", "SCRAPE_QUERY_NOT_SUPPORTED"),
        ("highlights", "SCRAPE_HIGHLIGHTS_NOT_SUPPORTED"),
    ] {
        let refused = ask(&off.anonymous(), &off, &[name]).await;
        assert_eq!((refused.status, refused.code()), (400, code), "{}", refused.body);
    }
    assert_eq!((app.site.requests().len(), off.site.requests().len(), spent(&team).await), (0, 0, 0));
    let health = off.anonymous().get("/health").await;
    assert!(!health.body["capabilities"].to_string().contains("answers"), "{}", health.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_model_every_format_is_answered_and_charged_once() {
    let model = ModelServer::start(answer).await;
    let app = TestApp::with_model(&model, |_| ()).await;
    app.site.html("/tea", TEA);
    let team = app.team(Some(1000), json!({})).await;
    let found = ask(&team, &app, &["json", "summary", "question", "highlights"]).await;
    let data = &found.body["data"];
    assert_eq!((found.status, &data["json"]), (200, &json!({ "shillings": 12 })), "{}", found.body);
    assert_eq!((&data["answer"], &data["highlights"]), (&json!("In London, in 1839."), &json!(HARVEST)), "{data}");
    assert_eq!(data["summary"], "One. Two. Three. Four. Five. Six.");
    assert_eq!((&data["warning"], &data["metadata"]["creditsUsed"]), (&json!(null), &json!(13)), "{data}");
    assert_eq!(spent(&team).await, 13);
    for (names, price) in [
        (&["summary"][..], 1),
        (&["json"], 5),
        (&["quote"], 5),
        (&["query", "question"], 5),
        (&["highlights", "markdown"], 5),
        (&["json", "question"], 9),
    ] {
        let found = ask(&team, &app, names).await;
        assert_eq!(found.body["data"]["metadata"]["creditsUsed"], price, "{names:?}: {}", found.body);
    }
    let quote = ask(&team, &app, &["quote"]).await;
    assert_eq!(quote.body["data"]["answer"], HARVEST);
    let body =
        json!({ "url": app.page("/tea"), "formats": [{ "type": "question", "question": "Who rules?" }, "summary"] });
    let none = team.scrape(&body).await;
    assert_eq!(none.body["data"]["answer"], "");
    assert!(warning(&none).contains("nothing that answers it"), "{}", none.body);
    let body = json!({ "url": app.page("/tea"), "formats": ["links", of("json"), of("highlights")] });
    let found = team.scrape(&body).await;
    let count = model.asked().len();
    let id = found.body["data"]["metadata"]["scrapeId"].as_str().unwrap();
    let again = team.get(&format!("/v2/scrape/{id}")).await;
    let data = |answer: &Answer, member: &str| answer.body["data"][member].clone();
    for member in ["json", "highlights", "links"] {
        assert_eq!(data(&again, member), data(&found, member), "{}", again.body);
    }
    assert_eq!(model.asked().len(), count, "reading a scrape again asks nothing");
    let asked = model.asked();
    assert!(asked.iter().all(|asked| !asked.system.contains("shillings") && asked.body["model"] == "small"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_crawls_and_files_are_asked_as_well() {
    let model = ModelServer::start(answer).await;
    let app = TestApp::with_model(&model, |_| ()).await;
    app.site.html("/tea", TEA);
    app.site
        .html("/tea/map", "<!doctype html><title>Map</title><p>The paths of the gardens, for walkers and their dogs.");
    let team = app.team(Some(1000), json!({})).await;
    let formats = json!([of("json"), of("highlights"), "summary"]);
    let job = team.start("/v2/batch/scrape", &json!({ "urls": [app.page("/tea")], "formats": formats })).await;
    let ended = team.ended(&job).await.body;
    assert_eq!((&ended["status"], &ended["creditsUsed"]), (&json!("completed"), &json!(9)), "{ended}");
    let document = &ended["data"][0];
    assert_eq!((&document["json"], &document["highlights"]), (&json!({ "shillings": 12 }), &json!(HARVEST)));
    let body = json!({ "url": app.page("/tea"), "limit": 2, "scrapeOptions": { "formats": [of("question")] } });
    let job = team.start("/v2/crawl", &body).await;
    let ended = team.ended(&job).await.body;
    assert_eq!(
        (&ended["status"], &ended["completed"], &ended["creditsUsed"]),
        (&json!("completed"), &json!(2), &json!(10))
    );
    let answers: Vec<&str> =
        ended["data"].as_array().unwrap().iter().map(|page| page["answer"].as_str().unwrap()).collect();
    assert!(answers.contains(&"In London, in 1839.") && answers.contains(&""), "{ended}");
    let file = parse(&team, "tea.html", TEA.as_bytes(), json!({ "formats": formats })).await;
    assert_eq!((file.status, &file.body["data"]["json"]), (200, &json!({ "shillings": 12 })), "{}", file.body);
    assert_eq!(file.body["data"]["metadata"]["creditsUsed"], 9);
    assert_eq!(spent(&team).await, 28);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_fails_costs_the_field_only() {
    let model = ModelServer::start(answer).await;
    let app = TestApp::with_model(&model, |config| config.llm.timeout = Duration::from_secs(1)).await;
    app.site.html("/tea", TEA);
    let team = app.team(Some(1000), json!({})).await;
    for (fault, expect) in [
        (ModelFault::Status(500), "cannot be reached or has failed"),
        (ModelFault::Reset, "cannot be reached or has failed"),
        (ModelFault::Hang(Duration::from_secs(5)), "did not answer in time"),
        (ModelFault::Status(401), "does not accept calls of this server"),
    ] {
        model.fail_with(vec![fault.clone()]);
        let found = ask(&team, &app, &["markdown", "json"]).await;
        let data = &found.body["data"];
        assert_eq!((found.status, data.get("json")), (200, None), "{fault:?}: {}", found.body);
        assert!(data["markdown"].is_string() && data["metadata"]["creditsUsed"] == 1, "{}", found.body);
        assert!(
            warning(&found).starts_with("`json` is missing: ") && warning(&found).contains(expect),
            "{}",
            found.body
        );
        assert!(!found.body.to_string().contains("127.0.0.1"), "{}", found.body);
        let before = spent(&team).await;
        model.fail_with(vec![fault; 2]);
        let alone = ask(&team, &app, &["json", "summary"]).await;
        assert_eq!((alone.status, alone.code()), (503, "MODEL_UNAVAILABLE"), "{}", alone.body);
        assert!(alone.headers.contains_key("retry-after"), "{}", alone.body);
        assert_eq!(spent(&team).await, before, "nothing is charged");
        let again = ask(&team, &app, &["json"]).await;
        assert_eq!(again.status, 200, "{}", again.body);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_stays_invalid_is_told_with_its_errors() {
    let model = ModelServer::start(|_| json!({ "shillings": "many" }).to_string()).await;
    let app = TestApp::with_model(&model, |_| ()).await;
    app.site.html("/tea", TEA);
    let team = app.team(Some(1000), json!({})).await;
    let alone = ask(&team, &app, &["json"]).await;
    assert_eq!((alone.status, alone.code()), (422, "SCRAPE_JSON_INVALID"), "{}", alone.body);
    assert_eq!(alone.body["details"][0]["path"], "/shillings", "{}", alone.body);
    assert_eq!((model.asked().len(), spent(&team).await), (2, 0), "asked once more, and not charged");
    let beside = ask(&team, &app, &["json", "links"]).await;
    assert_eq!((beside.status, beside.body["data"].get("json")), (200, None), "{}", beside.body);
    assert!(warning(&beside).contains("valid by the schema"), "{}", beside.body);
    let before = app.site.requests().len();
    for (schema, path) in [
        (json!({ "type": "colour" }), "formats[0].schema"),
        (json!({ "properties": { "a": { "$ref": "https://schemas.test/a" } } }), "formats[0].schema/properties/a"),
    ] {
        let format = json!({ "type": "json", "schema": schema });
        let refused = team.scrape(&json!({ "url": app.page("/tea"), "formats": [format] })).await;
        assert_eq!((refused.status, refused.code()), (400, "BAD_REQUEST"), "{}", refused.body);
        assert!(refused.body["details"].to_string().contains(path), "{}", refused.body);
    }
    assert_eq!(app.site.requests().len(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_that_is_used_up_is_told() {
    let model = ModelServer::start(answer).await;
    let app = TestApp::with_model(&model, |config| config.llm.limits.team_day.tokens = 8000).await;
    app.site.html("/tea", TEA);
    let team = app.team(Some(1000), json!({})).await;
    let mut refused = None;
    for _ in 0..20 {
        let found = ask(&team, &app, &["json", "markdown"]).await;
        assert_eq!(found.status, 200, "{}", found.body);
        if found.body["data"].get("json").is_none() {
            refused = Some(found);
            break;
        }
    }
    let refused = refused.unwrap();
    assert!(warning(&refused).contains("llm.limits.team_day"), "{}", refused.body);
    let other = app.team(Some(1000), json!({})).await;
    assert!(ask(&other, &app, &["json"]).await.body["data"]["json"].is_object(), "another team has its own");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_model_is_an_address_of_ours() {
    let model = ModelServer::start(answer).await;
    let app = TestApp::with_model(&model, |config| {
        config.egress.allow.push("127.0.0.0/8".parse().unwrap());
    })
    .await;
    let team = app.team(Some(1000), json!({})).await;
    let refused = team.scrape(&json!({ "url": model.url("/v1/models") })).await;
    assert_eq!((refused.status, refused.code()), (403, "SCRAPE_TARGET_BLOCKED"), "{}", refused.body);
    let health = app.anonymous().get("/health").await;
    let capabilities = health.body["capabilities"].to_string();
    assert!(capabilities.contains("\"model\"") && capabilities.contains("\"answers\""), "{}", health.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_of_change_tracking_are_extracted_once() {
    let model = ModelServer::start(|asked| {
        let number: String =
            asked.user.split("for ").nth(1).unwrap_or_default().chars().take_while(|c| *c != ' ').collect();
        json!({ "price": number }).to_string()
    })
    .await;
    let app = TestApp::with_model(&model, |_| ()).await;
    let team = app.team(Some(1000), json!({})).await;
    let page = |price: &str| format!("<!doctype html><title>Tea</title><p>Assam is sold for {price} shillings a box.");
    let formats = json!(["markdown", { "type": "changeTracking", "modes": ["json"], "prompt": "price" }, { "type": "json", "prompt": "price" }]);
    let body = json!({ "url": app.page("/tea"), "formats": formats });
    app.site.html("/tea", page("twelve"));
    let first = team.scrape(&body).await;
    assert_eq!(first.body["data"]["changeTracking"]["changeStatus"], "new", "{}", first.body);
    app.site.html("/tea", page("twenty"));
    let second = team.scrape(&body).await;
    let expect = json!({ "price": { "previous": "twelve", "current": "twenty" } });
    assert_eq!(second.body["data"]["changeTracking"]["json"], expect, "{}", second.body);
    assert_eq!(second.body["data"]["metadata"]["creditsUsed"], 5);
    assert_eq!(model.asked().len(), 2, "once for each version");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_question_about_the_same_page_is_asked_once() {
    let model = ModelServer::start(answer).await;
    let app = TestApp::with_model(&model, |_| ()).await;
    app.site.html("/tea", TEA);
    let team = app.team(Some(1000), json!({})).await;
    let other = app.team(Some(1000), json!({})).await;
    let asked = async |client: &Client, more: Value| {
        let mut body = json!({ "url": app.page("/tea"), "formats": [of("json"), of("highlights")] });
        more.as_object().unwrap().iter().for_each(|(key, value)| body[key] = value.clone());
        let found = client.scrape(&body).await;
        assert_eq!((&found.body["data"]["highlights"], found.status), (&json!(HARVEST), 200), "{}", found.body);
        assert_eq!(found.body["data"]["metadata"]["creditsUsed"], 9);
        model.take_asked().len()
    };
    assert_eq!(asked(&team, json!({ "storeInCache": false })).await, 2);
    assert_eq!(asked(&team, json!({})).await, 2, "was not stored");
    assert_eq!(asked(&team, json!({})).await, 0);
    assert_eq!(asked(&team, json!({ "maxAge": 0 })).await, 2);
    assert_eq!(asked(&other, json!({})).await, 2, "another team has its own");
    app.site.html("/tea", TEA.replace("red", "dark"));
    assert_eq!(asked(&team, json!({ "maxAge": 1 })).await, 2, "another page");
}
