//! Services that a scenario scripts: a search engine, a mail server and a model.

use std::collections::HashMap;
use std::time::Duration;

use app::MailParts;
use app::auth::Caller;
use app::monitors::{FoundResult, WebSearch};
use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Value, json};
use testkit::{MailServer, ModelFault, ModelServer};
use wire::SearchTarget;

/// Search engine that answers by a script: one list per check.
pub(super) struct Scripted {
    pub(super) lists: HashMap<String, Vec<Vec<String>>>,
    pub(super) asked: Mutex<HashMap<String, usize>>,
}

#[async_trait]
impl WebSearch for Scripted {
    async fn search(&self, _: &Caller, target: &SearchTarget) -> Result<Vec<FoundResult>, String> {
        let mut found = Vec::new();
        for query in &target.queries {
            let lists = self.lists.get(query).ok_or("no such query")?;
            let mut asked = self.asked.lock();
            let number = asked.entry(query.clone()).or_default();
            let list = lists.get(*number).or(lists.last()).cloned().unwrap_or_default();
            *number += 1;
            found.extend(list.into_iter().map(|url| FoundResult {
                query: query.clone(),
                url,
                title: "title".to_owned(),
                description: "description".to_owned(),
            }));
        }
        Ok(found)
    }
}

/// Returns settings for a mail server.
pub(crate) fn mail_parts(server: &MailServer) -> MailParts {
    let settings = mail::Settings {
        url: Some(server.url().parse().unwrap()),
        from: "Quarry <quarry@example.org>".to_owned(),
        timeout: Duration::from_secs(2),
        ..mail::Settings::default()
    };
    let mailer = mail::Mailer::new(&settings).unwrap().unwrap();
    MailParts { mailer, base: "https://quarry.example.org/".parse().unwrap() }
}

/// Starts the model of a scenario: a change matters when a new line has the word.
pub(super) async fn model(model: &Value) -> Option<ModelServer> {
    let word = match model {
        Value::Null => return None,
        Value::String(_) => String::new(),
        word => word["word"].as_str().unwrap().to_owned(),
    };
    let fails = model == "fails";
    let rule = move |asked: &testkit::Asked| {
        let is_new = |line: &str| line.starts_with('+') && line.contains(&word);
        json!({
            "meaningful": asked.user.lines().any(is_new), "confidence": "high", "reason": "r", "meaningfulChanges": [],
        })
        .to_string()
    };
    let server = ModelServer::start(rule).await;
    if fails {
        server.fail_by(|_| ModelFault::Status(500));
    }
    Some(server)
}
