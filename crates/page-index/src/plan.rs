//! Queries as the library runs them.

use std::collections::HashMap;

use tantivy::Searcher;
use tantivy::Term;
use tantivy::query::{
    AllQuery, Bm25StatisticsProvider, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, Occur, PhraseQuery,
    Query as Search, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use crate::address::{joined, plain_host, plain_words};
use crate::document::{MOST_NAME, NAMED};
use crate::language::{LANGUAGES, Language};
use crate::schema::{Fact, Fields};
use crate::view::View;
use crate::words::{fold_into, lower_into, words};
use crate::{Asked, Domains, Source};

/// Most words of a query that are looked for, and most stems of them all.
const MOST_WORDS: usize = 32;
const MOST_STEMS: usize = 64;
/// Most languages in whose stems a word is looked for.
const MOST_LANGUAGES: usize = 4;
/// Weight of the name of a page, its title or host, relative to a word.
const NAME: f32 = 2.0;
/// Factor on the average length of pages. The library fixes k1 at 1.2 and b at 0.75; this weakens what length does, as
/// long pages of the web often say more.
const LENGTH: f32 = 1.2;

/// Word of a query, with its stems in the languages of the index.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) stems: Vec<String>,
    /// Place among the words of the query, those without a topic counted.
    pub(crate) place: u32,
    /// Rarity of the word among the pages: its weight in BM25.
    pub(crate) rarity: f32,
    /// Frequency in the query.
    pub(crate) times: f32,
}

/// Query to run.
pub(crate) struct Plan {
    pub(crate) search: Box<dyn Search>,
    /// Terms that pages must not have.
    pub(crate) excluded: Option<Box<dyn Search>>,
    pub(crate) wanted: Vec<Wanted>,
    pub(crate) statistics: Statistics,
    languages: Vec<&'static Language>,
}

impl Plan {
    /// Returns how much of the query a short text has: the rarity of the words in it.
    pub(crate) fn worth_of(&self, text: &str) -> f32 {
        let mut stems: Vec<String> = Vec::new();
        words(text, |word| stems.extend(stems_of(word.text, word.pair, &self.languages)));
        let found = self.wanted.iter().filter(|word| word.stems.iter().any(|stem| stems.contains(stem)));
        found.map(|word| word.rarity).sum()
    }
}

/// Statistics of the index for BM25.
#[derive(Debug)]
pub(crate) struct Statistics {
    searcher: Searcher,
    /// Pages with a word in any of its stems, by stem: a stem that another language gives a word is not rarer for it.
    shared: HashMap<Term, u64>,
    total: u64,
}

impl Bm25StatisticsProvider for Statistics {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate"
    )]
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        Ok((self.searcher.total_num_tokens(field)? as f32 * LENGTH) as u64)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.total)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        match self.shared.get(term) {
            Some(pages) => Ok(*pages),
            None => self.searcher.doc_freq(term).map(|pages| pages.min(self.total)),
        }
    }
}

/// Makes the plan of a question. Returns nothing if no page can match.
pub(crate) fn plan(fields: &Fields, view: &View, asked: &Asked<'_>) -> tantivy::Result<Option<Plan>> {
    if asked.query.is_empty() || asked.scopes.is_empty() || view.total == 0 {
        return Ok(None);
    }
    let statistics = Statistics { searcher: view.searcher.clone(), shared: HashMap::new(), total: view.total };
    let mut planner = Planner { fields, languages: languages(view, asked), statistics };
    let field = if asked.source == Source::Images { fields.image_words } else { fields.words };
    let words = planner.wanted(asked, field)?;
    let demands = planner.demands(asked);
    let is_dated = asked.query.before.is_some() || asked.query.after.is_some();
    if words.wanted.is_empty() && demands.is_empty() && !is_dated {
        return Ok(None);
    }
    let search = planner.search(field, &words, demands);
    let excluded = planner.excluded(asked);
    let Planner { languages, statistics, .. } = planner;
    Ok(Some(Plan { search, excluded, wanted: words.wanted, statistics, languages }))
}

/// Returns the languages in whose stems words are looked for: that of the query first, then those with most pages.
fn languages(view: &View, asked: &Asked<'_>) -> Vec<&'static Language> {
    let shown = Language::of_query(&asked.query.text).map(|language| language.tag);
    let mut languages = view.languages.clone();
    languages.sort_by_key(|(language, pages)| std::cmp::Reverse((shown == Some(language.tag), *pages)));
    languages.into_iter().take(MOST_LANGUAGES).map(|(language, _)| language).collect()
}

/// Words of a query that are looked for.
struct Words {
    wanted: Vec<Wanted>,
    /// Letters and digits of the whole query.
    joined: String,
}

struct Planner<'a> {
    fields: &'a Fields,
    languages: Vec<&'static Language>,
    statistics: Statistics,
}

