//! The models of a deployment behind one method.

use std::sync::Arc;
use std::time::Duration;

use base::Clock;
use cpu::line::{Load, NoPlace};
use rand::Rng;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::ask::{Answer, Ask, Content, Role, Usage, Want};
use crate::budget::{Budget, Days, Micros, OverBudget, Reservation, Spent, TeamLimit};
use crate::endpoint::{CallError, Endpoint};
use crate::error::{AskError, ErrorCode};
use crate::features::Step;
use crate::json_text;
use crate::metrics;
use crate::prompt::{self, Message};
use crate::settings::Settings;
use crate::tokens;
use crate::wire::{Call, Form, Reply};

/// First pause before another attempt; it doubles with each.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Longest pause before another attempt.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// Maximum number of features that are left out one after the other: the forms of JSON, both names of the token limit,
/// and the temperature.
const MAX_STEPS: usize = 6;
/// Tokens of the message besides its texts: roles and separators of the chat template.
const FRAME_TOKENS: u64 = 50;

/// The models of a deployment. Clones share them.
#[derive(Clone)]
pub struct Model(Arc<Inner>);

struct Inner {
    /// One endpoint for each different model of the settings.
    endpoints: Vec<Endpoint>,
    /// Index of the endpoint of each role.
    roles: [usize; Role::ALL.len()],
    timeout: Duration,
    attempts: u32,
    days: Days,
    clock: Arc<dyn Clock>,
}

/// Settings that cannot work.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A URL without a model.
    #[error("set llm.model to the name of the model, since llm.url is set")]
    NoModel,
    /// The window has no room for an answer and a question.
    #[error("llm.context_tokens must be at least twice llm.output_tokens")]
    Window,
    /// The client cannot be created.
    #[error(transparent)]
    Client(#[from] net::ConfigError),
}

/// Size of the questions and answers of a role, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Tokens of question and answer together.
    pub context: u64,
    /// Tokens of an answer.
    pub output: u64,
}

impl Model {
    /// Creates the models of the settings, without connecting anywhere; `None` when no URL is set. Reads the certificates
    /// of the system, so it belongs on a blocking thread.
    ///
    /// # Errors
    /// [`SettingsError`]; see its variants.
    pub fn new(settings: &Settings, clock: Arc<dyn Clock>) -> Result<Option<Self>, SettingsError> {
        let mut endpoints: Vec<Endpoint> = Vec::new();
        let mut roles = [0; Role::ALL.len()];
        for role in Role::ALL {
            let Some(spec) = settings.spec(role) else { return Ok(None) };
            if spec.model.trim().is_empty() {
                return Err(SettingsError::NoModel);
            }
            if u64::from(spec.context_tokens) < 2 * u64::from(spec.output_tokens) {
                return Err(SettingsError::Window);
            }
            let known = endpoints.iter().position(|endpoint| endpoint.spec == spec);
            roles[role.index()] = known.unwrap_or(endpoints.len());
            if known.is_none() {
                endpoints.push(Endpoint::new(spec, settings)?);
            }
        }
        let (timeout, attempts) = (settings.timeout, settings.attempts);
        let days = Days::new(settings.limits.clone());
        Ok(Some(Self(Arc::new(Inner { endpoints, roles, timeout, attempts, days, clock }))))
    }

    /// Returns the budget of a new request of a team. `own` has the limits per day of this team.
    #[must_use]
    pub fn budget(&self, team: &str, own: TeamLimit) -> Budget {
        self.0.days.budget(team, own, self.0.clock.now())
    }

    /// Returns the name of the model of a role.
    #[must_use]
    pub fn name(&self, role: Role) -> &str {
        &self.endpoint(role).spec.model
    }

    /// Returns the URL of the server of a role, without its query, which may hold a key.
    pub(crate) fn server(&self, role: Role) -> String {
        let mut url = self.endpoint(role).spec.url.clone();
        url.set_query(None);
        url.into()
    }

    /// Returns the size of questions and answers of a role.
    #[must_use]
    pub fn window(&self, role: Role) -> Window {
        let spec = &self.endpoint(role).spec;
        Window { context: spec.context_tokens.into(), output: spec.output_tokens.into() }
    }

    /// Returns the load of the slots of a role's endpoint.
    #[must_use]
    pub fn load(&self, role: Role) -> Load {
        self.endpoint(role).line.load()
    }

    fn endpoint(&self, role: Role) -> &Endpoint {
        &self.0.endpoints[self.0.roles[role.index()]]
    }

