//! What speaks for a sentence: the terms of the question in it and around it.

use base::Stop;

use crate::GaveUp;
use crate::logarithm::ln;
use crate::page::Page;
use crate::query::{Query, Wanted};
use crate::words::{fold, words};

/// BM25: how soon further occurrences of a term count less, and how much length counts. The values of the literature.
const K1: f32 = 1.2;
const B: f32 = 0.75;
/// Worth of a pair of characters that is not on the page, beside 1 for others, where the pairs on both sides are, or
/// one.
const BRIDGE: f32 = 0.2;
const HALF_BRIDGE: f32 = 0.6;
/// Quality of `United Methodist Church` for `UMC`.
const SPELLED_OUT: f32 = 0.8;
/// Sentences between two looks at the [`Stop`].
const SENTENCES_BETWEEN_LOOKS: usize = 128;

/// An occurrence of a term in a sentence.
#[derive(Debug, Clone, Copy)]
struct Hit {
    term: u8,
    count: u8,
    quality: f32,
}

/// What a sentence has of the question.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Row {
    /// The terms in it, as bits.
    pub(crate) mask: u64,
    /// How many pairs of neighbouring terms of the question are neighbours in it.
    pub(crate) pairs: u8,
    pub(crate) words: u16,
    first_hit: u32,
}

/// Where the terms of a question are on a page.
pub(crate) struct Survey {
    pub(crate) rows: Vec<Row>,
    hits: Vec<Hit>,
    /// What each term is worth: rare terms most.
    pub(crate) worth: Vec<f32>,
    pub(crate) total: f32,
    /// Terms anywhere on the page.
    pub(crate) on_page: u64,
    /// Best quality of each term on the page.
    qualities: Vec<f32>,
    average: f32,
    /// Terms of each block, in it and in the headings above it.
    pub(crate) block_masks: Vec<u64>,
    pub(crate) heading_masks: Vec<u64>,
}

impl Survey {
    pub(crate) fn of(page: &Page, query: &Query, stop: &Stop) -> Result<Self, GaveUp> {
        let mut survey = Survey {
            rows: Vec::with_capacity(page.sentences.len()),
            hits: Vec::new(),
            worth: Vec::new(),
            total: 0.0,
            on_page: 0,
            qualities: vec![0.0; query.terms.len()],
            average: 1.0,
            block_masks: vec![0; page.blocks.len()],
            heading_masks: vec![0; page.blocks.len()],
        };
        let mut buffer = String::new();
        let mut found = vec![Hit { term: 0, count: 0, quality: 0.0 }; query.terms.len()];
        let mut frequency = vec![0_u32; query.terms.len()];
        let mut all_words = 0_u64;
        for index in 0..page.sentences.len() {
            if index % SENTENCES_BETWEEN_LOOKS == 0 && stop.is_set() {
                return Err(GaveUp);
            }
            let row = survey.read(page.text_of(index), query, &mut found, &mut buffer);
            all_words += u64::from(row.words);
            survey.on_page |= row.mask;
            survey.block_masks[page.sentences[index].block] |= row.mask;
            for (term, hit) in found.iter_mut().enumerate() {
                if hit.count > 0 {
                    frequency[term] += 1;
                    survey.qualities[term] = survey.qualities[term].max(hit.quality);
                    survey.hits.push(Hit { term: u8::try_from(term).unwrap_or_default(), ..*hit });
                    hit.count = 0;
                    hit.quality = 0.0;
                }
            }
            survey.rows.push(row);
        }
        let count = page.sentences.len() as f32;
        survey.average = (all_words as f32 / count.max(1.0)).max(1.0);
        for (term, frequency) in query.terms.iter().zip(frequency) {
            let frequency = frequency as f32;
            survey.worth.push(term.weight * ln(1.0 + (count - frequency + 0.5) / (frequency + 0.5)));
        }
        survey.bridge_pairs(query);
        survey.total = survey.worth.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        for (index, block) in page.blocks.iter().enumerate() {
            if let Some(heading) = block.heading {
                survey.heading_masks[index] = survey.block_masks[heading] | survey.heading_masks[heading];
            }
        }
        Ok(survey)
    }

