//! A scripted model and a client of it.

use std::sync::Arc;
use std::time::Duration;

use base::{Owner, SystemClock};
use llm::{Budget, Model, Settings, TeamLimit};
use testkit::{Asked, ModelServer};
use tokio::time::Instant;

pub(crate) struct World {
    pub(crate) server: ModelServer,
    pub(crate) model: Model,
    pub(crate) budget: Budget,
    pub(crate) owner: Owner,
}

impl World {
    pub(crate) async fn answering(rule: impl Fn(&Asked) -> String + Send + Sync + 'static) -> Self {
        Self::with(rule, |_| ()).await
    }

    pub(crate) async fn with(
        rule: impl Fn(&Asked) -> String + Send + Sync + 'static,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let server = ModelServer::start(rule).await;
        let mut settings =
            Settings { url: Some(server.url("/v1")), model: "small".to_owned(), attempts: 1, ..Settings::default() };
        change(&mut settings);
        let model = Model::new(&settings, Arc::new(SystemClock)).unwrap().unwrap();
        let budget = model.budget("team", TeamLimit::default());
        Self { server, model, budget, owner: Owner::of_team("team") }
    }

    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + Duration::from_secs(20)
    }
}
