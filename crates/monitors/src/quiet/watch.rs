//! Watch over one page while it is compared.

use std::sync::Arc;

use ::scrape::{Reviewed, Reviewer, Values};
use base::Stop;
use change_diff::History;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use wire::ChangeStatus;

use super::{Memory, Quiet};

/// Maximum number of volatile blocks, or fields, and of selectors that an answer lists.
const MAX_LISTED: usize = 20;

/// Watch over a page: leaves out what does not count, and notices what its target should know.
pub(crate) struct Watch {
    quiet: Arc<Quiet>,
    /// Selectors of the target.
    selectors: Vec<String>,
    /// Memory of the checks before.
    memory: Memory,
    found: Mutex<Found>,
}

/// Observations while the page is parsed and compared.
#[derive(Default)]
struct Found {
    /// Which selectors have met an element.
    met: Option<Vec<bool>>,
    /// History of the blocks with this check.
    blocks: Option<History>,
}

/// Result of a watch.
#[derive(Debug, Default)]
pub(crate) struct Noticed {
    /// Memory with this check; `None` if it stays as it was.
    pub(crate) memory: Option<Memory>,
    /// Members of the page's metadata.
    pub(crate) metadata: Map<String, Value>,
    /// Warnings of the page.
    pub(crate) warnings: Vec<String>,
}

impl Watch {
    pub(crate) fn new(quiet: Arc<Quiet>, selectors: Vec<String>, memory: Memory) -> Self {
        Self { quiet, selectors, memory, found: Mutex::default() }
    }

    /// Returns the values as they are to be compared.
    pub(crate) fn values(&self, values: &Values, stop: &Stop) -> Values {
        let mut values = values.clone();
        if !self.quiet.patterns.is_empty() {
            for value in [&mut values.previous, &mut values.current].into_iter().flatten() {
                self.quiet.patterns.remove_from(value, stop);
            }
        }
        values
    }

    /// Removes volatile fields, and returns what the check has noticed. `text` is how the text compares, `fields` has the
    /// changed fields if they were compared.
    pub(crate) fn end(&self, text: Option<ChangeStatus>, fields: Option<&mut Map<String, Value>>) -> Noticed {
        let mut next = self.memory.clone();
        let Found { met, blocks } = std::mem::take(&mut *self.found.lock());
        let is_first = matches!(text, Some(ChangeStatus::New | ChangeStatus::Removed));
        if is_first || !self.quiet.ignores_volatile {
            (next.blocks, next.fields) = Default::default();
        } else {
            next.blocks = match (blocks, text) {
                (Some(blocks), _) => blocks,
                (None, Some(ChangeStatus::Same)) => next.blocks.rest(),
                // It was not compared.
                (None, _) => next.blocks,
            };
            if let Some(fields) = fields {
                let review = next.fields.review(fields.keys().map(String::as_str));
                fields.retain(|path, _| !review.volatile.contains(path));
                next.fields = review.history;
            }
        }
        let mut noticed = Noticed { warnings: self.unmet(met.as_deref()), ..Noticed::default() };
        if let Some(met) = met {
            next.note(&self.selectors, &met);
        }
        let blocks: Vec<&str> = next.blocks.volatile().take(MAX_LISTED).collect();
        let fields: Vec<&str> = next.fields.volatile().take(MAX_LISTED).collect();
        for (key, names) in [("volatileBlocks", blocks), ("volatileFields", fields)] {
            if !names.is_empty() {
                noticed.metadata.insert(key.to_owned(), names.into());
            }
        }
        noticed.memory = (next != self.memory).then_some(next);
        noticed
    }

    /// Returns warnings of the selectors that have met an element before and meet none any more.
    fn unmet(&self, met: Option<&[bool]>) -> Vec<String> {
        let all = self.selectors.iter().zip(met.unwrap_or_default());
        let lost = all.filter(|(selector, is_met)| !**is_met && self.memory.has_met(selector));
        lost.take(MAX_LISTED).map(|(selector, _)| format!("the selector `{selector}` meets nothing any more")).collect()
    }
}

impl Reviewer for Watch {
    fn selectors(&self) -> &[String] {
        &self.selectors
    }

    fn met(&self, met: Vec<bool>) {
        self.found.lock().met = Some(met);
    }

