//! Failure of an action.

/// Failed action. The actions after it were not run. The message may be shown to the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("action {index} ({kind}{}) failed: {reason}", selector.as_ref().map(|text| format!(" `{text}`")).unwrap_or_default())]
pub struct ActionFailure {
    /// Index in the list of actions, from 0.
    pub index: usize,
    /// Type of the action, as on the wire.
    pub kind: &'static str,
    /// Selector that the action was given.
    pub selector: Option<String>,
    /// Cause of the failure.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_the_action() {
        let failure = |selector: Option<&str>| {
            let selector = selector.map(str::to_owned);
            ActionFailure { index: 2, kind: "click", selector, reason: "nothing matches".to_owned() }.to_string()
        };
        assert_eq!(failure(Some("#go")), "action 2 (click `#go`) failed: nothing matches");
        assert_eq!(failure(None), "action 2 (click) failed: nothing matches");
    }
}
