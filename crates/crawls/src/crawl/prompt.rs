//! Options that a prompt asks for: derived by a language model, or read from plain wishes without one.

use std::time::Duration;

use ::runs::Runs;
use answers::Refusal;
use answers::crawl_params::{self, Derived, ParamsError, Question};
use answers::wishes::{self, Wishes};
use kernel::admit::{check_open, slot};
use kernel::auth::Caller;
use kernel::{AppError, credentials};
use llm::Model;
use scraping::check::check;
use scraping::model_limit;
use tokio::time::Instant;
use url::Url;
use wire::{
    CrawlParams, CrawlRequest, DerivedOptions, GivenFields, Need, ParamsPreview, ParamsPreviewed, ScrapeOptions,
};

use super::{no_place, site_urls};
use crate::CrawlsError;

/// Time for reading the site and asking the model.
const TIME: Duration = Duration::from_secs(60);
/// Path of the field in requests.
const FIELD: &str = "prompt";

/// Prompt of a request.
pub(super) struct Prompt<'a> {
    pub(super) text: &'a str,
    /// Start URL, without user name and password.
    pub(super) start: Url,
    /// Need of a prompt that is not plain.
    pub(super) need: Need,
    /// Whether the request leaves no trace.
    pub(super) private: bool,
    /// Options with which pages of the site are read; `None` if it may not be visited.
    pub(super) visit: Option<&'a ScrapeOptions>,
    pub(super) basic_auth: Option<base::address::BasicAuth>,
}

/// Options of a prompt, with what the caller should know about them.
pub(super) struct Prompted {
    options: DerivedOptions,
    warnings: Vec<String>,
}

/// Returns the options that a crawl with a prompt would have.
///
/// # Errors
/// [`CrawlsError::PromptUnclear`] when there is no model and the prompt is not plain, [`CrawlsError::ModelUnavailable`] when
/// the model does not answer and it is not plain either.
#[crate::boxed]
pub async fn params_preview(
    runs: &Runs,
    caller: &Caller,
    request: &ParamsPreview,
) -> Result<ParamsPreviewed, CrawlsError> {
    let Some(need) = prompt_need(request.needs()) else {
        return Err(AppError::internal("a preview without a need").into());
    };
    let (start, basic_auth) = credentials::split(request.url.clone());
    let options = ScrapeOptions::default();
    let prompt = Prompt { text: &request.prompt, start, need, private: false, visit: Some(&options), basic_auth };
    let mut prompted = derive(runs, caller, &prompt).await?;
    prompted.check_scrape_options(runs, caller, false);
    let Prompted { options, warnings } = prompted;
    Ok(ParamsPreviewed {
        success: true,
        data: CrawlParams::new(request.url.clone(), options),
        warning: (!warnings.is_empty()).then(|| warnings.join(" ")),
    })
}

/// Fills the options of a crawl from its prompt, except those that the request sets. Returns a warning about them.
///
/// # Errors
/// Those of [`params_preview`].
#[crate::boxed]
pub(super) async fn fill(
    runs: &Runs,
    caller: &Caller,
    request: &mut CrawlRequest,
    given: &GivenFields,
) -> Result<Option<String>, CrawlsError> {
    let (Some(text), Some(need)) = (request.prompt.clone(), prompt_need(request.needs())) else { return Ok(None) };
    let (start, basic_auth) = credentials::split(request.url.clone());
    let options = request.options.scrape_options.clone();
    // `lockdown` forbids every visit.
    let visit = Some(&options).filter(|options| !options.lockdown);
    let prompt = Prompt { text: &text, start, need, private: request.is_private(), visit, basic_auth };
    let mut prompted = derive(runs, caller, &prompt).await?;
    if !given.has("scrapeOptions") {
        prompted.check_scrape_options(runs, caller, request.zero_data_retention);
    }
    prompted.options.apply(&mut request.options, given);
    Ok((!prompted.warnings.is_empty()).then(|| prompted.warnings.join(" ")))
}

/// Returns the need of the prompt among those of a request.
pub(super) fn prompt_need(needs: Vec<Need>) -> Option<Need> {
    needs.into_iter().find(|need| need.path == FIELD)
}

/// Returns the needs of a request without that of its prompt, which may be plain.
pub(super) fn other_needs(request: &CrawlRequest) -> Vec<Need> {
    request.needs().into_iter().filter(|need| need.path != FIELD).collect()
}

/// Derives options: by the model if there is one that may see the request, otherwise from plain wishes.
async fn derive(runs: &Runs, caller: &Caller, prompt: &Prompt<'_>) -> Result<Prompted, CrawlsError> {
    let wishes = wishes::read(prompt.text, &prompt.start);
    let answers = runs.scraper().tools().answers.as_ref();
    let model = answers.filter(|answers| answers.has_model(prompt.private)).and_then(|answers| answers.model());
    let Some(model) = model else {
        return match wishes.is_sure() {
            true => Ok(Prompted::of(wishes)),
            false => Err(CrawlsError::PromptUnclear { need: prompt.need.clone(), unclear: wishes.unclear }),
        };
    };
    match by_model(runs, caller, prompt, model).await {
        Ok(Derived { options, warnings }) => Ok(Prompted { options, warnings }),
        Err(CrawlsError::ModelUnavailable(error)) if wishes.is_sure() => {
            let mut prompted = Prompted::of(wishes);
            prompted.warnings.push(format!("The prompt was read without the language model: {error}."));
            Ok(prompted)
        }
        Err(error) => Err(error),
    }
}

#[crate::boxed]
async fn by_model(runs: &Runs, caller: &Caller, prompt: &Prompt<'_>, model: &Model) -> Result<Derived, CrawlsError> {
    let app = runs.app();
    check_open(app)?;
    // Reading the site and waiting for the model count as one request of the team.
    let _slot = slot(app, caller)?;
    let (owner, deadline) = (caller.owner("prompt"), Instant::now() + TIME);
    let urls = match prompt.visit {
        Some(options) => site_urls::read(runs, prompt, options, &owner).await,
        None => Vec::new(),
    };
    let question = Question {
        prompt: prompt.text,
        start: &prompt.start,
        urls: &urls,
        owner: &owner,
        budget: &model.budget(&caller.team.id, model_limit(&caller.team)),
        deadline,
    };
    let derived = crawl_params::derive(model, &question).await.map_err(unavailable)?;
    let start = prompt.start.clone();
    let checked = runs.scraper().tools().cpu.run(&owner, deadline, move |_| derived.checked(&start, &urls)).await;
    checked.map_err(|error| no_place(error, caller).into())
}

fn unavailable(error: ParamsError) -> CrawlsError {
    CrawlsError::ModelUnavailable(match error {
        ParamsError::Ask(error) => error.into(),
        ParamsError::Invalid(_) => Refusal::Unusable,
    })
}

impl Prompted {
    fn of(wishes: Wishes) -> Self {
        Self { options: wishes.options, warnings: wishes.notes }
    }

    /// Leaves out scrape options that the caller's key, team or this server does not allow.
    fn check_scrape_options(&mut self, runs: &Runs, caller: &Caller, zero_data_retention: bool) {
        if self.options.scrape_options.is_none() {
            return;
        }
        let allowed = match self.options.scrape_options() {
            None => Err("they are invalid".to_owned()),
            // What a prompt may set needs no optional feature.
            Some(options) => check(runs.scraper(), caller, &options, zero_data_retention, Vec::new())
                .map_err(|error| error.to_string()),
        };
        if let Err(why) = allowed {
            self.options.scrape_options = None;
            self.warnings.push(format!("Left out the scrape options of the prompt: {why}."));
        }
    }
}
