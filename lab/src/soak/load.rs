//! The load: each client sends a request, waits for the response, and repeats.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use client::{Client, Error, Raw, Run};
use http::Method;
use serde_json::{Value, json};
use testkit::Pdf;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use wire::{JobStatus, ResultsQuery};
use xtask::say;

use crate::hostile::browser;

use super::stage::Stage;
use super::tally::{RequestResult, Tally};

/// Number of scraping clients.
const SCRAPERS: usize = 3;
/// Number of pages for cache hits; every third scrape requests one of them.
const CACHED_PAGES: usize = 100;
/// Number of crawling clients, and pages per crawl.
const CRAWLERS: usize = 2;
const CRAWLED_PAGES: u64 = 60;
/// Timeout of a crawl.
const CRAWL: Duration = Duration::from_secs(120);
/// Pauses between two requests of one kind.
const BROWSER: Duration = Duration::from_millis(1500);
const PARSE: Duration = Duration::from_millis(500);
const MAP: Duration = Duration::from_secs(1);
const REFUSED: Duration = Duration::from_millis(700);
const POLL: Duration = Duration::from_millis(100);

/// Running clients.
pub(super) struct LoadClients {
    clients: JoinSet<Result<()>>,
    stop: CancellationToken,
}

/// Shared state of the clients.
struct Caller {
    stage: Arc<Stage>,
    client: Client,
    tally: Tally,
    stop: CancellationToken,
}

/// Starts all clients.
pub(super) fn start(stage: &Arc<Stage>, tally: &Tally) -> Result<LoadClients> {
    let (mut clients, stop) = (JoinSet::new(), CancellationToken::new());
    let caller = || -> Result<Caller> {
        let client = stage.team.at(stage.addr())?;
        Ok(Caller { stage: Arc::clone(stage), client, tally: tally.clone(), stop: stop.clone() })
    };
    for number in 0..SCRAPERS {
        clients.spawn(scrape(caller()?, number));
    }
    for _ in 0..CRAWLERS {
        clients.spawn(crawl(caller()?));
    }
    clients.spawn(parse(caller()?));
    clients.spawn(map(caller()?));
    clients.spawn(refused(caller()?));
    if browser::is_installed() {
        clients.spawn(in_browser(caller()?));
    } else {
        say!("there is no Chromium, so no page is shown in one");
    }
    Ok(LoadClients { clients, stop })
}

impl LoadClients {
    /// Stops the clients after their current work.
    ///
    /// # Errors
    /// The first error of a client.
    pub(super) async fn finish(mut self) -> Result<()> {
        self.stop.cancel();
        while let Some(done) = self.clients.join_next().await {
            done??;
        }
        Ok(())
    }
}

impl Caller {
    fn goes_on(&self) -> bool {
        !self.stop.is_cancelled()
    }

    /// Waits for `time` or the end of the load.
    async fn pause(&self, time: Duration) {
        let _ = tokio::time::timeout(time, self.stop.cancelled()).await;
    }

    async fn post(&self, path: &str, body: &Value) -> client::Result<Raw> {
        self.client.send(Method::POST, path, body.to_string()).await
    }

    /// Counts an answer that should be a 200 containing `text`.
    fn expects(&self, name: &'static str, answer: client::Result<Raw>, text: &str, credits: impl Fn(&Value) -> i64) {
        let answered = match answer {
            Ok(answer) => {
                let (body, json) = (answer.text(), answer.json());
                let fine = answer.status == 200 && body.contains(text);
                let credits = if answer.status == 200 { credits(&json) } else { 0 };
                RequestResult { status: Some(answer.status), fine, credits, text: body }
            }
            Err(error) => RequestResult { text: error.to_string(), ..RequestResult::default() },
        };
        self.tally.add(name, &answered);
    }
}

/// Returns the credits in the metadata of a document.
fn of_document(json: &Value) -> i64 {
    json["data"]["metadata"]["creditsUsed"].as_i64().unwrap_or(0)
}

async fn scrape(caller: Caller, number: usize) -> Result<()> {
    let pages = caller.stage.site.pages();
    let mut next = number;
    while caller.goes_on() {
        next += SCRAPERS;
        let turn = next / SCRAPERS;
        let (name, page, age) = match turn % 3 {
            0 => ("scrape from the cache", turn / 3 % CACHED_PAGES, 86_400_000),
            _ => ("scrape", next % pages, 0),
        };
        let body = json!({"url": caller.stage.site.url(page), "formats": ["markdown"], "maxAge": age});
        let answer = caller.post("/v2/scrape", &body).await;
        caller.expects(name, answer, &format!("Page {page}"), of_document);
    }
    Ok(())
}

async fn crawl(caller: Caller) -> Result<()> {
    let hook = json!({"url": caller.stage.hook(), "events": ["started", "page", "completed"]});
    let body = json!({"url": caller.stage.site.url(0), "limit": CRAWLED_PAGES, "crawlEntireDomain": true,
        "sitemap": "skip", "webhook": hook, "scrapeOptions": {"formats": ["markdown"], "maxAge": 0}});
    while caller.goes_on() {
        let answer = caller.post("/v2/crawl", &body).await;
        let id = answer.as_ref().ok().and_then(|answer| serde_json::from_value(answer.json()["id"].clone()).ok());
        caller.expects("crawl", answer, "\"id\"", |_| 0);
        let Some(id) = id else {
            caller.pause(MAP).await;
            continue;
        };
        follow(&caller, Run::crawl(id)).await;
    }
    Ok(())
}

