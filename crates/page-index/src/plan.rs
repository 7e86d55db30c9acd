//! Queries as the library runs them.

use std::collections::HashMap;

use tantivy::Searcher;
use tantivy::Term;
use tantivy::query::{
    AllQuery, Bm25StatisticsProvider, BooleanQuery, BoostQuery, ConstScoreQuery, Occur, PhraseQuery, Query as Search,
    TermQuery,
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
/// Factor on the average length of pages. The library fixes k1 at 1.2 and b at 0.75; this weakens what length does, as
/// long pages of the web often say more.
const LENGTH: f32 = 1.2;

/// Word of a query, with its stems in the languages of the index.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) stems: Vec<String>,
    /// Place among the words of the query, those without a topic counted.
    pub(crate) place: u32,
    /// How rarely pages have the word: the weight that BM25 gives it.
    pub(crate) rarity: f32,
    /// How often the query has it.
    times: f32,
}

/// Query to run.
pub(crate) struct Plan {
    pub(crate) search: Box<dyn Search>,
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

/// What BM25 is told of the index.
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
    let search = planner.search(field, &words, planner.demands(asked));
    let Planner { languages, statistics, .. } = planner;
    Ok(Some(Plan { search, wanted: words.wanted, statistics, languages }))
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

type Clause = (Occur, Box<dyn Search>);

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

    /// Sets how rare a word is, and has its stems share that.
    fn weigh(&mut self, word: &mut Wanted, field: Field) -> tantivy::Result<()> {
        let total = self.statistics.total;
        let mut pages = 0;
        for stem in &word.stems {
            pages += self.statistics.searcher.doc_freq(&Term::from_field_text(field, stem))?;
        }
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
    fn search(&self, field: Field, words: &Words, mut demands: Vec<Clause>) -> Box<dyn Search> {
        let mut terms: Vec<Clause> = Vec::new();
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
            terms.push((Occur::Should, term(name, IndexRecordOption::WithFreqs)));
        }
        let has_must = demands.iter().any(|(occur, _)| *occur == Occur::Must);
        if demands.is_empty() {
            return Box::new(BooleanQuery::new(terms));
        }
        if !words.wanted.is_empty() {
            demands.push((Occur::Must, Box::new(BooleanQuery::new(terms))));
        } else if !has_must {
            demands.push((Occur::Must, Box::new(AllQuery)));
        }
        Box::new(BooleanQuery::new(demands))
    }

    /// Returns what a page must and must not have.
    fn demands(&self, asked: &Asked<'_>) -> Vec<Clause> {
        let (fields, query) = (self.fields, asked.query);
        let mut out: Vec<Clause> = Vec::new();
        for phrase in &query.phrases {
            out.extend(self.phrase(fields.words, phrase).map(|search| (Occur::Must, search)));
        }
        for phrase in &query.in_title {
            out.extend(self.phrase(fields.title_words, phrase).map(|search| (Occur::Must, silent(search))));
        }
        for word in &query.in_url {
            out.extend(url_phrase(fields, word).map(|search| (Occur::Must, silent(search))));
        }
        for phrase in &query.excluded {
            out.extend(self.phrase(fields.words, phrase).map(|search| (Occur::MustNot, search)));
        }
        let types = query.file_types.iter().map(|ending| fields.fact(Fact::FileType(ending)));
        out.extend(any(types.map(fact).collect()).map(|search| (Occur::Must, silent(search))));
        let sites = |sites: &[String]| any(sites.iter().map(|value| site(fields, value)).collect());
        out.extend(sites(&query.sites).map(|search| (Occur::Must, silent(search))));
        out.extend(sites(&query.excluded_sites).map(|search| (Occur::MustNot, search)));
        match asked.domains {
            Some(Domains::Only(hosts)) => out.extend(sites(hosts).map(|search| (Occur::Must, silent(search)))),
            Some(Domains::Without(hosts)) => out.extend(sites(hosts).map(|search| (Occur::MustNot, search))),
            None => {}
        }
        if asked.query.words.is_empty() && asked.query.phrases.is_empty() && out.is_empty() {
            out.push((Occur::Must, silent(Box::new(AllQuery))));
        }
        out
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
        None => Box::new(tantivy::query::EmptyQuery),
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
