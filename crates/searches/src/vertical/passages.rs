//! Passages of pages that answer a query.

use base::Stop;
use extractive::{Page, Source};
use search::Words;

use crate::found::Found;
use crate::highlights::OwnCopy;
use crate::operation::Search;

/// Maximum length of a passage, in characters.
const MAX_CHARS: usize = 1000;

/// Returns up to `most` passages of each result: sentences of our copy of the page, otherwise the text of the engine.
pub(crate) async fn of(search: &Search<'_>, found: &mut [Found], most: usize) -> Vec<Vec<String>> {
    let query = Words::parse(&search.request.query).text;
    let copies: Vec<Option<OwnCopy>> = found.iter_mut().map(OwnCopy::of).collect();
    let work = move |stop: &Stop| {
        let of = |copy: Option<OwnCopy>| copy.map_or_else(Vec::new, |copy| sentences(&copy, &query, stop));
        copies.into_iter().map(of).collect::<Vec<_>>()
    };
    let owner = search.caller.owner(&search.id);
    let cpu = &search.searches.scraper().tools().cpu;
    let mut passages = cpu.run(&owner, search.deadline, work).await.unwrap_or_default();
    passages.resize(found.len(), Vec::new());
    for (passages, found) in passages.iter_mut().zip(found) {
        passages.truncate(most);
        if passages.is_empty() && !found.result.text.is_empty() {
            passages.push(found.result.text.clone());
        }
    }
    passages
}

fn sentences(copy: &OwnCopy, query: &str, stop: &Stop) -> Vec<String> {
    let OwnCopy { text, title } = copy;
    let page = Page::read(&Source { markdown: text, title, language: "" }, stop).ok();
    let found = page.and_then(|page| page.find(query, None, stop).ok().flatten());
    let quote = found.map(|found| found.quote).unwrap_or_default();
    quote.lines().filter(|line| !line.is_empty()).map(|line| line.chars().take(MAX_CHARS).collect()).collect()
}
