//! Cache of answers, in the memory of this process: the same model, prompt, question and page give the same answer.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use llm::cache::{Question, key};
use llm::prompt::Prompt;
use llm::schema::Schema;
use llm::{Model, Role};
use parking_lot::Mutex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::{Answered, PageText};

/// Bytes of an entry besides its texts.
const ENTRY_BYTES: usize = 300;

/// Use of the cache by a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheUse {
    /// Maximum age of an answer; `None` if cached answers are not used.
    pub max_age: Option<Duration>,
    /// Whether new answers are stored.
    pub stores: bool,
}

/// Bounded cache; the oldest answers leave it first.
pub(crate) struct Cache {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: HashMap<String, Entry>,
    /// Keys with their numbers, oldest first; an entry that was replaced has another number.
    order: VecDeque<(String, u64)>,
    bytes: usize,
    next: u64,
}

struct Entry {
    answered: Answered<Value>,
    at: Instant,
    bytes: usize,
    number: u64,
}

/// Input of a cached answer besides the model.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) prompt: &'static Prompt,
    /// Field of the document: of the same sentences, each field shows another part.
    pub(crate) field: &'static str,
    pub(crate) instruction: &'a str,
    pub(crate) schema: Option<&'a Schema>,
}

impl Cache {
    /// Creates a cache of at most this many bytes; with 0 it stores nothing.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, state: Mutex::default() }
    }

    /// Returns an answer that is at most this old.
    pub(crate) fn get(&self, key: &str, max_age: Duration) -> Option<Answered<Value>> {
        let state = self.state.lock();
        let entry = state.entries.get(key).filter(|entry| entry.at.elapsed() <= max_age)?;
        Some(entry.answered.clone())
    }

    /// Stores an answer, in place of an older one. One that is larger than a quarter of the cache is not stored.
    pub(crate) fn put(&self, key: String, answered: &Answered<Value>) {
        let warnings = answered.warnings.iter().map(String::len).sum::<usize>();
        let bytes = wire::memory_of(&answered.value) + warnings + 2 * key.len() + ENTRY_BYTES;
        if bytes > self.limit / 4 {
            return;
        }
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        state.bytes += bytes;
        state.order.push_back((key.clone(), number));
        let entry = Entry { answered: answered.clone(), at: Instant::now(), bytes, number };
        if let Some(before) = state.entries.insert(key, entry) {
            state.bytes -= before.bytes;
        }
        state.shrink(self.limit);
    }
}

impl State {
    /// Removes the oldest entries until the rest fits.
    fn shrink(&mut self, limit: usize) {
        let Self { entries, order, bytes, .. } = self;
        if order.len() > 2 * entries.len() + 64 {
            order.retain(|(key, number)| entries.get(key).is_some_and(|entry| entry.number == *number));
        }
        while *bytes > limit {
            let Some((key, number)) = order.pop_front() else { return };
            if entries.get(&key).is_some_and(|entry| entry.number == number)
                && let Some(entry) = entries.remove(&key)
            {
                *bytes -= entry.bytes;
            }
        }
    }
}

/// Returns the key of an answer for a team.
pub(crate) fn key_of(model: &Model, team: &str, page: &PageText, asked: Asked<'_>) -> String {
    let Asked { prompt, field, instruction, schema } = asked;
    let page_hash = hash(page);
    let question = Question { role: Role::Extract, prompt, instruction, schema, page_hash: &page_hash };
    format!("{team}/{field}/{}", key(model, &question))
}

fn hash(page: &PageText) -> [u8; 32] {
    let PageText { markdown, title, language, facts, structured, links } = page;
    let mut hash = Sha256::new();
    for text in [markdown, title, language, facts, structured].into_iter().chain(links) {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answered(text: &str) -> Answered<Value> {
        Answered { value: json!(text), warnings: Vec::new() }
    }

    #[tokio::test(start_paused = true)]
    async fn answers_have_an_age_and_are_replaced() {
        let cache = Cache::new(1 << 20);
        let minute = Duration::from_secs(60);
        cache.put("a".to_owned(), &answered("one"));
        assert_eq!(cache.get("a", minute), Some(answered("one")));
        tokio::time::advance(2 * minute).await;
        assert_eq!(cache.get("a", minute), None);
        cache.put("a".to_owned(), &answered("two"));
        assert_eq!((cache.get("a", minute), cache.get("b", minute)), (Some(answered("two")), None));
    }

    #[tokio::test]
    async fn the_cache_is_bounded_whatever_is_put_in() {
        let cache = Cache::new(20_000);
        let day = Duration::from_secs(86_400);
        for number in 0..1000 {
            cache.put(format!("key {number}"), &answered(&"x".repeat(1000)));
            cache.put("the same".to_owned(), &answered("y"));
        }
        let state = cache.state.lock();
        assert!(state.bytes <= 20_000 && state.order.len() < 200, "{} {}", state.bytes, state.order.len());
        assert_eq!(state.bytes, state.entries.values().map(|entry| entry.bytes).sum::<usize>());
        drop(state);
        assert!(cache.get("key 999", day).is_some() && cache.get("key 0", day).is_none());
        cache.put("large".to_owned(), &answered(&"x".repeat(10_000)));
        assert_eq!(cache.get("large", day), None);
        let none = Cache::new(0);
        none.put("a".to_owned(), &answered("one"));
        assert_eq!(none.get("a", day), None);
    }
}
