//! What a target remembers of a page from its checks before.

use std::collections::BTreeSet;

use ::runs::digest;
use change_diff::{FieldHistory, History};
use serde::{Deserialize, Serialize};

/// Maximum size of a memory as JSON, in bytes. It is far above what the histories have.
const MAX_BYTES: usize = 256 << 10;

/// Memory of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// Blocks that have changed in its last checks.
    #[serde(default, skip_serializing_if = "History::is_empty")]
    pub(super) blocks: History,
    /// Fields that have.
    #[serde(default, skip_serializing_if = "FieldHistory::is_empty")]
    pub(super) fields: FieldHistory,
    /// Digests of the selectors that have met an element.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    met: BTreeSet<u64>,
}

impl Memory {
    /// Reads a stored memory. One that this version cannot read is none: then everything tells until it is learnt again.
    pub(crate) fn read(stored: Option<&[u8]>) -> Self {
        stored.and_then(|stored| serde_json::from_slice(stored).ok()).unwrap_or_default()
    }

    /// Returns the memory as it is stored; `None` if there is nothing to remember.
    pub(crate) fn stored(&self) -> Option<Vec<u8>> {
        if *self == Self::default() {
            return None;
        }
        serde_json::to_vec(self).ok().filter(|stored| stored.len() <= MAX_BYTES)
    }

    /// Whether a selector has met an element before.
    pub(super) fn has_met(&self, selector: &str) -> bool {
        self.met.contains(&short(selector))
    }

    /// Notes the selectors that have met an element, beside those of the selectors that have before.
    pub(super) fn note(&mut self, selectors: &[String], met: &[bool]) {
        let known = selectors.iter().map(|selector| short(selector));
        let kept = known.zip(met).filter(|(selector, met)| **met || self.met.contains(selector));
        self.met = kept.map(|(selector, _)| selector).collect();
    }
}

fn short(selector: &str) -> u64 {
    digest(selector).iter().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte))
}
