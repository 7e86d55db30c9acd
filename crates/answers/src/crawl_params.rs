//! Crawl options from a prompt, by a model.

use std::collections::BTreeSet;

use base::Owner;
use crawl_frontier::{PathFilter, Reach, Scope, ScopeOptions};
use llm::schema::{Fault, Schema};
use llm::{Ask, AskError, Budget, Content, Correction, Model, Role, Source, Want, prompt};
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use url::Url;
use wire::{DEFAULT_CRAWL_LIMIT, DerivedOptions, MAX_DELAY_S, MAX_PATTERN_CHARS, SitemapMode};

use crate::scope;

/// Maximum number of paths that the model is shown.
pub const MAX_PATHS: usize = 100;
/// Maximum length of a path that the model is shown, in characters.
const MAX_PATH_CHARS: usize = 200;
/// Maximum number of patterns per list.
const MAX_PATTERNS: usize = 50;
/// Maximum of `maxDiscoveryDepth`.
const MAX_DEPTH: u64 = 1000;
/// Maximum length of a refused answer that is shown to the model again, in characters.
const MAX_SHOWN_CHARS: usize = 2000;

/// Prompt of a crawl, and what is known of the site.
pub struct Question<'a> {
    /// The caller's prompt.
    pub prompt: &'a str,
    /// Start URL of the crawl.
    pub start: &'a Url,
    /// URLs of the site, the most telling first. They are untrusted.
    pub urls: &'a [Url],
    /// Owner of the calls, for the fair queue.
    pub owner: &'a Owner,
    /// Budget of the request.
    pub budget: &'a Budget,
    /// Time at which the answer is of no more use.
    pub deadline: Instant,
}

/// Options that a model has derived.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Derived {
    /// The options; patterns are not compiled yet, see [`Derived::checked`].
    pub options: DerivedOptions,
    /// Warnings for the caller, one sentence each.
    pub warnings: Vec<String>,
}

/// Reason for having no options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParamsError {
    /// The model could not be asked.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The model gives no options in the right form.
    #[error("the model gives no options in the right form")]
    Invalid(Vec<Fault>),
}

/// Asks a model for the options of a crawl. An answer in the wrong form is asked for once more, with its errors.
///
/// # Errors
/// [`ParamsError`]; see its variants.
pub async fn derive(model: &Model, question: &Question<'_>) -> Result<Derived, ParamsError> {
    let invalid = |path: String, reason: String| ParamsError::Invalid(vec![Fault { path, reason }]);
    let schema = Schema::read(form()).map_err(|error| invalid(error.path, error.reason))?;
    let paths = shown(question);
    let sources = [
        Source { label: "start URL", text: question.start.as_str() },
        Source { label: "paths of the site", text: &paths },
    ];
    let sources = &sources[..if paths.is_empty() { 1 } else { 2 }];
    let asking = Asking { question, sources, schema: &schema };
    let wrong = match asking.ask(model, None).await? {
        Ok(answer) => return Ok(read(&answer)),
        Err(wrong) => wrong,
    };
    let errors: String = wrong.faults.iter().map(|fault| format!("{}: {}\n", fault.path, fault.reason)).collect();
    let correction = Correction { answer: &wrong.answer, errors: &errors };
    let answer = asking.ask(model, Some(correction)).await?.map_err(|wrong| ParamsError::Invalid(wrong.faults))?;
    Ok(read(&answer))
}

impl Derived {
    /// Compiles the patterns with the validator of requests, leaves out those that cannot be used, and fits the rest to the
    /// site. Patterns are untrusted, so this belongs on a thread for CPU work.
    #[must_use]
    pub fn checked(mut self, start: &Url, urls: &[Url]) -> Self {
        self.warnings.extend(scope::keep_usable(&mut self.options, start));
        if self.options.crawl_entire_domain.is_none() && leads_outside(&self.options, start, urls) {
            self.options.crawl_entire_domain = Some(true);
        }
        self.warnings.extend(scope::add_start(&mut self.options, start));
        self
    }
}

struct Asking<'a> {
    question: &'a Question<'a>,
    sources: &'a [Source<'a>],
    schema: &'a Schema,
}

/// An answer in the wrong form.
struct Wrong {
    answer: String,
    faults: Vec<Fault>,
}

impl Asking<'_> {
    async fn ask(&self, model: &Model, correction: Option<Correction<'_>>) -> Result<Result<Value, Wrong>, AskError> {
        let Self { question, sources, schema } = *self;
        let ask = Ask {
            role: Role::Agent,
            prompt: &prompt::CRAWL,
            instruction: question.prompt,
            sources,
            want: Want::Json(schema),
            correction,
            owner: question.owner,
            budget: question.budget,
            deadline: question.deadline,
        };
        let cut = |text: String| text.chars().take(MAX_SHOWN_CHARS).collect();
        Ok(match model.ask(&ask).await?.content {
            Content::Json(value) => {
                let answer = cut(value.to_string());
                schema.accept(value).map(|accepted| accepted.value).map_err(|faults| Wrong { answer, faults })
            }
            Content::Text(text) => {
                let faults = vec![Fault { path: String::new(), reason: "not JSON".to_owned() }];
                Err(Wrong { answer: cut(text), faults })
            }
        })
    }
}

/// Returns the paths of the site, one per line; those of another host with their host.
fn shown(question: &Question<'_>) -> String {
    let own = question.start.host_str();
    let paths = question.urls.iter().map(|url| match url.host_str() {
        host if host == own => url.path().to_owned(),
        host => format!("//{}{}", host.unwrap_or_default(), url.path()),
    });
    let short = paths.filter(|path| path.chars().count() <= MAX_PATH_CHARS);
    let mut seen = BTreeSet::new();
    let unique: Vec<String> = short.filter(|path| seen.insert(path.clone())).take(MAX_PATHS).collect();
    unique.join("\n")
}

