//! Running of the cases: set up, run, observe, compare.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::attack::{self, Target};
use super::case::{Case, Object};
use super::evidence::{Evidence, read_files};
use super::follow::{Job, follow, follow_check};
use super::innocent::Bystander;
use super::raw::{self, Response};
use super::readers::Readers;
use super::report::Outcome;
use super::server::{Flavour, Server};
use super::sniffer::{BypassPackets, Sniffer};
use super::stage::{self, Counters, Stage};
use super::watchers::Watchers;
use super::words::Words;
use super::{browser, call, database, expect, made, namespace, readers, repeat, scenario};

/// Pause after a case before it is checked, so that data in flight arrives.
const SETTLE: Duration = Duration::from_millis(100);
/// Timeout of a webhook that a case checks.
const DELIVERY: Duration = Duration::from_secs(10);

/// Runner of the cases.
pub(crate) struct Player {
    binary: PathBuf,
    every: Object,
    stage: Stage,
    server: Option<Server>,
    /// Packet capture; only in a network namespace.
    sniffer: Option<Sniffer>,
}

/// State before the case.
struct StateBefore {
    key: String,
    counters: Counters,
    log_length: usize,
    credits: Option<i64>,
    cpu_seconds: f64,
    sent: u64,
}

impl Player {
    /// Starts the stage; the service starts with the first case.
    pub(crate) async fn start(binary: PathBuf, every: &Object) -> Result<Self> {
        let sniffer = if namespace::is_inside() { Some(Sniffer::start()?) } else { None };
        Ok(Self { binary, every: every.clone(), stage: Stage::start().await?, server: None, sniffer })
    }

    /// Runs one case. The returned text summarises the observations.
    pub(crate) async fn play(&mut self, case: &Case) -> (Outcome, String) {
        let (failures, observed) = match self.attempt(case).await {
            Ok((failures, seen)) => (failures, seen.summary()),
            Err(error) => (vec![format!("cannot be played: {error:#}")], "nothing".to_owned()),
        };
        (if failures.is_empty() { Outcome::Passed } else { Outcome::Failed(failures) }, observed)
    }

    async fn attempt(&mut self, case: &Case) -> Result<(Vec<String>, Evidence)> {
        if let Some(sniffer) = &self.sniffer {
            sniffer.watch(browser::needs(case));
        }
        let mut server = self.server_for(case).await?;
        let key = team_key(case, &server).await?;
        let mut words = self.words(case, &server, &key);
        // The jobs of this case must not see leftovers of the previous one on the stage.
        let mut blank = case.clone();
        blank.setup.clear();
        self.stage.prepare(&blank)?;
        for (name, id) in made::jobs(case, &self.stage, &server, &key).await? {
            words.set(name, id);
        }
        let case = expand(case, &words)?;
        self.stage.prepare(&case)?;
        let (case, own) = with_own_job(case, &server, &key).await?;
        if browser::needs(&case) {
            // Resources of the browser itself do not count for the case.
            browser::is_alive(&self.stage, &server).await.context("before the case")?;
        }
        let before = self.before(&case, &server, key.clone()).await?;
        let starts_others = browser::needs(&case) || readers::has_document(&case);
        let memory = if starts_others { server.watch_tree() } else { server.watch_memory() };
        let watched = own.as_ref().map(|own| own.path.as_str());
        let watchers = Watchers::open(&case, watched, server.addr, &key).await?;
        let mut seen = self.perform(&case, &mut server, &key).await?;
        seen.watchers = watchers.counts();
        seen.own_job = own.map(|own| own.path);
        self.wait(&case, &seen).await;
        seen.memory_mib = memory.finish().await;
        if readers::has_document(&case) {
            seen.readers = Some(Readers::of(&server).await?);
        }
        if browser::needs(&case) {
            seen.outside = self.outside();
            seen.next = Some(browser::is_alive(&self.stage, &server).await.map_err(|error| format!("{error:#}")));
        }
        self.examine(&case, &mut server, &before, &mut seen).await?;
        drop(watchers);
        let ended = scenario::ends_server(&case);
        if ended {
            seen.alive = true;
        }
        if seen.alive && !ended && !is_heavy(&case) {
            self.server = Some(server);
        }
        Ok((self.failures(&case, &seen), seen))
    }