    fn review(&self, previous: &str, current: &str, stop: &Stop) -> Option<Reviewed> {
        let Quiet { patterns, ignores_volatile, .. } = &*self.quiet;
        if patterns.is_empty() && !ignores_volatile {
            return None;
        }
        let (previous, current) = (patterns.removed_from(previous, stop), patterns.removed_from(current, stop));
        if *ignores_volatile && let Ok(review) = self.memory.blocks.review(&previous, &current, stop) {
            self.found.lock().blocks = Some(review.history);
            return Some(Reviewed { previous: review.previous, current: review.current });
        }
        Some(Reviewed { previous: previous.into_owned(), current: current.into_owned() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Target that checks one page.
    struct Checked {
        quiet: Arc<Quiet>,
        memory: Memory,
    }

    impl Checked {
        fn new(given: Value) -> Self {
            let Value::Object(given) = given else { panic!("no object") };
            Self { quiet: Arc::new(Quiet::read(&given).unwrap()), memory: Memory::default() }
        }

        fn watch(&self, selectors: &[&str]) -> Watch {
            let selectors = selectors.iter().map(|selector| (*selector).to_owned()).collect();
            Watch::new(Arc::clone(&self.quiet), selectors, Memory::read(self.memory.stored().as_deref()))
        }

        fn keep(&mut self, noticed: &Noticed) {
            if let Some(memory) = &noticed.memory {
                self.memory = memory.clone();
            }
        }

        /// Returns whether a check tells.
        fn tells(&mut self, previous: &str, current: &str) -> bool {
            let watch = self.watch(&[]);
            let reviewed = watch.review(previous, current, &Stop::new()).unwrap();
            let status = match change_diff::compare(&reviewed.previous, &reviewed.current) {
                change_diff::Status::Same => ChangeStatus::Same,
                change_diff::Status::Changed => ChangeStatus::Changed,
            };
            self.keep(&watch.end(Some(status), None));
            status == ChangeStatus::Changed
        }
    }

    #[test]
    fn patterns_and_volatile_blocks_are_quiet() {
        let mut checked = Checked::new(json!({ "ignore": { "patterns": ["^Seen by \\d+$"] } }));
        assert!(!checked.tells("Tea\n\nSeen by 5", "Tea"));
        assert!(checked.tells("Tea\n\nSeen by 5", "Teas\n\nSeen by 6"));
        assert_eq!(checked.memory, Memory::default());
        let mut checked = Checked::new(json!({ "ignoreVolatile": true }));
        let page = |count: u32| format!("Tea\n\nSeen by {count}");
        let told: Vec<bool> = (0..6).map(|count| checked.tells(&page(count), &page(count + 1))).collect();
        assert_eq!(told, [true, true, false, false, false, false]);
        let same = checked.watch(&[]).end(Some(ChangeStatus::Same), None);
        assert_eq!(same.metadata["volatileBlocks"], json!(["Seen by 6"]));
        checked.keep(&same);
        assert!(checked.memory.stored().unwrap().len() < 300);
        checked.keep(&checked.watch(&[]).end(Some(ChangeStatus::Removed), None));
        assert_eq!(checked.memory.stored(), None, "a page that comes back has no history");
    }

    #[test]
    fn fields_that_change_each_time_are_quiet() {
        let mut checked = Checked::new(json!({ "ignoreVolatile": true }));
        for check in 0..4 {
            let mut fields = json!({ "visitors": { "previous": 1, "current": 2 } });
            if check == 3 {
                fields["price"] = json!({ "previous": 12, "current": 13 });
            }
            let fields = fields.as_object_mut().unwrap();
            let noticed = checked.watch(&[]).end(Some(ChangeStatus::Changed), Some(fields));
            checked.keep(&noticed);
            let left: Vec<&String> = fields.keys().collect();
            assert_eq!(left, [vec!["visitors"], vec!["visitors"], vec![], vec!["price"]][check], "{check}");
            assert_eq!(noticed.metadata.contains_key("volatileFields"), check > 1);
        }
    }

    #[test]
    fn a_selector_that_meets_nothing_any_more_is_told_as_long_as_it_does() {
        let mut checked = Checked::new(json!({}));
        let mut check = |met: [bool; 2]| {
            let watch = checked.watch(&[".price", "#never"]);
            assert!(watch.review("a", "b", &Stop::new()).is_none());
            watch.met(met.to_vec());
            let noticed = watch.end(Some(ChangeStatus::Changed), None);
            checked.keep(&noticed);
            noticed.warnings
        };
        assert!(check([false, false]).is_empty());
        assert!(check([true, false]).is_empty());
        for _ in 0..2 {
            assert_eq!(check([false, false]), ["the selector `.price` meets nothing any more"]);
        }
        assert!(check([true, false]).is_empty());
    }
}
