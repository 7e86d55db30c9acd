//! The service with models that speak the protocols of Anthropic and of Ollama.

use base::Secret;
use e2e::{Answer, TestApp};
use serde_json::{Value, json};
use testkit::{Asked, AskedForm, ModelFault, ModelLacks, ModelServer};

const KEY: &str = "sk-of-the-model";
const HARVEST: &str = "The first harvest of 1839 was sold in London for 12 shillings.";
const TEA: &str = "<!doctype html><html lang=en><title>Tea</title><main><h1>Tea</h1>\
    <p>The gardens lie between two rivers, and their soil is red. The first harvest of 1839 was sold in London for 12 \
    shillings. Today the gardens employ four hundred people.</p><p>Subscribe to our letter of news today!</p></main>";

/// A model that answers by the properties that are wanted.
fn answer(asked: &Asked) -> String {
    let wants = |property: &str| match &asked.schema {
        Some(schema) => schema["properties"].get(property).is_some(),
        None => asked.user.contains(&format!("\"{property}\":")),
    };
    if wants("sentences") {
        let line = asked.user.lines().find(|line| line.contains("harvest of 1839")).unwrap_or_default();
        let number = line.split(':').next().and_then(|number| number.parse::<u32>().ok());
        return json!({ "sentences": [number] }).to_string();
    }
    if wants("answer") {
        return json!({ "answer": "In London." }).to_string();
    }
    if wants("shillings") {
        return json!({ "shillings": 12 }).to_string();
    }
    if wants("limit") {
        return json!({ "limit": 7, "includePaths": ["^/tea"] }).to_string();
    }
    if wants("leftovers") {
        return json!({ "leftovers": [3] }).to_string();
    }
    "Tea grows there. It is sold. It is good.".to_owned()
}

fn formats() -> Value {
    let schema = json!({ "type": "object", "properties": { "shillings": { "type": "integer" } } });
    json!([
        "markdown",
        "summary",
        { "type": "json", "schema": schema },
        { "type": "question", "question": "Where was the first harvest sold?" },
        { "type": "highlights", "query": "Where was the first harvest sold?" },
    ])
}

async fn scrape(app: &TestApp) -> Answer {
    let body = json!({ "url": app.page("/tea"), "formats": formats(), "onlyCleanContent": true, "maxAge": 0 });
    app.anonymous().scrape(&body).await
}

fn is_answered(answer: &Answer) {
    let data = &answer.body["data"];
    assert_eq!((answer.status, &data["warning"]), (200, &Value::Null), "{}", answer.body);
    assert_eq!((&data["json"], &data["answer"]), (&json!({ "shillings": 12 }), &json!("In London.")), "{data}");
    assert_eq!((&data["highlights"], &data["summary"]), (&json!(HARVEST), &json!(answer_text())), "{data}");
    assert!(!answer.markdown().contains("Subscribe") && answer.markdown().contains("two rivers"), "{data}");
    assert_eq!(data["metadata"]["creditsUsed"], 13);
}

fn answer_text() -> &'static str {
    "Tea grows there. It is sold. It is good."
}

/// Starts a service whose model speaks this protocol.
async fn start(model: &ModelServer, kind: &str) -> TestApp {
    let (url, kind) = (model.url("/"), serde_json::from_value(json!(kind)).unwrap());
    let app = TestApp::with_model(model, |config| {
        (config.llm.url, config.llm.kind, config.llm.key) = (Some(url), kind, Secret::new(KEY));
        config.llm.context_tokens = 16_384;
    })
    .await;
    app.site.html("/tea", TEA);
    app
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_question_is_asked_in_the_protocol_of_the_model() {
    for (kind, path, key) in [
        ("anthropic", "/v1/messages", ("x-api-key", KEY.to_owned())),
        ("ollama", "/api/chat", ("authorization", format!("Bearer {KEY}"))),
    ] {
        let model = ModelServer::start(answer).await;
        let app = start(&model, kind).await;
        is_answered(&scrape(&app).await);
        let request = json!({ "url": app.page("/tea"), "prompt": "a few pages about tea" });
        let preview = app.anonymous().post("/v2/crawl/params-preview", &request).await;
        assert_eq!((preview.status, &preview.body["data"]["limit"]), (200, &json!(7)), "{}", preview.body);
        let asked = model.asked();
        assert_eq!(asked.len(), 6, "{kind}");
        for asked in &asked {
            assert_eq!((asked.path.as_str(), asked.seen.header(key.0)), (path, key.1.as_str()));
            assert!(!asked.system.contains("harvest") && !asked.user.contains(KEY));
            assert!(kind != "ollama" || asked.body["options"]["num_ctx"] == 16_384, "{}", asked.body);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_takes_no_schema_is_asked_with_a_tool_or_with_the_schema_in_the_text() {
    for (kind, lacks, form) in [
        ("anthropic", &[ModelLacks::JsonSchema][..], AskedForm::Tool),
        ("anthropic", &[ModelLacks::JsonSchema, ModelLacks::Tools], AskedForm::Text),
        ("ollama", &[ModelLacks::JsonSchema], AskedForm::JsonObject),
    ] {
        let model = ModelServer::start(answer).await;
        model.refuse(lacks);
        let app = start(&model, kind).await;
        is_answered(&scrape(&app).await);
        let _ = model.take_asked();
        is_answered(&scrape(&app).await);
        let asked = model.asked();
        assert_eq!(asked.len(), 5, "what the model lacks is tried once");
        assert!(asked.iter().all(|asked| matches!(asked.form, AskedForm::Text) || asked.form == form), "{asked:#?}");
        assert_eq!(
            asked.iter().filter(|asked| asked.form == form).count(),
            if form == AskedForm::Text { 5 } else { 4 }
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_of_each_protocol_cost_the_field_only() {
    for kind in ["anthropic", "ollama"] {
        let model = ModelServer::start(answer).await;
        let app = start(&model, kind).await;
        for (fault, expect) in [
            (ModelFault::Status(529), "cannot be reached or has failed"),
            (ModelFault::Half, "cannot be reached or has failed"),
            (ModelFault::Status(401), "does not accept calls of this server"),
        ] {
            model.fail_with(vec![fault.clone()]);
            let question = json!({ "type": "question", "question": "Where was the first harvest sold?" });
            let body = json!({ "url": app.page("/tea"), "formats": ["markdown", question], "maxAge": 0 });
            let found = app.anonymous().scrape(&body).await;
            let data = &found.body["data"];
            assert_eq!((found.status, data.get("answer")), (200, None), "{kind} {fault:?}: {}", found.body);
            assert!(data["warning"].as_str().unwrap().contains(expect), "{kind} {fault:?}: {data}");
            assert_eq!(data["metadata"]["creditsUsed"], 1);
        }
    }
}
