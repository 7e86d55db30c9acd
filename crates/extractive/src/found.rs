//! The answer to a question: which sentences, and how they are written.

use std::collections::HashSet;

use base::Stop;

use crate::GaveUp;
use crate::blocks::Kind;
use crate::evidence::{Evidence, Survey, kind_of_answer};
use crate::handover::answer_of_page;
use crate::page::Page;
use crate::query::Query;
use crate::score::{is_answered, score};
use crate::words::is_unspaced;

/// Most sentences of an answer.
const ANSWER: usize = 3;
/// Characters after which an answer that the page gives is long enough.
const SHORT_ANSWER: usize = 60;
/// Most bytes of highlights, before the marks between them. Characters of two bytes and more make it fewer characters.
pub const HIGHLIGHTS: usize = 1500;
/// Most sentences of highlights, where the page does not ask the question itself.
const PASSAGES: usize = 6;
/// A sentence is chosen when it scores at least this part of the best.
const NEAR_THE_BEST: f32 = 0.75;

/// What a page answers to a question. Every part is text of the page, word for word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// At most three sentences, without markup, in page order, with a line end between those that do not follow each
    /// other.
    pub answer: String,
    /// The most relevant passages as markdown, in page order, with `…` between parts that do not follow each other.
    pub highlights: String,
    /// The sentences of the highlights without markup, one a line.
    pub quote: String,
}

/// A second opinion on what texts mean, such as the vectors of a model.
pub trait Meaning {
    /// Returns a vector for each text, all of one length. Texts that mean the same have vectors in the same direction.
    fn vectors(&self, texts: &[&str]) -> Vec<Vec<f32>>;
}

/// Weight of the second opinion beside a score of 1 for the best sentence.
const MEANING: f32 = 1.2;
/// Most sentences that are scored in full, and that a second opinion is asked about.
const CANDIDATES: usize = 128;
/// Fewest letters and digits of a sentence that may be an answer.
const SHORTEST: usize = 12;
/// Fewest characters in scripts where one is worth about two letters.
const SHORTEST_UNSPACED: usize = 6;

/// Shortest text that may be an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shortest {
    Sentence,
    /// A word alone, where nothing else has the few words that are looked for.
    Word,
}

/// Most terms of a query that a word alone may answer.
const KEYWORDS: usize = 2;

struct Candidate {
    sentence: usize,
    evidence: Evidence,
    score: f32,
}