impl Planner<'_> {
    /// Returns the words that are looked for, without those that carry no topic if there are others, and all letters of
    /// the query.
    fn wanted(&mut self, asked: &Asked<'_>, field: Field) -> tantivy::Result<Words> {
        let mut found: Vec<(Wanted, bool)> = Vec::new();
        let stop = self.languages.first().copied().unwrap_or(&LANGUAGES[0]);
        let mut text = asked.query.words.join(" ");
        for phrase in &asked.query.phrases {
            text.push(' ');
            text.push_str(phrase);
        }
        let mut place = 0;
        words(&text, |word| {
            place += 1;
            let stems = stems_of(word.text, word.pair, &self.languages);
            let is_stop = is_stop(word.text, stop);
            if let Some((known, _)) = found.iter_mut().find(|(known, _)| known.stems == stems) {
                known.times += 1.0;
            } else {
                found.push((Wanted { stems, place, rarity: 0.0, times: 1.0 }, is_stop));
            }
        });
        if found.iter().any(|(_, is_stop)| !is_stop) {
            found.retain(|(_, is_stop)| !is_stop);
        }
        found.truncate(MOST_WORDS);
        let mut wanted: Vec<Wanted> = found.into_iter().map(|(wanted, _)| wanted).collect();
        let mut left = MOST_STEMS;
        for word in &mut wanted {
            word.stems.truncate(left.max(1));
            left = left.saturating_sub(word.stems.len());
            self.weigh(word, field)?;
        }
        Ok(Words { wanted, joined: joined(&text) })
    }

    /// Sets how rare a word is, keeps those of its stems that a page has, and has them share the rarity.
    fn weigh(&mut self, word: &mut Wanted, field: Field) -> tantivy::Result<()> {
        let total = self.statistics.total;
        let mut pages = 0;
        let mut stems = Vec::new();
        for stem in word.stems.drain(..) {
            let with_stem = self.statistics.searcher.doc_freq(&Term::from_field_text(field, &stem))?;
            pages += with_stem;
            // One that no page has would be looked up in every segment, three times.
            if with_stem > 0 {
                stems.push(stem);
            }
        }
        word.stems = stems;
        let pages = pages.min(total);
        for stem in &word.stems {
            self.statistics.shared.insert(Term::from_field_text(field, stem), pages);
        }
        #[expect(clippy::cast_precision_loss, reason = "a weight")]
        let (pages, total) = (pages as f32, total as f32);
        word.rarity = (1.0 + (total - pages + 0.5) / (pages + 0.5)).ln() * word.times;
        Ok(())
    }

    /// Puts words and demands together. Words alone stay a plain union of terms, of which the library skips what cannot
    /// be among the best.
    fn search(&self, field: Field, words: &Words, mut demands: Vec<Box<dyn Search>>) -> Box<dyn Search> {
        let mut terms: Vec<(Occur, Box<dyn Search>)> = Vec::new();
        for word in &words.wanted {
            for stem in &word.stems {
                let term = term(Term::from_field_text(field, stem), IndexRecordOption::WithFreqs);
                let weighed: Box<dyn Search> =
                    if word.times > 1.0 { Box::new(BoostQuery::new(term, word.times)) } else { term };
                terms.push((Occur::Should, weighed));
            }
        }
        if field == self.fields.words && (1..=MOST_NAME).contains(&words.joined.len()) {
            let name = Term::from_field_text(field, &format!("{NAMED}{}", words.joined));
            let name = term(name, IndexRecordOption::WithFreqs);
            terms.push((Occur::Should, Box::new(BoostQuery::new(name, NAME))));
        }
        if !words.wanted.is_empty() {
            demands.push(Box::new(BooleanQuery::new(terms)));
        }
        match demands.len() {
            0 => Box::new(AllQuery),
            1 => demands.remove(0),
            _ => Box::new(BooleanQuery::intersection(demands)),
        }
    }

    /// Returns what a page must have.
    fn demands(&self, asked: &Asked<'_>) -> Vec<Box<dyn Search>> {
        let (fields, query) = (self.fields, asked.query);
        let mut out: Vec<Box<dyn Search>> = Vec::new();
        out.extend(query.phrases.iter().filter_map(|phrase| self.phrase(fields.words, phrase)));
        out.extend(query.in_title.iter().filter_map(|phrase| self.phrase(fields.title_words, phrase)).map(silent));
        out.extend(query.in_url.iter().filter_map(|word| url_phrase(fields, word)).map(silent));
        let types = query.file_types.iter().map(|ending| fact(fields.fact(Fact::FileType(ending))));
        out.extend(any(types.collect()).map(silent));
        out.extend(sites(fields, &query.sites).map(silent));
        if let Some(Domains::Only(hosts)) = asked.domains {
            out.push(silent(sites(fields, hosts).unwrap_or_else(|| Box::new(EmptyQuery))));
        }
        out
    }

    /// Returns what a page must not have.
    fn excluded(&self, asked: &Asked<'_>) -> Option<Box<dyn Search>> {
        let (fields, query) = (self.fields, asked.query);
        let phrases = query.excluded.iter().filter_map(|phrase| self.phrase(fields.words, phrase));
        let mut out: Vec<Box<dyn Search>> = phrases.collect();
        out.extend(sites(fields, &query.excluded_sites));
        if let Some(Domains::Without(hosts)) = asked.domains {
            out.extend(sites(fields, hosts));
        }
        any(out)
    }

    /// Returns the search for a phrase in each language, or for a word.
    fn phrase(&self, field: Field, text: &str) -> Option<Box<dyn Search>> {
        let mut variants: Vec<Vec<String>> = Vec::new();
        for language in &self.languages {
            let mut stems = Vec::new();
            words(text, |word| {
                let (mut lower, mut stem) = (String::new(), String::new());
                if word.pair {
                    stem.push_str(word.text);
                } else {
                    lower_into(word.text, &mut lower);
                    language.stem_into(&lower, &mut stem);
                }
                stems.push(stem);
            });
            stems.truncate(MOST_WORDS);
            if !stems.is_empty() && !variants.contains(&stems) {
                variants.push(stems);
            }
        }
        any(variants.iter().map(|stems| in_a_row(field, stems)).collect())
    }
}

