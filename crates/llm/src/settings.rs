//! Settings of the models: section `llm`.

use std::time::Duration;

use base::{Secret, setting};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use url::Url;

use crate::ask::Role;
use crate::budget::{Limits, Micros};

/// Settings of section `llm`. Without a URL there is no model.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Base URL of the endpoint, such as `https://api.openai.com/v1` or `http://127.0.0.1:11434`. Its address need not
    /// be public. Default: none.
    #[serde(deserialize_with = "endpoint")]
    pub url: Option<Url>,
    /// API key of the endpoint. Default: none.
    pub key: Secret,
    /// Protocol of the endpoint. Default: OpenAI-compatible.
    pub kind: Kind,
    /// Name of the model. Default: none.
    pub model: String,
    /// Context window of the model, in tokens. Default: 32768.
    #[serde(deserialize_with = "setting::positive")]
    pub context_tokens: u32,
    /// Maximum length of one answer, in tokens. Default: 4096.
    #[serde(deserialize_with = "setting::positive")]
    pub output_tokens: u32,
    /// Price of a million input tokens. Default: 0.
    pub input_price: Micros,
    /// Price of a million output tokens. Default: 0.
    pub output_price: Micros,
    /// Timeout of one call. Default: 60 s.
    #[serde(rename = "timeout_s", deserialize_with = "setting::some_seconds")]
    pub timeout: Duration,
    /// Maximum number of attempts of one call, the first one included. Default: 3.
    #[serde(deserialize_with = "setting::positive")]
    pub attempts: u32,
    /// Maximum number of concurrent calls of one endpoint. Default: 4.
    #[serde(deserialize_with = "setting::positive")]
    pub parallel: u16,
    /// Maximum number of calls that wait for a slot of one endpoint. Default: 256.
    pub waiting: u16,
    /// Whether text of requests with zero data retention may be sent: the endpoint stores nothing. Default: off.
    pub zero_retention: bool,
    /// Whether questions, highlights and summaries are answered from the page's own sentences without a model. Default:
    /// on.
    pub extractive: bool,
    /// Models of single roles.
    pub roles: Roles,
    /// Limits of tokens, time and cost.
    pub limits: Limits,
}

/// Protocol of an endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// `chat/completions` of OpenAI, as llama.cpp, vLLM, Ollama, LM Studio and gateways have it too.
    #[default]
    OpenAi,
    /// `/v1/messages` of Anthropic.
    Anthropic,
    /// `/api/chat` of Ollama.
    Ollama,
}

/// Models of single roles: what is set here applies instead of the common setting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Roles {
    /// Structured data and answers from pages.
    pub extract: Override,
    /// Judgement of changes.
    pub judge: Override,
    /// Boilerplate in markdown.
    pub clean: Override,
    /// Plain instructions that become steps or options.
    pub agent: Override,
}

/// Settings of one role. A role with a URL of its own does not use the common key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Override {
    /// Like [`Settings::url`].
    #[serde(deserialize_with = "endpoint")]
    pub url: Option<Url>,
    /// Like [`Settings::key`].
    pub key: Option<Secret>,
    /// Like [`Settings::kind`].
    pub kind: Option<Kind>,
    /// Like [`Settings::model`].
    pub model: Option<String>,
    /// Like [`Settings::context_tokens`].
    pub context_tokens: Option<u32>,
    /// Like [`Settings::output_tokens`].
    pub output_tokens: Option<u32>,
    /// Like [`Settings::input_price`].
    pub input_price: Option<Micros>,
    /// Like [`Settings::output_price`].
    pub output_price: Option<Micros>,
}

/// One model of one endpoint, from the common settings and those of a role.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) url: Url,
    pub(crate) key: Secret,
    pub(crate) kind: Kind,
    pub(crate) model: String,
    pub(crate) context_tokens: u32,
    pub(crate) output_tokens: u32,
    pub(crate) input_price: Micros,
    pub(crate) output_price: Micros,
}

impl Settings {
    /// Returns the URLs of all models.
    pub fn urls(&self) -> impl Iterator<Item = &Url> {
        let Roles { extract, judge, clean, agent } = &self.roles;
        [&self.url, &extract.url, &judge.url, &clean.url, &agent.url].into_iter().flatten()
    }

