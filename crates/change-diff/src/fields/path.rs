//! Paths of fields. No two places of a value have the same path.

/// Returns the path of a key of the object at `path`.
pub(super) fn member(path: &str, key: &str) -> String {
    if key.is_empty() || key.contains(['.', '[', ']', '"', '\\']) {
        return format!("{path}[{}]", serde_json::Value::from(key));
    }
    let dot = if path.is_empty() { "" } else { "." };
    format!("{path}{dot}{key}")
}

/// Returns the path of an item of the list at `path`.
pub(super) fn item(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}
