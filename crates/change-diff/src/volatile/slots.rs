//! Memory of a block.

use serde::{Deserialize, Serialize};

use super::likeness::{digest, shape};
use super::marks::{Event, Marks};
use crate::text::Block;

/// Maximum number of contents of a block that are remembered.
const MAX_KEYS: usize = 8;
/// Maximum length of the beginning of a block, in characters.
const MAX_LABEL: usize = 80;

/// Block that has changed in one of the last checks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Slot {
    /// Place among the blocks of the last version; of a block that is gone, that of the block that it stood before.
    #[serde(rename = "a")]
    pub(super) at: u32,
    /// Digests of its contents, the last one first.
    #[serde(rename = "k")]
    pub(super) keys: Vec<u32>,
    /// Digest of its last content without its numbers.
    #[serde(rename = "s")]
    pub(super) shape: u32,
    /// Whether the last version does not have it.
    #[serde(rename = "g", default, skip_serializing_if = "is_false")]
    pub(super) is_gone: bool,
    #[serde(flatten)]
    pub(super) marks: Marks,
    /// Beginning of its last content.
    #[serde(rename = "t")]
    pub(super) label: String,
}

impl Slot {
    /// Returns the slot after one more check.
    pub(super) fn after(self, event: Event) -> Self {
        Self { marks: self.marks.after(event), ..self }
    }

    /// Returns the slot of a block that is there.
    pub(super) fn at_block(self, place: usize, block: &Block) -> Self {
        let key = digest(&block.text);
        let mut keys = self.keys;
        keys.retain(|known| *known != key);
        keys.insert(0, key);
        keys.truncate(MAX_KEYS);
        let label = block.text.replace('\n', " ").chars().take(MAX_LABEL).collect();
        Self { at: place as u32, keys, shape: digest(&shape(&block.text)), is_gone: false, label, ..self }
    }

    /// Whether this was its last content.
    pub(super) fn is_last(&self, key: u32) -> bool {
        self.keys.first() == Some(&key)
    }

    /// Whether this was one of its contents.
    pub(super) fn knows(&self, key: u32) -> bool {
        self.keys.contains(&key)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}