/// Polls a crawl until it has ended, then reads its documents. A crawl that still runs when the load ends is waited
/// for.
async fn follow(caller: &Caller, run: Run) {
    let started = Instant::now();
    let ended = loop {
        match caller.client.status(run, ResultsQuery { skip: Some(0), limit: Some(1) }).await {
            Ok(progress) if !progress.status.is_final() && started.elapsed() < CRAWL => {}
            ended => break ended,
        }
        tokio::time::sleep(POLL).await;
    };
    let whole = caller.client.status(run, ResultsQuery { skip: Some(0), limit: Some(100) }).await;
    let answered = match ended.and_then(|progress| Ok((progress, whole?.data.len() as u64))) {
        Ok((progress, documents)) => {
            caller.stage.crawled();
            let whole = progress.completed == CRAWLED_PAGES && documents == CRAWLED_PAGES;
            RequestResult {
                status: Some(200),
                fine: progress.status == JobStatus::Completed && whole,
                credits: progress.credits_used,
                text: format!("{:?}, {} pages, {documents} documents", progress.status, progress.completed),
            }
        }
        Err(Error::Refused(refusal)) => {
            RequestResult { status: Some(refusal.status), text: refusal.to_string(), ..RequestResult::default() }
        }
        Err(error) => RequestResult { text: error.to_string(), ..RequestResult::default() },
    };
    caller.tally.add("end of a crawl", &answered);
}

async fn parse(caller: Caller) -> Result<()> {
    let pdf = Pdf::Report(5).bytes();
    let table: String = (0..200).map(|row| format!("{row},word {row},{}\n", row * row)).collect();
    let files: [(&str, &[u8], &str); 2] =
        [("report.pdf", &pdf, "Page 5 of the report"), ("table.csv", table.as_bytes(), "word 199")];
    for (name, bytes, text) in files.into_iter().cycle() {
        if !caller.goes_on() {
            break;
        }
        let form = form(name, bytes);
        let request = caller.client.request(Method::POST, "/v2/parse");
        let request = request.header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"));
        let answer = caller.client.execute(request, form).await;
        caller.expects("parse", answer, text, of_document);
        caller.pause(PARSE).await;
    }
    Ok(())
}

const BOUNDARY: &str = "a-boundary-of-the-soak";

/// Returns a multipart form with one file.
fn form(name: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
    [head.as_bytes(), bytes, format!("\r\n--{BOUNDARY}--\r\n").as_bytes()].concat()
}

async fn map(caller: Caller) -> Result<()> {
    while caller.goes_on() {
        let answer = caller.post("/v2/map", &json!({"url": caller.stage.site.url(0), "limit": 100})).await;
        // The answer of a map does not contain its cost, which is always one credit.
        caller.expects("map", answer, "/p/30", |_| 1);
        caller.pause(MAP).await;
    }
    Ok(())
}

async fn in_browser(caller: Caller) -> Result<()> {
    let mut number = 0_u64;
    while caller.goes_on() {
        number += 1;
        let url = caller.stage.others.url(&format!("/script/{number}"));
        let body = json!({"url": url, "formats": ["markdown"], "waitFor": 100, "maxAge": 0});
        let answer = caller.post("/v2/scrape", &body).await;
        caller.expects("page in a browser", answer, &format!("Text of page {number}"), of_document);
        caller.pause(BROWSER).await;
    }
    Ok(())
}

/// Sends requests that are refused for different reasons.
async fn refused(caller: Caller) -> Result<()> {
    let url = caller.stage.site.url(1);
    let stranger =
        Client::new(&format!("http://{}", caller.stage.addr()), Some("fc-00000000000000000000000000000000"))?;
    let bodies = [
        ("/v2/scrape", "{ this is no JSON".to_owned()),
        ("/v2/scrape", json!({"url": url, "moon": 1}).to_string()),
        ("/v2/scrape", json!({"url": "http://169.254.169.254/"}).to_string()),
        ("/v2/crawl", json!({"url": url, "limit": -1}).to_string()),
        ("/v2/crawl/01890000-0000-7000-8000-00000000beef", String::new()),
        ("/v2/scrape", json!({ "url": url }).to_string()),
    ];
    for (number, (path, body)) in bodies.iter().enumerate().cycle() {
        if !caller.goes_on() {
            break;
        }
        let method = if body.is_empty() { Method::GET } else { Method::POST };
        // The last request uses an unknown key.
        let client = if number + 1 == bodies.len() { &stranger } else { &caller.client };
        let answered = match client.send(method, path, body.clone()).await {
            Ok(answer) => {
                let fine = (400..500).contains(&answer.status) && answer.json()["error"].is_string();
                RequestResult { status: Some(answer.status), fine, credits: 0, text: answer.text() }
            }
            Err(error) => RequestResult { text: error.to_string(), ..RequestResult::default() },
        };
        caller.tally.add("refused", &answered);
        caller.pause(REFUSED).await;
    }
    Ok(())
}