    /// Asks a question and returns the answer.
    ///
    /// An attempt that fails because the endpoint is overloaded or unreachable is repeated inside the deadline, with a
    /// growing pause or the one that the endpoint asks for.
    ///
    /// # Errors
    /// [`AskError`]; see its variants.
    pub async fn ask(&self, ask: &Ask<'_>) -> Result<Answer, AskError> {
        let answer = timeout_at(ask.deadline, self.attempts(ask)).await.unwrap_or(Err(AskError::Timeout));
        answer.inspect_err(|error| metrics::failed(ask.role, error))
    }

    async fn attempts(&self, ask: &Ask<'_>) -> Result<Answer, AskError> {
        let endpoint = self.endpoint(ask.role);
        let mut attempt = 1;
        loop {
            let error = match self.attempt(endpoint, ask).await {
                Ok(answer) => return Ok(Answer { attempts: attempt, ..answer }),
                Err(error) => error,
            };
            if !error.is_transient() || attempt >= self.0.attempts {
                return Err(error);
            }
            let wait = match &error {
                AskError::RateLimited { wait: Some(wait) } => *wait,
                _ => pause(attempt),
            };
            let next = Instant::now() + wait;
            if next >= ask.deadline {
                return Err(error);
            }
            sleep_until(next).await;
            attempt += 1;
        }
    }

    /// Makes one attempt: what the endpoint refuses is left out, which costs nothing.
    async fn attempt(&self, endpoint: &Endpoint, ask: &Ask<'_>) -> Result<Answer, AskError> {
        let place = endpoint.line.enter(ask.owner, ask.deadline).await.map_err(|reason| match reason {
            NoPlace::Full => AskError::Busy,
            NoPlace::Late => AskError::Timeout,
        })?;
        let mut form = endpoint.features().form;
        for _ in 0..=MAX_STEPS {
            if !endpoint.breaker.admits(Instant::now()) {
                return Err(AskError::Paused);
            }
            form = form.max(endpoint.features().form);
            match self.call(endpoint, ask, form).await {
                Ok(answer) => {
                    endpoint.breaker.succeed();
                    drop(place);
                    return Ok(answer);
                }
                Err(CallError::Refused(step)) => {
                    endpoint.breaker.succeed();
                    match step {
                        Step::Form { next, is_lasting: false } => form = next,
                        lasting => endpoint.learn(lasting),
                    }
                }
                Err(CallError::Failed(error)) => {
                    note(endpoint, &error);
                    return Err(error);
                }
            }
        }
        let error = AskError::Rejected { status: 400, code: ErrorCode::default() };
        note(endpoint, &error);
        Err(error)
    }

    async fn call(&self, endpoint: &Endpoint, ask: &Ask<'_>, form: Form) -> Result<Answer, CallError> {
        let (features, spec) = (endpoint.features(), &endpoint.spec);
        let schema = match ask.want {
            Want::Json(schema) if form.carries_schema() => Some(schema.wire()),
            _ => None,
        };
        let message = prompt::render(ask, !form.carries_schema());
        let input = input_tokens(&message) + schema.map_or(0, |schema| tokens::estimate(&schema.schema.to_string()));
        let (context, output) = (u64::from(spec.context_tokens), u64::from(spec.output_tokens));
        if input + output > context {
            return Err(AskError::TooLong.into());
        }
        let reservation = ask.budget.reserve(self.cost(endpoint, input, output)).map_err(AskError::Budget)?;
        let call = Call {
            spec,
            message: &message,
            form,
            wants_json: !matches!(ask.want, Want::Text),
            schema,
            token_field: features.token_field,
            max_tokens: output,
            has_temperature: features.has_temperature,
        };
        let start = Instant::now();
        let deadline = self.deadline(ask, start);
        let sent = match timeout_at(deadline, endpoint.send(&call, deadline)).await {
            Ok(sent) => sent,
            Err(_) => Err(CallError::Failed(AskError::Timeout)),
        };
        let sent = Sent { result: sent, time: start.elapsed(), input, reservation };
        let mut answer = self.settled(endpoint, ask, sent).map_err(|error| limited(error, ask, deadline))?;
        if let Content::Text(text) = answer.content {
            answer.content = Content::Text(message.without_fences(text));
        }
        Ok(answer)
    }

