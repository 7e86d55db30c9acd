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
/// question's worth on the page, that in the sentence, and the sentence's score.
const ANSWERED: f32 = 1.13;
const SCORE: f32 = 0.1;

/// Returns whether the page answers the question, by its best sentence. A name or a number that is nowhere on the page
/// is enough for no: the question is about something else.
pub(crate) fn is_answered(query: &Query, survey: &Survey, best: &Evidence) -> bool {
    let missing = query.terms.iter().enumerate().any(|(at, term)| term.name && survey.on_page >> at & 1 == 0);
    !missing && survey.share(survey.on_page) + best.share + SCORE * score(best) > ANSWERED
}

/// Returns the natural logarithm of a positive number, from additions and multiplications alone: those give the same
/// result on every machine, which the logarithms of their libraries do not promise.
pub(crate) fn ln(value: f32) -> f32 {
    let value = f64::from(value.max(f32::MIN_POSITIVE));
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    // ln m = 2 artanh((m - 1) / (m + 1)), whose series is short as m is below 2.
    let part = (mantissa - 1.0) / (mantissa + 1.0);
    let square = part * part;
    let series = (0..10).rev().fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1));
    (2.0 * part * series + f64::from(exponent) * std::f64::consts::LN_2) as f32
}

#[cfg(test)]
mod tests {
    use super::ln;

    #[test]
    fn the_logarithm_is_right() {
        for value in [0.001_f32, 0.5, 1.0, 1.5, 2.0, 10.0, 123_456.0] {
            assert!((ln(value) - value.ln()).abs() < 1e-4, "{value}");
        }
    }
}