impl Page<'_> {
    /// Finds what the page answers to a question, or `None` when it does not answer it. `meaning` may change the order
    /// of the sentences that the words of the question find.
    ///
    /// # Errors
    ///
    /// [`GaveUp`] when `stop` is set.
    pub fn find(&self, question: &str, meaning: Option<&dyn Meaning>, stop: &Stop) -> Result<Option<Found>, GaveUp> {
        let query = Query::read(question, self.language);
        if query.letters.is_empty() {
            return Ok(None);
        }
        let survey = Survey::of(self, &query, stop)?;
        if let Some(answer) = answer_of_page(self, &query, &survey, HIGHLIGHTS) {
            let all: Vec<usize> = answer.collect();
            return Ok(Some(self.written(&all, self.beginning(&all))));
        }
        let mut candidates = self.candidates(&query, &survey, Shortest::Sentence, stop)?;
        if let (Some(meaning), Some(best)) = (meaning, candidates.first()) {
            let top = best.score;
            self.ask_meaning(meaning, question, &mut candidates, top);
        }
        let is_answered = |best: &Candidate| is_answered(&query, &survey, best.sentence, &best.evidence);
        if !candidates.first().is_some_and(is_answered) && query.terms.len() <= KEYWORDS {
            candidates = self.candidates(&query, &survey, Shortest::Word, stop)?;
        }
        let Some(best) = candidates.first().filter(|best| is_answered(best)) else { return Ok(None) };
        let near = candidates.iter().take_while(|other| other.score >= NEAR_THE_BEST * best.score);
        let chosen: Vec<usize> = near.take(PASSAGES).map(|candidate| candidate.sentence).collect();
        Ok(Some(self.written(&chosen, &chosen[..chosen.len().min(ANSWER)])))
    }

    /// Finds the first sentences that have every word of a query, or `None` when no sentence has.
    ///
    /// # Errors
    ///
    /// [`GaveUp`] when `stop` is set.
    pub fn find_words(&self, query: &str, stop: &Stop) -> Result<Option<Found>, GaveUp> {
        let query = Query::read(query, self.language);
        let every = query.terms.iter().enumerate().fold(0, |mask, (term, _)| mask | 1_u64 << term);
        if every == 0 {
            return Ok(None);
        }
        let survey = Survey::of(self, &query, stop)?;
        let has_every = |at: &usize| survey.rows[*at].mask == every && self.may_answer(*at, Shortest::Word);
        let chosen: Vec<usize> = (0..self.sentences.len()).filter(has_every).take(PASSAGES).collect();
        Ok((!chosen.is_empty()).then(|| self.written(&chosen, &chosen[..chosen.len().min(ANSWER)])))
    }

    /// Returns whether a question names nothing to look for, such as `What is it?`
    #[must_use]
    pub fn is_general(&self, question: &str) -> bool {
        Query::read(question, self.language).terms.is_empty()
    }

    /// Returns the first sentences of an answer that the page gives: the first one, and more after a short one such as
    /// `Yes.`
    fn beginning<'s>(&self, answer: &'s [usize]) -> &'s [usize] {
        let mut length = 0;
        let more = |at: &&usize| {
            let goes_on = length < SHORT_ANSWER;
            length += self.text_of(**at).chars().count();
            goes_on
        };
        let count = answer.iter().take(ANSWER).take_while(more).count();
        &answer[..count]
    }

    /// Returns the best sentences by score, best first.
    fn candidates(
        &self,
        query: &Query,
        survey: &Survey,
        shortest: Shortest,
        stop: &Stop,
    ) -> Result<Vec<Candidate>, GaveUp> {
        let mut found = Vec::new();
        for sentence in 0..self.sentences.len() {
            if sentence % 1024 == 0 && stop.is_set() {
                return Err(GaveUp);
            }
            if survey.is_near(self, sentence) && self.may_answer(sentence, shortest) {
                let evidence = Evidence::of(self, survey, query, sentence);
                found.push(Candidate { sentence, evidence, score: score(&evidence) });
            }
            if found.len() >= 16 * CANDIDATES {
                keep_best(&mut found);
            }
        }
        keep_best(&mut found);
        for candidate in &mut found {
            candidate.evidence.kind = kind_of_answer(self.text_of(candidate.sentence), query);
            candidate.score = score(&candidate.evidence);
        }
        keep_best(&mut found);
        Ok(found)
    }

    fn may_answer(&self, sentence: usize, shortest: Shortest) -> bool {
        let number = self.sentences[sentence].block;
        let header =
            self.blocks.get(number + 1).is_some_and(|next| next.kind == Kind::Row && next.lead == Some(number));
        if matches!(self.blocks[number].kind, Kind::Heading(_)) || (header && self.blocks[number].kind == Kind::Row) {
            return false;
        }
        let text = self.text_of(sentence);
        if shortest == Shortest::Word {
            return text.chars().any(char::is_alphanumeric);
        }
        let unspaced = text.chars().any(is_unspaced);
        text.chars().filter(|c| c.is_alphanumeric()).take(SHORTEST).count()
            >= if unspaced { SHORTEST_UNSPACED } else { SHORTEST }
    }

    fn ask_meaning(&self, meaning: &dyn Meaning, question: &str, candidates: &mut Vec<Candidate>, top: f32) {
        let texts: Vec<&str> =
            [question].into_iter().chain(candidates.iter().map(|candidate| self.text_of(candidate.sentence))).collect();
        let vectors = meaning.vectors(&texts);
        let Some((asked, others)) = vectors.split_first() else { return };
        for (candidate, vector) in candidates.iter_mut().zip(others) {
            candidate.score = candidate.score / top.max(f32::MIN_POSITIVE) + MEANING * cosine(asked, vector);
        }
        keep_best(candidates);
    }

    /// Returns sentences that another has chosen by their numbers in [`Page::sentences`], the most relevant first, such
    /// as a language model. Numbers that the page does not have are left out; so are the last ones where the highlights
    /// would be longer than `longest` characters. Without a number that the page has, every part is empty.
    #[must_use]
    pub fn picked(&self, numbers: &[usize], longest: usize) -> Found {
        let mut seen = HashSet::new();
        let known = |number: &usize| *number < self.sentences.len() && seen.insert(*number);
        let chosen: Vec<usize> = numbers.iter().copied().filter(known).collect();
        self.written_within(&chosen, &chosen[..chosen.len().min(ANSWER)], longest)
    }

    fn written(&self, chosen: &[usize], answer: &[usize]) -> Found {
        self.written_within(chosen, answer, HIGHLIGHTS)
    }

    fn written_within(&self, chosen: &[usize], answer: &[usize], longest: usize) -> Found {
        let mut chosen = chosen.to_vec();
        let mut highlights = self.passages(&sorted(&chosen));
        while highlights.chars().count() > longest && chosen.len() > 1 {
            chosen.pop();
            highlights = self.passages(&sorted(&chosen));
        }
        if highlights.chars().count() > longest {
            // The targets of links make one sentence too long.
            highlights = chosen.first().map_or_else(String::new, |only| self.on_one_line(*only));
        }
        let quote: Vec<String> = sorted(&chosen).into_iter().map(|at| self.on_one_line(at)).collect();
        Found { answer: self.joined_lines(&sorted(answer)), quote: quote.join("\n"), highlights }
    }

    /// Returns sentences with a line end between those that do not follow each other in a block.
    fn joined_lines(&self, sentences: &[usize]) -> String {
        let mut out = String::new();
        let mut before: Option<usize> = None;
        for &at in sentences {
            if let Some(before) = before {
                let follows = before + 1 == at && self.sentences[before].block == self.sentences[at].block;
                out.push(if follows { ' ' } else { '\n' });
            }
            out.push_str(&self.on_one_line(at));
            before = Some(at);
        }
        out
    }
}

/// Puts the best first, and drops what is beyond [`CANDIDATES`].
fn keep_best(found: &mut Vec<Candidate>) {
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.sentence.cmp(&b.sentence)));
    found.truncate(CANDIDATES);
}

fn sorted(sentences: &[usize]) -> Vec<usize> {
    let mut sentences = sentences.to_vec();
    sentences.sort_unstable();
    sentences
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let norms = (dot(a, a) * dot(b, b)).sqrt();
    if norms > 0.0 { dot(a, b) / norms } else { 0.0 }
}
