//! A summary: the sentences that say most of what the page repeats and its title names, early ones first.

use std::collections::HashMap;

use base::Stop;

use crate::GaveUp;
use crate::blocks::Kind;
use crate::evidence::is_question;
use crate::logarithm::ln;
use crate::page::{Page, upto};
use crate::words::{fold, is_unspaced, words};

/// Sentences that are read for a summary. What a page is about stands in its first 20 000 sentences.
const MOST: usize = 20_000;
/// Fewest and most sentences of a summary, and the words of the page for each one between.
const FEWEST: usize = 3;
const LONGEST: usize = 6;
const WORDS_FOR_ONE_MORE: usize = 1000;
/// Fewest letters and digits of a sentence of a summary.
const SHORTEST: usize = 40;
const SHORTEST_UNSPACED: usize = 15;
/// Words of a sentence beyond which it counts less, for the shortest summary, and how many more for each further
/// sentence: the longer the summary, the longer its sentences may be.
const LONG_SENTENCE: f32 = 20.0;
const LONGER_SENTENCE: f32 = 8.0;
/// How much more the first sentence counts than the last, and after how many sentences that is half.
const POSITION: f32 = 1.0;
const HALF_POSITION: f32 = 8.0;
const TITLE: f32 = 0.3;
/// Sentences of which more than this share is said already are left out.
const REDUNDANT: f32 = 0.6;
/// A call to action, an item of a list or a row, a sentence without an end.
const ACTION: f32 = 0.3;
const ITEM: f32 = 0.7;
const UNENDED: f32 = 0.6;
/// Longest part of a title that is read, in bytes.
const LONGEST_TITLE: usize = 1000;
/// A pair of characters is this part of a word.
const PAIR: f32 = 0.6;

struct Told {
    sentence: usize,
    /// The numbers of its terms, each once.
    terms: Vec<usize>,
    words: f32,
    action: bool,
    score: f32,
}

/// A word as it is written: the number of its stem, if it has a topic, and whether it calls to action.
#[derive(Clone, Copy)]
struct Form {
    term: Option<usize>,
    action: bool,
}

/// Numbers for stems, in the order in which they are seen.
#[derive(Default)]
struct Terms {
    by_form: HashMap<String, Form>,
    by_stem: HashMap<String, usize>,
}

