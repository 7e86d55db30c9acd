//! One case after another: set up, do, look, compare.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::attack::{self, Target};
use super::case::{Case, Object};
use super::evidence::{Evidence, read_files};
use super::follow::{Job, follow};
use super::http::Answer;
use super::report::Outcome;
use super::server::{Flavour, Server};
use super::stage::{self, Counters, Stage};
use super::words::Words;
use super::{call, expect, http, made, scenario};

/// After a case, before it is looked at: what was still on its way arrives.
const SETTLE: Duration = Duration::from_millis(100);

/// Plays cases.
pub(crate) struct Player {
    binary: PathBuf,
    every: Object,
    stage: Stage,
    server: Option<Server>,
}

/// What was there before the case.
struct Before {
    key: String,
    counters: Counters,
    log_length: usize,
    credits: Option<i64>,
}

impl Player {
    /// Opens the stage; the service starts with the first case.
    pub(crate) async fn start(binary: PathBuf, every: &Object) -> Result<Self> {
        Ok(Self { binary, every: every.clone(), stage: Stage::start().await?, server: None })
    }

    /// Plays one case. The text says what was observed, for a person to read.
    pub(crate) async fn play(&mut self, case: &Case) -> (Outcome, String) {
        let (failures, observed) = match self.attempt(case).await {
            Ok((failures, seen)) => (failures, seen.summary()),
            Err(error) => (vec![format!("cannot be played: {error:#}")], "nothing".to_owned()),
        };
        (if failures.is_empty() { Outcome::Passed } else { Outcome::Failed(failures) }, observed)
    }

    async fn attempt(&mut self, case: &Case) -> Result<(Vec<String>, Evidence)> {
        let mut server = self.server_for(case).await?;
        let key = team_key(case, &server).await?;
        let mut words = self.words(case, &server, &key);
        for (name, id) in made::jobs(case, &self.stage, &server, &key).await? {
            words.set(name, id);
        }
        let case = expand(case, &words)?;
        self.stage.prepare(&case)?;
        let before = self.before(&case, &server, key.clone()).await?;
        let memory = server.watch_memory();
        let mut seen = self.perform(&case, &mut server, &key).await?;
        wait(&case).await;
        seen.memory_mib = memory.finish().await;
        self.look(&case, &mut server, &before, &mut seen).await?;
        let ended = scenario::ends_server(&case);
        if ended {
            seen.alive = true;
        }
        if seen.alive && !ended {
            self.server = Some(server);
        }
        Ok((self.failures(&case, &seen), seen))
    }

    /// The running server when it will do, else a new one. A case with a limit of memory gets a new one, because what
    /// the case before has left in the allocator would hide its growth.
    async fn server_for(&mut self, case: &Case) -> Result<Server> {
        let text = |key: &str| case.setup.get(key).and_then(Value::as_str).map(str::to_owned);
        let flavour = Flavour { log_level: text("log_level"), fail_point: text("fail_point") };
        match self.server.take() {
            Some(server) if server.flavour == flavour && !case.expected.contains_key("max_rss_delta_mib") => Ok(server),
            _ => Server::start(&self.binary, &self.stage, flavour).await,
        }
    }

    fn words(&self, case: &Case, server: &Server, key: &str) -> Words {
        let mut words = self.stage.words();
        words.set("BASE_URL", format!("http://{}", server.addr));
        words.set("API_KEY", key);
        words.set("KEY_OF_TEAM_B", &server.other_key);
        if stage::needs_tls(case) {
            words.set("ORIGIN", format!("https://origin.test:{}", self.stage.origin.addr().port()));
        }
        words
    }

    async fn before(&self, case: &Case, server: &Server, key: String) -> Result<Before> {
        let credits = match case.expected.contains_key("charges") {
            true => Some(server.credits(&key).await?),
            false => None,
        };
        Ok(Before { key, counters: self.stage.counters(), log_length: server.log().len(), credits })
    }

    async fn perform(&self, case: &Case, server: &mut Server, key: &str) -> Result<Evidence> {
        if case.input.contains_key("scenario") {
            let observed = scenario::play(case, &self.stage, server).await?;
            return Ok(Evidence { observed: Some(observed), ..Evidence::default() });
        }
        if !case.input.contains_key("tool") {
            let request = call::request(case, server.addr, key)?;
            let patience = self.number(case, "max_seconds").unwrap_or(20.0) + 20.0;
            let started = Instant::now();
            let answer = http::exchange(server.addr, request, Duration::from_secs_f64(patience)).await;
            let answer = answer.map(|(answer, _)| answer).map_err(|error| format!("{error:#}"));
            let job = match &answer {
                Ok(answer) if looks_at_a_job(case) => follow_up(case, server, key, answer, patience).await?,
                _ => None,
            };
            return Ok(Evidence { answer: Some(answer), job, elapsed: Some(started.elapsed()), ..Evidence::default() });
        }
        let slow_page = format!("http://origin.test:{}{}", self.stage.origin.addr().port(), stage::SLOW_PAGE);
        let target = Target { addr: server.addr, key: key.to_owned(), slow_page };
        let outcome = attack::run(case, &target).await?;
        Ok(Evidence {
            answer: outcome.answer.map(Ok),
            raw: true,
            closed: outcome.closed,
            health_ms: outcome.health_ms,
            slow_closed_s: outcome.slow_closed_s,
            ..Evidence::default()
        })
    }

