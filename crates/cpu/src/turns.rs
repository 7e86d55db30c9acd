//! Round-robin queues.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Items in named queues that are served round robin. Empty queues are removed.
pub(crate) struct Turns<T> {
    /// Names of the queues, the next one first.
    order: VecDeque<Arc<str>>,
    queues: HashMap<Arc<str>, VecDeque<T>>,
    len: usize,
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self { order: VecDeque::new(), queues: HashMap::new(), len: 0 }
    }
}

impl<T> Turns<T> {
    /// Returns the number of items.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends an item to the queue of a name.
    pub(crate) fn push(&mut self, name: &Arc<str>, item: T) {
        let queue = self.queues.entry(Arc::clone(name)).or_default();
        if queue.is_empty() {
            self.order.push_back(Arc::clone(name));
        }
        queue.push_back(item);
        self.len += 1;
    }

    /// Removes and returns the first item of the next queue.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let name = self.order.pop_front()?;
        let queue = self.queues.get_mut(&name)?;
        let item = queue.pop_front();
        self.len -= usize::from(item.is_some());
        if queue.is_empty() {
            self.queues.remove(&name);
        } else {
            self.order.push_back(name);
        }
        item
    }

    /// Removes items that are `gone` from the front, without using up the turn of their queue.
    pub(crate) fn skip(&mut self, gone: impl Fn(&T) -> bool) {
        while let Some(name) = self.order.front() {
            let Some(queue) = self.queues.get_mut(name) else { return };
            while queue.front().is_some_and(&gone) {
                queue.pop_front();
                self.len -= 1;
            }
            if !queue.is_empty() {
                return;
            }
            self.queues.remove(name);
            self.order.pop_front();
        }
    }

    /// Removes and returns the last item of the longest queue, if it has at least two more items than the queue of `name`.
    pub(crate) fn pop_longer(&mut self, name: &str) -> Option<T> {
        let own = self.queues.get(name).map_or(0, VecDeque::len);
        if self.longest() > own + 1 { self.pop_longest() } else { None }
    }

    /// Removes and returns the last item of the longest queue.
    pub(crate) fn pop_longest(&mut self) -> Option<T> {
        let name = self.queues.iter().max_by_key(|(_, queue)| queue.len()).map(|(name, _)| Arc::clone(name))?;
        let queue = self.queues.get_mut(&name)?;
        let item = queue.pop_back();
        self.len -= usize::from(item.is_some());
        if queue.is_empty() {
            self.forget(&name);
        }
        item
    }

    fn longest(&self) -> usize {
        self.queues.values().map(VecDeque::len).max().unwrap_or(0)
    }

    fn forget(&mut self, name: &str) {
        self.queues.remove(name);
        self.order.retain(|turn| turn.as_ref() != name);
    }

    /// Keeps only the items of a name for which `keep` returns true.
    pub(crate) fn retain(&mut self, name: &str, keep: impl Fn(&T) -> bool) {
        let Some(queue) = self.queues.get_mut(name) else { return };
        let before = queue.len();
        queue.retain(keep);
        self.len -= before - queue.len();
        if queue.is_empty() {
            self.forget(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(items: &[&'static str]) -> Turns<&'static str> {
        let mut turns = Turns::default();
        items.iter().for_each(|item| turns.push(&item[..1].into(), *item));
        turns
    }

    fn all(mut turns: Turns<&'static str>) -> Vec<&'static str> {
        let all = std::iter::from_fn(|| turns.pop()).collect();
        assert!(turns.is_empty() && turns.order.is_empty() && turns.queues.is_empty());
        all
    }

    #[test]
    fn queues_take_turns() {
        assert_eq!(all(turns(&["a1", "a2", "a3", "b1", "c1", "b2"])), ["a1", "b1", "c1", "a2", "b2", "a3"]);
    }

    #[test]
    fn who_is_gone_costs_no_turn() {
        let mut some = turns(&["a1", "a2", "b1", "b2"]);
        some.skip(|item| *item == "a1");
        assert_eq!(some.len(), 3);
        assert_eq!(all(some), ["a2", "b1", "b2"]);
        let mut none = turns(&["a1", "b1"]);
        none.skip(|_| true);
        assert_eq!(all(none), [""; 0]);
    }

    #[test]
    fn only_a_longer_queue_gives_way() {
        let mut some = turns(&["a1", "a2", "a3", "b1"]);
        assert_eq!(some.pop_longer("a"), None);
        assert_eq!(some.pop_longer("b"), Some("a3"));
        assert_eq!(some.pop_longer("b"), None);
        assert_eq!(some.pop_longer("c"), Some("a2"));
        assert_eq!(some.pop_longer("c"), None);
        some.retain("a", |_| false);
        assert_eq!((some.pop_longest(), some.pop_longest()), (Some("b1"), None));
        assert_eq!(all(some), [""; 0]);
    }
}