/// Returns the stems of a word in some languages, each once.
fn stems_of(word: &str, is_pair: bool, languages: &[&'static Language]) -> Vec<String> {
    if is_pair {
        return vec![word.to_owned()];
    }
    let mut lower = String::new();
    lower_into(word, &mut lower);
    let mut stems = Vec::new();
    for language in languages {
        let mut stem = String::new();
        language.stem_into(&lower, &mut stem);
        if !stems.contains(&stem) {
            stems.push(stem);
        }
    }
    stems
}

/// Returns whether a word carries no topic in a language.
fn is_stop(word: &str, language: &Language) -> bool {
    let (mut lower, mut folded) = (String::new(), String::new());
    lower_into(word, &mut lower);
    fold_into(&lower, &mut folded);
    language.is_stop(&folded)
}

fn in_a_row(field: Field, stems: &[String]) -> Box<dyn Search> {
    let mut terms: Vec<Term> = stems.iter().map(|stem| Term::from_field_text(field, stem)).collect();
    match terms.pop() {
        Some(only) if terms.is_empty() => term(only, IndexRecordOption::WithFreqs),
        Some(last) => {
            terms.push(last);
            Box::new(PhraseQuery::new(terms))
        }
        None => Box::new(EmptyQuery),
    }
}

/// Returns the search for the words of a text in a row in the address.
fn url_phrase(fields: &Fields, text: &str) -> Option<Box<dyn Search>> {
    let mut parts = Vec::new();
    plain_words(text, |word| parts.push(word.to_owned()));
    parts.truncate(MOST_WORDS);
    (!parts.is_empty()).then(|| in_a_row(fields.url_words, &parts))
}

/// Returns the search for the pages of a host, below a path if there is one.
fn site(fields: &Fields, value: &str) -> Box<dyn Search> {
    let (host, path) = value.split_once('/').unwrap_or((value, ""));
    let plain = plain_host(host);
    let host = fact(fields.fact(Fact::Site(plain.as_deref().unwrap_or(host))));
    match url_phrase(fields, path) {
        Some(path) => Box::new(BooleanQuery::intersection(vec![host, path])),
        None => host,
    }
}

/// Returns the search for the pages of any of several hosts.
fn sites(fields: &Fields, values: &[String]) -> Option<Box<dyn Search>> {
    any(values.iter().map(|value| site(fields, value)).collect())
}

fn term(term: Term, option: IndexRecordOption) -> Box<dyn Search> {
    Box::new(TermQuery::new(term, option))
}

fn fact(fact: Term) -> Box<dyn Search> {
    term(fact, IndexRecordOption::Basic)
}

/// Returns the search for any of several, nothing for none.
fn any(mut searches: Vec<Box<dyn Search>>) -> Option<Box<dyn Search>> {
    match searches.len() {
        0 => None,
        1 => searches.pop(),
        _ => Some(Box::new(BooleanQuery::union(searches))),
    }
}

/// Returns a search that adds nothing to the score.
fn silent(search: Box<dyn Search>) -> Box<dyn Search> {
    Box::new(ConstScoreQuery::new(search, 0.0))
}
