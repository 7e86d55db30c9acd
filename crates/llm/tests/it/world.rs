//! A scripted model and a client of it.

use std::sync::Arc;
use std::time::Duration;

use base::{Owner, SystemClock};
use llm::schema::Schema;
use llm::{
    Answer, Ask, AskError, Budget, Content, Correction, Kind, Model, Role, Settings, Source, TeamLimit, Want, prompt,
};
use serde_json::{Value, json};
use testkit::{Asked, ModelServer};
use tokio::time::Instant;

pub(crate) const PAGE: &str = "# Mug\n\nPrice: 12.50 EUR";
pub(crate) const KEY: &str = "sk-very-secret";

pub(crate) struct World {
    pub(crate) server: ModelServer,
    pub(crate) model: Model,
    pub(crate) schema: Schema,
    pub(crate) budget: Budget,
}

pub(crate) fn mug() -> Value {
    json!({ "name": "Mug", "price": 12.5 })
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::of(Kind::OpenAi, |_| {}).await
    }

    /// Starts a server that answers with the mug, and a client with these settings.
    pub(crate) async fn of(kind: Kind, change: impl FnOnce(&mut Settings)) -> Self {
        Self::answering(kind, |_| mug().to_string(), change).await
    }

    pub(crate) async fn answering(
        kind: Kind,
        rule: impl Fn(&Asked) -> String + Send + Sync + 'static,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let server = ModelServer::start(rule).await;
        let path = if kind == Kind::OpenAi { "/v1" } else { "/" };
        let mut settings = Settings {
            url: Some(server.url(path)),
            key: base::Secret::new(KEY),
            kind,
            model: "small".to_owned(),
            ..Settings::default()
        };
        change(&mut settings);
        let model = Model::new(&settings, Arc::new(SystemClock)).unwrap().unwrap();
        let schema = Schema::read(json!({
            "type": "object",
            "properties": { "name": { "type": "string" }, "price": { "type": "number" } },
            "required": ["name", "price"],
            "additionalProperties": false,
        }))
        .unwrap();
        let budget = model.budget("team", TeamLimit::default());
        Self { server, model, schema, budget }
    }

    pub(crate) async fn ask(&self) -> Result<Answer, AskError> {
        self.ask_of(&Owner::of_team("team"), Duration::from_secs(20)).await
    }

    pub(crate) async fn ask_within(&self, time: Duration) -> Result<Answer, AskError> {
        self.ask_of(&Owner::of_team("team"), time).await
    }

    pub(crate) async fn ask_of(&self, owner: &Owner, time: Duration) -> Result<Answer, AskError> {
        self.ask_for(Want::Json(&self.schema), owner, time).await
    }

    pub(crate) async fn ask_for(&self, want: Want<'_>, owner: &Owner, time: Duration) -> Result<Answer, AskError> {
        self.model
            .ask(&Ask {
                role: Role::Extract,
                prompt: &prompt::EXTRACT,
                instruction: "Extract the mug.",
                sources: &[Source { label: "page text", text: PAGE }],
                want,
                correction: None::<Correction<'_>>,
                owner,
                budget: &self.budget,
                deadline: Instant::now() + time,
            })
            .await
    }

    /// Asks and expects the mug; returns the answer.
    pub(crate) async fn expect_mug(&self) -> Answer {
        let answer = self.ask().await.unwrap();
        let Content::Json(value) = answer.content.clone() else { panic!("not JSON: {:?}", answer.content) };
        assert_eq!(self.schema.accept(value).unwrap().value, mug());
        answer
    }
}