    /// Returns the running server if it fits, otherwise a new one. A case with a memory limit gets a new one, because
    /// free memory in the allocator from earlier cases would hide its growth.
    async fn server_for(&mut self, case: &Case) -> Result<Server> {
        let text = |key: &str| case.setup.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut settings = BTreeMap::new();
        for (key, value) in case.setup.get("server").and_then(Value::as_object).into_iter().flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            settings.insert(key.clone(), self.stage.words().expand(&value)?);
        }
        if case.setup.contains_key("proxy") {
            settings.insert("fetch.basic_proxies".to_owned(), self.stage.proxy.url());
        }
        let flavour = Flavour { log_level: text("log_level"), fail_point: text("fail_point"), settings };
        let fresh = is_heavy(case) || case.expected.contains_key("max_rss_delta_mib");
        match self.server.take() {
            Some(server) if server.flavour == flavour && !fresh => Ok(server),
            _ => Server::start(&self.binary, &self.stage, flavour).await,
        }
    }

    fn words(&self, case: &Case, server: &Server, key: &str) -> Words {
        let mut words = self.stage.words();
        words.set("BASE_URL", format!("http://{}", server.addr));
        words.set("PORT", server.addr.port().to_string());
        words.set("API_KEY", key);
        words.set("KEY_OF_TEAM_B", &server.other.key);
        // The job is created once the site of the case exists.
        words.set("JOB", "{JOB}");
        if stage::needs_tls(case) {
            words.set("ORIGIN", format!("https://origin.test:{}", self.stage.origin.addr().port()));
        }
        words
    }

    async fn before(&self, case: &Case, server: &Server, key: String) -> Result<StateBefore> {
        let credits = match case.expected.contains_key("charges") {
            true => Some(server.credits(&key).await?),
            false => None,
        };
        let cpu_seconds = server.cpu_seconds();
        // Discard earlier packets.
        self.outside();
        let sent = self.stage.origin.sent();
        Ok(StateBefore {
            key,
            counters: self.stage.counters(),
            log_length: server.log().len(),
            credits,
            cpu_seconds,
            sent,
        })
    }

    /// Returns the packets that bypassed the stage and the service since the last call.
    fn outside(&self) -> Option<BypassPackets> {
        self.sniffer.as_ref().map(|sniffer| sniffer.take(&self.canary(), self.stage.dns.addr()))
    }

    /// Returns the packets that bypassed them in all cases with a browser, from the start of the service to the page
    /// after the case.
    pub(crate) fn outside_in_all(&self) -> Option<BypassPackets> {
        self.sniffer.as_ref().map(|sniffer| sniffer.whole(&self.canary(), self.stage.dns.addr()))
    }

    fn canary(&self) -> [SocketAddr; 2] {
        [self.stage.canary.addr(), self.stage.canary.udp_addr()]
    }

    async fn perform(&self, case: &Case, server: &mut Server, key: &str) -> Result<Evidence> {
        let Some(setup) = case.setup.get("innocent") else {
            return self.do_it(case, server, key).await;
        };
        let page = format!("http://origin2.test:{}{}", self.stage.origin2.addr().port(), stage::INNOCENT_PAGE);
        let innocent = Bystander::read(setup, server.addr, &server.other.key, page)?;
        let (mut seen, waits) = innocent.beside(self.do_it(case, server, key)).await?;
        seen.health_ms.extend(&waits.health);
        seen.innocent = Some(waits);
        Ok(seen)
    }

    async fn do_it(&self, case: &Case, server: &mut Server, key: &str) -> Result<Evidence> {
        if case.input.contains_key("scenario") {
            let observed = scenario::play(case, &self.stage, server).await?;
            return Ok(Evidence { observed: Some(observed), ..Evidence::default() });
        }
        let started = Instant::now();
        if !case.input.contains_key("tool") {
            return self.call(case, server, key, started).await;
        }
        let slow_page = self.stage.page(stage::SLOW_PAGE);
        let from = case.setup.get("from").and_then(Value::as_str).map(str::parse).transpose()?;
        let from: IpAddr = from.unwrap_or(Ipv4Addr::LOCALHOST.into());
        let target = Target { addr: server.addr, from, key: key.to_owned(), slow_page };
        let outcome = attack::run(case, &target).await?;
        Ok(Evidence {
            answer: outcome.answer.map(Ok),
            elapsed: Some(started.elapsed()),
            raw: true,
            closed: outcome.closed,
            health_ms: outcome.health_ms,
            slow_closed_s: outcome.slow_closed_s,
            ..Evidence::default()
        })
    }

    /// Sends the request of the case, as often as it says, and follows the resulting job.
    async fn call(&self, case: &Case, server: &Server, key: &str, started: Instant) -> Result<Evidence> {
        let patience = Duration::from_secs_f64(self.number(case, "max_seconds").unwrap_or(20.0) + 20.0);
        let request = call::request(case, server.addr, key)?;
        let number = |key: &str| case.input.get(key).and_then(Value::as_u64).unwrap_or(1);
        let mut answers = Vec::new();
        for _ in 0..number("times") {
            let together = (0..number("together")).map(|_| raw::exchange(server.addr, request.clone(), patience));
            answers.extend(futures_util::future::join_all(together).await);
        }
        let elapsed = Some(started.elapsed());
        let answers = answers.into_iter().map(|done| done.map(|(answer, _)| answer).map_err(|e| format!("{e:#}")));
        let answer = the_odd_one(case, answers);
        let job = match &answer {
            Some(Ok(answer)) if looks_at_a_job(case) => follow_up(case, server, key, answer, patience).await?,
            _ => None,
        };
        let elapsed = if job.is_some() { Some(started.elapsed()) } else { elapsed };
        let json = case.input.get("json").unwrap_or(&Value::Null);
        if case.expected.contains_key("webhook_headers_must_not_contain") && json.get("webhook").is_none() {
            self.tell_of_page(&json["url"], server, key).await?;
        }
        Ok(Evidence { answer, job, elapsed, ..Evidence::default() })
    }

    /// Crawls the page with a webhook, for cases that check webhooks but request none.
    async fn tell_of_page(&self, url: &Value, server: &Server, key: &str) -> Result<()> {
        let hook = format!("http://hook.test:{}/h", self.stage.receiver.addr().port());
        let body = json!({"url": url, "limit": 1, "webhook": {"url": hook}});
        server.client(key)?.crawl(&body).await?;
        Ok(())
    }

    async fn examine(&self, case: &Case, server: &mut Server, before: &StateBefore, seen: &mut Evidence) -> Result<()> {
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
        seen.origin_sent = self.stage.origin.sent() - before.sent;
        seen.cpu_seconds = server.cpu_seconds() - before.cpu_seconds;
        seen.proxied = self.stage.proxy.asked();
        seen.strays = server.strays();
        ask_again(case, server, before, seen).await?;
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
        if case.expected.keys().any(|key| key.starts_with("logs_") || key.starts_with("dump_")) {
            seen.files = read_files(&server.data());
            seen.metrics = server.metrics().await?;
        }
        let log = server.log();
        seen.log = log.get(before.log_length..).unwrap_or_default().to_vec();
        Ok(())
    }

    fn failures(&self, case: &Case, seen: &Evidence) -> Vec<String> {
        // Attacks and scenarios have their own duration, unless the case sets a limit.
        let untimed = ["tool", "scenario"].iter().any(|key| case.input.contains_key(*key));
        let every = self.every.iter().filter(|(key, _)| !case.expected.contains_key(*key));
        let every = every.filter(|(key, _)| !untimed || *key != "max_seconds");
        let mut failures = Vec::new();
        if stage::needs_tls(case) && !seen.origin.iter().any(|request| request.method == "PRI") {
            failures.push("the origin could not attack, as the service did not speak HTTP/2 to it".to_owned());
        }
        if seen.sql.is_some() && !case.expected.keys().any(|key| key.starts_with("sql_")) {
            failures.push("the database was asked, and nothing is expected of its answer".to_owned());
        }
        failures.extend(seen.readers.as_ref().and_then(|readers| readers.check().err()));
        for (key, want) in case.expected.iter().chain(every) {
            match expect::check(key, want, seen) {
                Some(Ok(())) => {}
                Some(Err(failure)) => failures.push(format!("{key}: {failure}")),
                None => failures.push(format!("the expectation {key} is not known")),
            }
        }
        failures
    }

    /// Waits as long as the case says, and for the webhooks that it checks.
    async fn wait(&self, case: &Case, seen: &Evidence) {
        let seconds = |key: &&str| case.expected.get(*key).and_then(Value::as_f64);
        let named = expect::WAITS.iter().filter_map(seconds).fold(0.0, f64::max);
        let inflight = case.expected.get("inflight_after_s").and_then(|pair| pair.get(0)?.as_f64()).unwrap_or(0.0);
        tokio::time::sleep(SETTLE + Duration::from_secs_f64(named.max(inflight))).await;
        let told = ["receiver_signature_valid", "webhook_headers_must_not_contain"];
        let accepted = matches!(&seen.answer, Some(Ok(answer)) if answer.status == 200);
        let started = Instant::now();
        while accepted && told.iter().any(|key| case.expected.contains_key(*key)) && started.elapsed() < DELIVERY {
            if !self.stage.receiver.requests().is_empty() {
                break;
            }
            tokio::time::sleep(SETTLE).await;
        }
    }

    fn number(&self, case: &Case, key: &str) -> Option<f64> {
        case.expects(key, &self.every).and_then(Value::as_f64)
    }
}

