//! Which engines are tried, in which order.

use std::sync::Arc;

use crate::{Engine, Feature};

/// The engines that can serve a request, best first.
///
/// An engine that lacks a hard feature is left out. Of the others, those that lack the fewest soft features come first,
/// then those of lower rank.
#[must_use]
pub fn plan(engines: &[Arc<dyn Engine>], wanted: &[Feature]) -> Vec<Arc<dyn Engine>> {
    let lacks = |engine: &dyn Engine, hard: bool| {
        wanted.iter().filter(|feature| feature.is_hard() == hard && !engine.offers(**feature)).count()
    };
    let mut order: Vec<_> = engines.iter().filter(|engine| lacks(engine.as_ref(), true) == 0).cloned().collect();
    order.sort_by_key(|engine| (lacks(engine.as_ref(), false), engine.rank()));
    order
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::*;
    use crate::Feature::{Location, Mobile, WaitFor};
    use crate::{FetchError, FetchRequest, Fetched};

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

        async fn fetch(&self, _: &FetchRequest) -> Result<Fetched, FetchError> {
            Err(FetchError::Timeout)
        }
    }

    fn check(wanted: &[Feature], expect: &[&str]) {
        let engines: [Arc<dyn Engine>; 3] = [
            Arc::new(Fake("browser", 50, &[Mobile, Location, WaitFor])),
            Arc::new(Fake("http", 10, &[Mobile, Location])),
            Arc::new(Fake("bare", 5, &[])),
        ];
        let names: Vec<_> = plan(&engines, wanted).iter().map(|engine| engine.name()).collect();
        assert_eq!(names, expect, "{wanted:?}");
    }

    #[test]
    fn hard_features_admit_and_soft_ones_order() {
        check(&[], &["bare", "http", "browser"]);
        check(&[Mobile], &["http", "browser"]);
        check(&[WaitFor], &["browser", "bare", "http"]);
        check(&[Mobile, WaitFor], &["browser", "http"]);
        check(&[Feature::SkipTlsVerification], &[]);
    }
}