impl Page<'_> {
    /// Returns three to six sentences of the page that say what it is about, in page order: fewer where the page has
    /// fewer.
    ///
    /// # Errors
    ///
    /// [`GaveUp`] when `stop` is set.
    pub fn summary(&self, stop: &Stop) -> Result<String, GaveUp> {
        let mut terms = Terms::default();
        let mut told = self.told(&mut terms, stop, true)?;
        if told.len() < FEWEST {
            told = self.told(&mut terms, stop, false)?;
        }
        let title = self.title_terms(&mut terms);
        let mut counts = vec![0_usize; terms.by_stem.len()];
        for term in told.iter().flat_map(|told| &told.terms) {
            counts[*term] += 1;
        }
        let all = told.iter().map(|told| told.words).sum::<f32>() as usize;
        let most = (FEWEST + all / WORDS_FOR_ONE_MORE).min(LONGEST);
        for (place, sentence) in told.iter_mut().enumerate() {
            sentence.score = self.weight(sentence, place, &counts, &title) * length_weight(sentence.words, most);
        }
        Ok(self.joined(&chosen(&told, counts.len(), most)))
    }

    /// Returns the sentences that may stand in a summary. With `full`, only those of a fair length.
    fn told(&self, terms: &mut Terms, stop: &Stop, full: bool) -> Result<Vec<Told>, GaveUp> {
        let mut found = Vec::new();
        for sentence in 0..self.sentences.len().min(MOST) {
            if sentence % 256 == 0 && stop.is_set() {
                return Err(GaveUp);
            }
            let text = self.text_of(sentence);
            if matches!(self.block_of(sentence).kind, Kind::Heading(_) | Kind::Code) || is_question(text) {
                continue;
            }
            let shortest = if text.chars().any(is_unspaced) { SHORTEST_UNSPACED } else { SHORTEST };
            let letters = text.chars().filter(|c| c.is_alphanumeric()).take(shortest).count();
            if letters < if full { shortest } else { 2 } {
                continue;
            }
            found.push(self.told_of(sentence, terms));
        }
        Ok(found)
    }

    fn told_of(&self, sentence: usize, terms: &mut Terms) -> Told {
        let text = self.text_of(sentence);
        let mut told = Told { sentence, terms: Vec::new(), words: 0.0, action: false, score: 0.0 };
        words(text, |word| {
            let form = &text[word.start..word.end];
            told.words += if word.pair { PAIR } else { 1.0 };
            let form = terms.form(self, form, word.pair);
            told.action |= form.action;
            told.terms.extend(form.term);
        });
        told.terms.sort_unstable();
        told.terms.dedup();
        told
    }

    /// Returns the terms of the title and of the first heading.
    fn title_terms(&self, terms: &mut Terms) -> Vec<usize> {
        let heading = self.blocks.iter().find(|block| matches!(block.kind, Kind::Heading(_)));
        let heading = heading.map_or("", |heading| upto(&self.text[heading.text.clone()], LONGEST_TITLE));
        let mut found = Vec::new();
        for text in [upto(self.title, LONGEST_TITLE), heading] {
            words(text, |word| found.extend(terms.form(self, &text[word.start..word.end], word.pair).term));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns what a sentence says of what the page says: its terms that others have too, those of the title, its
    /// place.
    fn weight(&self, told: &Told, place: usize, counts: &[usize], title: &[usize]) -> f32 {
        if told.terms.is_empty() {
            return 0.0;
        }
        let shared = told.terms.iter().map(|term| counts[*term]).filter(|count| *count > 1);
        let central = shared.map(|count| ln(1.0 + count as f32)).sum::<f32>() / (told.terms.len() as f32).sqrt();
        let named = told.terms.iter().filter(|term| title.binary_search(term).is_ok()).count() as f32;
        let named = named / (title.len().max(1) as f32).sqrt();
        let early = POSITION / (1.0 + place as f32 / HALF_POSITION);
        let mut weight = central * (1.0 + early) * (1.0 + TITLE * named);
        if told.action {
            weight *= ACTION;
        }
        if matches!(self.block_of(told.sentence).kind, Kind::Item | Kind::Row) {
            weight *= ITEM;
        }
        if !self
            .text_of(told.sentence)
            .trim_end_matches(['"', '”', '’', ')', '»', '」'])
            .ends_with(['.', '!', '。', '！', '…', '।', '؟', '։'])
        {
            weight *= UNENDED;
        }
        weight
    }

    fn joined(&self, sentences: &[usize]) -> String {
        let between = if matches!(self.language.tag, "zh" | "ja") { "" } else { " " };
        sentences.iter().map(|at| self.on_one_line(*at)).collect::<Vec<_>>().join(between)
    }
}

fn length_weight(words: f32, most: usize) -> f32 {
    let long = LONG_SENTENCE + LONGER_SENTENCE * (most - FEWEST) as f32;
    (long / words.max(1.0)).min(1.0)
}

/// Returns the best sentences that do not repeat each other, in page order.
fn chosen(told: &[Told], terms: usize, most: usize) -> Vec<usize> {
    let mut order: Vec<&Told> = told.iter().collect();
    order.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.sentence.cmp(&b.sentence)));
    let mut said = vec![false; terms];
    let mut found = Vec::new();
    for candidate in order {
        let repeated = candidate.terms.iter().filter(|term| said[**term]).count();
        if repeated as f32 > REDUNDANT * candidate.terms.len() as f32 {
            continue;
        }
        candidate.terms.iter().for_each(|term| said[*term] = true);
        found.push(candidate.sentence);
        if found.len() == most {
            break;
        }
    }
    found.sort_unstable();
    found
}

impl Terms {
    fn form(&mut self, page: &Page, form: &str, pair: bool) -> Form {
        if let Some(known) = self.by_form.get(form) {
            return *known;
        }
        let folded = fold(form);
        let language = page.language;
        let action = language.action.contains(&folded);
        let empty = language.is_empty(&folded) || form.chars().all(char::is_numeric);
        let term = (!empty).then(|| {
            let stem = if pair { folded } else { language.stem(&form.to_lowercase()) };
            let next = self.by_stem.len();
            *self.by_stem.entry(stem).or_insert(next)
        });
        let found = Form { term, action };
        self.by_form.insert(form.to_owned(), found);
        found
    }
}
