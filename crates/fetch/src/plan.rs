//! Ways to a page in the order in which they are taken, and when the next one is worth it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use wire::{ProxyMode, ProxyUsed, ScrapeOptions};

use crate::{Engine, Feature, FetchError, Fetched, Proxies};

/// One way to a page: an engine, and the strength of the proxy that it goes through.
#[derive(Clone)]
pub struct Step {
    /// Who fetches.
    pub engine: Arc<dyn Engine>,
    /// Through which kind of proxy; [`ProxyUsed::Basic`] also stands for none.
    pub proxy: ProxyUsed,
    /// What the caller should know of this way: what was asked for and is not to be had on it.
    pub warnings: Vec<&'static str>,
    helps: &'static [Why],
}

/// Why another way may bring more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Nothing came.
    Failed,
    /// The site answered that it does not let us in.
    Refused,
    /// The page shows nothing until its scripts run.
    NeedsScripts,
}

/// Whether what came is good enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No other way would bring more.
    Good,
    /// A way that helps with this may.
    Better(Why),
}

impl Verdict {
    /// By what a step brought, without a look into the body.
    #[must_use]
    pub fn of(answer: &Result<Fetched, FetchError>) -> Self {
        match answer {
            Ok(page) if page.is_refused() => Self::Better(Why::Refused),
            Err(error) if error.is_worth_another_way() => Self::Better(Why::Failed),
            Ok(_) | Err(_) => Self::Good,
        }
    }
}

/// Longest time that a later step leaves for what came before it.
const MAX_TIME_FOR_WHAT_STANDS: Duration = Duration::from_secs(1);
/// A stronger proxy at the same engine.
const STRONGER_PROXY: &[Why] = &[Why::Failed, Why::Refused];
/// An engine that runs scripts, which a site also takes for a visitor sooner than others.
const RUNS_SCRIPTS: &[Why] = &[Why::Failed, Why::Refused, Why::NeedsScripts];
/// An engine that can do no more than the one before it.
const ANOTHER_ENGINE: &[Why] = &[Why::Failed];

/// The steps to one page. The first is always taken, a later one only when it helps with what was lacking before.
pub struct Plan {
    steps: Vec<Step>,
    at: usize,
}

impl Plan {
    /// All ways that can serve a request with these options: each engine that has the hard features, those that lack the
    /// fewest soft ones first, then those of lower rank; each with the proxies that `proxy` admits.
    #[must_use]
    pub fn new(engines: &[Arc<dyn Engine>], proxies: &Proxies, options: &ScrapeOptions) -> Self {
        let wanted = wanted(options);
        let strengths: &[ProxyUsed] = match options.proxy {
            _ if !proxies.has_enhanced() => &[ProxyUsed::Basic],
            ProxyMode::Basic => &[ProxyUsed::Basic],
            ProxyMode::Enhanced | ProxyMode::Stealth => &[ProxyUsed::Stealth],
            ProxyMode::Auto => &[ProxyUsed::Basic, ProxyUsed::Stealth],
        };
        let mut steps = Vec::new();
        for engine in order(engines, &wanted) {
            for (place, proxy) in strengths.iter().enumerate() {
                let helps = match place {
                    0 if engine.offers(Feature::Scripts) => RUNS_SCRIPTS,
                    0 => ANOTHER_ENGINE,
                    _ => STRONGER_PROXY,
                };
                let warnings = warnings(engine.as_ref(), *proxy, &wanted, options.proxy);
                steps.push(Step { engine: Arc::clone(&engine), proxy: *proxy, warnings, helps });
            }
        }
        Self { steps, at: 0 }
    }

    /// The step to take now; `None` when no engine can serve the request.
    #[must_use]
    pub fn step(&self) -> Option<&Step> {
        self.steps.get(self.at)
    }

    /// When the present step must have ended: what is left of the time until `deadline` is shared out equally among it and
    /// those that may follow, or a site that lets one hang would leave the others none. A later step leaves a tenth, a
    /// second at most, in which what came before it is made into a document if it brings nothing better.
    #[must_use]
    pub fn share(&self, deadline: Instant) -> Instant {
        let now = Instant::now();
        let mut left = deadline.saturating_duration_since(now);
        if self.at > 0 {
            left -= (left / 10).min(MAX_TIME_FOR_WHAT_STANDS);
        }
        let steps = u32::try_from(self.steps.len() - self.at).unwrap_or(u32::MAX);
        now + left / steps.max(1)
    }

    /// Whether a later step helps with this.
    #[must_use]
    pub fn can_improve(&self, why: Why) -> bool {
        self.next(why).is_some()
    }

    /// Goes on to the next step that helps; false when what came has to do.
    pub fn improve(&mut self, verdict: Verdict) -> bool {
        let Verdict::Better(why) = verdict else { return false };
        let Some(next) = self.next(why) else { return false };
        self.at = next;
        true
    }

    /// Takes no further step.
    pub fn end(&mut self) {
        self.steps.truncate(self.at + 1);
    }

    fn next(&self, why: Why) -> Option<usize> {
        (self.at + 1..self.steps.len()).find(|at| self.steps[*at].helps.contains(&why))
    }
}

/// The engines that can serve a request, best first.
fn order(engines: &[Arc<dyn Engine>], wanted: &[Feature]) -> Vec<Arc<dyn Engine>> {
    let lacks = |engine: &dyn Engine, hard: bool| {
        wanted.iter().filter(|feature| feature.is_hard() == hard && !engine.offers(**feature)).count()
    };
    let mut order: Vec<_> = engines.iter().filter(|engine| lacks(engine.as_ref(), true) == 0).cloned().collect();
    order.sort_by_key(|engine| (lacks(engine.as_ref(), false), engine.rank()));
    order
}

fn wanted(options: &ScrapeOptions) -> Vec<Feature> {
    let asked = [
        (options.mobile, Feature::Mobile),
        (options.location.is_some(), Feature::Location),
        (options.skip_tls_verification, Feature::SkipTlsVerification),
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

    use super::*;
    use crate::Feature::{Location, Mobile, Scripts, WaitFor};
    use crate::FetchRequest;

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
            Arc::new(Fake("browser", 50, &[Mobile, Location, WaitFor, Scripts])),
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
        let options = ScrapeOptions { proxy, mobile: true, skip_tls_verification: false, ..ScrapeOptions::default() };
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
        assert_eq!(after(&[Why::NeedsScripts]), (1, ("browser", Basic)));
        assert_eq!(after(&[Why::Failed, Why::Refused, Why::Refused]), (3, ("browser", Stealth)));
        assert_eq!(after(&[Why::NeedsScripts, Why::NeedsScripts]), (1, ("browser", Basic)));
        let mut plan = plan(ProxyMode::Auto, true);
        assert!(!plan.improve(Verdict::Good) && plan.can_improve(Why::NeedsScripts));
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
        plan.improve(Verdict::Better(Why::NeedsScripts));
        assert_eq!(share(&plan), 29.5);
        plan.end();
        assert_eq!(share(&plan), 59.0);
    }
}
