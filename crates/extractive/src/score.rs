//! What a sentence scores, and when a page has no answer.

use crate::evidence::{Evidence, Survey};
use crate::query::Query;

/// Returns the score of a sentence for a question.
pub(crate) fn score(evidence: &Evidence) -> f32 {
    let e = evidence;
    8.0 * e.bm25
        + 1.5 * e.share
        + 2.0 * e.before
        + 1.0 * e.after
        + 1.5 * e.block
        + 1.0 * e.heading
        + 0.6 * e.lead
        + 0.5 * e.pairs
        + 0.8 * e.kind
        + 0.5 * e.names
        + 0.3 * e.length
        + 0.4 * e.first
        - 3.0 * e.question
}

/// What the page and its best sentence must have of a question, where none of its names is missing: the share of the
/// question's worth on the page, that in the sentence, related words counted in part, and the sentence's score.
const ANSWERED: f32 = 1.13;
const SCORE: f32 = 0.1;

/// Returns whether the page answers the question, by its best sentence. A name or a number that is nowhere on the page
/// is enough for no: the question is about something else.
pub(crate) fn is_answered(query: &Query, survey: &Survey, sentence: usize, best: &Evidence) -> bool {
    let missing = query.terms.iter().enumerate().any(|(at, term)| term.name && survey.on_page >> at & 1 == 0);
    !missing && survey.sure_share() + survey.sure_share_of(sentence) + SCORE * score(best) > ANSWERED
}
