//! Forms of questions and answers: what endpoints can do, and how they answer.

use std::time::Duration;

use base::Owner;
use llm::{AskError, Content, Kind, Want};
use serde_json::{Value, json};
use testkit::{AskedForm, ModelFault, ModelLacks};

use crate::world::{KEY, PAGE, World, mug};

#[tokio::test]
async fn the_protocol_of_openai_is_spoken() {
    let world = World::start().await;
    let answer = world.expect_mug().await;
    assert_eq!((answer.model.as_str(), answer.attempts, answer.cut), ("small", 1, false));
    assert!(answer.usage.input > 0 && answer.usage.output > 0 && !answer.usage.is_estimated);
    let asked = &world.server.asked()[0];
    assert_eq!((asked.path.as_str(), asked.form), ("/v1/chat/completions", AskedForm::JsonSchema));
    assert_eq!(asked.seen.header("authorization"), format!("Bearer {KEY}"));
    assert_eq!(asked.body["response_format"]["json_schema"]["strict"], true);
    assert_eq!((&asked.body["temperature"], &asked.body["stream"]), (&json!(0), &json!(false)));
    assert!(asked.user.contains(PAGE) && !asked.system.contains("Mug") && asked.user.contains("Extract the mug."));
}

#[tokio::test]
async fn the_protocol_of_anthropic_is_spoken() {
    let world = World::of(Kind::Anthropic, |_| {}).await;
    world.server.fail_with(vec![ModelFault::Reasoning("a mug {".to_owned())]);
    assert!(!world.expect_mug().await.usage.is_estimated);
    let asked = &world.server.asked()[0];
    assert_eq!((asked.path.as_str(), asked.form), ("/v1/messages", AskedForm::JsonSchema));
    assert_eq!((asked.seen.header("x-api-key"), asked.seen.header("anthropic-version")), (KEY, "2023-06-01"));
    assert!(asked.body["system"].is_string() && asked.body["max_tokens"] == 4096);
    world.server.refuse(&[ModelLacks::JsonSchema]);
    world.expect_mug().await;
    let asked = world.server.asked();
    assert_eq!(asked.last().unwrap().form, AskedForm::Tool);
    assert_eq!(asked.last().unwrap().body["tool_choice"], json!({ "type": "tool", "name": "answer" }));
    world.server.fail_with(vec![ModelFault::Refusal]);
    assert_eq!(world.ask().await, Err(AskError::Refused));
    world.server.fail_with(vec![ModelFault::Cut(10)]);
    assert!(world.ask().await.unwrap().cut);
}

#[tokio::test]
async fn a_base_url_with_the_version_gets_it_once() {
    for base in ["/", "/v1", "/v1/"] {
        let world = World::of(Kind::Anthropic, |settings| {
            let url = settings.url.take().unwrap();
            settings.url = Some(url.join(base).unwrap());
        });
        let world = world.await;
        world.expect_mug().await;
        assert_eq!(world.server.asked()[0].path, "/v1/messages", "{base}");
    }
}

#[tokio::test]
async fn the_protocol_of_ollama_is_spoken_with_its_window() {
    let world = World::of(Kind::Ollama, |settings| settings.context_tokens = 16_384).await;
    world.server.fail_with(vec![ModelFault::Reasoning("hm".to_owned())]);
    assert!(!world.expect_mug().await.usage.is_estimated);
    let asked = &world.server.asked()[0];
    assert_eq!((asked.path.as_str(), asked.form), ("/api/chat", AskedForm::JsonSchema));
    assert_eq!(asked.body["options"]["num_ctx"], 16_384);
    assert_eq!(asked.body["format"]["required"], json!(["name", "price"]));
    world.server.fail_with(vec![ModelFault::Cut(10)]);
    assert!(world.ask().await.unwrap().cut);
}

#[tokio::test]
async fn what_an_endpoint_lacks_is_tried_once_and_remembered() {
    use AskedForm::{JsonObject, JsonSchema, Text, Tool};
    for (lacks, forms) in [
        (vec![ModelLacks::JsonSchema], vec![JsonSchema, Tool]),
        (vec![ModelLacks::JsonSchema, ModelLacks::Tools], vec![JsonSchema, Tool, JsonObject]),
        (
            vec![ModelLacks::JsonSchema, ModelLacks::Tools, ModelLacks::JsonObject],
            vec![JsonSchema, Tool, JsonObject, Text],
        ),
        (vec![ModelLacks::MaxTokens], vec![JsonSchema, JsonSchema]),
        (vec![ModelLacks::Temperature], vec![JsonSchema, JsonSchema]),
        (vec![ModelLacks::MaxTokens, ModelLacks::MaxCompletionTokens], vec![JsonSchema; 3]),
    ] {
        let world = World::start().await;
        world.server.refuse(&lacks);
        assert_eq!(world.expect_mug().await.attempts, 1);
        let tried: Vec<AskedForm> = world.server.take_asked().iter().map(|asked| asked.form).collect();
        assert_eq!(tried, forms, "{lacks:?}");
        world.expect_mug().await;
        let asked = world.server.asked();
        assert_eq!((asked.len(), asked[0].form), (1, *forms.last().unwrap()), "{lacks:?}");
        // Without a schema on the side the text has it.
        assert!(asked[0].schema.is_some() || asked[0].user.contains("\"required\":[\"name\",\"price\"]"));
    }
}

