//! State of a browser that outlives a visit.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Size limit of a state as JSON, in bytes.
pub const MAX_STATE_BYTES: usize = 20 << 20;

/// Cookies and storage of a browser. Has no `Debug` because they are secrets.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Cookies, as `Network.CookieParam` of the DevTools protocol.
    pub cookies: Vec<Value>,
    /// Storage by origin.
    pub origins: Vec<Value>,
}

impl State {
    /// Whether the state is within the size limit.
    #[must_use]
    pub fn fits(&self) -> bool {
        serde_json::to_vec(self).is_ok_and(|text| text.len() <= MAX_STATE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_state_has_a_size() {
        assert!(State::default().fits());
        let large = json!({ "name": "a", "value": "x".repeat(MAX_STATE_BYTES) });
        assert!(!State { cookies: vec![large], origins: vec![] }.fits());
    }
}