    /// Lowers the worth of a pair of characters that is on the page only as the ends of the pairs around it: it may not
    /// be a word.
    fn bridge_pairs(&mut self, query: &Query) {
        let on_page = self.on_page;
        let found = |place: usize| {
            let at = query.terms.iter().position(|term| term.pair && term.place == place);
            at.is_some_and(|at| on_page >> at & 1 == 1)
        };
        for (at, term) in query.terms.iter().enumerate() {
            if term.pair && on_page >> at & 1 == 0 {
                let around = u8::from(found(term.place.wrapping_sub(1))) + u8::from(found(term.place + 1));
                self.worth[at] *= [1.0, HALF_BRIDGE, BRIDGE][usize::from(around)];
            }
        }
    }

    fn read(&self, text: &str, query: &Query, found: &mut [Hit], buffer: &mut String) -> Row {
        let mut row = Row { first_hit: u32::try_from(self.hits.len()).unwrap_or(u32::MAX), ..Row::default() };
        let mut before: Option<(usize, u16)> = None;
        words(text, |word| {
            row.words = row.words.saturating_add(1);
            let Some(matched) = query.matches(&text[word.start..word.end], word.pair, buffer) else { return };
            row.mask |= matched.terms;
            let mut terms = matched.terms;
            while terms != 0 {
                let term = terms.trailing_zeros() as usize;
                terms &= terms - 1;
                found[term].count = found[term].count.saturating_add(1);
                found[term].quality = found[term].quality.max(matched.quality);
                if let Some((last, place)) = before
                    && term == last + 1
                    && row.words - place <= 2
                {
                    row.pairs = row.pairs.saturating_add(1);
                }
                before = Some((term, row.words));
            }
        });
        for (initials, term) in &query.acronyms {
            if has_words_of(text, initials) {
                row.mask |= 1_u64 << *term;
                found[*term].count = found[*term].count.max(1);
                found[*term].quality = found[*term].quality.max(SPELLED_OUT);
            }
        }
        row
    }

    /// Returns the share of the question's worth that the terms of a mask have.
    pub(crate) fn share(&self, mask: u64) -> f32 {
        if mask == 0 {
            return 0.0;
        }
        self.worth.iter().enumerate().filter(|(term, _)| mask >> term & 1 == 1).map(|(_, worth)| worth).sum::<f32>()
            / self.total
    }

    /// Returns whether a sentence or what it belongs to has a term of the question.
    pub(crate) fn is_near(&self, page: &Page, sentence: usize) -> bool {
        let block = page.block_of(sentence);
        let around = [Some(page.sentences[sentence].block), block.lead, block.heading];
        around.into_iter().flatten().any(|block| self.block_masks[block] != 0)
    }

    /// Returns the share of the question's worth on the page, where a related word counts less than the word itself:
    /// `North American` is a weak hint of `America`.
    pub(crate) fn sure_share(&self) -> f32 {
        self.worth.iter().zip(&self.qualities).map(|(worth, quality)| worth * quality).sum::<f32>() / self.total
    }

    /// Returns the same share in one sentence.
    pub(crate) fn sure_share_of(&self, sentence: usize) -> f32 {
        let sure = |hit: &Hit| self.worth[usize::from(hit.term)] * hit.quality;
        self.hits_of(sentence).iter().map(sure).sum::<f32>() / self.total
    }

    fn hits_of(&self, sentence: usize) -> &[Hit] {
        let row = &self.rows[sentence];
        let first = row.first_hit as usize;
        &self.hits[first..first + row.mask.count_ones() as usize]
    }

    /// Returns BM25 of a sentence beside the most that any sentence could reach.
    pub(crate) fn bm25(&self, sentence: usize) -> f32 {
        let length = K1 * (1.0 - B + B * f32::from(self.rows[sentence].words) / self.average);
        let sum: f32 = self
            .hits_of(sentence)
            .iter()
            .map(|hit| {
                let count = f32::from(hit.count);
                self.worth[usize::from(hit.term)] * hit.quality * count * (K1 + 1.0) / (count + length)
            })
            .sum();
        sum / self.total
    }
}

/// What speaks for a sentence, each from 0 to about 1.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Evidence {
    pub(crate) bm25: f32,
    pub(crate) share: f32,
    pub(crate) before: f32,
    pub(crate) after: f32,
    pub(crate) block: f32,
    pub(crate) heading: f32,
    pub(crate) lead: f32,
    pub(crate) pairs: f32,
    pub(crate) kind: f32,
    pub(crate) names: f32,
    pub(crate) length: f32,
    pub(crate) first: f32,
    pub(crate) question: f32,
}

