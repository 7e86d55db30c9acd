//! Endpoints: their addresses, their keys, and several of them.

use std::sync::Arc;

use base::Secret;
use llm::{AskError, Kind, Model, Override, Role, Settings};
use serde_json::json;
use testkit::{ModelFault, ModelServer, Reply, Site};

use crate::world::{KEY, World, mug};

#[tokio::test]
async fn a_redirect_is_refused() {
    let world = World::start().await;
    let other = Site::start().await;
    world.server.fail_with(vec![ModelFault::Redirect(other.url("/v1/chat/completions"))]);
    assert_eq!(world.ask().await, Err(AskError::Redirected));
    assert_eq!(other.connections(), 0);
}

/// Endpoints repeat the key in their errors.
#[tokio::test]
async fn the_key_is_in_no_error_and_no_debug() {
    let world = World::start().await;
    let message = format!("Incorrect API key provided: {KEY}");
    for status in [400, 401, 403, 404, 429, 500, 200] {
        let body = json!({ "error": { "message": message, "code": "secret", "type": "bad_key" } }).to_string();
        world.server.site().respond("/v1/chat/completions", Reply { status, body: body.into(), ..Reply::default() });
        let error = world.ask_within(std::time::Duration::from_millis(300)).await.unwrap_err();
        let text = format!("{error} {error:?} {:?}", world.model);
        assert!(!text.contains("secret"), "{status}: {text}");
    }
}

#[tokio::test]
async fn each_role_has_its_endpoint_and_its_key() {
    let (one, other) =
        (ModelServer::start(|_| mug().to_string()).await, ModelServer::start(|_| mug().to_string()).await);
    let mut settings =
        Settings { url: Some(one.url("/v1")), key: Secret::new(KEY), model: "small".to_owned(), ..Settings::default() };
    settings.roles.judge = Override {
        url: Some(other.url("/")),
        model: Some("large".to_owned()),
        kind: Some(Kind::Ollama),
        ..Override::default()
    };
    let model = Model::new(&settings, Arc::new(base::SystemClock)).unwrap().unwrap();
    assert_eq!((model.name(Role::Extract), model.name(Role::Judge)), ("small", "large"));
    let world = World { model, server: one, ..World::start().await };
    world.expect_mug().await;
    let ask = |role| {
        let (owner, budget) = (base::Owner::of_team("team"), world.budget.clone());
        let model = world.model.clone();
        async move {
            let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(5);
            let ask = llm::Ask {
                role,
                prompt: &llm::prompt::EXTRACT,
                instruction: "",
                sources: &[],
                want: llm::Want::Text,
                correction: None,
                owner: &owner,
                budget: &budget,
                deadline,
            };
            model.ask(&ask).await.unwrap()
        }
    };
    assert_eq!(ask(Role::Judge).await.model, "large");
    assert_eq!((world.server.asked().len(), other.asked().len()), (1, 1));
    // The key of one server is never sent to another.
    assert!(other.asked()[0].seen.header("authorization").is_empty());
}

#[tokio::test]
async fn a_query_of_the_url_is_kept() {
    let world = World::of(Kind::OpenAi, |settings| {
        let mut url = settings.url.clone().unwrap();
        url.set_query(Some("api-version=1"));
        settings.url = Some(url);
    });
    let world = world.await;
    world.expect_mug().await;
    assert_eq!(world.server.asked()[0].seen.path, "/v1/chat/completions?api-version=1");
}

#[test]
fn settings_without_a_url_are_no_model_and_wrong_ones_are_refused() {
    let clock = || Arc::new(base::SystemClock);
    assert!(Model::new(&Settings::default(), clock()).unwrap().is_none());
    let url = Some("http://127.0.0.1:1/v1".parse().unwrap());
    let error = Model::new(&Settings { url: url.clone(), ..Settings::default() }, clock()).unwrap_err();
    assert!(error.to_string().contains("llm.model"));
    let settings =
        Settings { url, model: "m".to_owned(), context_tokens: 100, output_tokens: 99, ..Settings::default() };
    assert!(Model::new(&settings, clock()).unwrap_err().to_string().contains("llm.context_tokens"));
}

#[tokio::test]
async fn answers_that_never_end_are_cut_off() {
    let world = World::start().await;
    let body = testkit::Body::Repeat { prefix: "{\"a\":\"".into(), unit: "x".into(), bytes: None, suffix: "".into() };
    world.server.site().respond("/v1/chat/completions", Reply { body, ..Reply::default() });
    let error = world.ask_within(std::time::Duration::from_secs(4)).await.unwrap_err();
    assert!(matches!(error, AskError::Malformed | AskError::Timeout), "{error:?}");
}