    /// Returns the model of a role; `None` without a URL.
    pub(crate) fn spec(&self, role: Role) -> Option<Spec> {
        let own = match role {
            Role::Extract => &self.roles.extract,
            Role::Judge => &self.roles.judge,
            Role::Clean => &self.roles.clean,
            Role::Agent => &self.roles.agent,
        };
        // The key of one server is never sent to another.
        let key =
            own.key.clone().unwrap_or_else(|| if own.url.is_some() { Secret::default() } else { self.key.clone() });
        Some(Spec {
            url: own.url.clone().or_else(|| self.url.clone())?,
            key,
            kind: own.kind.unwrap_or(self.kind),
            model: own.model.clone().unwrap_or_else(|| self.model.clone()),
            context_tokens: own.context_tokens.unwrap_or(self.context_tokens).max(1),
            output_tokens: own.output_tokens.unwrap_or(self.output_tokens).max(1),
            input_price: own.input_price.unwrap_or(self.input_price),
            output_price: own.output_price.unwrap_or(self.output_price),
        })
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            url: None,
            key: Secret::default(),
            kind: Kind::OpenAi,
            model: String::new(),
            context_tokens: 32_768,
            output_tokens: 4096,
            input_price: Micros::default(),
            output_price: Micros::default(),
            timeout: Duration::from_secs(60),
            attempts: 3,
            parallel: 4,
            waiting: 256,
            zero_retention: false,
            extractive: true,
            roles: Roles::default(),
            limits: Limits::default(),
        }
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("host", &self.url.as_ref().and_then(Url::host_str))
            .field("kind", &self.kind)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// Deserializes the base URL of an endpoint; an empty string means `None`.
fn endpoint<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Url>, D::Error> {
    let text = String::deserialize(input)?;
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let expected = "expected the base URL of a model, such as https://api.openai.com/v1";
    let url: Url = text.parse().map_err(|_| D::Error::custom(expected))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(D::Error::custom(expected));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(D::Error::custom("a URL with a password; set `llm.key` instead"));
    }
    Ok(Some(url))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: serde_json::Value) -> Result<Settings, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_set_is_the_default_and_no_model() {
        let settings = read(json!({ "url": "" })).unwrap();
        assert!(settings == Settings::default() && settings.spec(Role::Extract).is_none());
    }

    #[test]
    fn a_role_has_its_own_model_and_no_foreign_key() {
        let settings = read(json!({
            "url": "http://127.0.0.1:8080/v1", "key": "common", "model": "small", "input_price": 0.15,
            "roles": { "judge": { "model": "large" }, "agent": { "url": "https://models.example", "kind": "anthropic" } },
        }))
        .unwrap();
        let spec = |role| settings.spec(role).unwrap();
        assert_eq!((spec(Role::Extract).model.as_str(), spec(Role::Extract).key.expose()), ("small", "common"));
        assert_eq!((spec(Role::Judge).model.as_str(), spec(Role::Judge).key.expose()), ("large", "common"));
        assert_eq!((spec(Role::Agent).kind, spec(Role::Agent).key.expose()), (Kind::Anthropic, ""));
        assert_eq!(spec(Role::Clean).input_price, Micros(150_000));
    }

    #[test]
    fn wrong_values_are_refused_with_what_is_expected() {
        for (value, expect) in [
            (json!({ "url": "models.example" }), "expected the base URL"),
            (json!({ "url": "ftp://models.example" }), "expected the base URL"),
            (json!({ "url": "https://me:secret@models.example" }), "llm.key"),
            (json!({ "attempts": 0 }), "at least 1"),
            (json!({ "modell": "x" }), "unknown field"),
            (json!({ "input_price": -1.0 }), "price"),
        ] {
            let error = read(value).unwrap_err();
            assert!(error.contains(expect) && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn secrets_do_not_print() {
        let settings = read(json!({ "url": "https://models.example/v1?key=secret1", "key": "secret2" })).unwrap();
        let text = format!("{settings:?}");
        assert!(text.contains("models.example") && !text.contains("secret"), "{text}");
    }
}
