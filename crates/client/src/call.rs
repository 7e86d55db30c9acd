//! The calls of the API.

use http::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;
use wire::{
    ActiveCrawls, Answer, BatchStarted, BrowserSessions, BrowserStarted, Cancelled, CreditUsage, Executed, FileFormat,
    JobErrors, JobProgress, MapAnswer, ParseFormats, ResultsQuery, ScrapeAnswer, SessionEnded, SessionStatus, Started,
    TeamCreated, TeamView, UploadUrl,
};

use crate::{Client, Error, Result, Run};

/// The calls. A request is a type of `wire`, such as [`wire::ScrapeRequest`], or any JSON that the service takes. Each call
/// fails with [`Error::Refused`] when the service says no, with [`Error::Unexpected`] when its answer is not the one of the
/// contract, and as [`Client::send`] when there is none.
impl Client {
    /// Turns a page into data: `POST /v2/scrape`.
    pub async fn scrape(&self, request: &impl Serialize) -> Result<ScrapeAnswer> {
        self.post("/v2/scrape", request).await
    }

    /// A place to send a file to, by a `PUT` of its bytes: `POST /v2/parse/upload-url`.
    pub async fn upload_url(&self, request: &impl Serialize) -> Result<UploadUrl> {
        Ok(self.post::<Answer<UploadUrl>>("/v2/parse/upload-url", request).await?.data)
    }

    /// Turns a file into data that was sent to such a place, as a [`wire::ParseUploaded`]: `POST /v2/parse`.
    pub async fn parse(&self, request: &impl Serialize) -> Result<ScrapeAnswer> {
        self.post("/v2/parse", request).await
    }

    /// The kinds of files that can be sent: `GET /v2/parse/formats`.
    pub async fn parse_formats(&self) -> Result<Vec<FileFormat>> {
        Ok(self.get::<Answer<ParseFormats>>("/v2/parse/formats").await?.data.formats)
    }

    /// Lists the addresses of a site: `POST /v2/map`.
    pub async fn map(&self, request: &impl Serialize) -> Result<MapAnswer> {
        self.post("/v2/map", request).await
    }

    /// Runs code or an order in words on the page of a scrape: `POST /v2/scrape/{id}/interact`.
    pub async fn interact(&self, scrape: Uuid, request: &impl Serialize) -> Result<Executed> {
        self.post(&format!("/v2/scrape/{scrape}/interact"), request).await
    }

    /// Ends the session that shows the page of a scrape: `DELETE /v2/scrape/{id}/interact`.
    pub async fn end_interaction(&self, scrape: Uuid) -> Result<SessionEnded> {
        self.send(Method::DELETE, &format!("/v2/scrape/{scrape}/interact"), "").await?.read()
    }

    /// Starts a browser that is kept for a while: `POST /v2/browser`.
    pub async fn browser(&self, request: &impl Serialize) -> Result<BrowserStarted> {
        self.post("/v2/browser", request).await
    }

    /// The browser sessions of the team, those of one status only if one is given: `GET /v2/browser`.
    pub async fn browsers(&self, status: Option<SessionStatus>) -> Result<BrowserSessions> {
        match status {
            Some(status) => self.get(&format!("/v2/browser?status={}", status.as_str())).await,
            None => self.get("/v2/browser").await,
        }
    }

    /// Runs code in a browser session: `POST /v2/browser/{id}/execute`.
    pub async fn execute_in_browser(&self, session: Uuid, request: &impl Serialize) -> Result<Executed> {
        self.post(&format!("/v2/browser/{session}/execute"), request).await
    }

    /// Ends a browser session: `DELETE /v2/browser/{id}`.
    pub async fn end_browser(&self, session: Uuid) -> Result<SessionEnded> {
        self.send(Method::DELETE, &format!("/v2/browser/{session}"), "").await?.read()
    }

    /// Starts a crawl: `POST /v2/crawl`.
    pub async fn crawl(&self, request: &impl Serialize) -> Result<Run> {
        let started: Started = self.post("/v2/crawl", request).await?;
        Ok(Run::crawl(started.id))
    }

    /// Starts a batch: `POST /v2/batch/scrape`. The answer also names the entries that cannot be scraped; `Run::batch` of
    /// its id is what the other calls take.
    pub async fn batch(&self, request: &impl Serialize) -> Result<BatchStarted> {
        self.post("/v2/batch/scrape", request).await
    }

    /// How a run stands, with documents from `results.skip` on, at most `results.limit`: `GET /v2/crawl/{id}` and
    /// `GET /v2/batch/scrape/{id}`.
    pub async fn status(&self, run: Run, results: ResultsQuery) -> Result<JobProgress> {
        let skip = results.skip.map(|skip| format!("skip={skip}"));
        let limit = results.limit.map(|limit| format!("limit={limit}"));
        let query: Vec<String> = skip.into_iter().chain(limit).collect();
        let path = if query.is_empty() { run.path() } else { format!("{run}?{}", query.join("&")) };
        self.get(&path).await
    }

    /// Pages of a run that were given up or left out: `GET /v2/crawl/{id}/errors` and `GET /v2/batch/scrape/{id}/errors`.
    pub async fn errors(&self, run: Run) -> Result<JobErrors> {
        self.get(&format!("{run}/errors")).await
    }

    /// What follows an answer of [`Client::status`] or [`Client::errors`], by its `next`.
    ///
    /// # Errors
    /// [`Error::Address`] when `next` is not an address; otherwise as every call.
    pub async fn next<T: DeserializeOwned>(&self, next: &str) -> Result<T> {
        self.get(&self.path_of(next)?).await
    }

    /// Stops a run: `DELETE /v2/crawl/{id}` and `DELETE /v2/batch/scrape/{id}`.
    pub async fn cancel(&self, run: Run) -> Result<Cancelled> {
        self.send(Method::DELETE, &run.path(), "").await?.read()
    }

    /// Crawls that have not ended: `GET /v2/crawl/active`.
    pub async fn active(&self) -> Result<ActiveCrawls> {
        self.get("/v2/crawl/active").await
    }

    /// Credits that the team has left: `GET /v2/team/credit-usage`.
    pub async fn usage(&self) -> Result<CreditUsage> {
        Ok(self.get::<Answer<CreditUsage>>("/v2/team/credit-usage").await?.data)
    }

    /// Makes a team with a first key, as the operator: `POST /admin/teams`.
    pub async fn create_team(&self, request: &impl Serialize) -> Result<TeamCreated> {
        self.post("/admin/teams", request).await
    }

    /// Reads a team, as the operator: `GET /admin/teams/{team}`.
    pub async fn team(&self, id: Uuid) -> Result<TeamView> {
        Ok(self.get::<Answer<TeamView>>(&format!("/admin/teams/{id}")).await?.data)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.send(Method::GET, path, "").await?.read()
    }

    async fn post<T: DeserializeOwned>(&self, path: &str, request: &impl Serialize) -> Result<T> {
        let body = serde_json::to_vec(request).map_err(Error::Body)?;
        self.send(Method::POST, path, body).await?.read()
    }
}
