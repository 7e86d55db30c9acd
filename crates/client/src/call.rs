//! Typed calls of the API.

use http::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;
use wire::{
    ActiveCrawls, BatchStarted, BrowserSessions, BrowserStarted, Cancelled, CheckQuery, ChecksQuery, CreditUsage,
    DataResponse, DeveloperAnswer, Executed, FeedbackAnswer, FileFormat, GovAnswer, JobErrors, JobProgress, MapAnswer,
    MonitorCheck, MonitorCheckAnswer, MonitorRemoved, MonitorView, MonitorsQuery, ParseFormats, ResultsQuery,
    ScrapeAnswer, SearchAnswer, SessionEnded, SessionStatus, Started, TeamCreated, TeamView, UploadUrl,
};

use crate::{Client, Error, Result, Run};

/// Typed calls. A request is a type of `wire`, such as [`wire::ScrapeRequest`], or any JSON that the service accepts.
/// Every call can fail with [`Error::Refused`] (error response), [`Error::Unexpected`] (response outside the contract),
/// and like [`Client::send`] (no response).
impl Client {
    /// Scrapes a page: `POST /v2/scrape`.
    pub async fn scrape(&self, request: &impl Serialize) -> Result<ScrapeAnswer> {
        self.post("/v2/scrape", request).await
    }

    /// Requests an upload URL, to which a file is sent by `PUT`: `POST /v2/parse/upload-url`.
    pub async fn upload_url(&self, request: &impl Serialize) -> Result<UploadUrl> {
        Ok(self.post::<DataResponse<UploadUrl>>("/v2/parse/upload-url", request).await?.data)
    }

    /// Parses an uploaded file, given as a [`wire::ParseUploaded`]: `POST /v2/parse`.
    pub async fn parse(&self, request: &impl Serialize) -> Result<ScrapeAnswer> {
        self.post("/v2/parse", request).await
    }

    /// Lists the file formats that can be parsed: `GET /v2/parse/formats`.
    pub async fn parse_formats(&self) -> Result<Vec<FileFormat>> {
        Ok(self.get::<DataResponse<ParseFormats>>("/v2/parse/formats").await?.data.formats)
    }

    /// Lists the URLs of a site: `POST /v2/map`.
    pub async fn map(&self, request: &impl Serialize) -> Result<MapAnswer> {
        self.post("/v2/map", request).await
    }

    /// Searches the web, and the pages that the service has read: `POST /v2/search`.
    pub async fn search(&self, request: &impl Serialize) -> Result<SearchAnswer> {
        self.post("/v2/search", request).await
    }

    /// Searches documentation, issues, pull requests and READMEs: `POST /v2/search/developer`.
    pub async fn developer_search(&self, request: &impl Serialize) -> Result<DeveloperAnswer> {
        self.post("/v2/search/developer", request).await
    }

    /// Searches the web sites of governments and courts: `POST /v2/search/gov`.
    pub async fn gov_search(&self, request: &impl Serialize) -> Result<GovAnswer> {
        self.post("/v2/search/gov", request).await
    }

    /// Gives feedback on a search: `POST /v2/search/{id}/feedback`.
    pub async fn search_feedback(&self, search: Uuid, request: &impl Serialize) -> Result<FeedbackAnswer> {
        self.post(&format!("/v2/search/{search}/feedback"), request).await
    }

    /// Gives feedback on a call: `POST /v2/feedback`.
    pub async fn feedback(&self, request: &impl Serialize) -> Result<FeedbackAnswer> {
        self.post("/v2/feedback", request).await
    }

    /// Runs code or a prompt on the page of a scrape: `POST /v2/scrape/{id}/interact`.
    pub async fn interact(&self, scrape: Uuid, request: &impl Serialize) -> Result<Executed> {
        self.post(&format!("/v2/scrape/{scrape}/interact"), request).await
    }

    /// Ends the session that `interact` opened on a scrape: `DELETE /v2/scrape/{id}/interact`.
    pub async fn end_interaction(&self, scrape: Uuid) -> Result<SessionEnded> {
        self.send(Method::DELETE, &format!("/v2/scrape/{scrape}/interact"), "").await?.read()
    }

    /// Starts a browser session: `POST /v2/browser`.
    pub async fn browser(&self, request: &impl Serialize) -> Result<BrowserStarted> {
        self.post("/v2/browser", request).await
    }

    /// Lists the browser sessions of the team, optionally filtered by status: `GET /v2/browser`.
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

    /// Starts a batch: `POST /v2/batch/scrape`. The response also lists invalid URLs. For the other calls, pass its id
    /// to `Run::batch`.
    pub async fn batch(&self, request: &impl Serialize) -> Result<BatchStarted> {
        self.post("/v2/batch/scrape", request).await
    }

    /// Creates a monitor, given as a [`wire::CreateMonitor`]: `POST /v2/monitor`.
    pub async fn create_monitor(&self, request: &impl Serialize) -> Result<MonitorView> {
        Ok(self.post::<DataResponse<MonitorView>>("/v2/monitor", request).await?.data)
    }

    /// Lists monitors of the team, newest first: `GET /v2/monitor`.
    pub async fn monitors(&self, query: MonitorsQuery) -> Result<Vec<MonitorView>> {
        let MonitorsQuery { limit, offset } = query;
        let path = format!("/v2/monitor?limit={limit}&offset={offset}");
        Ok(self.get::<DataResponse<Vec<MonitorView>>>(&path).await?.data)
    }

