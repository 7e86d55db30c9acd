//! Phase 1: plan the engines, try them in order, within the deadline.

use std::time::Duration;

use fetch::{Feature, FetchError, FetchRequest, Fetched, Given};
use tokio::time::timeout_at;

use crate::{ScrapeError, Target, Tools};

/// Gets the page. One that answers with an error status is a page as well.
///
/// # Errors
/// [`ScrapeError::Timeout`] at the deadline, [`ScrapeError::Fetch`] when no engine got a page.
pub async fn fetch(tools: &Tools, target: &Target) -> Result<Fetched, ScrapeError> {
    let request = request(target);
    let mut failure =
        FetchError::Site { reason: "nothing on this server can do all that the request asks for".to_owned() };
    for engine in fetch::plan(&tools.engines, &wanted(target)) {
        let Ok(answer) = timeout_at(target.deadline, engine.fetch(&request)).await else {
            return Err(ScrapeError::Timeout);
        };
        failure = match answer {
            Ok(fetched) => {
                tracing::debug!(engine = engine.name(), status = fetched.status, bytes = fetched.body.len(), "fetched");
                return Ok(fetched);
            }
            Err(error) => error,
        };
        tracing::debug!(engine = engine.name(), "engine got no page");
        if !failure.is_worth_another_way() {
            break;
        }
    }
    Err(failure.into())
}

fn request(target: &Target) -> FetchRequest {
    let options = &target.options;
    FetchRequest {
        url: target.url.clone(),
        given: Given::new(target.given_for.clone(), options.headers.clone(), target.basic_auth.clone()),
        mobile: options.mobile,
        location: options.location.clone(),
        proxy: options.proxy,
        skip_tls_verification: options.skip_tls_verification,
        deadline: target.deadline,
        wait_for: Duration::from_millis(options.wait_for.into()),
    }
}

fn wanted(target: &Target) -> Vec<Feature> {
    let options = &target.options;
    let asked = [
        (options.mobile, Feature::Mobile),
        (options.location.is_some(), Feature::Location),
        (options.skip_tls_verification, Feature::SkipTlsVerification),
        (options.wait_for > 0, Feature::WaitFor),
    ];
    asked.into_iter().filter_map(|(wanted, feature)| wanted.then_some(feature)).collect()
}
