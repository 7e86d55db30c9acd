//! Phase 4: the product of a page from the service of the operator, where one is set. It takes the place of our own
//! extraction.

use std::time::Duration;

use extract_product::Missing;
use tokio::time::Instant;

use crate::derive::Draft;
use crate::{Target, Tools};

/// Maximum time for an answer; also half of the time that is left, so that the document is completed in any case.
const MAX_TIME: Duration = Duration::from_secs(30);

/// Adds the product to a draft whose page is to be sent to the service, or the reason for none to its warnings.
pub(crate) async fn find(tools: &Tools, target: &Target, mut draft: Box<Draft>) -> Box<Draft> {
    let (Some(service), Some(request)) = (&tools.products, draft.product_request.take()) else { return draft };
    let now = Instant::now();
    let deadline = now + (target.deadline.saturating_duration_since(now) / 2).min(MAX_TIME);
    let found = match request {
        Ok(body) => service.ask(body, deadline).await,
        Err(failure) => Err(failure),
    };
    match found {
        Ok(Some(product)) => draft.document.product = Some(product),
        Ok(None) => draft.warnings.push(format!("no product found: {}", Missing::Nothing)),
        Err(failure) => draft.warnings.push(format!("no product found: {failure}")),
    }
    draft
}
