//! A model server that follows a script: known answers, known faults, and a record of what it was asked.

mod answer;
mod protocol;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use url::Url;

use crate::site::{Reply, Script, Seen, Site};

/// A model server on loopback. It speaks the OpenAI-compatible protocol, Anthropic's and Ollama's, by the path, and
/// refuses requests that these do not allow.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use testkit::{ModelFault, ModelServer};
///
/// let model = ModelServer::start(|asked| format!("I was shown {} bytes", asked.user.len())).await;
/// model.fail_with(vec![ModelFault::Status(500), ModelFault::None]);
/// assert!(model.url("/v1").as_str().ends_with("/v1") && model.asked().is_empty());
/// # });
/// ```
pub struct ModelServer {
    site: Site,
    state: Arc<Mutex<State>>,
}

/// A request to a model.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Path of the request, which tells the protocol.
    pub path: String,
    /// System text.
    pub system: String,
    /// All other messages.
    pub user: String,
    /// Wanted form of the answer.
    pub form: AskedForm,
    /// Schema of the wanted form, if sent apart from the messages.
    pub schema: Option<Value>,
    /// Body of the request.
    pub body: Value,
    /// Request with its headers.
    pub seen: Seen,
}

/// Wanted form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedForm {
    /// Any text.
    Text,
    /// Any JSON object.
    JsonObject,
    /// JSON by a schema.
    JsonSchema,
    /// A call of a tool.
    Tool,
}

/// Fault of one answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelFault {
    /// The right answer.
    None,
    /// This status with an error body.
    Status(u16),
    /// 429 with this `Retry-After`, in seconds.
    RetryAfter(u64),
    /// 200 with an error body of this code.
    ErrorBody(Value),
    /// The connection is closed without an answer.
    Reset,
    /// The connection is closed in the middle of the answer.
    Half,
    /// No answer for that long.
    Hang(Duration),
    /// The right answer after that long.
    Slow(Duration),
    /// This text instead of the answer.
    Text(String),
    /// The first bytes of the answer, cut by the limit of tokens.
    Cut(usize),
    /// A refusal, in the field of the protocol.
    Refusal,
    /// An answer of no text.
    Empty,
    /// The text as a list of parts.
    Parts,
    /// The reasoning in a field of its own.
    Reasoning(String),
    /// No count of tokens.
    NoUsage,
    /// 200 with this body.
    Body(String),
    /// A redirect to this URL.
    Redirect(Url),
}

/// Feature that the server refuses, with status 400 and a message that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelLacks {
    /// JSON by a schema.
    JsonSchema,
    /// Tools.
    Tools,
    /// JSON without a schema.
    JsonObject,
    /// `max_tokens`; it wants `max_completion_tokens`.
    MaxTokens,
    /// `max_completion_tokens`; it wants `max_tokens`.
    MaxCompletionTokens,
    /// `temperature`.
    Temperature,
}

type Rule = dyn Fn(&Asked) -> String + Send + Sync;
type FaultRule = dyn Fn(&Asked) -> ModelFault + Send + Sync;

struct State {
    rule: Arc<Rule>,
    faults: Vec<ModelFault>,
    fault_rule: Arc<FaultRule>,
    lacks: Vec<ModelLacks>,
    asked: Vec<Asked>,
}

impl ModelServer {
    /// Starts a server that answers by `rule`.
    ///
    /// # Panics
    /// When loopback has no free port.
    pub async fn start(rule: impl Fn(&Asked) -> String + Send + Sync + 'static) -> Self {
        let state = State {
            rule: Arc::new(rule),
            faults: Vec::new(),
            fault_rule: Arc::new(|_| ModelFault::None),
            lacks: Vec::new(),
            asked: Vec::new(),
        };
        let state = Arc::new(Mutex::new(state));
        let site = Site::start().await;
        let shared = Arc::clone(&state);
        site.others_by_script(move |seen| respond(&shared, seen));
        Self { site, state }
    }

    /// Returns the URL of a path.
    #[must_use]
    pub fn url(&self, path: &str) -> Url {
        self.site.url(path)
    }

    /// Returns the web server below, for scripts of single paths.
    #[must_use]
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// Sets the faults of the next requests, in their order. Requests after these have none.
    pub fn fail_with(&self, faults: Vec<ModelFault>) {
        let mut state = self.state.lock();
        state.faults = faults;
        state.faults.reverse();
    }

    /// Sets a rule that gives the fault of each request for which [`ModelServer::fail_with`] has none left.
    pub fn fail_by(&self, rule: impl Fn(&Asked) -> ModelFault + Send + Sync + 'static) {
        self.state.lock().fault_rule = Arc::new(rule);
    }

    /// Sets the features that the server refuses. A refused request uses up no fault.
    pub fn refuse(&self, lacks: &[ModelLacks]) {
        self.state.lock().lacks = lacks.to_vec();
    }

    /// Returns all requests so far.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        self.state.lock().asked.clone()
    }

    /// Removes and returns the recorded requests.
    #[must_use]
    pub fn take_asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.state.lock().asked)
    }
}

impl fmt::Debug for ModelServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelServer").field("addr", &self.site.addr()).finish_non_exhaustive()
    }
}

fn respond(state: &Mutex<State>, seen: &Seen) -> Option<Script> {
    let asked = answer::asked(seen)?;
    let (rule, fault_rule, fault) = {
        let mut state = state.lock();
        state.asked.push(asked.clone());
        if let Some(violation) = protocol::violation(&asked) {
            return Some(error(400, violation));
        }
        if let Some(refusal) = state.lacks.iter().find_map(|lack| answer::refusal(*lack, &asked)) {
            return Some(error(400, refusal));
        }
        (Arc::clone(&state.rule), Arc::clone(&state.fault_rule), state.faults.pop())
    };
    let fault = fault.unwrap_or_else(|| fault_rule(&asked));
    Some(script(&asked, &rule(&asked), &fault))
}

fn script(asked: &Asked, text: &str, fault: &ModelFault) -> Script {
    let whole = || answer::body(asked, text, fault).to_string();
    let reply = match fault {
        ModelFault::Status(status) => return error(*status, "the server is overloaded"),
        ModelFault::Reset => return Script::Raw(bytes::Bytes::new()),
        ModelFault::Hang(time) => return Script::Hang(*time),
        ModelFault::RetryAfter(seconds) => {
            let body = json!({ "error": { "message": "slow down" } }).to_string();
            Reply { status: 429, body: body.into(), ..Reply::default() }.header("retry-after", &seconds.to_string())
        }
        ModelFault::Redirect(url) => Reply { status: 307, ..Reply::default() }.header("location", url.as_str()),
        ModelFault::ErrorBody(code) => {
            json_reply(json!({ "error": { "message": "failed", "code": code } }).to_string())
        }
        ModelFault::Body(body) => json_reply(body.clone()),
        ModelFault::Slow(delay) => Reply { delay: *delay, ..json_reply(whole()) },
        ModelFault::Half => {
            let mut body = whole();
            let length = body.len().to_string();
            body.truncate(body.floor_char_boundary(body.len() / 2));
            json_reply(body).header("content-length", &length)
        }
        _ => json_reply(whole()),
    };
    Script::Reply(reply)
}

fn json_reply(body: String) -> Reply {
    Reply { body: body.into(), ..Reply::default() }.header("content-type", "application/json")
}

fn error(status: u16, message: &str) -> Script {
    let body = json!({ "error": { "message": message, "type": "invalid_request_error" } }).to_string();
    Script::Reply(Reply { status, ..json_reply(body) })
}