    /// Returns a monitor: `GET /v2/monitor/{id}`.
    pub async fn monitor(&self, id: Uuid) -> Result<MonitorView> {
        Ok(self.get::<DataResponse<MonitorView>>(&format!("/v2/monitor/{id}")).await?.data)
    }

    /// Changes a monitor, with a [`wire::UpdateMonitor`]: `PATCH /v2/monitor/{id}`.
    pub async fn update_monitor(&self, id: Uuid, request: &impl Serialize) -> Result<MonitorView> {
        let body = serde_json::to_vec(request).map_err(Error::Body)?;
        let changed = self.send(Method::PATCH, &format!("/v2/monitor/{id}"), body).await?;
        Ok(changed.read::<DataResponse<MonitorView>>()?.data)
    }

    /// Removes a monitor with its checks: `DELETE /v2/monitor/{id}`.
    pub async fn remove_monitor(&self, id: Uuid) -> Result<MonitorRemoved> {
        self.send(Method::DELETE, &format!("/v2/monitor/{id}"), "").await?.read()
    }

    /// Begins a check of a monitor: `POST /v2/monitor/{id}/run`.
    pub async fn run_monitor(&self, id: Uuid) -> Result<MonitorCheck> {
        Ok(self
            .send(Method::POST, &format!("/v2/monitor/{id}/run"), "")
            .await?
            .read::<DataResponse<MonitorCheck>>()?
            .data)
    }

    /// Lists checks of a monitor, newest first: `GET /v2/monitor/{id}/checks`.
    pub async fn monitor_checks(&self, id: Uuid, query: ChecksQuery) -> Result<Vec<MonitorCheck>> {
        let ChecksQuery { limit, skip, status } = query;
        let status = status.map(|status| format!("&status={}", status.as_str())).unwrap_or_default();
        let path = format!("/v2/monitor/{id}/checks?limit={limit}&skip={skip}{status}");
        Ok(self.get::<DataResponse<Vec<MonitorCheck>>>(&path).await?.data)
    }

    /// Returns a check with some of its pages; [`Client::next`] reads further ones: `GET
    /// /v2/monitor/{id}/checks/{checkId}`.
    pub async fn monitor_check(&self, id: Uuid, check: Uuid, query: CheckQuery) -> Result<MonitorCheckAnswer> {
        let CheckQuery { limit, skip, status } = query;
        let status = status.map(|status| format!("&status={}", status.as_str())).unwrap_or_default();
        self.get(&format!("/v2/monitor/{id}/checks/{check}?limit={limit}&skip={skip}{status}")).await
    }

    /// Returns the progress of a run, with up to `results.limit` documents from `results.skip` on: `GET /v2/crawl/{id}`
    /// and `GET /v2/batch/scrape/{id}`.
    pub async fn status(&self, run: Run, results: ResultsQuery) -> Result<JobProgress> {
        let skip = results.skip.map(|skip| format!("skip={skip}"));
        let limit = results.limit.map(|limit| format!("limit={limit}"));
        let query: Vec<String> = skip.into_iter().chain(limit).collect();
        let path = if query.is_empty() { run.path() } else { format!("{run}?{}", query.join("&")) };
        self.get(&path).await
    }

    /// Lists pages of a run that failed or were skipped: `GET /v2/crawl/{id}/errors` and `GET
    /// /v2/batch/scrape/{id}/errors`.
    pub async fn errors(&self, run: Run) -> Result<JobErrors> {
        self.get(&format!("{run}/errors")).await
    }

    /// Fetches the next page of a [`Client::status`] or [`Client::errors`] response, by its `next`.
    ///
    /// # Errors
    /// [`Error::Address`] if `next` is not a URL; otherwise like every call.
    pub async fn next<T: DeserializeOwned>(&self, next: &str) -> Result<T> {
        self.get(&self.path_of(next)?).await
    }

    /// Cancels a run: `DELETE /v2/crawl/{id}` and `DELETE /v2/batch/scrape/{id}`.
    pub async fn cancel(&self, run: Run) -> Result<Cancelled> {
        self.send(Method::DELETE, &run.path(), "").await?.read()
    }

    /// Lists active crawls: `GET /v2/crawl/active`.
    pub async fn active(&self) -> Result<ActiveCrawls> {
        self.get("/v2/crawl/active").await
    }

    /// Returns the credits that the team has left: `GET /v2/team/credit-usage`.
    pub async fn usage(&self) -> Result<CreditUsage> {
        Ok(self.get::<DataResponse<CreditUsage>>("/v2/team/credit-usage").await?.data)
    }

    /// Creates a team with its first key, as the operator: `POST /admin/teams`.
    pub async fn create_team(&self, request: &impl Serialize) -> Result<TeamCreated> {
        self.post("/admin/teams", request).await
    }

    /// Returns a team, as the operator: `GET /admin/teams/{team}`.
    pub async fn team(&self, id: Uuid) -> Result<TeamView> {
        Ok(self.get::<DataResponse<TeamView>>(&format!("/admin/teams/{id}")).await?.data)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.send(Method::GET, path, "").await?.read()
    }

    async fn post<T: DeserializeOwned>(&self, path: &str, request: &impl Serialize) -> Result<T> {
        let body = serde_json::to_vec(request).map_err(Error::Body)?;
        self.send(Method::POST, path, body).await?.read()
    }
}
