//! Pages of requests with zero data retention, and the answers of a model about them: who sees them, and what is kept.

use e2e::{Answer, Client};
use lab::{Installation, Node};
use serde_json::{Value, json};
use testkit::{ModelServer, Site};

use crate::privacy::files_with;
use crate::process::{installation, terminate};

const OPERATOR: &str = "operator-of-retention-0123456789";
/// Word of the page.
const PAGE: &str = "PAGEMARKER4417";
/// Word of the model's answers.
const ANSWER: &str = "ANSWERMARKER5528";
/// Word of the caller's schema, question and prompt.
const ORDER: &str = "ORDERMARKER6639";

/// Starts a model whose answers are about the page and the question.
async fn model() -> ModelServer {
    let answer = format!("{ANSWER} in {PAGE}");
    ModelServer::start(move |asked| match &asked.schema {
        Some(schema) if schema["properties"].get("sentences").is_some() => json!({ "sentences": [2] }).to_string(),
        Some(schema) if schema["properties"].get("answer").is_some() => json!({ "answer": answer }).to_string(),
        Some(_) => json!({ ORDER: answer }).to_string(),
        None => format!("{answer}. It is old. It is large."),
    })
    .await
}

async fn site() -> Site {
    let site = Site::start().await;
    let text = "The gardens lie between two rivers, and their soil is red.";
    let html = format!(
        "<!doctype html><html lang=en><title>Tea</title><main><h1>Tea</h1><p>{text}</p>\
         <p>The first harvest of 1839 was sold in London for 12 {PAGE}. Visitors may walk there from May to October.</p></main>"
    );
    site.html("/tea", html);
    site
}

/// Returns the programs with the most detailed log.
fn of(site: &Site) -> Installation {
    let installation = installation().set("egress.allow", site.addr().to_string()).set("auth.mode", "keys");
    installation.set("admin.token", OPERATOR).set("log.level", "trace").set("browser.enabled", "false")
}

fn with_model(installation: Installation, model: &ModelServer, may_see: bool) -> Installation {
    installation
        .set("llm.url", model.url("/v1").as_str())
        .set("llm.model", "small")
        .set("llm.zero_retention", may_see.to_string())
}

/// Makes a team that may ask for zero data retention.
async fn team(server: &Node) -> Client {
    let operator = Client::new(server.addr(), Some(OPERATOR.to_owned()));
    let body = json!({ "name": "t", "credits": 1000, "flags": { "zeroDataRetention": true } });
    let made = operator.post("/admin/teams", &body).await;
    Client::new(server.addr(), made.body["apiKey"].as_str().map(ToOwned::to_owned))
}

/// A scrape of the page with these formats.
async fn scrape(team: &Client, site: &Site, formats: &Value, is_private: bool) -> Answer {
    let body = json!({ "url": site.url("/tea"), "formats": formats, "zeroDataRetention": is_private });
    team.scrape(&body).await
}

fn json_format() -> Value {
    json!({ "type": "json", "schema": { "type": "object", "properties": { ORDER: { "type": "string" } } } })
}

/// Returns formats that are answered with and without a model.
fn questions() -> Value {
    let question = format!("Where was the first harvest sold, {ORDER}?");
    json!(["summary", { "type": "question", "question": question }, { "type": "highlights", "query": "first harvest of 1839" }])
}

/// Returns the members of a document that depend on the page, on the formats and on the model.
fn told(answer: &Answer) -> Value {
    let data = &answer.body["data"];
    let members = ["summary", "answer", "highlights", "warning"].map(|member| data[member].clone());
    json!([answer.status, answer.code(), members, data["metadata"]["creditsUsed"]])
}

/// Checks that no file and no log has the words of page, answer and question.
fn left_nothing(installation: &Installation) {
    let log = String::from_utf8_lossy(&installation.log()).into_owned();
    assert!(log.contains("/v2/scrape"), "{log:.500}");
    for word in [PAGE, ANSWER, ORDER] {
        assert_eq!(files_with(&installation.data(), word), Vec::<String>::new(), "{word}");
        assert_eq!(log.lines().find(|line| line.contains(word)), None);
        assert!(
            !installation.strays().iter().any(|file| std::fs::read_to_string(file).is_ok_and(|t| t.contains(word)))
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_keeps_texts_does_not_see_pages_of_zero_retention() {
    let (site, model) = (site().await, model().await);
    let (without, with) = (of(&site), with_model(of(&site), &model, false));
    let mut told_by = Vec::new();
    for installation in [&without, &with] {
        let server = installation.server().unwrap();
        let team = team(&server).await;
        let found = scrape(&team, &site, &questions(), true).await;
        assert_eq!(found.status, 200, "{}", found.body);
        let refused = scrape(&team, &site, &json!(["markdown", json_format()]), true).await;
        assert_eq!((refused.status, refused.code()), (400, "SCRAPE_JSON_NOT_SUPPORTED"), "{}", refused.body);
        told_by.push((told(&found), refused.body["error"].clone()));
        terminate(server).await;
        left_nothing(installation);
    }
    assert_eq!(told_by[0], told_by[1], "as without a model");
    assert!(told_by[0].0.to_string().contains("own sentences"), "{}", told_by[0].0);
    assert!(model.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_keeps_nothing_is_the_only_one_that_sees_them() {
    let (site, model) = (site().await, model().await);
    let installation = with_model(of(&site), &model, true);
    let server = installation.server().unwrap();
    let team = team(&server).await;
    let mut formats = questions();
    formats.as_array_mut().unwrap().push(json_format());
    let mut calls = Vec::new();
    for _ in 0..2 {
        let found = scrape(&team, &site, &formats, true).await;
        let data = &found.body["data"];
        assert_eq!(found.status, 200, "{}", found.body);
        // The model's answer is not on the page, so the warning names its place.
        let warning = data["warning"].as_str().unwrap();
        assert!(warning.contains("not on the page") && !warning.contains(ANSWER), "{warning}");
        assert_eq!(
            (&data["answer"], &data["json"]),
            (&json!(format!("{ANSWER} in {PAGE}")), &json!({ ORDER: format!("{ANSWER} in {PAGE}") }))
        );
        calls.push(model.take_asked());
    }
    assert!(calls[0].iter().any(|asked| asked.user.contains(PAGE) && asked.user.contains(ORDER)));
    assert_eq!((calls[0].len(), calls[1].len()), (4, 4), "no answer was cached");
    terminate(server).await;
    left_nothing(&installation);
    // The same request without zero retention leaves all three words, so the search above can find them.
    let server = installation.server().unwrap();
    for calls in [4, 0] {
        let found = scrape(&team_of(&server, &team), &site, &formats, false).await;
        assert_eq!((found.status, model.take_asked().len()), (200, calls), "{}", found.body);
    }
    terminate(server).await;
    for word in [PAGE, ANSWER, ORDER] {
        assert!(!files_with(&installation.data(), word).is_empty(), "{word}");
    }
}

/// Returns the team as a caller of another process.
fn team_of(server: &Node, team: &Client) -> Client {
    Client::new(server.addr(), team.token().map(ToOwned::to_owned))
}