#[tokio::test]
async fn a_schema_that_is_refused_once_is_no_lasting_lack() {
    let world = World::start().await;
    let body = json!({ "error": { "message": "Invalid schema for response_format 'answer'" } }).to_string();
    let refused = testkit::Reply { status: 400, body: body.into(), ..testkit::Reply::default() };
    world.server.site().script("/v1/chat/completions", vec![testkit::Script::Reply(refused)]);
    assert!(matches!(world.ask().await, Err(AskError::Rejected { status: 400, .. })));
    assert_eq!(world.server.site().requests().len(), 4);
    world.server.site().reset();
    assert!(matches!(world.ask().await, Err(AskError::Rejected { status: 404, .. })));
}

#[tokio::test]
async fn answers_are_found_wherever_models_put_them() {
    let answer = mug().to_string();
    for fault in [
        ModelFault::Text(format!("```json\n{answer}\n```")),
        ModelFault::Text(format!("Here is what I found:\n{answer}\nLet me know.")),
        ModelFault::Text(format!("<think>A mug, {{\"not\": \"this\"}}.</think>{answer}")),
        ModelFault::Text(format!("A mug.</think>\n{answer}")),
        ModelFault::Text(answer.replace('}', ",}")),
        ModelFault::Text(answer.replace("12.5", "\"12.50\"")),
        ModelFault::Text(answer.replace('}', ",\"note\":\"extracted\"}")),
        ModelFault::Parts,
        ModelFault::Reasoning("The page shows {\"a\": 1}.".to_owned()),
        ModelFault::NoUsage,
    ] {
        let world = World::start().await;
        world.server.fail_with(vec![fault.clone()]);
        let answer = world.expect_mug().await;
        assert_eq!(
            (world.server.asked().len(), answer.usage.is_estimated),
            (1, fault == ModelFault::NoUsage),
            "{fault:?}"
        );
        assert!(answer.usage.input > 0 && answer.usage.output > 0);
    }
}

#[tokio::test]
async fn answers_that_are_none_say_why() {
    let body = |message: Value| {
        ModelFault::Body(json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }).to_string())
    };
    for (fault, expect) in [
        (ModelFault::Refusal, AskError::Refused),
        (
            ModelFault::Body(json!({ "choices": [{ "message": {}, "finish_reason": "content_filter" }] }).to_string()),
            AskError::Refused,
        ),
        (body(json!({ "content": [{ "type": "refusal", "refusal": "no" }] })), AskError::Refused),
        (ModelFault::Empty, AskError::Empty),
        (body(json!({ "content": null })), AskError::Empty),
        (body(json!({ "content": null, "reasoning_content": "hm" })), AskError::Empty),
        (ModelFault::Status(404), AskError::Rejected { status: 404, code: llm::ErrorCode::default() }),
        (ModelFault::Status(401), AskError::Unauthorized { status: 401 }),
        (ModelFault::ErrorBody(json!(401)), AskError::Unauthorized { status: 401 }),
    ] {
        let world = World::start().await;
        world.server.fail_with(vec![fault.clone()]);
        let error = world.ask().await.unwrap_err();
        assert!(world.server.asked().len() == 1, "{fault:?}");
        match (&error, &expect) {
            (AskError::Rejected { status, .. }, AskError::Rejected { status: other, .. }) => assert_eq!(status, other),
            _ => assert_eq!(error, expect, "{fault:?}"),
        }
    }
}

#[tokio::test]
async fn a_cut_answer_says_so_and_is_not_taken_for_whole() {
    let world = World::start().await;
    world.server.fail_with(vec![ModelFault::Cut(18), ModelFault::Cut(0)]);
    let answer = world.ask().await.unwrap();
    assert!(answer.cut && matches!(answer.content, Content::Text(_)));
    // The whole limit went into reasoning.
    assert!(world.ask().await.unwrap().cut);
}

#[tokio::test]
async fn plain_text_is_text() {
    let world = World::answering(Kind::OpenAi, |_| "<think>hm</think>It costs 12.50 EUR.".to_owned(), |_| {}).await;
    let owner = Owner::of_team("team");
    let answer = world.ask_for(Want::Text, &owner, Duration::from_secs(5)).await.unwrap();
    assert_eq!(answer.content, Content::Text("It costs 12.50 EUR.".to_owned()));
    assert_eq!(world.server.asked()[0].form, AskedForm::Text);
    let world = World::start().await;
    let answer = world.ask_for(Want::AnyJson, &owner, Duration::from_secs(5)).await.unwrap();
    assert_eq!((answer.content, world.server.asked()[0].form), (Content::Json(mug()), AskedForm::JsonObject));
}

#[tokio::test]
async fn a_text_that_does_not_fit_is_not_sent() {
    let world = World::of(Kind::OpenAi, |settings| {
        settings.context_tokens = 600;
        settings.output_tokens = 300;
    });
    let world = world.await;
    assert_eq!(world.ask().await, Err(AskError::TooLong));
    assert!(world.server.asked().is_empty());
    let world = World::start().await;
    let body = json!({ "error": { "message": "This model's maximum context length is 8192 tokens." } }).to_string();
    let reply = testkit::Reply { status: 400, body: body.into(), ..testkit::Reply::default() };
    world.server.site().respond("/v1/chat/completions", reply);
    assert_eq!(world.ask().await, Err(AskError::TooLong));
}