fn looks_at_a_job(case: &Case) -> bool {
    ["final_status", "completed_max", "good_pages_found_min"].iter().any(|key| case.expected.contains_key(*key))
}

/// Whether the service may still be busy after the case, so that the next case needs a new one.
fn is_heavy(case: &Case) -> bool {
    case.setup.contains_key("innocent") || case.expected.contains_key("cpu_seconds_max")
}

/// Returns the first answer with a status that the case does not accept, otherwise the last one.
fn the_odd_one<E>(case: &Case, answers: impl Iterator<Item = Result<Response, E>>) -> Option<Result<Response, E>> {
    let accepted = case.statuses();
    let mut last = None;
    for answer in answers {
        let odd = answer.as_ref().map_or(true, |answer| !accepted.contains(&answer.status.into()));
        last = Some(answer);
        if odd && !accepted.is_empty() {
            break;
        }
    }
    last
}

/// Creates the job of `setup.job`, and replaces `{JOB}` in the case by its id.
async fn with_own_job(case: Case, server: &Server, key: &str) -> Result<(Case, Option<made::DescribedJob>)> {
    let Some(setup) = case.setup.get("job") else { return Ok((case, None)) };
    let own = made::own(setup, server, key).await?;
    let mut words = Words::default();
    words.set("JOB", &own.id);
    let mut case = case;
    (case.input, case.expected) = (words.put_into(&case.input), words.put_into(&case.expected));
    Ok((case, Some(own)))
}

