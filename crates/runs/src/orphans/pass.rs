//! State of the passes of this process over the bodies of documents.

use base::Timestamp;
use parking_lot::Mutex;

/// Progress of this process through the bodies, kept between two rounds.
#[derive(Debug, Default)]
pub(crate) struct Pass(pub(super) Mutex<Progress>);

#[derive(Debug, Clone, Default)]
pub(super) struct Progress {
    /// Key after which the next round continues; none at the start of a pass.
    pub(super) after: Option<String>,
    /// Time at which the next pass may begin.
    pub(super) next: Option<Timestamp>,
}
