//! Choosing blocks by their log-odds, and how good the choice is.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::Hash;

use crate::data::{Page, Set, Truth};
use crate::labels::{plain, words};

/// F1, precision and recall.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Figures {
    pub(crate) f1: f64,
    pub(crate) precision: f64,
    pub(crate) recall: f64,
}

/// How good the choice is on all pages.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Of words, by page: mean over the pages.
    pub(crate) wcxb: Figures,
    pub(crate) by_kind: BTreeMap<String, f64>,
    /// Of runs of four words: from the means of precision and recall.
    pub(crate) aeb: Figures,
    /// Of segments.
    pub(crate) traf: Figures,
    /// Of every page, in their order.
    pub(crate) pages: Vec<Figures>,
}

/// The blocks that make the expected F1 of words greatest; `bias` is added to the log-odds.
pub(crate) fn choose(scores: &[f32], lengths: &[usize], bias: f32) -> Vec<bool> {
    let chance = |score: &f32| 1.0 / (1.0 + f64::exp(-f64::from(score + bias)));
    let chances: Vec<f64> = scores.iter().map(chance).collect();
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| chances[b].total_cmp(&chances[a]));
    let wanted: f64 = chances.iter().zip(lengths).map(|(chance, &length)| chance * length as f64).sum();
    let (mut right, mut taken) = (0.0, 0.0);
    let (mut best, mut least) = (0.0, 2.0);
    for at in order {
        right += chances[at] * lengths[at] as f64;
        taken += lengths[at] as f64;
        let f1 = 2.0 * right / (taken + wanted);
        if f1 > best {
            (best, least) = (f1, chances[at]);
        }
    }
    chances.iter().map(|&chance| chance >= least).collect()
}

/// `scores` are the log-odds of all blocks of all pages.
pub(crate) fn evaluate(pages: &[Page], scores: &[f32], bias: f32) -> Report {
    let mut pages_figures = Vec::with_capacity(pages.len());
    let mut rest = scores;
    let mut segments = [0; 3];
    for page in pages {
        let (own, behind) = rest.split_at(page.texts.len());
        rest = behind;
        let lengths: Vec<usize> = page.texts.iter().map(|text| words(text).count()).collect();
        let chosen = choose(own, &lengths, bias);
        let texts: Vec<&str> =
            page.texts.iter().zip(chosen).filter(|(_, kept)| *kept).map(|(text, _)| &**text).collect();
        let text = texts.join("\n");
        pages_figures.push(match &page.truth {
            Truth::Text(truth) if page.set == Set::Aeb => runs(&text, truth),
            Truth::Text(truth) => bags(&text, truth),
            Truth::Segments { with, without } => {
                let own = held(&plain(&text), with, without);
                segments.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
                Figures::of(own[0], own[0] + own[1], own[0] + own[2])
            }
        });
    }
    report(pages, pages_figures, segments)
}

fn report(pages: &[Page], figures: Vec<Figures>, [right, wrong, missed]: [usize; 3]) -> Report {
    let of = |set: Set| pages.iter().zip(&figures).filter(move |(page, _)| page.set == set);
    let mut kinds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    of(Set::Wcxb).for_each(|(page, own)| kinds.entry(page.kind.clone()).or_default().push(own.f1));
    let mut aeb = Figures::mean(of(Set::Aeb).map(|(_, own)| *own));
    aeb.f1 = 2.0 * aeb.precision * aeb.recall / (aeb.precision + aeb.recall).max(f64::MIN_POSITIVE);
    Report {
        wcxb: Figures::mean(of(Set::Wcxb).map(|(_, own)| *own)),
        by_kind: kinds.into_iter().map(|(kind, all)| (kind, all.iter().sum::<f64>() / all.len() as f64)).collect(),
        aeb,
        traf: Figures::of(right, right + wrong, right + missed),
        pages: figures,
    }
}

/// Words in lower case, in any order.
fn bags(text: &str, truth: &str) -> Figures {
    let (text, truth) = (plain(text), plain(truth));
    overlap(words(&text), words(&truth))
}

/// Runs of four words.
fn runs(text: &str, truth: &str) -> Figures {
    let (text, truth): (Vec<&str>, Vec<&str>) = (words(text).collect(), words(truth).collect());
    overlap(windows(&text), windows(&truth))
}

fn windows<'a>(words: &'a [&'a str]) -> impl Iterator<Item = &'a [&'a str]> {
    words.windows(words.len().clamp(1, 4))
}

fn overlap<T: Hash + Eq>(found: impl Iterator<Item = T>, wanted: impl Iterator<Item = T>) -> Figures {
    let mut left: HashMap<T, usize> = HashMap::new();
    let (mut right, mut all_found, mut all_wanted) = (0, 0, 0);
    for item in wanted {
        *left.entry(item).or_default() += 1;
        all_wanted += 1;
    }
    for item in found {
        all_found += 1;
        if let Some(count) = left.get_mut(&item).filter(|count| **count > 0) {
            *count -= 1;
            right += 1;
        }
    }
    Figures::of(right, all_found, all_wanted)
}

/// Segments that are rightly there, wrongly there, and wrongly not there.
fn held(text: &str, with: &[String], without: &[String]) -> [usize; 3] {
    let count = |segments: &[String]| segments.iter().filter(|segment| text.contains(&plain(segment))).count();
    let right = count(with);
    [right, count(without), with.len() - right]
}

impl Figures {
    fn of(right: usize, found: usize, wanted: usize) -> Figures {
        let part = |of: usize| if of == 0 { 0.0 } else { right as f64 / of as f64 };
        let f1 = if found + wanted == 0 { 0.0 } else { 2.0 * right as f64 / (found + wanted) as f64 };
        Figures { f1, precision: part(found), recall: part(wanted) }
    }

    fn mean(all: impl Iterator<Item = Figures>) -> Figures {
        let (mut sum, mut count) = (Figures::default(), 0.0_f64);
        for own in all {
            sum.f1 += own.f1;
            sum.precision += own.precision;
            sum.recall += own.recall;
            count += 1.0;
        }
        let count = count.max(1.0);
        Figures { f1: sum.f1 / count, precision: sum.precision / count, recall: sum.recall / count }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "F1 {:.4} P {:.3} R {:.3}", self.f1, self.precision, self.recall)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "wcxb {}   aeb {}   traf {}", self.wcxb, self.aeb, self.traf)?;
        self.by_kind.iter().try_for_each(|(kind, f1)| write!(f, "  {kind} {f1:.3}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_what_makes_the_expected_f1_greatest() {
        assert_eq!(choose(&[3.0, -3.0, 0.1], &[50, 50, 10], 0.0), [true, false, true]);
        assert_eq!(choose(&[-2.0, -9.0], &[50, 50], 0.0), [true, false], "something is always taken");
        assert_eq!(choose(&[], &[], 0.0), [false; 0]);
    }

    #[test]
    fn words_and_runs_are_counted_as_often_as_they_stand() {
        let figures = bags("a b a c", "A a d");
        assert_eq!((figures.precision, figures.recall), (0.5, 2.0 / 3.0));
        let figures = runs("a b c d e", "a b c d x");
        assert_eq!((figures.precision, figures.recall), (0.5, 0.5));
        assert_eq!(runs("", "a b"), Figures::default());
    }

    #[test]
    fn segments_are_looked_for() {
        let list = |items: &[&str]| items.iter().map(|&item| item.to_owned()).collect::<Vec<_>>();
        assert_eq!(held("one two three", &list(&["One, two", "four"]), &list(&["three"])), [1, 1, 1]);
    }
}
