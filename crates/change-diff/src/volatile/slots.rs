//! Memory of a block.

use serde::{Deserialize, Serialize};

use super::likeness::{digest, shape};
use super::marks::{Event, Marks};
use crate::text::Block;

/// Maximum number of contents of a block that are remembered.
const MAX_KEYS: usize = 16;
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
    /// Largest number of volatile blocks that have been beside it and each other, itself included.
    #[serde(rename = "w", default, skip_serializing_if = "is_zero")]
    pub(super) width: u32,
    /// Number of checks in which the blocks there have changed, since one of them had a content for the first time.
    #[serde(rename = "o", default, skip_serializing_if = "is_zero")]
    pub(super) repeats: u32,
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

    /// Returns the slot after a check that does not find its block any more. `at` is the place where the block was.
    pub(super) fn lost(self, at: u32) -> Self {
        Self { at, is_gone: true, ..self.after(Event::Changed) }
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

    /// Returns the digest of its last content.
    pub(super) fn last(&self) -> Option<u32> {
        self.keys.first().copied()
    }

    /// Whether this was one of its contents.
    pub(super) fn knows(&self, key: u32) -> bool {
        self.keys.contains(&key)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}