impl Evidence {
    pub(crate) fn of(page: &Page, survey: &Survey, query: &Query, sentence: usize) -> Self {
        let row = survey.rows[sentence];
        let block = page.block_of(sentence);
        let number = page.sentences[sentence].block;
        let text = page.text_of(sentence);
        let own = row.mask;
        let neighbour = |at: Option<usize>| {
            at.filter(|at| block.sentences.contains(at)).map_or(0, |at| survey.rows[at].mask) & !own
        };
        let flag = |yes: bool| if yes { 1.0 } else { 0.0 };
        let names = query.terms.iter().enumerate().filter(|(_, term)| term.name);
        let (had, all) = names.fold((0.0, 0.0), |(had, all), (term, _)| (had + flag(own >> term & 1 == 1), all + 1.0));
        Evidence {
            bm25: survey.bm25(sentence),
            share: survey.share(own),
            before: survey.share(neighbour(sentence.checked_sub(1))),
            after: survey.share(neighbour(Some(sentence + 1))),
            block: survey.share(survey.block_masks[number] & !own),
            heading: survey.share(survey.heading_masks[number] & !own),
            lead: block.lead.map_or(0.0, |lead| survey.share(survey.block_masks[lead] & !own)),
            pairs: f32::from(row.pairs.min(6)) / 3.0,
            kind: 0.0,
            names: if all > 0.0 { had / all } else { 0.0 },
            length: ln(f32::from(row.words.max(1)) / survey.average),
            first: flag(block.sentences.start == sentence),
            question: flag(is_question(text)),
        }
    }
}

/// Returns whether words that follow each other begin with these initials. Two initials are found only as capitals.
fn has_words_of(text: &str, initials: &[char]) -> bool {
    let (mut at, mut found) = (0, false);
    words(text, |word| {
        let Some(letter) = text[word.start..word.end].chars().next() else { return };
        let fits = |wanted: char| letter == wanted || (initials.len() > 2 && letter.to_uppercase().eq([wanted]));
        at = if fits(initials[at]) { at + 1 } else { usize::from(fits(initials[0])) };
        if at == initials.len() {
            (found, at) = (true, 0);
        }
    });
    found
}

/// Returns whether a sentence asks something.
pub(crate) fn is_question(text: &str) -> bool {
    let end = |c: char| !c.is_alphanumeric() && !matches!(c, '?' | '？' | '؟');
    text.trim_end_matches(end).ends_with(['?', '？', '؟'])
}

/// Returns 1 for a sentence that has what a question asks for: a date for when, a name for who.
pub(crate) fn kind_of_answer(text: &str, query: &Query) -> f32 {
    let language = query.language;
    let (mut numbers, mut years, mut listed, mut capitals) = (0, 0, 0, 0);
    let mut count = 0;
    let set = match query.wanted {
        Wanted::When => &language.months,
        Wanted::Number => &language.numbers,
        Wanted::Where => &language.near,
        Wanted::Why => &language.because,
        Wanted::Who => &language.near,
        Wanted::Anything => return 0.0,
    };
    let mut buffer = String::new();
    words(text, |word| {
        let form = &text[word.start..word.end];
        count += 1;
        if form.bytes().all(|byte| byte.is_ascii_digit()) {
            numbers += 1;
            years += i32::from(form.len() == 4 && matches!(form.as_bytes()[0], b'1' | b'2'));
        } else if form.as_bytes()[0].is_ascii_digit() {
            numbers += 1;
        }
        let folded = fold(form);
        let listed_here = if word.pair {
            form.chars().any(|c| set.contains(&*c.encode_utf8(&mut [0; 4]))) || set.contains(&folded)
        } else {
            set.contains(&folded)
        };
        listed += i32::from(listed_here);
        let capital = count > 1 && form.chars().next().is_some_and(char::is_uppercase);
        if capital && query.matches(form, word.pair, &mut buffer).is_none() {
            capitals += 1;
        }
    });
    let good = match query.wanted {
        Wanted::When => years > 0 || listed > 0,
        Wanted::Number => numbers > 0 || listed > 0,
        Wanted::Where => listed > 0 && (capitals > 0 || language.has_no_capitals()),
        Wanted::Who => capitals > 0,
        Wanted::Why => listed > 0,
        Wanted::Anything => false,
    };
    if good { 1.0 } else { 0.0 }
}
