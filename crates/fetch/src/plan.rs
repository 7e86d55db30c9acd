//! The order of attempts to fetch a page, and the decision whether a further attempt is worth it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use wire::{Action, FormatKind, ProxyMode, ProxyUsed, ScrapeOptions, WaitAction};

use crate::{Engine, Feature, FetchError, Fetched, Proxies};

/// One way to fetch a page: an engine and the strength of its proxy.
#[derive(Clone)]
pub struct Step {
    /// Engine that fetches.
    pub engine: Arc<dyn Engine>,
    /// Strength of the proxy; [`ProxyUsed::Basic`] also means none.
    pub proxy: ProxyUsed,
    /// Warnings for the caller: requested features that this step does not offer.
    pub warnings: Vec<&'static str>,
    helps: Helps,
    /// Whether it offers less than the first engine and is only a fallback.
    is_makeshift: bool,
}

/// Predicate: whether a step helps with this reason.
type Helps = fn(Why) -> bool;

/// Reason for another attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The attempt failed without a page.
    Failed,
    /// The site refused access.
    Refused,
    /// The page shows nothing, or not its main content, until its scripts run; the word names the evidence.
    NeedsScripts(&'static str),
}

impl Why {
    /// Name for logs and metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::NeedsScripts(mark) => mark,
        }
    }
}

/// Whether the result is good enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No other step would bring more.
    Good,
    /// A step that helps with this reason may bring more.
    Better(Why),
}

impl Verdict {
    /// Judges the result of a step without looking at the body.
    #[must_use]
    pub fn of(answer: &Result<Fetched, FetchError>) -> Self {
        match answer {
            Ok(page) if page.is_refused() => Self::Better(Why::Refused),
            Err(error) if error.is_worth_another_way() => Self::Better(Why::Failed),
            Ok(_) | Err(_) => Self::Good,
        }
    }
}

/// Maximum time that a later step reserves for processing the earlier result.
const MAX_TIME_FOR_WHAT_STANDS: Duration = Duration::from_secs(1);
/// Maximum time that is reserved for the fallback steps.
const MAX_TIME_FOR_MAKESHIFTS: Duration = Duration::from_secs(5);
/// A stronger proxy with the same engine.
const STRONGER_PROXY: Helps = |why| matches!(why, Why::Failed | Why::Refused);
/// An engine that runs scripts, which sites are also more likely to accept as a visitor.
const ANY_HELP: Helps = |_| true;
/// An engine that runs scripts, where the caller allows only one kind of proxy.
const RUNS_SCRIPTS: Helps = |why| matches!(why, Why::NeedsScripts(_));
/// An engine without more features than the one before it.
const ANOTHER_ENGINE: Helps = |why| why == Why::Failed;

/// The steps to fetch one page. The first is always taken, a later one only if it helps with the reason for it.
pub struct Plan {
    steps: Vec<Step>,
    at: usize,
    /// Reason for the current step.
    reason: &'static str,
    /// Waiting time that the caller asked for; it is not shared among the steps.
    waits: Duration,
}

impl Plan {
    /// Lists all steps that can serve a request with these options: each engine with the hard features, ordered by
    /// missing soft features, then by rank; each with the proxies that `proxy` admits.
    #[must_use]
    pub fn new(engines: &[Arc<dyn Engine>], proxies: &Proxies, options: &ScrapeOptions) -> Self {
        let wanted = wanted(options);
        let strengths = proxies.strengths(options.proxy);
        let mut steps: Vec<Step> = Vec::new();
        let mut fewest = None;
        for engine in order(engines, &wanted) {
            let lacking = lacks(engine.as_ref(), &wanted, false);
            let is_makeshift = lacking > *fewest.get_or_insert(lacking);
            for (place, proxy) in strengths.iter().enumerate() {
                let helps = match place {
                    0 if !engine.offers(Feature::Scripts) => ANOTHER_ENGINE,
                    0 if options.proxy == ProxyMode::Auto => ANY_HELP,
                    0 => RUNS_SCRIPTS,
                    _ => STRONGER_PROXY,
                };
                let warnings = warnings(engine.as_ref(), *proxy, &wanted, options.proxy);
                steps.push(Step { engine: Arc::clone(&engine), proxy: *proxy, warnings, helps, is_makeshift });
            }
        }
        let reason = steps.first().map_or("first", |step| reason(step.engine.as_ref(), &wanted));
        Self { steps, at: 0, reason, waits: waits(options) }
    }

