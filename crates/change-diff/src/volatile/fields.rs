//! Fields that change again and again.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::MAX_SLOTS;
use super::marks::{Event, Marks};

/// Maximum length of a path that is remembered, in bytes.
const MAX_PATH: usize = 200;

/// What the fields of a page did in its last five checks, by the rules of [`History`](super::History); at most about 60 KB
/// as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FieldHistory {
    fields: Vec<Field>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Field {
    #[serde(rename = "p")]
    path: String,
    #[serde(flatten)]
    marks: Marks,
}

/// Changed fields of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldReview {
    /// Paths of the changed fields that are volatile.
    pub volatile: HashSet<String>,
    /// History with this check.
    pub history: FieldHistory,
}

impl FieldHistory {
    /// Notes the paths of the fields that a check has found changed; without any it has found the same.
    #[must_use]
    pub fn review<'p>(&self, changed: impl IntoIterator<Item = &'p str>) -> FieldReview {
        let mut left: HashSet<&str> = changed.into_iter().filter(|path| path.len() <= MAX_PATH).collect();
        let mut fields: Vec<Field> = Vec::new();
        for field in &self.fields {
            let event = if left.remove(field.path.as_str()) { Event::Changed } else { Event::Still };
            fields.push(Field { path: field.path.clone(), marks: field.marks.after(event) });
        }
        let mut new: Vec<&str> = left.into_iter().collect();
        new.sort_unstable();
        let first = |path: &str| Field { path: path.to_owned(), marks: Marks::default().after(Event::Changed) };
        fields.extend(new.into_iter().map(first));
        fields.retain(|field| !field.marks.is_idle());
        if fields.len() > MAX_SLOTS {
            fields.sort_by_key(|field| std::cmp::Reverse(field.marks.weight()));
            fields.truncate(MAX_SLOTS);
        }
        let volatile = fields.iter().filter(|field| field.marks.is_volatile()).map(|field| field.path.clone());
        FieldReview { volatile: volatile.collect(), history: Self { fields } }
    }

    /// Returns the paths of the volatile fields.
    pub fn volatile(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(|field| field.marks.is_volatile()).map(|field| field.path.as_str())
    }

    /// Whether there is nothing to remember.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_volatile_at_its_third_change_and_another_still_counts() {
        let mut history = FieldHistory::default();
        for check in 0..3 {
            let review = history.review(["visitors"]);
            assert_eq!(review.volatile.contains("visitors"), check == 2);
            history = review.history;
        }
        let review = history.review(["visitors", "plans[0].price"]);
        assert_eq!(review.volatile, HashSet::from(["visitors".to_owned()]));
        assert_eq!(history.volatile().collect::<Vec<_>>(), ["visitors"]);
        for _ in 0..7 {
            history = history.review([]).history;
        }
        assert!(history.is_empty());
        let many: Vec<String> = (0..999).map(|number| format!("f[{number}]")).collect();
        let history = history.review(many.iter().map(String::as_str)).history;
        assert_eq!(history.fields.len(), MAX_SLOTS);
    }
}