/// Collects the observations that are available only after the case.
async fn ask_again(case: &Case, server: &Server, before: &StateBefore, seen: &mut Evidence) -> Result<()> {
    if case.expected.contains_key("no_replay_across_teams") {
        let request = call::request(case, server.addr, &server.other.key)?;
        seen.of_other_team = Some(raw::exchange(server.addr, request, Duration::from_secs(30)).await?.0);
    }
    if let (Some(path), true) = (&seen.own_job, case.expected.keys().any(|key| key.starts_with("own_job_"))) {
        seen.own_job_now = server.get(&format!("{path}?limit=1"), &before.key).await?;
    }
    if case.input.contains_key("sql") {
        let (data, sql) = (server.data(), case.input_text("sql").to_owned());
        seen.sql = Some(tokio::task::spawn_blocking(move || database::query(&data, &sql)).await??);
    }
    Ok(())
}

/// Returns the job of an answer at its end. Its time is part of the time of the case.
async fn follow_up(
    case: &Case,
    server: &Server,
    key: &str,
    answer: &Response,
    patience: Duration,
) -> Result<Option<Job>> {
    let (answer, path) = (answer.json(), case.input_text("path"));
    if let (true, Some(check)) = (path.ends_with("/run"), answer["data"]["id"].as_str()) {
        let path = made::check_path(path, check);
        return follow_check(&server.client(key)?, &path, patience).await.map(Some);
    }
    let Some(id) = answer["id"].as_str() else { return Ok(None) };
    follow(&server.client(key)?, &format!("{path}/{id}"), patience).await.map(Some)
}

/// Returns the answer to the request of the case for an unknown id.
async fn unknown_id(case: &Case, server: &Server, key: &str) -> Result<Vec<u8>> {
    const NOBODYS: &str = "01890000-0000-7000-8000-00000000beef";
    let mut case = case.clone();
    let is_id = |part: &&str| part.len() == 36 && part.matches('-').count() == 4;
    let path = case.input_text("path").to_owned();
    let id = path.split('/').find(is_id).context("the path of the case has no id")?;
    case.input.insert("path".to_owned(), path.replace(id, NOBODYS).into());
    let request = call::request(&case, server.addr, key)?;
    Ok(raw::exchange(server.addr, request, Duration::from_secs(20)).await?.0.body)
}

/// Returns the key of the team of the case.
async fn team_key(case: &Case, server: &Server) -> Result<String> {
    let Some(team) = case.setup.get("team").and_then(Value::as_object) else {
        return Ok(server.team.key.clone());
    };
    let mut flags = Object::new();
    for (key, value) in team {
        match key.as_str() {
            "zdr" => flags.insert("zeroDataRetention".to_owned(), value.clone()),
            other => anyhow::bail!("setup.team.{other} is not known"),
        };
    }
    let team = server.new_team(&json!({"name": "of the case", "credits": 1_000_000, "flags": flags})).await?;
    Ok(team.key)
}

fn expand(case: &Case, words: &Words) -> Result<Case> {
    let [setup, input, expected] = [&case.setup, &case.input, &case.expected].map(|part| words.expand_object(part));
    let mut case = case.clone();
    let [setup, input, expected] = [setup?, input?, expected?].map(|part| repeat::expand_object(&part));
    (case.setup, case.input, case.expected) = (setup?, input?, expected?);
    Ok(case)
}