    async fn look(&self, case: &Case, server: &mut Server, before: &Before, seen: &mut Evidence) -> Result<()> {
        let now = self.stage.counters();
        seen.counted = Counters {
            canary: now.canary - before.counters.canary,
            packets: now.packets - before.counters.packets,
            dns: now.dns - before.counters.dns,
            outbound: now.outbound - before.counters.outbound,
        };
        seen.origin = self.stage.origin.requests();
        seen.origin2 = self.stage.origin2.requests();
        seen.receiver = self.stage.receiver.requests();
        if case.expected.contains_key("receiver_signature_valid") {
            seen.hook_secret = server.hook_secret().await?;
        }
        if case.expected.contains_key("body_equals_unknown_id_body") {
            seen.unknown_id = Some(unknown_id(case, server, &before.key).await?);
        }
        seen.panic_planned = case.setup.contains_key("fail_point");
        seen.secrets = server.secrets().iter().map(ToString::to_string).chain([before.key.clone()]).collect();
        seen.alive = server.is_alive().await;
        if seen.alive && case.expected.contains_key("inflight_after_s") {
            seen.inflight = server.get("/v2/concurrency-check", &before.key).await?["concurrency"].as_i64();
        }
        if let Some(credits) = before.credits.filter(|_| seen.alive) {
            seen.charges = Some(credits - server.credits(&before.key).await?);
        }
        if case.expected.keys().any(|key| key.starts_with("logs_")) {
            seen.files = read_files(&server.data());
            seen.metrics = server.metrics().await?;
        }
        let log = server.log();
        seen.log = log.get(before.log_length..).unwrap_or_default().to_vec();
        Ok(())
    }

    fn failures(&self, case: &Case, seen: &Evidence) -> Vec<String> {
        let every = self.every.iter().filter(|(key, _)| !case.expected.contains_key(*key));
        let mut failures = Vec::new();
        if stage::needs_tls(case) && !seen.origin.iter().any(|request| request.method == "PRI") {
            failures.push("the origin could not attack, as the service did not speak HTTP/2 to it".to_owned());
        }
        for (key, want) in case.expected.iter().chain(every) {
            match expect::check(key, want, seen) {
                Some(Ok(())) => {}
                Some(Err(failure)) => failures.push(format!("{key}: {failure}")),
                None => failures.push(format!("the expectation {key} is not known")),
            }
        }
        failures
    }

    fn number(&self, case: &Case, key: &str) -> Option<f64> {
        case.expects(key, &self.every).and_then(Value::as_f64)
    }
}

fn looks_at_a_job(case: &Case) -> bool {
    ["final_status", "completed_max", "good_pages_found_min"].iter().any(|key| case.expected.contains_key(*key))
}

/// The job that an answer names, at its end. Its time is part of the time of the case.
async fn follow_up(case: &Case, server: &Server, key: &str, answer: &Answer, patience: f64) -> Result<Option<Job>> {
    let Some(id) = answer.json()["id"].as_str().map(str::to_owned) else {
        return Ok(None);
    };
    let path = format!("{}/{id}", case.input_text("path"));
    follow(server.addr, key, &path, Duration::from_secs_f64(patience)).await.map(Some)
}

/// What the request of the case gets for an id that nobody has.
async fn unknown_id(case: &Case, server: &Server, key: &str) -> Result<Vec<u8>> {
    const NOBODYS: &str = "01890000-0000-7000-8000-00000000beef";
    let mut case = case.clone();
    let is_id = |part: &&str| part.len() == 36 && part.matches('-').count() == 4;
    let path = case.input_text("path").to_owned();
    let id = path.split('/').find(is_id).context("the path of the case has no id")?;
    case.input.insert("path".to_owned(), path.replace(id, NOBODYS).into());
    let request = call::request(&case, server.addr, key)?;
    Ok(http::exchange(server.addr, request, Duration::from_secs(20)).await?.0.body)
}

/// The key of the team that the case is about.
async fn team_key(case: &Case, server: &Server) -> Result<String> {
    let Some(team) = case.setup.get("team").and_then(Value::as_object) else {
        return Ok(server.key.clone());
    };
    let mut flags = Object::new();
    for (key, value) in team {
        match key.as_str() {
            "zdr" => flags.insert("zeroDataRetention".to_owned(), value.clone()),
            other => anyhow::bail!("setup.team.{other} is not known"),
        };
    }
    server.team(&json!({"name": "of the case", "credits": 1_000_000, "flags": flags})).await
}

fn expand(case: &Case, words: &Words) -> Result<Case> {
    let [setup, input, expected] = [&case.setup, &case.input, &case.expected].map(|part| words.expand_object(part));
    let mut case = case.clone();
    (case.setup, case.input, case.expected) = (setup?, input?, expected?);
    Ok(case)
}

async fn wait(case: &Case) {
    let seconds = |key: &&str| case.expected.get(*key).and_then(Value::as_f64);
    let named = expect::WAITS.iter().filter_map(seconds).fold(0.0, f64::max);
    let inflight = case.expected.get("inflight_after_s").and_then(|pair| pair.get(0)?.as_f64()).unwrap_or(0.0);
    tokio::time::sleep(SETTLE + Duration::from_secs_f64(named.max(inflight))).await;
}