    /// Returns the current step; `None` if no engine can serve the request.
    #[must_use]
    pub fn step(&self) -> Option<&Step> {
        self.steps.get(self.at)
    }

    /// Returns the reason for the current step: `first`, the option that needs its engine, or the shortcoming of the
    /// last one.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.reason
    }

    /// Returns the deadline of the current step. The time until `deadline` is divided equally among it and the steps
    /// that may follow, as a site that lets one hang would leave the others none. Waiting that the caller asked for is
    /// not shared, and the fallback steps get a tenth (at most 5 s). A later step reserves a tenth (at most 1 s) for
    /// processing the earlier result if it brings nothing better. So does a step that runs scripts, as it may bring an
    /// unfinished page.
    #[must_use]
    pub fn share(&self, deadline: Instant) -> Instant {
        let now = Instant::now();
        let mut left = deadline.saturating_duration_since(now);
        if self.at > 0 || self.runs_scripts() {
            left -= (left / 10).min(MAX_TIME_FOR_WHAT_STANDS);
        }
        let rest = self.steps.get(self.at..).unwrap_or_default();
        let Some(present) = rest.first() else { return now + left };
        let peers = rest.iter().filter(|step| step.is_makeshift == present.is_makeshift).count();
        if peers < rest.len() {
            left -= (left / 10).min(MAX_TIME_FOR_MAKESHIFTS);
        }
        let waits = if present.engine.offers(Feature::WaitFor) { self.waits.min(left) } else { Duration::ZERO };
        now + waits + (left - waits) / u32::try_from(peers).unwrap_or(u32::MAX)
    }

    /// Whether the current step runs the scripts of the page.
    #[must_use]
    pub fn runs_scripts(&self) -> bool {
        self.step().is_some_and(|step| step.engine.offers(Feature::Scripts))
    }

    /// Whether a later step can run the scripts of the page.
    #[must_use]
    pub fn can_run_scripts(&self) -> bool {
        self.next(Why::NeedsScripts("scripts")).is_some()
    }

    /// Advances to the next step that helps; returns false if the present result must do.
    pub fn improve(&mut self, verdict: Verdict) -> bool {
        let Verdict::Better(why) = verdict else { return false };
        let Some(next) = self.next(why) else { return false };
        (self.at, self.reason) = (next, why.as_str());
        true
    }

    /// Drops all further steps.
    pub fn end(&mut self) {
        self.steps.truncate(self.at + 1);
    }

    fn next(&self, why: Why) -> Option<usize> {
        (self.at + 1..self.steps.len()).find(|at| (self.steps[*at].helps)(why))
    }
}

/// Returns the engines that can serve a request, best first.
fn order(engines: &[Arc<dyn Engine>], wanted: &[Feature]) -> Vec<Arc<dyn Engine>> {
    let mut order: Vec<_> =
        engines.iter().filter(|engine| lacks(engine.as_ref(), wanted, true) == 0).cloned().collect();
    order.sort_by_key(|engine| (lacks(engine.as_ref(), wanted, false), engine.rank()));
    order
}

/// Counts the hard or the soft features that an engine lacks.
fn lacks(engine: &dyn Engine, wanted: &[Feature], hard: bool) -> usize {
    wanted.iter().filter(|feature| feature.is_hard() == hard && !engine.offers(**feature)).count()
}

/// Returns the reason why an engine comes first: the option that only engines with scripts support.
fn reason(engine: &dyn Engine, wanted: &[Feature]) -> &'static str {
    let needs_browser =
        |feature: &&Feature| !matches!(feature, Feature::Mobile | Feature::Location | Feature::SkipTlsVerification);
    let asked = wanted.iter().find(needs_browser).filter(|feature| engine.offers(**feature));
    asked.map_or("first", |feature| feature.as_str())
}

/// Returns the waiting time that the caller asked for: `waitFor` plus the `wait` actions.
fn waits(options: &ScrapeOptions) -> Duration {
    let of_action = |action: &Action| match action {
        Action::Wait(WaitAction::Time { milliseconds }) => *milliseconds,
        _ => 0,
    };
    let actions = options.actions.iter().map(of_action).fold(0, u32::saturating_add);
    Duration::from_millis(actions.saturating_add(options.wait_for).into())
}

