//! Pages that a run has under another address: those that were redirected to one that it has, and those that have the text of
//! the page that they name as canonical.

use std::collections::HashMap;

use store::runs::{self, PageState, Standing};
use store::{Conn, StoreError};

use super::page::{Outcome, PageResult};

/// The code of a page that is left out as a copy of another.
const CODE: &str = "DUPLICATE_PAGE";

/// The state of the pages that results name besides their own addresses.
pub(super) struct Copies {
    known: HashMap<Vec<u8>, Standing>,
}

/// The results, those behind the others that name another page as canonical: it may be among them.
pub(super) fn last<'a, 'r>(
    results: &'a [(&'r str, &'r PageResult)],
) -> impl Iterator<Item = &'a (&'r str, &'r PageResult)> {
    let names_another = |result: &PageResult| result.canonical.is_some();
    let first = results.iter().filter(move |(_, result)| !names_another(result));
    first.chain(results.iter().filter(move |(_, result)| names_another(result)))
}

impl Copies {
    /// Reads it. The run's progress is locked.
    pub(super) async fn of(conn: &mut Conn, run: &str, results: &[(&str, &PageResult)]) -> Result<Self, StoreError> {
        let named = |(_, result): &(&str, &PageResult)| {
            [result.alias.as_ref().map(|page| page.key.clone()), result.canonical.clone()]
        };
        let keys: Vec<Vec<u8>> = results.iter().flat_map(named).flatten().collect();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        Ok(Self { known: runs::standings(conn, run, &keys).await? })
    }

    /// Why a document is left out, as a code and a sentence. One that is none counts as read from now on.
    pub(super) fn judge(&mut self, result: &PageResult) -> Option<(&'static str, &'static str)> {
        let led_to = result.alias.as_ref().and_then(|page| self.known.get(&page.key));
        if led_to.is_some_and(|page| matches!(page.state, PageState::Queued | PageState::Done | PageState::Alias)) {
            return Some((CODE, "the page leads to one that the crawl has under its own address"));
        }
        let canonical = result.canonical.as_ref().and_then(|key| self.known.get(key));
        if canonical.is_some_and(|page| page.content.is_some() && page.content == result.content) {
            return Some((CODE, "the page has the text of the one that it names as canonical"));
        }
        if let Outcome::Document(_) = result.outcome {
            let read = Standing { state: PageState::Done, content: result.content };
            let keys = result.alias.iter().map(|page| &page.key).chain(&result.key);
            self.known.extend(keys.map(|key| (key.clone(), read)));
        }
        None
    }
}