/// Whether wanted pages of the site are outside the folder of the start.
fn leads_outside(options: &DerivedOptions, start: &Url, urls: &[Url]) -> bool {
    let (Some(include), Ok(scope)) = (&options.include_paths, Scope::new(start, &ScopeOptions::default())) else {
        return false;
    };
    let Ok(filter) = PathFilter::new(include, &[], options.regex_on_full_url == Some(true)) else { return false };
    let mut outside = urls.iter().filter(|url| scope.reach(url) == Reach::OutsidePath);
    outside.any(|url| filter.refuses(url).is_none())
}

/// Takes what is within the bounds of the contract from an answer.
fn read(answer: &Value) -> Derived {
    let mut warnings = Vec::new();
    let mut patterns = |key: &str| {
        let texts: Vec<String> = strings(&answer[key]).collect();
        let fits = |text: &&String| {
            let is_clean = !text.trim().is_empty() && !text.chars().any(char::is_control);
            is_clean && text.chars().count() <= MAX_PATTERN_CHARS
        };
        let kept: Vec<String> = texts.iter().filter(fits).take(MAX_PATTERNS).cloned().collect();
        if kept.len() < texts.len() {
            warnings.push(format!("Left out {} patterns of the model for {key}.", texts.len() - kept.len()));
        }
        Some(kept).filter(|kept| !kept.is_empty())
    };
    let (include_paths, exclude_paths) = (patterns("includePaths"), patterns("excludePaths"));
    let number = |key: &str, most: u64| Some(answer[key].as_u64()?.min(most)).and_then(|n| u32::try_from(n).ok());
    let flag = |key: &str| answer[key].as_bool();
    let delay = answer["delay"].as_f64().filter(|delay| *delay > 0.0).map(|delay| delay.min(MAX_DELAY_S).ceil() as u32);
    let options = DerivedOptions {
        include_paths,
        exclude_paths,
        max_discovery_depth: number("maxDiscoveryDepth", MAX_DEPTH),
        limit: number("limit", DEFAULT_CRAWL_LIMIT.into()).filter(|limit| *limit > 0),
        sitemap: match answer["sitemap"].as_str() {
            Some("include") => Some(SitemapMode::Include),
            Some("skip") => Some(SitemapMode::Skip),
            Some("only") => Some(SitemapMode::Only),
            _ => None,
        },
        crawl_entire_domain: flag("crawlEntireDomain"),
        allow_external_links: flag("allowExternalLinks"),
        allow_subdomains: flag("allowSubdomains"),
        ignore_query_parameters: flag("ignoreQueryParameters"),
        deduplicate_similar_urls: flag("deduplicateSimilarURLs"),
        regex_on_full_url: flag("regexOnFullURL"),
        delay,
        scrape_options: scrape_options(&answer["scrapeOptions"]),
    };
    Derived { options, warnings }
}

/// Takes the scrape options that a prompt may set.
fn scrape_options(answer: &Value) -> Option<Map<String, Value>> {
    let mut kept = Map::new();
    let formats: Vec<String> =
        strings(&answer["formats"]).filter(|format| FORMATS.contains(&format.as_str())).collect();
    let formats: BTreeSet<String> = formats.into_iter().collect();
    if !formats.is_empty() {
        kept.insert("formats".to_owned(), json!(formats));
    }
    if let Some(flag) = answer["onlyMainContent"].as_bool() {
        kept.insert("onlyMainContent".to_owned(), flag.into());
    }
    for key in ["includeTags", "excludeTags"] {
        let tags: Vec<String> = strings(&answer[key]).take(MAX_PATTERNS).collect();
        if !tags.is_empty() {
            kept.insert(key.to_owned(), json!(tags));
        }
    }
    Some(kept).filter(|kept| !kept.is_empty())
}

/// Formats that a prompt may set: those that cost nothing extra and need no model.
const FORMATS: [&str; 5] = ["markdown", "html", "rawHtml", "links", "images"];

fn strings(value: &Value) -> impl Iterator<Item = String> {
    value.as_array().into_iter().flatten().filter_map(|one| one.as_str().map(str::to_owned))
}

/// Returns the form of an answer.
fn form() -> Value {
    let patterns = json!({ "type": "array", "items": { "type": "string" } });
    let flag = json!({ "type": "boolean" });
    json!({
        "type": "object",
        "properties": {
            "includePaths": patterns,
            "excludePaths": patterns,
            "maxDiscoveryDepth": { "type": "integer" },
            "limit": { "type": "integer" },
            "sitemap": { "type": "string", "enum": ["include", "skip", "only"] },
            "crawlEntireDomain": flag,
            "allowExternalLinks": flag,
            "allowSubdomains": flag,
            "ignoreQueryParameters": flag,
            "deduplicateSimilarURLs": flag,
            "regexOnFullURL": flag,
            "delay": { "type": "number" },
            "scrapeOptions": {
                "type": "object",
                "properties": {
                    // A format that is not allowed is left out; it does not make the answer invalid.
                    "formats": { "type": "array", "items": { "type": "string" }, "description": FORMATS.join(", ") },
                    "onlyMainContent": flag,
                    "includeTags": patterns,
                    "excludeTags": patterns,
                },
                "additionalProperties": false,
            },
        },
        "additionalProperties": false,
    })
}