fn wanted(options: &ScrapeOptions) -> Vec<Feature> {
    let asked = [
        (options.mobile, Feature::Mobile),
        (options.location.is_some(), Feature::Location),
        (options.skips_tls_verification(false), Feature::SkipTlsVerification),
        (!options.actions.is_empty(), Feature::Actions),
        (options.wants(FormatKind::Screenshot), Feature::Screenshot),
        (options.profile.is_some(), Feature::Profile),
        (options.wants(FormatKind::Branding), Feature::Styles),
        (options.wait_for > 0, Feature::WaitFor),
    ];
    asked.into_iter().filter_map(|(wanted, feature)| wanted.then_some(feature)).collect()
}

fn warnings(engine: &dyn Engine, proxy: ProxyUsed, wanted: &[Feature], mode: ProxyMode) -> Vec<&'static str> {
    let is_weaker = proxy == ProxyUsed::Basic && matches!(mode, ProxyMode::Enhanced | ProxyMode::Stealth);
    let weaker = is_weaker.then_some("no enhanced proxy is configured on this server, so a basic one was used");
    let lacking = wanted.iter().filter(|feature| !engine.offers(**feature)).filter_map(|feature| feature.lack());
    weaker.into_iter().chain(lacking).collect()
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use serde_json::json;

    use super::*;
    use crate::Feature::{Actions, Location, Mobile, Profile, Screenshot, Scripts, Styles, WaitFor};
    use crate::FetchRequest;

    const NEEDS: Why = Why::NeedsScripts("empty");

    struct Fake(&'static str, u32, &'static [Feature]);

    #[async_trait]
    impl Engine for Fake {
        fn name(&self) -> &'static str {
            self.0
        }

        fn offers(&self, feature: Feature) -> bool {
            self.2.contains(&feature)
        }

        fn rank(&self) -> u32 {
            self.1
        }

        async fn fetch(&self, _: &FetchRequest<'_>) -> Result<Fetched, FetchError> {
            Err(FetchError::Timeout)
        }
    }

    fn engines() -> [Arc<dyn Engine>; 3] {
        [
            Arc::new(Fake("browser", 50, &[Mobile, Location, WaitFor, Scripts, Actions, Screenshot, Styles, Profile])),
            Arc::new(Fake("http", 10, &[Mobile, Location])),
            Arc::new(Fake("bare", 5, &[])),
        ]
    }

    #[test]
    fn hard_features_admit_and_soft_ones_order() {
        let check = |wanted: &[Feature], expect: &[&str]| {
            let names: Vec<_> = order(&engines(), wanted).iter().map(|engine| engine.name()).collect();
            assert_eq!(names, expect, "{wanted:?}");
        };
        check(&[], &["bare", "http", "browser"]);
        check(&[Mobile], &["http", "browser"]);
        check(&[WaitFor], &["browser", "bare", "http"]);
        check(&[Mobile, WaitFor], &["browser", "http"]);
        check(&[Feature::SkipTlsVerification], &[]);
    }

    fn plan(proxy: ProxyMode, has_enhanced: bool) -> Plan {
        let enhanced = net::Proxy::new("http://proxy.test/".parse().unwrap());
        let proxies = Proxies::new(Vec::new(), if has_enhanced { vec![enhanced] } else { Vec::new() });
        let options =
            ScrapeOptions { proxy, mobile: true, skip_tls_verification: Some(false), ..ScrapeOptions::default() };
        Plan::new(&engines(), &proxies, &options)
    }

    fn now(plan: &Plan) -> (&'static str, ProxyUsed) {
        plan.step().map(|step| (step.engine.name(), step.proxy)).unwrap()
    }

    #[test]
    fn a_later_step_is_taken_for_what_it_helps_with() {
        use ProxyUsed::{Basic, Stealth};
        let after = |whys: &[Why]| {
            let mut plan = plan(ProxyMode::Auto, true);
            let taken = whys.iter().take_while(|why| plan.improve(Verdict::Better(**why))).count();
            (taken, now(&plan))
        };
        assert_eq!(after(&[]), (0, ("http", Basic)));
        assert_eq!(after(&[Why::Refused]), (1, ("http", Stealth)));
        assert_eq!(after(&[NEEDS]), (1, ("browser", Basic)));
        assert_eq!(after(&[Why::Failed, Why::Refused, Why::Refused]), (3, ("browser", Stealth)));
        assert_eq!(after(&[NEEDS, NEEDS]), (1, ("browser", Basic)));
        let mut plan = plan(ProxyMode::Auto, true);
        assert!(!plan.improve(Verdict::Good) && plan.can_run_scripts());
        plan.end();
        assert!(!plan.improve(Verdict::Better(Why::Failed)) && now(&plan) == ("http", Basic));
    }

    #[test]
    fn the_callers_mode_chooses_the_proxies() {
        let steps = |proxy, has_enhanced| {
            let steps = plan(proxy, has_enhanced).steps;
            steps.iter().map(|step| step.proxy.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(steps(ProxyMode::Basic, true), ["basic"; 2]);
        assert_eq!(steps(ProxyMode::Enhanced, true), ["stealth"; 2]);
        assert_eq!(steps(ProxyMode::Auto, true), ["basic", "stealth", "basic", "stealth"]);
        assert_eq!(steps(ProxyMode::Auto, false), ["basic"; 2]);
        let without = plan(ProxyMode::Stealth, false);
        assert!(without.step().unwrap().warnings[0].starts_with("no enhanced proxy"));
        assert!(plan(ProxyMode::Stealth, true).step().unwrap().warnings.is_empty());
    }

    #[test]
    fn what_is_left_of_the_time_is_shared() {
        let mut plan = plan(ProxyMode::Auto, true);
        let deadline = Instant::now() + Duration::from_secs(60);
        let share = |plan: &Plan| {
            let share = plan.share(deadline).saturating_duration_since(Instant::now()).as_secs_f64();
            (share * 10.0).round() / 10.0
        };
        assert_eq!(share(&plan), 15.0);
        plan.improve(Verdict::Better(NEEDS));
        assert_eq!(share(&plan), 29.5);
        plan.end();
        assert_eq!(share(&plan), 59.0);
    }

    fn plan_for(options: serde_json::Value) -> Plan {
        Plan::new(&engines(), &Proxies::default(), &wire::decode_options(options).unwrap())
    }

    #[test]
    fn what_needs_a_browser_goes_there_at_once() {
        let check = |options: serde_json::Value, names: &[&str], reason: &str| {
            let plan = plan_for(options.clone());
            let found: Vec<_> = plan.steps.iter().map(|step| step.engine.name()).collect();
            assert_eq!((found.as_slice(), plan.reason()), (names, reason), "{options}");
            assert_eq!(plan.runs_scripts(), names.first() == Some(&"browser"), "{options}");
        };
        let no_tls = |mut options: serde_json::Value| {
            options["skipTlsVerification"] = false.into();
            options
        };
        check(no_tls(json!({})), &["bare", "http", "browser"], "first");
        check(no_tls(json!({ "mobile": true })), &["http", "browser"], "first");
        check(no_tls(json!({ "waitFor": 100 })), &["browser", "bare", "http"], "waitFor");
        check(no_tls(json!({ "formats": ["branding"] })), &["browser", "bare", "http"], "branding");
        check(no_tls(json!({ "formats": ["screenshot"], "waitFor": 100 })), &["browser"], "screenshot");
        check(no_tls(json!({ "actions": [{ "type": "scrape" }] })), &["browser"], "actions");
        check(no_tls(json!({ "profile": { "name": "a" } })), &["browser"], "profile");
    }

    #[test]
    fn with_one_kind_of_proxy_the_browser_is_for_scripts_alone() {
        for (mode, helps) in [(ProxyMode::Auto, true), (ProxyMode::Basic, false), (ProxyMode::Stealth, false)] {
            for why in [Why::Failed, Why::Refused] {
                let mut plan = plan(mode, false);
                assert_eq!(plan.improve(Verdict::Better(why)), helps, "{mode:?} {why:?}");
                assert_eq!(plan.reason(), if helps { why.as_str() } else { "first" });
            }
            assert!(plan(mode, false).can_run_scripts());
        }
    }

    #[test]
    fn waiting_that_was_asked_for_is_not_shared() {
        let deadline = Instant::now() + Duration::from_secs(60);
        let share = |plan: &Plan| plan.share(deadline).saturating_duration_since(Instant::now()).as_secs_f64().round();
        let mut plan = plan_for(json!({ "waitFor": 30_000, "skipTlsVerification": false }));
        // The two engines that cannot wait come after it.
        assert_eq!(share(&plan), 54.0);
        assert!(plan.improve(Verdict::Better(Why::Failed)));
        assert_eq!((plan.step().unwrap().engine.name(), share(&plan)), ("bare", 29.0));
    }
}
