//! The sample of computed styles: one look at what the page shows.

use serde_json::Value;
use tokio::time::Instant;

use crate::cdp::CdpError;
use crate::tab::{Tab, World};

/// Looks for 120 ms at most, at 6000 elements, and returns 256 KiB at most.
const SAMPLE: &str = concat!(
    "function sample() {\n",
    include_str!("js/styles/values.js"),
    include_str!("js/styles/kinds.js"),
    include_str!("js/styles/pictures.js"),
    include_str!("js/styles.js"),
    "}"
);

/// What the typical elements of the page in `tab` look like; `styles.js` says its shape.
///
/// # Errors
/// As [`Tab::evaluate`]: the page may go away, or keep its thread busy until the deadline.
pub(crate) async fn sample(tab: &Tab, deadline: Instant) -> Result<Value, CdpError> {
    tab.evaluate(World::Own, SAMPLE, &[], deadline).await
}