    /// Settles the budget with what a call has used, and returns its answer.
    fn settled(&self, endpoint: &Endpoint, ask: &Ask<'_>, sent: Sent) -> Result<Answer, CallError> {
        let Sent { result, time, input, reservation } = sent;
        metrics::called(ask.role, time);
        match result {
            Ok(reply) => {
                let usage = reply.usage.unwrap_or_else(|| estimated(input, &reply));
                metrics::used(ask.role, usage);
                let spent = Spent { time, ..self.cost(endpoint, usage.input, usage.output) };
                reservation.settle(spent);
                Ok(answer(endpoint, ask, Got { reply, usage, spent }))
            }
            Err(error) => {
                // The model has worked for an answer that is refused, empty or late; for others it has not.
                let worked = match &error {
                    CallError::Failed(AskError::Refused | AskError::Empty | AskError::Timeout) => input,
                    _ => 0,
                };
                reservation.settle(Spent { time, ..self.cost(endpoint, worked, 0) });
                if time >= self.0.timeout {
                    // Only a call that had its whole time says something of the endpoint.
                    endpoint.breaker.fail(Instant::now());
                }
                Err(error)
            }
        }
    }

    fn cost(&self, endpoint: &Endpoint, input: u64, output: u64) -> Spent {
        let (input_price, output_price) = (endpoint.spec.input_price, endpoint.spec.output_price);
        let micros = input_price.of_tokens(input).0.saturating_add(output_price.of_tokens(output).0);
        Spent { tokens: input.saturating_add(output), time: Duration::ZERO, cost: Micros(micros) }
    }

    /// Returns the end of a call: of the request, the timeout, or the time of the budget.
    fn deadline(&self, ask: &Ask<'_>, start: Instant) -> Instant {
        let time = ask.budget.time_left().map_or(self.0.timeout, |left| left.min(self.0.timeout));
        ask.deadline.min(start + time)
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("extract", &self.name(Role::Extract)).finish_non_exhaustive()
    }
}

/// Returns the pause before the next attempt: doubled with each, and shortened by up to a half at random, so that calls
/// that failed together do not come back together.
fn pause(attempt: u32) -> Duration {
    let longest = FIRST_PAUSE.saturating_mul(1 << (attempt - 1).min(8)).min(LONGEST_PAUSE);
    longest.mul_f64(rand::rng().random_range(0.5..=1.0))
}

fn input_tokens(message: &Message) -> u64 {
    tokens::estimate(&message.system) + tokens::estimate(&message.user) + FRAME_TOKENS
}

fn estimated(input: u64, reply: &Reply) -> Usage {
    Usage { input, output: tokens::estimate(&reply.text), is_estimated: true }
}

/// Returns a timeout that the budget has caused as the error of the budget.
fn limited(error: CallError, ask: &Ask<'_>, deadline: Instant) -> CallError {
    let is_late = matches!(error, CallError::Failed(AskError::Timeout)) && deadline < ask.deadline;
    match ask.budget.out_of_time() {
        Some(scope) if is_late => AskError::Budget(OverBudget { quantity: "time", scope }).into(),
        _ => error,
    }
}

/// A call that has ended.
struct Sent {
    result: Result<Reply, CallError>,
    time: Duration,
    /// Estimated tokens of the input.
    input: u64,
    reservation: Reservation,
}

struct Got {
    reply: Reply,
    usage: Usage,
    spent: Spent,
}

fn answer(endpoint: &Endpoint, ask: &Ask<'_>, got: Got) -> Answer {
    let Got { reply, usage, spent } = got;
    let text = json_text::without_reasoning(&reply.text);
    let content = match ask.want {
        Want::Text => Content::Text(text.to_owned()),
        Want::Json(_) | Want::AnyJson => {
            let wanted = if let Want::Json(schema) = ask.want { schema.kind() } else { json_text::Kind::Object };
            match json_text::find(text, wanted) {
                Some(found) if found.is_whole => Content::Json(found.value),
                _ => Content::Text(text.to_owned()),
            }
        }
    };
    Answer { content, usage, cost: spent.cost, model: endpoint.spec.model.clone(), attempts: 1, cut: reply.cut }
}

/// Counts a failure for the breaker and logs it.
fn note(endpoint: &Endpoint, error: &AskError) {
    let host = endpoint.spec.url.host_str().unwrap_or_default();
    if error.is_of_settings()
        && let Some(unlogged) = endpoint.refusals.next_line()
    {
        tracing::warn!(host, model = endpoint.spec.model, %error, unlogged, "the model cannot be used");
    }
    if !error.is_failure_of_endpoint() {
        if error.has_answer() {
            endpoint.breaker.succeed();
        }
        return;
    }
    if endpoint.breaker.fail(Instant::now()) {
        tracing::warn!(host, model = endpoint.spec.model, %error, "model failed repeatedly; not called for a while");
    } else {
        tracing::debug!(host, model = endpoint.spec.model, %error, "call of the model failed");
    }
}
