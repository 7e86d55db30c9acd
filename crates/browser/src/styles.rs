//! Sample of the computed styles of a page.

use cdp::CdpError;
use serde_json::Value;
use tokio::time::Instant;

use crate::tab::{Tab, World};

/// Function that samples for 120 ms, or up to 720 ms for the first hundred elements, looks at 6000 elements at most, and
/// returns 256 KiB at most.
const SAMPLE: &str = concat!(
    "function sample() {\n",
    include_str!("js/styles/values.js"),
    include_str!("js/styles/kinds.js"),
    include_str!("js/styles/pictures.js"),
    include_str!("js/styles.js"),
    "}"
);

/// Samples the styles of typical elements of the page in `tab`; `styles.js` documents the result.
///
/// # Errors
/// Errors of [`Tab::evaluate`]: the page may go away, or keep its thread busy until the deadline.
pub(crate) async fn sample(tab: &Tab, deadline: Instant) -> Result<Value, CdpError> {
    tab.evaluate(World::Own, SAMPLE, &[], deadline).await
}
